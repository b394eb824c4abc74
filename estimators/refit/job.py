"""A refit as a job for a worker: plain arrays in, plain arrays out, in the order of the joint model's own columns.

All that evaluates a window many times is done here, and not in the core, which takes the result.
The outputs are weighted by their residual standard deviations, found by a first fit and used in a second (two-step
weighted least squares).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw, FrictionSettings
from estimators.models.friction.structure import RefitModel, law_structure
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import columns_of, distinct, smooth
from estimators.numerics.robust import robust_mean
from estimators.quantisation.effect import EncoderGrid, ExplainedWindow, steps_effect
from estimators.quantities import Axis, Floats
from estimators.recursive.prior import Prior
from estimators.recursive.restart import relearnt
from estimators.refit.box import box
from estimators.refit.outcome import RefitOutcome, SearchReport
from estimators.refit.refit import RefitRows, refit
from estimators.refit.report import Refit
from estimators.refit.settings import AcceptanceSettings, RefitSettings
from estimators.rows import ARGUMENTS, LOAD, POSITION, VELOCITY, Rows
from estimators.thresholds import NOISE_FLOOR


class ShiftedWindow(NamedTuple):
    """What the shifted encoders need to read the last rows of a window."""

    seen: Floats  # (ARGUMENTS, instants) what the law sees of these rows, each instant once
    first: NDArray[np.int64]  # (rows,) where each row's instants begin
    law: EncoderGrid  # of the encoder that the law's speed comes from
    far: EncoderGrid | None  # of that behind the spring


@dataclass(frozen=True, slots=True)
class Job:
    """One window as the core has it, copied: all else is the worker's business."""

    phi: Floats  # (rows, outputs, parameters)
    y: Floats  # (rows, outputs)
    stretch: Floats  # (arguments, instants) what the law's moving columns look at
    first: NDArray[np.int64]  # (rows,) where each row's instants begin
    taps: Floats  # that smoothed them
    model: RefitModel
    place: int  # the output that holds the law's columns
    sign: float  # of them there
    fixed: NDArray[np.int64]  # places in θ of the columns that η does not change
    moving: NDArray[np.int64]  # and those that it does
    noise: Floats  # (outputs,) variances to begin with
    before: Prior  # what is known in addition to the rows
    again: bool  # fit twice, with the variances found
    settings: RefitSettings
    learner: tuple[dict[str, Any], Floats] | None = None  # values of a recursive estimator's state, and its leverage
    overlap: float = 1.0  # rows that say the same
    better: float = AcceptanceSettings().better  # χ² that another law must explain more
    laws: tuple[FrictionSettings, ...] = ()  # other friction laws with the same columns, to be tried too
    block: NonlinearBlock | None = None  # in force: the slopes of its columns are wanted, too
    shifted_window: ShiftedWindow | None = None  # of that block; None while no steps are known


class _Equations(NamedTuple):
    """A job's rows as a refit takes them, one output a row."""

    window: RefitRows
    row: NDArray[np.int64]  # of the job; what is known in addition to the rows comes after them and has none
    output: NDArray[np.int64]  # likewise, and is of an output of its own


def job(shape: NonlinearBlock, rows: Rows, noise: Floats, before: Prior, again: bool, settings: RefitSettings) -> Job:
    """A job for these rows; before: what is known in addition, as further rows."""
    stretch, first = shape.seen(rows)
    place = shape.place
    return Job(
        rows.phi.copy(),
        rows.y.copy(),
        stretch,
        first,
        shape.taps,
        shape.model,
        place.output,
        place.sign,
        shape.fixed,
        shape.moving,
        noise.copy(),
        before,
        again,
        settings,
    )


def shifted_window(block: NonlinearBlock, rows: Rows, law: EncoderGrid, far: EncoderGrid | None) -> ShiftedWindow:
    """Prepare the last rows of a window for shifted encoders."""
    return ShiftedWindow(*distinct(rows.samples[:, block.index], ARGUMENTS), law, far)


def run(job: Job) -> RefitOutcome:
    """Fit it, and with the other laws. Raises ValueError where the window cannot be fitted, with the reason."""
    equations = _equations(job)
    best = _fit(job, equations, job.model)
    for law in job.laws:
        try:
            other = _fit(job, equations, replace(job.model, friction=law))
        except ValueError:
            continue
        counts = np.bincount(equations.output, minlength=len(job.noise))[: len(job.noise)]
        gain = float(counts @ np.log(best.noise / other.noise)) / job.overlap  # twice that of the log-likelihood
        if gain > job.better and not other.edge and not other.at_zero:
            best = replace(other, law=law)
    if job.learner is not None:
        phi = job.phi.copy()
        phi[:, job.place, job.moving] = best.columns
        best = replace(best, learnt=relearnt(*job.learner, job.before, best.theta, phi, job.y))
    if job.block is None:
        return best
    block = job.block if best.law is None else job.block.with_law(best.law)
    best = replace(best, slopes=block.slopes_along(job.stretch, job.first, best.eta))
    return best if job.shifted_window is None else _weighed(best, job, block, job.shifted_window)


def _weighed(outcome: RefitOutcome, job: Job, block: NonlinearBlock, shifted_window: ShiftedWindow) -> RefitOutcome:
    """Return an outcome with the covariance by shifted encoders."""
    seen, first, law, far = shifted_window
    count = len(first)
    phi, y = job.phi[len(job.phi) - count :].copy(), job.y[len(job.y) - count :]
    phi[:, job.place, job.moving] = outcome.columns[len(job.phi) - count :]
    samples = np.zeros((count, block.index + 1, ARGUMENTS, len(job.taps)))
    samples[:, block.index] = seen[:, first[:, np.newaxis] + np.arange(len(job.taps))].transpose(1, 0, 2)
    rows = Rows(np.zeros(count, np.int64), phi, y, np.zeros((count, 1)), samples)
    noise = outcome.noise if job.again else job.noise
    window = ExplainedWindow(block, rows, outcome.eta, outcome.theta, noise, law, far)
    steps, white, imitated = steps_effect(window)
    return replace(outcome, steps=steps, white=white, imitated=imitated)


