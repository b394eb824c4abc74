"""A recording of a whole robot as rows: one time for all joints, one zero-phase filter for position and torque.

Position and torque go through the same low-pass (Butterworth of order 4, forwards and backwards), speed and
acceleration are the filtered position's; whatever is not linear in the motion is formed at the full rate and then goes
through that low-pass too. Where the recording has a gap it is cut: nothing is filtered across. Rows follow at 50 Hz,
but for the first and last 0.3 s, in which the low-pass has not settled (to 0.3 %). Rows that were sent twice
count once.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning.repeated_rows import without_repeats
from estimators.numerics.splines import cubic_spline, zero_phase_low_pass
from estimators.quantities import Floats

CUTOFF: Final = 8.0  # Hz
ORDER: Final = 4
RATE: Final = 50.0  # Hz, of rows
# Hz, of the path that friction follows: half a sample of a reversal at 30 rad/s² is 0.1 mrad, its smallest stop
FINE: Final = 200.0
LOWEST_RATE: Final = 2.5 * CUTOFF  # Hz, of a recording: below it the low-pass cannot be made
UNEVEN: Final = 0.01  # relative, by which the median step of even samples may be off
FASTEST: Final = 1e-6  # s between two samples, at least
GAP: Final = 5.0  # median steps, and at least GAP_SECONDS, after which a recording is cut
GAP_SECONDS: Final = 0.1
EDGE: Final = 0.3  # s at either end of a piece that give no rows
SHORTEST: Final = 1.0  # s of a piece that is worth rows
CLOSEST: Final = 0.1  # median steps between two samples: what comes sooner has a wrong stamp


class MotionError(Exception):
    """A recording that cannot be used; `problems` holds every mistake, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class Piece(NamedTuple):
    """Part of a recording without gaps, filtered, at its full rate: (samples, n) each."""

    rate: float  # Hz
    q: Floats
    dq: Floats
    ddq: Floats
    tau: Floats
    at: Floats  # (rows,) where the rows sit, in samples
    time: Floats  # (rows,) s, on the recording's clock
    twist: Floats  # (samples, n) first encoder − second, filtered; 0 where there is no second
    noise: Floats  # (n,) rad/s (m/s) deviation of dq by what the low-pass leaves of the encoder's noise and steps

    @property
    def row_rate(self) -> float:
        """Rows a second."""
        return min(self.rate, RATE)

    def rows(self, values: Floats) -> Floats:
        """Filtered values (samples, …) at the rows' instants."""
        low = np.minimum(self.at.astype(np.int64), len(values) - 2)
        part = (self.at - low).reshape(-1, *(1,) * (values.ndim - 1))
        if not part.any():
            return np.asarray(values[low])
        return np.asarray(cubic_spline(np.arange(len(values)), values)(self.at))

    @property
    def finer(self) -> int:
        """How many steps of the friction's path go into one sample."""
        return math.ceil(FINE / self.rate * (1.0 - UNEVEN))

    def between(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Position, speed, acceleration and twist at the samples, and where these are few between them, too."""
        if self.finer == 1:
            return self.q, self.dq, self.ddq, self.twist
        grid = np.arange(len(self.q), dtype=np.float64)
        at = np.linspace(0.0, grid[-1], (len(grid) - 1) * self.finer + 1)
        path = cubic_spline(grid, self.q)
        twist = cubic_spline(grid, self.twist)(at)
        return path(at), path(at, 1) * self.rate, path(at, 2) * self.rate**2, np.asarray(twist)

    def filtered(self, values: Floats) -> Floats:
        """Values (samples, …) through the same low-pass as position and torque."""
        return low_pass(values, self.rate)


def pieces(time: Floats, q: Floats, tau: Floats, words: str = "", link: Floats | None = None) -> list[Piece]:
    """The pieces of one recording: time (samples,) s, q (samples, n) rad or m, tau (samples, n) N·m or N.

    link: (samples, n) of second encoders, all NaN where there is none. Raises MotionError where time does not advance,
    nothing moves, or nothing long enough is left; `words` goes before.
    """
    twist = np.zeros_like(q) if link is None else np.where(np.isnan(link).all(axis=0), 0.0, q - link)
    finite = np.isfinite(time) & np.isfinite(np.hstack([q, tau, twist])).all(axis=1)
    time, q, tau, twist = time[finite], q[finite], tau[finite], twist[finite]
    problems = clock_problems(time)
    if problems:
        raise MotionError([f"{words}{problem}" for problem in problems])
    step = float(np.median(np.diff(time)[np.diff(time) > 0]))
    fresh = np.concatenate([[True], np.diff(time) > CLOSEST * step])
    time, q, tau, twist = time[fresh], q[fresh], tau[fresh], twist[fresh]
    time, once = without_repeats(time, q, np.hstack([tau, twist]))
    time, q, tau, twist = time[once], q[once], tau[once], twist[once]
    parts, gap = _without_gaps(time)
    if not parts:
        raise MotionError([f"{words}found no {SHORTEST:g} s without a gap of {gap:.3g} s"])
    return [_piece(time[part], q[part], tau[part], twist[part]) for part in parts]


def _without_gaps(time: Floats) -> tuple[list[NDArray[np.int64]], float]:
    """Samples of each part that is long enough, and s between two that are a gap. time: (samples,) s, rising."""
    steps = np.diff(time)
    gap = max(GAP * float(np.median(steps)), GAP_SECONDS)
    parts = np.split(np.arange(len(time)), np.flatnonzero(steps > gap) + 1)
    return [part for part in parts if len(part) > 1 and time[part[-1]] - time[part[0]] >= SHORTEST], gap


def clock_problems(time: Floats) -> list[str]:
    """Why the times (samples,) s of samples that are whole cannot be those of a motion, in words."""
    if len(time) < 2:
        return [f"found {len(time)} samples with every channel in them"]
    problems = []
    steps = np.diff(time)
    still = int((steps == 0).sum())
    if (steps < 0).any():
        problems.append(running_backwards(time))
    if still > 0.5 * len(steps):
        problems.append(f"time stands still: {still} of {len(steps)} samples have the time of the one before")
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else np.nan
    if 1.0 / step < LOWEST_RATE * (1.0 - UNEVEN):
        problems.append(
            f"expected at least {LOWEST_RATE:g} samples a second, found {1.0 / step:.3g}: is the time in s? (A slower "
            f"recording does not hold motion up to {CUTOFF:g} Hz, which friction has at a reversal)"
        )
    elif step < FASTEST:
        problems.append(f"found {1.0 / step:.3g} samples a second: is the time in s?")
    return problems


def running_backwards(time: Floats) -> str:
    """Times (samples,) s that run backwards, in words."""
    first, back = int(np.argmax(np.diff(time) < 0)), int((np.diff(time) < 0).sum())
    times = "once, from" if back == 1 else f"{back} times, first from"
    return (
        f"time runs backwards {times} {time[first]:.6g} s to {time[first + 1]:.6g} s: several runs in one file, or a "
        "clock that was set? Cut it there into files of their own"
    )


def _piece(time: Floats, q: Floats, tau: Floats, twist: Floats) -> Piece:
    """The piece on an even grid of time, filtered."""
    seconds = time[-1] - time[0]
    rate = (len(time) - 1) / seconds
    grid = np.linspace(time[0], time[-1], len(time))
    if np.abs(grid - time).max() > 1e-6 / rate:
        # through the samples at their own times: straight lines would bend a slow recording's motion
        q, tau, twist = (np.asarray(cubic_spline(time, one)(grid)) for one in (q, tau, twist))
    raw, q, tau = q, low_pass(q, rate), low_pass(tau, rate)
    twist = low_pass(twist, rate) if twist.any() else twist
    spline = cubic_spline(np.arange(float(len(grid))), q)
    at = np.arange(np.ceil(EDGE * rate), len(grid) - 1 - EDGE * rate, max(rate / RATE, 1.0))
    nearest = np.round(at)
    if np.abs(at - nearest).max() < 0.05:  # samples of the recording themselves
        at = np.minimum(nearest, len(grid) - 1.0)
    knots = np.arange(len(grid), dtype=np.float64)
    dq, ddq = spline(knots, 1) * rate, spline(knots, 2) * rate**2
    return Piece(rate, q, dq, ddq, tau, at, time[0] + at / rate, twist, _noise(raw - q, rate))


def _noise(left: Floats, rate: float) -> Floats:
    """Deviation of the filtered speed by noise that is white, of which the low-pass has `left` (samples, n): (n,).

    A share CUTOFF/(rate/2) of its power passes, and a rate of change weights it by (2π f)², on average (2π CUTOFF)²/3.
    """
    passed = min(CUTOFF / (0.5 * rate), 0.9)
    return np.asarray(left.std(axis=0) * np.sqrt(passed / (1.0 - passed) / 3.0) * 2.0 * np.pi * CUTOFF)


def low_pass(values: Floats, rate: float) -> Floats:
    """Values (samples, …) at `rate` Hz, forwards and backwards."""
    return zero_phase_low_pass(values, ORDER, CUTOFF, rate, padding=min(len(values) - 1, int(rate)))
