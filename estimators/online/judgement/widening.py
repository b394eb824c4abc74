"""Widening: how much wider the covariance of θ is than white noise of the rows would leave it, from their fit.

    Σ = S C Sᵀ + pulled pulledᵀ + near nearᵀ + behind behindᵀ + late lateᵀ + steps + unidentifiable directions

C: covariance of the scores in units of white noise, S (directions.py), averaged with that of the start, which weighs
as much as KNOWN blocks, and along no direction less than white noise under the kernel. The others are outer products:
pulled: effect of rows that saw a reversal on θ; near: of rows behind reversals (backlash, friction with memory);
behind: how far θ is from its own mean under the same forgetting, and so from a truth that moves at a constant rate
(Brown's double exponential smoothing); late: what a lag of the torque that is not known may do (scores.py); steps: of
an encoder. Each is taken without what noise explains, along its own directions. A direction that is not identifiable
may explain all of the torque. Of a joint that moves one way, these are the directions that rows clear of any stop do
not identify, since at a stop friction is any torque up to Coulomb's. None of these changes θ. Beside Σ is what columns
that the model lacks did to θ (misfit/regressors.py), or may have done (misfit/unmodelled_torque.py): where they are
known to act, or may, the prediction is right because of it.
"""

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.misfit import scores
from estimators.misfit.position_error import position_error
from estimators.misfit.regressors import ANGLE, ELASTIC, LOAD, PLACE, TORQUE, columns
from estimators.misfit.unmodelled_torque import SHARE, Floor, UnmodelledTorque, places, unmodelled_torque
from estimators.numerics.directions import Directions, contrast
from estimators.online.judgement.fit_state import FitState
from estimators.online.judgement.validity import SMALL
from estimators.quantities import Floats
from estimators.recursive.learner import Learner
from estimators.thresholds import LEAST_DIVISOR

Indices = tuple[NDArray[np.int64], ...]

#: blocks, argued: Weight of the start's own deviation factor, in blocks, against that of the scores (decision 016,
#: point 4).
KNOWN: Final = 20.0
#: rows, argued: Rows of motion in either direction, without which rows with a reversal are not proved.
EITHER: Final = 100.0
#: 1, argued: The least share of the residual variance that is noise and not lag.
NOISE: Final = 0.1


class Widening(NamedTuple):
    """Declares what is known beforehand of the rows of one estimator."""

    own: int  # misfit regressors of an output
    overlap: float  # rows that say the same
    corrected: bool  # whether θ has been corrected for encoder steps
    linear: bool  # whether there is no η
    prior: float  # of a torque of the angle that the model lacks, as a share of the torque's rms; 0: there is none
    inertia: int | None  # which parameter it is, of the only joint


def directions_of(state: FitState, learner: Learner) -> Directions:
    """Directions of θ that the rows so far identify."""
    p, weight = learner.rls.p, learner.rls.noise[0] / learner.rls.noise
    return Directions.of(np.ascontiguousarray(scores.products(state.scores.gram, weight, p)[:p, :p]))


def widen(state: FitState, learner: Learner, directions: Directions, left: Floats, known: Widening) -> None:
    """Write into a learner what the rows say of the covariance of θ.

    directions: see directions_of; left: (p, p) covariance that the steps of encoders leave; known: of the rows.
    """
    rls, judged = learner.rls, state.scores
    p, blocks, rows = rls.p, judged.effective_blocks, max(float(state.rows.sum()), 1.0)
    weight = rls.noise[0] / rls.noise
    free, inverse = blocks / max(blocks - p, 0.5 * blocks), directions.inverse
    noise = free * inverse @ judged.covariance[:p, :p] @ inverse

    straight = judged.theta + state.steps if known.corrected else judged.theta
    state.behind[:], pulled = directions.beyond_noise(
        noise, rls.theta - state.trail[:-1] / state.trail[-1], rls.theta - straight
    )
    lagging = float(state.behind @ directions.gram @ state.behind) / (float(rls.noise[0]) * rows)
    least = max(1.0 - lagging / rls.variance(), NOISE)  # as at the start, but what θ is behind is no noise
    floor = _floor(learner, least, blocks / (blocks + KNOWN), known)
    back = np.linalg.inv(_root(learner))
    learner.correlated[:] = floor.mixed(back @ noise @ back.T)

    outputs = len(weight)
    near = contrast(directions, scores.products(state.sums.special[outputs:-outputs], weight, p), judged.theta, noise)
    state.effects[:] = left
    for effect in (pulled, near, state.behind, *state.late):
        state.effects += np.outer(effect, effect)
    widen_unidentifiable(state, learner)
    _consider(state, learner, directions, floor, known)
    if known.inertia is not None and known.linear:
        steps = state.steps if known.corrected else np.zeros(p)
        effect = position_error(directions, state.slow[0], judged.theta + steps, noise, left, known.inertia)
        if effect.any():
            square = np.outer(effect, effect)
            learner.state.seen += square
            learner.state.unmodelled += square


def consider(state: FitState, learner: Learner, directions: Directions, known: Widening) -> None:
    """Write what torques of the angle may have done at the end of a start, before there are scores enough."""
    blocks = state.scores.effective_blocks
    floor = _floor(learner, 1.0, blocks / (blocks + KNOWN), known)
    _consider(state, learner, directions, floor, known)


