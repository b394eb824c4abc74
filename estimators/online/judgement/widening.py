"""Widening: how much wider the covariance of θ is than white noise of the rows would leave it, from their fit.

    Σ = S C Sᵀ + pulled pulledᵀ + near nearᵀ + behind behindᵀ + late lateᵀ + steps + unidentifiable directions

C: covariance of the scores in units of white noise, S (directions.py), averaged with that of the start, which weighs
as much as KNOWN blocks, and along no direction less than white noise under the kernel. The others are outer products:
pulled: effect of rows that saw a reversal on θ; near: of rows after reversals (backlash, friction with memory);
behind: how far θ is from its own mean under the same forgetting, and so from a truth that moves at a constant rate
(Brown's double exponential smoothing); late: what a lag of the torque that is not known may do (scores.py); steps: of
an encoder. Each is taken without what noise explains, along its own directions. A direction that is not identifiable
may explain all of the torque. In a joint that moves one way, these are the directions that rows clear of any stop do
not identify, since at a stop friction is any torque up to Coulomb's. None of these changes θ. Σ does not contain what
columns that the model lacks did to θ (misfit/regressors.py), or may have done (misfit/unmodelled_torque.py): their
effect on θ is what makes the prediction right.
"""

from typing import Final

import numpy as np

from estimators.misfit.cut_torque import cut_torque
from estimators.misfit.position_error import position_error
from estimators.misfit.recent_change import recent_change
from estimators.misfit.regressors import ANGLE, CAUSES, ELASTIC, LOAD, PLACE, SATURATION, SPEED, TORQUE, columns
from estimators.misfit.sampled_motion import hidden_share
from estimators.misfit.scores import products, write_covariance
from estimators.misfit.unmodelled_torque import SHARE, Floor, columns_of, mixed, unmodelled_torque
from estimators.numerics.directions import Directions, add_unidentifiable, beyond_noise, contrast, resolve
from estimators.numerics.elimination import divide_by_upper
from estimators.numerics.jit import inline, kernel
from estimators.numerics.symmetric import product
from estimators.online.judgement.fit_state import FitSettings, FitState
from estimators.online.judgement.step_effects import is_corrected
from estimators.online.judgement.validity import SMALL
from estimators.quantities import Floats
from estimators.recursive.learner import Learnt, covariance_of, factor_of, mean_variance, share_of_weights
from estimators.thresholds import LEAST_DIVISOR
from jointwatch_numba.matrix import any_nonzero

#: blocks, argued: Weight of the start's own deviation factor, in blocks, against that of the scores (decision 016,
#: point 4).
KNOWN: Final = 20.0
#: rows, argued: Rows of motion in either direction, without which rows with a reversal are not proved.
EITHER: Final = 100.0
#: 1, argued: The least share of the residual variance that is noise and not lag.
NOISE: Final = 0.1
#: 1, argued: Torque over its rms along a direction that an encoder's steps may pretend: far from good, and finite.
LOST: Final = 10.0
#: 1, argued: Factor a block of a second by which a unit of noise may follow the residual: two a minute (decision 012,
#: point 12).
FOLLOWS: Final = 2.0 ** (1.0 / 60.0)
#: 1, argued: Share of the rows that θ rests on from which what these rows say of θ is true of it.
MOST: Final = 0.5
# causes of a torque that the model may lack, the first of its misfit columns, and how many they are
CONSIDERED: Final = tuple(
    (cause, *columns_of(cause)) for cause in (SPEED, ANGLE, PLACE, ELASTIC, TORQUE, SATURATION, LOAD)
)
NARROWEST: Final = CAUSES.index(TORQUE)  # misfit column that is nearly the sign of the torque
OF_ANGLE: Final = columns(turns=True)  # misfit regressors of an output whose position is an angle


@inline
def _weights(learnt: Learnt) -> Floats:
    """Weight of each output, whitened by the noise of the first."""
    noise = learnt.state.noise
    weights = np.empty(len(noise))
    for output in range(len(noise)):
        weights[output] = noise[0] / noise[output]
    return weights


@inline
def _rows(fit: FitState) -> float:
    """Rows of all outputs, at least one."""
    total = 0.0
    for output in range(len(fit.rows)):
        total += fit.rows[output]
    return max(total, 1.0)


