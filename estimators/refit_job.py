"""A refit as a job for a worker: plain arrays in, plain arrays out, in the order of the joint model's own columns.

The outputs are weighted by their residual standard deviations, found by a first fit and used in a second (two-step
weighted least squares).
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.alarm import robust_mean
from estimators.base import LOAD, POSITION, VELOCITY, Axis, Floats, Rows
from estimators.explanation import Prior
from estimators.friction.base import FrictionSettings
from estimators.friction.tanh_stribeck import TanhStribeckSettings
from estimators.refit import Model, Window, refit, searches
from estimators.refit_settings import RefitSettings
from estimators.shape import Shape

BETTER: Final = 20.0  # χ² by which another law must be better
FLOOR: Final = 1e-6  # of an output's rms: the least noise it is believed to have


@dataclass(frozen=True, slots=True)
class Job:
    """One window, and how its columns lie."""

    window: Window
    model: Model
    output: NDArray[np.int64]  # (rows,) which output each row is
    fixed: NDArray[np.int64]  # where the window's fixed columns stand in θ
    moving: NDArray[np.int64]  # and the law's moving ones
    noise: Floats  # (outputs,) variances to begin with
    again: bool  # fit twice, with the variances found
    settings: RefitSettings
    overlap: float = 1.0  # rows that say the same
    laws: tuple[FrictionSettings, ...] = ()  # other friction laws with the same columns, to be tried too


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a window says of a joint."""

    theta: Floats  # (parameters,)
    eta: Floats  # (nonlinear,)
    covariance: Floats  # of θ, η
    noise: Floats  # (outputs,) residual variances
    residual: float  # mean square, whitened with the job's own noise, per degree of freedom
    condition: float
    evaluations: int
    held: tuple[str, ...]  # coefficients that would be negative
    edge: tuple[str, ...]  # η at an end of their range
    ambiguous: str | None
    law: FrictionSettings | None = None  # another one than the joint's, that explains the window better


def job(shape: Shape, rows: Rows, noise: Floats, before: Prior, again: bool, settings: RefitSettings) -> Job:
    """A job for these rows; before: what is known beside them, as further rows."""
    count, outputs = rows.y.shape
    usable = np.isfinite(rows.y) & np.isfinite(rows.phi).all(axis=2)
    row, output = np.nonzero(usable)
    fixed, y = rows.phi[row, output][:, shape.fixed], rows.y[row, output]
    gain = np.where(output == shape.place.output, shape.place.sign, 0.0)
    weight = 1.0 / np.sqrt(noise[output])
    taps = len(shape.taps)
    first = row * taps
    if before.information.any():
        root = before.root()
        known = root[:, shape.fixed]
        fixed = np.concatenate([fixed, known])
        y = np.concatenate([y, root @ before.theta])
        extra = len(known)
        gain, weight = np.append(gain, np.zeros(extra)), np.append(weight, np.ones(extra))
        first, output = np.append(first, np.zeros(extra, np.int64)), np.append(output, np.full(extra, outputs))
    one = taps == 1 and outputs == 1 and len(y) == count
    window = Window(
        np.ascontiguousarray(fixed),
        np.ascontiguousarray(y),
        np.ascontiguousarray(rows.samples[:, VELOCITY]).ravel(),
        np.ascontiguousarray(rows.samples[:, POSITION]).ravel(),
        np.ascontiguousarray(rows.samples[:, LOAD]).ravel(),
        gain,
        weight,
        None if one else shape.taps,
        None if one else first,
    )
    return Job(window, shape.model, output, shape.fixed, shape.moving, noise, again, settings)