def _root(learner: Learner) -> Floats:
    """S (p, p): of white noise the covariance of θ is S Sᵀ, the start's factors included."""
    rls = learner.rls
    root = (np.triu(rls.state.u.T, 1) + np.eye(rls.p)) * np.sqrt(rls.d * rls.variance() * rls.share())
    return np.asarray(learner.deviation_factor[:, None] * root)


def _floor(learner: Learner, least: float, share: float, known: Widening) -> Floor:
    """How the scores' covariance is mixed with that of the start; least: share of the residual that is noise.

    Rows that a kernel lets say the same do not come below their number of white noise's. What an encoder's rounding
    adds is in a second derivative, which says the opposite a moment later.
    """
    lowest = least
    if known.linear:
        rounding = float((learner.state.rounding * learner.state.usual_rounding).max(initial=0.0))
        lowest = (least + (known.overlap - 1.0) * max(least - rounding, 0.0)) / float(
            np.mean(learner.deviation_factor**2)
        )
    return Floor(share, least, lowest)


def widen_unidentifiable(state: FitState, learner: Learner) -> None:
    """Widen along directions that no row identifies, or, of a joint that has moved one way only, only rows at stops.

    This needs no residuals, so it follows at once where a motion begins to identify what it did not. Rows clear of any
    stop count from before an alarm, too, where the alarm was of what had not been identifiable (model_fit.py).
    """
    p, weight = learner.rls.p, learner.rls.noise[0] / learner.rls.noise
    whole = scores.products(state.scores.gram, weight, p)
    clear = scores.products(state.sums.special[2 * len(weight) :], weight, p)
    learner.misfit[:] = state.effects
    if not state.rows.any():
        return
    learner.misfit += _along_unidentifiable(whole + clear, p)
    if not (np.minimum(state.forth, state.rows - state.forth) >= EITHER).all():
        learner.misfit += _along_unidentifiable(clear, p)
    rows = max(float(state.rows.sum()), 1.0)
    learner.state.gram[:], learner.state.power = whole[:p, :p] / rows, float(whole[p, p]) / rows


def _along_unidentifiable(products: Floats, p: int) -> Floats:
    """Covariance (p, p) along what rows do not identify; products: (p + 1, p + 1) of their [φ y]."""
    return Directions.of(np.ascontiguousarray(products[:p, :p])).unidentifiable(float(products[p, p]))


def _consider(state: FitState, learner: Learner, directions: Directions, floor: Floor, known: Widening) -> None:
    """Write what torques that the model lacks may have done to θ: those that are seen, and any torque of the angle.

    At the poses of this motion they make the prediction right, so they are no part of Σ.
    """
    rls = learner.rls
    learner.state.unmodelled[:] = learner.state.seen[:] = np.outer(state.scores.bias, state.scores.bias)
    learner.state.seen -= (1.0 - SHARE) * state.late.T @ state.late  # it is in Σ as a whole
    state.prior[:] = 0.0
    if not known.prior > 0.0 or not known.linear or known.own < columns(turns=True):
        return
    factor, covariance = float(np.mean(learner.deviation_factor**2)), state.scores.covariance
    floor = Floor(floor.share, floor.white * factor, floor.lowest * factor)
    for output in range(len(rls.noise)):
        considered = [(one, known.prior) for one in (ANGLE, PLACE)] + [(one, SMALL) for one in (ELASTIC, TORQUE, LOAD)]
        for cause, size in considered:
            found = _of_cause(state, learner, directions, covariance, floor, known, (output, cause, size))
            if found is None:
                continue
            learner.state.seen[:] += found.seen
            learner.state.unmodelled[:] += found.whole
            if cause == ANGLE:
                state.prior[:] += found.prior


def _of_cause(
    state: FitState,
    learner: Learner,
    directions: Directions,
    covariance: Floats,
    floor: Floor,
    known: Widening,
    what: tuple[int, int, float],
) -> UnmodelledTorque | None:
    """Possible effect of one cause on θ by one output; covariance: of the scores; what: output, cause, and its size as
    a share of the torque."""
    (output, cause, size), rls, p = what, learner.rls, learner.rls.p
    gram, rows = state.scores.gram[output], max(float(state.rows[output]), 1.0)
    taken, own = _places(p, known.own, output, cause, len(gram))
    products = gram[taken]
    most = math.sqrt(products[-1, -1] / rows)
    if cause != ANGLE:  # whose columns have a unit of their own
        column = math.sqrt(products.diagonal()[p:-1].mean() / rows)
        most /= max(column, LEAST_DIVISOR)
    products *= rls.noise[0] / rls.noise[output]
    variance = rls.variance() * float(rls.noise[0])
    return unmodelled_torque(
        directions, products, covariance[own], state.scores.theta, variance, floor, size * most, most
    )


@lru_cache
def _places(p: int, regressors: int, output: int, cause: int, last: int) -> tuple[Indices, Indices]:
    """Where the products of [φ w y] are in the lower triangle of an output's, and [φ w] among the scores of all.

    last: columns of the output's products.
    """
    inside, among = places(p, regressors, output, cause)
    raw, own = np.r_[0:p, inside, last - 1], np.r_[0:p, among]
    rows, columns = np.meshgrid(raw, raw, indexing="ij")
    return (np.maximum(rows, columns), np.minimum(rows, columns)), np.ix_(own, own)