@inline
def _correlate(learnt: Learnt, floor: Floor, noise: Floats) -> None:
    """Write C: covariance of the scores, noise (p, p) of θ, in units of S, mixed with that of the start.

    Of white noise the covariance of θ is S Sᵀ, the start's factors included.
    """
    state, p = learnt.state, len(noise)
    root, middle = np.empty((p, p)), noise.copy()
    factor_of(state, root)
    size = np.sqrt(mean_variance(state) * share_of_weights(state))
    for i in range(p):
        for j in range(i, p):
            root[i, j] *= learnt.deviation_factor[i] * size
    divide_by_upper(root, middle)
    middle = middle.T.copy()
    divide_by_upper(root, middle)
    mixed(floor, middle, learnt.correlated)


@inline
def _mean_square(deviation_factor: Floats) -> float:
    total = 0.0
    for i in range(len(deviation_factor)):
        total += deviation_factor[i] ** 2
    return total / len(deviation_factor)


@inline
def _floor(settings: FitSettings, learnt: Learnt, least: float, share: float) -> Floor:
    """How the scores' covariance is mixed with that of the start; least: share of the residual that is noise.

    Rows that a kernel lets say the same do not come below their number of white noise's. What an encoder's rounding
    adds is in a second derivative, which says the opposite a moment later.
    """
    lowest, rounding = least, 0.0
    if settings.corrects:
        for output in range(len(learnt.rounding)):
            rounding = max(rounding, learnt.rounding[output] * learnt.usual_rounding[output])
        lowest = least + (settings.overlap - 1.0) * max(least - rounding, 0.0)
        lowest /= _mean_square(learnt.deviation_factor)
    return Floor(share, least, lowest)


@inline
def _scaled(learnt: Learnt, floor: Floor) -> Floor:
    """The floor of scores, which have the start's deviation factors in them."""
    factor = _mean_square(learnt.deviation_factor)
    return Floor(floor.share, floor.white * factor, floor.lowest * factor)


@inline
def _considers(fit: FitState) -> bool:
    """Whether torques that the model may lack are considered."""
    return bool(fit.settings.prior > 0.0 and fit.settings.corrects and fit.settings.own >= OF_ANGLE)


@inline
def _consider(fit: FitState, learnt: Learnt, covariance: Floats, floor: Floor) -> None:
    """Write what torques that the model lacks may have done to θ: those that are seen, and any torque of the angle.

    At the poses of this motion they make the prediction right, so they are no part of Σ. covariance: of the scores.
    """
    bias, settings, p = fit.scores.bias, fit.settings, len(fit.steps)
    for i in range(p):
        for j in range(p):
            late = 0.0
            for output in range(len(fit.late)):
                late += fit.late[output, i] * fit.late[output, j]
            learnt.unmodelled[i, j] = bias[i] * bias[j]
            learnt.seen[i, j] = bias[i] * bias[j] - (1.0 - SHARE) * late  # the lag is in Σ as a whole
            fit.prior[i, j] = 0.0
            fit.cut[i, j] = 0.0
        learnt.unmodelled[i, i] += fit.changed[i]
        learnt.seen[i, i] += fit.changed[i]
    if not _considers(fit):
        return
    floor = _scaled(learnt, floor)
    for output in range(len(fit.rows)):
        for cause, first, count in CONSIDERED:
            size = settings.prior if cause in (ANGLE, PLACE, SATURATION, TORQUE) else SMALL
            _consider_cause(fit, learnt, covariance, floor, output, cause, first, count, size)
    _consider_cut(fit, learnt, covariance, fit.directions, floor)


@inline
def _products_of(
    fit: FitState, learnt: Learnt, covariance: Floats, output: int, first: int, count: int
) -> tuple[Floats, Floats]:
    """Products of [φ w y] of some misfit columns of an output, and the covariance of the scores of [φ w]."""
    gram, noise, p = fit.scores.gram[output], learnt.state.noise, len(fit.steps)
    raw, among = np.empty(p + count + 1, np.int64), np.empty(p + count, np.int64)  # among products, and among scores
    for i in range(p + count):
        raw[i] = i if i < p else p - 1 + first + i  # the lag has no column
        among[i] = i if i < p else output * fit.settings.own + first + i
    raw[p + count] = len(gram) - 1
    known, scores = np.empty((p + count + 1, p + count + 1)), np.empty((p + count, p + count))
    for i in range(p + count + 1):
        for j in range(p + count + 1):
            known[i, j] = gram[max(raw[i], raw[j]), min(raw[i], raw[j])] * (noise[0] / noise[output])
    for i in range(p + count):
        for j in range(p + count):
            scores[i, j] = covariance[among[i], among[j]]
    return known, scores