def run(job: Job) -> Outcome:
    """Fit it, and with the other laws. Raises ValueError where the window cannot be fitted, with the reason."""
    best = _fit(job)
    for law in job.laws:
        try:
            other = _fit(replace(job, model=replace(job.model, friction=law)))
        except ValueError:
            continue
        counts = np.bincount(job.output, minlength=len(job.noise))[: len(job.noise)]
        gain = float(counts @ np.log(best.noise / other.noise)) / job.overlap  # twice that of the log-likelihood
        if gain > BETTER and not other.edge and not other.held:
            best = replace(other, law=law)
    return best


def _fit(job: Job) -> Outcome:
    law = job.model.friction.law(job.model.axis)
    moving, window, first = law.moving(), job.window, job.noise
    box = [job.settings.bounds.get(parameter.name, (parameter.low, parameter.high)) for parameter in law.nonlinear]
    low, high = np.array(box).T
    found = refit(window, job.model, low, high, job.settings)
    residual = _residual(job, law.columns, moving, found.theta, found.eta)
    if job.again and len(first) > 1:
        weight = np.append(1.0 / np.sqrt(_noise(job, residual)), 1.0)[job.output]
        window = replace(window, weight=weight)
        found = refit(window, job.model, low, high, job.settings)
        residual = _residual(job, law.columns, moving, found.theta, found.eta)
    data = job.output < len(first)
    parameters = len(found.theta) + len(found.eta)
    whitened = (residual / np.sqrt(np.append(first, 1.0)[job.output]))[data]
    order = np.concatenate([job.fixed, job.moving, len(found.theta) + np.arange(len(found.eta))])
    theta, covariance = np.empty(len(found.theta)), np.empty((parameters, parameters))
    theta[order[: len(theta)]] = found.theta
    covariance[np.ix_(order, order)] = found.covariance
    return Outcome(
        theta,
        found.eta,
        covariance,
        _noise(job, residual),
        float(whitened @ whitened) / max(1, len(whitened) - parameters),
        found.condition,
        found.evaluations,
        found.held,
        found.edge,
        found.ambiguous,
    )


def _noise(job: Job, residual: Floats) -> Floats:
    outputs = range(len(job.noise))
    least = [FLOOR**2 * float(np.mean(job.window.y[job.output == o] ** 2)) for o in outputs]
    return np.array([max(robust_mean(residual[job.output == o] ** 2), least[o]) for o in outputs])


def _residual(
    job: Job, columns: Callable[..., Floats], moving: NDArray[np.int64], theta: Floats, eta: Floats
) -> Floats:
    """y − Φθ in the outputs' own units: (rows,)."""
    window = job.window
    filled = columns(window.position, window.velocity, window.load, eta)[:, moving] @ theta[len(job.fixed) :]
    if window.taps is not None and window.first is not None:
        filled = filled[window.first[:, np.newaxis] + np.arange(len(window.taps))] @ window.taps
    assert window.gain is not None
    return np.asarray(window.y - window.fixed @ theta[: len(job.fixed)] - window.gain * filled)


def warm(nonlinear: int = 0) -> None:
    """Have every kernel of a refit compiled or loaded, so that the first one does not wait for it.

    nonlinear: the most nonlinear parameters of any joint; those of a search are wanted only where there are many.
    """
    if searches(nonlinear, RefitSettings()):
        import estimators.search  # noqa: F401
    v = np.linspace(-1.0, 1.0, 200)
    friction = TanhStribeckSettings()
    y = friction.law(Axis.ROTARY).columns(v, v, v, np.array([0.06, 0.13])) @ np.array([20.0, 500.0, 70.0])
    refit(Window(v[:, np.newaxis].copy(), y, v), Model(friction.law(Axis.ROTARY).parameters[2:], friction))
    smoothed = Window(v[:, np.newaxis].copy(), y, v, taps=np.ones(1), first=np.arange(200), gain=np.ones(200))
    refit(replace(smoothed, velocity=np.append(v, 1.0)), Model(friction.law(Axis.ROTARY).parameters[2:], friction))


class Inline(Executor):
    """Does the work at once, in the caller: replay and tests are then reproducible to the bit."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