def _equations(job: Job) -> _Equations:
    usable = np.isfinite(job.y) & np.isfinite(job.phi).all(axis=2)
    row, output = np.nonzero(usable)
    fixed, y = job.phi[row[:, np.newaxis], output[:, np.newaxis], job.fixed], job.y[usable]
    gain, weight, first = np.where(output == job.place, job.sign, 0.0), 1.0 / np.sqrt(job.noise[output]), job.first[row]
    if job.before.information.any():
        root = job.before.root()
        extra = len(root)
        fixed = np.concatenate([fixed, root[:, job.fixed]])
        y = np.concatenate([y, root @ job.before.theta])
        gain, weight = np.append(gain, np.zeros(extra)), np.append(weight, np.ones(extra))
        first, output = np.append(first, np.zeros(extra, np.int64)), np.append(output, np.full(extra, len(job.noise)))
    one = len(job.taps) == 1 and len(y) == len(job.first)
    position, load = (job.stretch[POSITION], job.stretch[LOAD]) if len(job.stretch) > 1 else (None, None)
    window = RefitRows(
        fixed,
        y,
        job.stretch[VELOCITY],
        position,
        load,
        gain,
        weight,
        None if one else job.taps,
        None if one else first,
    )
    return _Equations(window, row, output)


def _fit(job: Job, equations: _Equations, model: RefitModel) -> RefitOutcome:
    law, (window, _, output) = law_structure(model.friction, model.axis).law, equations
    low, high = box(law.nonlinear, job.stretch[VELOCITY], job.settings.bounds)
    found = refit(window, model, low, high, job.settings)
    columns = _columns(job, model, found.eta)
    residual = _residual(job, equations, columns, found.theta)
    if job.again and len(job.noise) > 1:
        weight = np.append(1.0 / np.sqrt(_noise(job, equations, residual)), 1.0)[output]
        found = refit(replace(window, weight=weight), model, low, high, job.settings)
        columns = _columns(job, model, found.eta)
        residual = _residual(job, equations, columns, found.theta)
    data = len(equations.row)
    parameters = len(found.theta) + len(found.eta)
    whitened = residual[:data] / np.sqrt(job.noise[output[:data]])
    order = np.concatenate([job.fixed, job.moving, len(found.theta) + np.arange(len(found.eta))])
    theta, covariance = np.empty(len(found.theta)), np.empty((parameters, parameters))
    theta[order[: len(theta)]] = found.theta
    covariance[np.ix_(order, order)] = found.covariance
    return RefitOutcome(
        theta,
        found.eta,
        covariance,
        _noise(job, equations, residual),
        float(whitened @ whitened) / max(1, data - parameters),
        found.condition,
        found.evaluations,
        found.at_zero,
        found.edge,
        found.ambiguous,
        columns,
        {},
        _search_report(found, law, job.settings),
    )


def _search_report(found: Refit, law: FrictionLaw, settings: RefitSettings) -> SearchReport:
    runner_up = [] if found.runner_up is None else found.runner_up.tolist()
    etas = {one.name: value for one, value in zip(law.nonlinear, runner_up, strict=False)}
    return SearchReport(settings.search, found.visits, found.evaluations, etas, found.gap)


def _noise(job: Job, equations: _Equations, residual: Floats) -> Floats:
    """Residual variance of each output: (outputs,)."""
    noise = np.empty(len(job.noise))
    for o in range(len(noise)):
        own = equations.output == o
        least = NOISE_FLOOR**2 * float(np.mean(equations.window.y[own] ** 2))
        noise[o] = max(robust_mean(residual[own] ** 2), least)
    return noise


def _columns(job: Job, model: RefitModel, eta: Floats) -> Floats:
    """The moving columns of every row: (rows, moving)."""
    structure = law_structure(model.friction, model.axis)
    own, columns = structure.moving, columns_of(structure.law, job.stretch, eta)
    phi = np.empty((len(job.first), 1, len(own)))
    smooth(columns, job.first, job.taps, own, job.sign, 0, np.arange(len(own)), phi)
    return phi[:, 0]


def _residual(job: Job, equations: _Equations, columns: Floats, theta: Floats) -> Floats:
    """y − Φθ in the outputs' own units: (equations,)."""
    window, row, output = equations
    residual = window.y - window.fixed @ theta[: len(job.fixed)]
    friction = (columns @ theta[len(job.fixed) :])[row]
    residual[: len(row)] -= np.where(output[: len(row)] == job.place, friction, 0.0)
    return np.asarray(residual)


def warm() -> None:
    """Have every kernel of a refit compiled or loaded, so that the first one does not wait for it."""
    v = np.linspace(-1.0, 1.0, 200)
    friction = TanhStribeckSettings()
    y = friction.law(Axis.ROTARY).columns(v, v, v, np.array([0.06, 0.13])) @ np.array([20.0, 500.0, 70.0])
    refit(RefitRows(v[:, np.newaxis].copy(), y, v), RefitModel(friction.law(Axis.ROTARY).parameters[2:], friction))
    smoothed = RefitRows(v[:, np.newaxis].copy(), y, v, taps=np.ones(1), first=np.arange(200), gain=np.ones(200))
    refit(replace(smoothed, velocity=np.append(v, 1.0)), RefitModel(friction.law(Axis.ROTARY).parameters[2:], friction))