@inline
def _own_variances(fit: FitState, output: int, first: int, count: int, bursts: bool) -> Floats:
    """Variances of the scores of some misfit columns (count,) without what each explains, infinite where not known.

    bursts: whether they differ from the model's in some blocks only; then their own effect is most of their spread.
    """
    found = np.full(count, np.inf)
    for k in range(count if bursts else 0):
        sums = fit.scores.own[len(fit.steps) + output * fit.settings.own + first + k]
        if sums[2] > 0.0 and sums[1] ** 2 > sums[2]:
            slope, blocks = sums[0] / sums[1], sums[1] ** 2 / sums[2]
            variance = sums[5] - 2.0 * slope * sums[6] + slope * slope * sums[7]
            found[k] = max(variance, 0.0) * blocks / (blocks - 1.0)
    return found


@inline
def _consider_cut(fit: FitState, learnt: Learnt, covariance: Floats, directions: Directions, floor: Floor) -> None:
    """Write what a torque that is cut toward zero to whole steps does to θ, in place of what it did before."""
    p, variance = len(fit.steps), mean_variance(learnt.state) * learnt.state.noise[0]
    before, now = fit.cut.copy(), fit.cut
    now[:] = 0.0
    for output in range(len(fit.rows)):
        if fit.half_step[output] > 0.0:
            known, scores = _products_of(fit, learnt, covariance, output, NARROWEST, 1)
            now += cut_torque(
                directions.inverse, known, scores, fit.scores.theta, variance, floor, fit.half_step[output]
            )
    for i in range(p):
        for j in range(p):
            learnt.seen[i, j] += now[i, j] - before[i, j]
            learnt.unmodelled[i, j] += now[i, j] - before[i, j]


@kernel((FitState, Learnt))
def reconsider_cut(fit: FitState, learnt: Learnt) -> None:
    """Consider a torque that is cut toward zero by the rows so far, of which there are too few for scores.

    What a cut does to θ follows from the rows that θ rests on, and after an alarm these are others: the sign of the
    torque may have been that of the speed, and is no longer. Where θ rests on earlier ones, as what was recalled does,
    it stands. Whether the torque is cut they tell as far as white noise lets them.
    """
    count, p, seen = len(fit.scores.sums), len(fit.steps), 0.0
    for output in range(len(fit.rows)):
        seen = max(seen, fit.rows[output] + fit.turns[output])
    if not any_nonzero(fit.half_step) or not _considers(fit) or not seen > MOST * learnt.state.weight:
        return
    floor = _scaled(learnt, _floor(fit.settings, learnt, 1.0, 0.0))
    resolve(products(fit.scores.gram, _weights(learnt), p), fit.others)
    _consider_cut(fit, learnt, np.zeros((count, count)), fit.others, floor)


@inline
def _consider_cause(
    fit: FitState, learnt: Learnt, covariance: Floats, floor: Floor, output: int, cause: int, first: int, count: int,
    size: float,
) -> None:  # fmt: skip
    """Add the possible effect of one cause on θ by one output; first, count: its misfit columns; size: as a share of
    the torque."""
    state, gram, p = learnt.state, fit.scores.gram[output], len(fit.steps)
    known, scores = _products_of(fit, learnt, covariance, output, first, count)
    rows = max(fit.rows[output], 1.0)
    most = np.sqrt(gram[len(gram) - 1, len(gram) - 1] / rows)
    if cause != ANGLE:  # whose columns have a unit of their own
        square, weight = 0.0, state.noise[0] / state.noise[output]
        for i in range(p, p + count):
            square += known[i, i] / (weight * count)
        most /= max(np.sqrt(square / rows), LEAST_DIVISOR)
    any_, seen, whole, prior = unmodelled_torque(
        fit.directions.inverse, known, scores, fit.scores.theta, mean_variance(state) * state.noise[0], floor.share,
        floor.white, floor.lowest, size * most, most,
        _own_variances(fit, output, first, count, cause == TORQUE), cause == TORQUE,
    )  # fmt: skip
    for i in range(p if any_ else 0):
        for j in range(p):
            learnt.seen[i, j] += seen[i, j]
            learnt.unmodelled[i, j] += whole[i, j]
            if cause == ANGLE:
                fit.prior[i, j] += prior[i, j]


