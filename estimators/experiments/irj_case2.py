"""The published Case 2: the drive's friction on a triangular velocity, sampled at 100 Hz with exact regressors.

Parameters as da Silva, de Souza, Schäfer 2007 give them; the linear ones jump, then the nonlinear ones.
"""

from typing import Any, NamedTuple

import numpy as np

from estimators.base import Event
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online.monitor.fast import Monitored
from estimators.quantities import Floats
from estimators.recursive.forgetting import Alarm
from estimators.refit.settings import Monitor
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE, Rows

PERIOD = 0.01  # s
MOTION = 8.0  # s
LINEAR = np.array([25.0, 590.0, 76.0, 40.0])
OMEGAS = np.array([0.0616, 0.1312])


class Case(NamedTuple):
    """Rows of one run, and what is true at each."""

    rows: Rows
    linear: Floats  # (rows, 4)
    omegas: Floats  # (rows, 2)


def case(
    seed: int,
    noise: float,
    linear_at: float = np.inf,
    nonlinear_at: float = np.inf,
    end: float = 50.0,
    linear_by: float = 1.5,
    nonlinear_by: float | tuple[float, float] = 1.2,
) -> Case:
    """noise: standard deviation over rms(y) before the jumps; nonlinear_by: of both ω, or of each."""
    t = np.asarray(np.arange(round(end / PERIOD)) * PERIOD, np.float64)
    phase = (t / MOTION) % 1.0
    v = np.where(phase < 0.25, 4 * phase, np.where(phase < 0.75, 2 - 4 * phase, 4 * phase - 4))
    turn = np.where(phase < 0.75, 2 * phase - 2 * phase**2 - 0.25, 2 * (phase - 1) ** 2)
    q = MOTION * (np.where(phase < 0.25, 2 * phase**2, turn) - 0.125)
    linear = np.where((t >= linear_at)[:, np.newaxis], linear_by, 1.0) * LINEAR
    omegas = np.where((t >= nonlinear_at)[:, np.newaxis], np.asarray(nonlinear_by), 1.0) * OMEGAS
    y = linear[:, 0] * np.tanh(v / omegas[:, 0]) + linear[:, 1] * v * np.exp(-np.abs(v / omegas[:, 1]))
    y += linear[:, 2] * v + linear[:, 3] * q
    before = y[t < min(linear_at, nonlinear_at)]
    y = y + noise * np.sqrt(np.mean(before**2)) * np.random.default_rng(seed).standard_normal(len(t))
    return Case(
        rows_of(t, np.asarray(q, np.float64), np.asarray(v, np.float64), np.asarray(y, np.float64)), linear, omegas
    )


def rows_of(t: Floats, q: Floats, v: Floats, torque: Floats) -> Rows:
    """Rows of the friction-only model with exact regressors: arrays (rows,)."""
    model = FrictionOnlySettings().build()
    signals = np.zeros((len(t), 2, SIGNALS))
    signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = q
    signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = v
    signals[:, 1, VALUE] = signals[:, 1, SMOOTH] = torque
    phi, y = np.empty((len(t), 1, 4)), np.empty((len(t), 1))
    model.fill(signals, np.array(model.start), phi, y)
    samples = np.stack([v, q, torque], axis=1)[:, :, np.newaxis]
    return Rows(np.round(t * 1e9).astype(np.int64), phi, y, np.abs(v), samples)


def estimator(executor: Any = None, start: float = 12.0, **monitor: Any) -> Monitored:
    """The default monitor around the friction-only model."""
    model = FrictionOnlySettings().build()
    return Monitored(model, np.ones(1), 1, PERIOD, Alarm(), start, 0.01, Monitor(**monitor), executor)


def play(joint: Monitored, rows: Rows, step: int = 10) -> tuple[Floats, Floats, list[Event]]:
    """Times (s) and published values after every `step` rows: (instants,), (instants, 6); and the events."""
    times, values, events = [], [], []
    for first in range(0, len(rows.time), step):
        joint.absorb(rows.part(slice(first, first + step)))
        estimate = joint.estimate()
        times.append(estimate.time * 1e-9)
        values.append(estimate.values)
        events += joint.events()
    return np.array(times), np.array(values), events
