"""Periodic trajectories of all joints as finite Fourier series, and whether they keep within the joints' limits.

    q(t) = q0 + Σ_l a_l/(l w) sin(l w t) − b_l/(l w) cos(l w t),   l = 1 … N          a, b in rad/s

Swevers et al., IEEE Trans. Robotics and Automation 13:730–740, 1997; Liu et al., Actuators 2023, 12, 454, (13)–(18).
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from estimators.quantities import Floats

FINER: Final = 10  # × the samples of the search, on which limits are verified
SAMPLES: Final = 200  # of a period, in the search


class TrajectoryLimits(NamedTuple):
    """Limits of every joint, (n,): rad, rad/s, rad/s² (m, m/s, m/s²)."""

    lower: Floats
    upper: Floats
    velocity: Floats
    acceleration: Floats


class TrajectoryMotion(NamedTuple):
    """Positions, velocities and accelerations, (rows, n)."""

    q: Floats
    dq: Floats
    ddq: Floats


class Fourier(NamedTuple):
    """A trajectory; n joints, N harmonics."""

    frequency: float  # Hz
    q0: Floats  # (n,) rad or m
    a: Floats  # (n, N) rad/s or m/s
    b: Floats  # (n, N)

    @property
    def period(self) -> float:
        """S."""
        return 1.0 / self.frequency

    def at(self, times: Floats) -> TrajectoryMotion:
        """The motion at these times (rows,), s."""
        q, dq, ddq = basis(self.frequency, self.a.shape[1], times)
        y = np.concatenate([self.a, self.b], axis=1).T
        return TrajectoryMotion(self.q0 + q @ y, dq @ y, ddq @ y)

    def grid(self, finer: int = 1) -> TrajectoryMotion:
        """Over one period."""
        count = SAMPLES * finer
        return self.at(np.arange(count) / count * self.period)


class LimitCheck(NamedTuple):
    """One limit of one joint, compared with what the motion does."""

    joint: int
    quantity: str  # "position", "velocity", "acceleration"
    reached: float  # the value nearest to the limit, or furthest beyond it
    limit: float
    excess: float  # beyond the limit; ≤ 0: inside

    @property
    def kept(self) -> bool:
        """Whether the motion keeps it (a NaN does not)."""
        return self.excess <= 0.0


def basis(frequency: float, harmonics: int, times: Floats) -> tuple[Floats, Floats, Floats]:
    """What a (first N columns) and b (the others) make of position, velocity, acceleration: (rows, 2 N) each."""
    order = 2 * np.pi * frequency * np.arange(1, harmonics + 1)
    phase = np.outer(times, order)
    s, c = np.sin(phase), np.cos(phase)
    q = np.concatenate([s, -c], axis=1) / np.tile(order, 2)
    return q, np.concatenate([c, s], axis=1), np.concatenate([-s, c], axis=1) * np.tile(order, 2)


def judge(motion: TrajectoryMotion, limits: TrajectoryLimits) -> list[LimitCheck]:
    """Every limit of every joint, by the motion's samples."""
    found = []
    for j in range(len(limits.lower)):
        low, high = motion.q[:, j].min(), motion.q[:, j].max()
        below = limits.lower[j] - low > high - limits.upper[j]
        reached, limit = (low, limits.lower[j]) if below else (high, limits.upper[j])
        excess = limits.lower[j] - low if below else high - limits.upper[j]
        found.append(LimitCheck(j, "position", float(reached), float(limit), float(excess)))
        for quantity, values, most in (
            ("velocity", motion.dq, limits.velocity),
            ("acceleration", motion.ddq, limits.acceleration),
        ):
            peak = float(np.abs(values[:, j]).max())
            found.append(LimitCheck(j, quantity, peak, float(most[j]), peak - float(most[j])))
    return found


def sampled(times: Floats, q: Floats, finer: int = FINER) -> TrajectoryMotion:
    """A trajectory of which only samples are known, on a finer grid; times (rows,) rising, q (rows, n)."""
    spline = CubicSpline(times, q)
    fine = np.interp(np.arange((len(times) - 1) * finer + 1) / finer, np.arange(len(times)), times)
    return TrajectoryMotion(spline(fine), spline(fine, 1), spline(fine, 2))


def joined(fourier: Fourier, rate: float, ramp: float, periods: int, home: Floats) -> tuple[Floats, TrajectoryMotion]:
    """The motion for a controller: from rest at home (n,) into it, some periods, and back to rest at home.

    rate: Hz; ramp: s. Returns times (rows,) from 0 and the motion.
    """
    count = round(periods * fourier.period * rate)
    middle = fourier.at(np.arange(count + 1) / rate)
    steps = round(ramp * rate)
    if steps == 0:
        return np.arange(count + 1) / rate, middle
    rise = _quintic(home, TrajectoryMotion(*(one[0] for one in middle)), steps, ramp)
    last = TrajectoryMotion(middle.q[-1], -middle.dq[-1], middle.ddq[-1])  # backwards in time
    fall = _quintic(home, last, steps, ramp)
    parts = [rise, middle, TrajectoryMotion(fall.q[::-1], -fall.dq[::-1], fall.ddq[::-1])]
    whole = TrajectoryMotion(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return np.arange(len(whole.q)) / rate, whole


def _quintic(home: Floats, end: TrajectoryMotion, steps: int, seconds: float) -> TrajectoryMotion:
    """Quintic from rest at home to a moving end, `steps` rows before it: six conditions, six coefficients."""
    t = seconds
    A = np.array([[t**3, t**4, t**5], [3 * t**2, 4 * t**3, 5 * t**4], [6 * t, 12 * t**2, 20 * t**3]])
    c = np.linalg.solve(A, np.array([end.q - home, end.dq, end.ddq]))
    s = (np.arange(steps) / steps * seconds)[:, np.newaxis]
    q = home + s**3 * c[0] + s**4 * c[1] + s**5 * c[2]
    dq = 3 * s**2 * c[0] + 4 * s**3 * c[1] + 5 * s**4 * c[2]
    return TrajectoryMotion(q, dq, 6 * s * c[0] + 12 * s**2 * c[1] + 20 * s**3 * c[2])