@inline
def _take_off_change(fit: FitState, learnt: Learnt) -> None:
    for i in range(len(fit.changed)):
        learnt.seen[i, i] -= fit.changed[i]
        learnt.unmodelled[i, i] -= fit.changed[i]
        fit.changed[i] = 0.0


@kernel((FitState, Learnt))
def answer_for_change(fit: FitState, learnt: Learnt) -> None:
    """Note that an alarm has answered a change that the last rows showed: its values are learnt anew from now on."""
    for i in range(len(fit.changed)):
        fit.answered[i] = fit.changed[i]
    _take_off_change(fit, learnt)


@kernel((FitState, Learnt, "b1"))
def find_recent_change(fit: FitState, learnt: Learnt, good: bool) -> None:
    """Write by how much a parameter has changed, according to the block that ends and the one before.

    The sums are still those of the blocks before this one. good: whether the prediction is trusted; otherwise no value
    is, and a change need not be the joint's, for example where a person leads it by hand.
    """
    scores, settings, p = fit.scores, fit.settings, len(fit.steps)
    block = products(fit.sums.products, _weights(learnt), p)
    recent, covariance = np.empty((p + 1, p + 1)), np.empty((p, p))
    _take_off_change(fit, learnt)
    for i in range(p + 1):
        for j in range(p + 1):
            recent[i, j], fit.last_block[i, j] = fit.last_block[i, j] + block[i, j], block[i, j]
    if not good or not scores.blocks > 0.0:
        return
    covariance_of(learnt, covariance)
    blocks, white = scores.effective_blocks, mean_variance(learnt.state) * learnt.state.noise[0]
    floor = _scaled(learnt, _floor(settings, learnt, 1.0, blocks / (blocks + KNOWN)))
    gram = products(scores.gram, _weights(learnt), p)
    for i in range(p):
        variance = floor.white
        if floor.share > 0.0 and gram[i, i] > 0.0:
            own = scores.spread[i, i] * scores.weight / scores.squared_weight / gram[i, i]
            variance = floor.share * own / white + (1.0 - floor.share) * floor.white
        variance = white * max(variance, floor.lowest)
        fit.usual[i] = min(variance, FOLLOWS * fit.usual[i]) if fit.usual[i] > 0.0 else variance
    changed = recent_change(recent, scores.theta, covariance, fit.usual)
    for i in range(p):
        fit.changed[i] = changed[i]
        learnt.seen[i, i] += fit.changed[i]
        learnt.unmodelled[i, i] += fit.changed[i]


@kernel((FitState, Learnt))
def widen_unidentifiable(fit: FitState, learnt: Learnt) -> None:
    """Widen along directions that no row identifies, or, of a joint that has moved one way only, only rows at stops.

    This needs no residuals, so it follows at once where a motion begins to identify what it did not. Rows clear of any
    stop count from before an alarm, too, where the alarm was of what had not been identifiable (model_fit.py).
    """
    p, outputs, weights = len(fit.steps), len(fit.rows), _weights(learnt)
    whole = products(fit.scores.gram, weights, p)
    clear = products(fit.sums.special[2 * outputs :], weights, p)
    for i in range(p):
        for j in range(p):
            learnt.misfit[i, j] = fit.effects[i, j]
    if not any_nonzero(fit.rows):
        return
    both, either = np.empty((p + 1, p + 1)), True
    for i in range(p + 1):
        for j in range(p + 1):
            both[i, j] = whole[i, j] + clear[i, j]
    for output in range(outputs):
        either = either and min(fit.forth[output], fit.rows[output] - fit.forth[output]) >= EITHER
    resolve(both, fit.others)
    add_unidentifiable(fit.others, both[p, p], learnt.misfit)
    if not either:
        resolve(clear, fit.others)
        add_unidentifiable(fit.others, clear[p, p], learnt.misfit)
    rows = _rows(fit)
    learnt.power = whole[p, p] / rows
    for i in range(p):
        for j in range(p):
            learnt.gram[i, j] = whole[i, j] / rows


@inline
def _noise_of_theta(fit: FitState, covariance: Floats) -> Floats:
    """Covariance (p, p) that noise alone gives θ; covariance: of the scores."""
    inverse, p, blocks = fit.directions.inverse, len(fit.steps), fit.scores.effective_blocks
    noise = product(product(inverse, covariance[:p, :p]), inverse)
    for i in range(p):
        for j in range(p):
            noise[i, j] *= blocks / max(blocks - p, 0.5 * blocks)
    return noise


@inline
def _straight(fit: FitState) -> Floats:
    """θ (p,) of least squares over the rows without a reversal, corrected for steps as θ is."""
    straight, corrected = fit.scores.theta.copy(), is_corrected(fit)
    for i in range(len(straight) if corrected else 0):
        straight[i] += fit.steps[i]
    return straight


@inline
def _add_effects(fit: FitState, learnt: Learnt, factor: float, noise: Floats, straight: Floats) -> float:
    """Add to the effects on θ: of rows that saw a reversal, of those after one, and of a truth that moves.

    Returns the least share of the residual that is noise: as at the start, but what θ is behind is no noise.
    """
    directions, theta, trail, p, outputs = fit.directions, learnt.state.theta, fit.trail, len(fit.steps), len(fit.rows)
    trail[p] = factor * trail[p] + 1.0
    moved, near = np.empty((2, p)), np.empty((1, p))
    for i in range(p):
        trail[i] = factor * trail[i] + theta[i]
        moved[0, i], moved[1, i] = theta[i] - trail[i] / trail[p], theta[i] - straight[i]
    beyond_noise(directions, noise, moved)
    behind_reversals = products(fit.sums.special[outputs : 2 * outputs], _weights(learnt), p)
    contrast(directions, fit.others, behind_reversals, fit.scores.theta, noise, near)
    lagging = 0.0
    for i in range(p):
        fit.behind[i] = moved[0, i]
        for j in range(p):
            lagging += moved[0, i] * directions.gram[i, j] * moved[0, j]
            fit.effects[i, j] += moved[1, i] * moved[1, j] + near[0, i] * near[0, j] + moved[0, i] * moved[0, j]
    return float(max(1.0 - lagging / (learnt.state.noise[0] * _rows(fit)) / mean_variance(learnt.state), NOISE))


@kernel((FitState, Learnt, "f8", "b1"))
def widen(fit: FitState, learnt: Learnt, factor: float, enough: bool) -> None:
    """Write into a learner what the rows say of the covariance of θ.

    fit: with directions of the rows and what steps leave (step_effects.py); factor: result of fade; enough: whether
    there are blocks enough for scores, else it is the end of a start. Then a lag, steps and torques of the angle are
    considered all the same.
    """
    settings, count, p, blocks = fit.settings, len(fit.scores.sums), len(fit.steps), fit.scores.effective_blocks
    covariance = np.empty((count, count))
    write_covariance(fit.scores, covariance)
    noise, straight, least = _noise_of_theta(fit, covariance), _straight(fit), 1.0
    for i in range(p):
        for j in range(p):
            fit.effects[i, j] = fit.steps_left[i, j]
            for output in range(len(fit.late)):
                fit.effects[i, j] += fit.late[output, i] * fit.late[output, j]
    if enough:
        least = _add_effects(fit, learnt, factor, noise, straight)
    floor = _floor(settings, learnt, least, blocks / (blocks + KNOWN))
    if enough:
        _correlate(learnt, floor, noise)
    widen_unidentifiable(fit, learnt)
    _consider(fit, learnt, covariance, floor)
    effect = np.zeros(p)
    if enough and settings.inertia >= 0 and settings.corrects:
        position_error(fit.directions, fit.slow[0], straight, noise, fit.steps_left, settings.inertia, effect)
    if settings.inertia >= 0 and settings.hidden > 0.0:
        inertia, hidden = settings.inertia, straight[settings.inertia] * hidden_share(fit.steep, settings.hidden)
        learnt.seen[inertia, inertia] += hidden**2
        learnt.unmodelled[inertia, inertia] += hidden**2
    for i in range(p):
        for j in range(p):
            learnt.seen[i, j] += effect[i] * effect[j]
            # θ is wider, but not its prediction, along directions of which steps are most of the information
            learnt.unmodelled[i, j] += effect[i] * effect[j] + LOST**2 * learnt.power * fit.lost[i, j]
