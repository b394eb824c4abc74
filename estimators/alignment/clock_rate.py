"""How fast a device's clock runs against the host's: from the least lateness of a window of frames, but no queue's.

At the end of a window of 128 frames whose least lateness is m (see device_clock)

    σ ← 0.3 m / 128      ρ ← ρ + 0.04 m / (128 P)

More than P/2 in a window is no drift: frames wait in a queue, or the device paused. A queue drains: only where m was no
less for 1.5 s the device itself is late, and it is followed.
"""

from typing import Final

import numpy as np

from estimators.alignment.clock_state import ClockState
from estimators.numerics.jit import inline
from estimators.thresholds import GAP

#: frames, tuned: Frames of which the least late one moves the clock: origin not recorded.
WINDOW: Final = 128
#: 1, derived: Proportional gain of the loop on window minima; critically damped with INTEGRAL.
PROPORTIONAL: Final = 0.3
#: 1, derived: Integral gain of the loop on window minima; critically damped with PROPORTIONAL.
INTEGRAL: Final = 0.04
#: 1, argued: Largest relative drift of a clock; crystals differ by less than 1e-4.
FASTEST_DRIFT: Final = 1e-3
#: ns, argued: A lateness that lasts this long is a new clock and no queue (decision 011).
RESTART_AFTER: Final = 1.5e9
#: ns, argued: Lateness, and change of it, from which a queue explains it and no clock.
QUEUED: Final = 20e6
#: periods, argued: Drift within one window at most; a window whose least lateness is off by more saw a queue or a pause
#: (decision 011).
MOST_DRIFTED: Final = 0.5
#: frames, argued: Frames in a window whose place is certain, without which it does not move the clock.
EVIDENCE_FRAMES: Final = 8
#: 1, argued: Share of the offset that is forgotten with each frame, so that a device whose own period differs is not
#: off for ever.
FORGIVEN: Final = 0.05
#: frames, tuned: Frames that the line through the device's stamps remembers (decision 014, point 8: the last
#: thousand).
REMEMBERED: Final = 1000.0
#: periods, argued: Stamps that are off by less are even, and move nothing.
EVEN: Final = 2e-3
#: frames, argued: A line through fewer frames does not believe a leap to show another pace.
YOUNG: Final = 10.0
#: frames, argued: A line through fewer frames does not believe a trend to show another pace.
SURE: Final = 100.0
#: 1, argued: Largest deviation of a device's pace from the configured period; more is a wrong configuration.
MOST_PACE: Final = 0.1


@inline
def even(steps: float, step: int, clock: ClockState) -> None:
    """Where a frame stands among even ones, `steps` periods and `step` frames after the one before.

    With r = behind + steps − step·(1 + pace): behind ← (1 − α) r, and after SURE frames pace ← pace + ¼α² r, critically
    damped; α is one over the frames so far, at least one over REMEMBERED. Even frames have r = 0 and stay where they
    are. Where r leaps, the frame is the first of its kind, and what r has grown by is the pace.
    """
    clock.off = (1.0 - FORGIVEN) * (steps + clock.off - step * (1.0 + clock.pace))
    apart = clock.behind + steps - step * (1.0 + clock.pace)
    if abs(apart) > GAP:
        if clock.evened > YOUNG:
            clock.pace = min(max(clock.pace + apart / clock.evened, -MOST_PACE), MOST_PACE)
        clock.behind, clock.evened = 0.0, 1.0
        return
    clock.evened = min(clock.evened + 1.0, REMEMBERED)
    share = 1.0 / clock.evened
    clock.behind = (1.0 - share) * apart
    if clock.evened > SURE:
        clock.pace += 0.25 * share * share * apart


@inline
def gather(late: float, clock: ClockState) -> None:
    """One more frame of the window, whose lateness is decided."""
    clock.window_frames += 1
    clock.window_least = min(clock.window_least, late)
    clock.window_most = max(clock.window_most, late)


@inline
def learn(clock: ClockState) -> None:
    """Follow the window's least lateness; a window has eight frames that were not queued behind others."""
    if clock.window_frames >= WINDOW and clock.window_evidence >= EVIDENCE_FRAMES:
        least, arrival, period = clock.window_least, clock.arrival, clock.period
        if least <= MOST_DRIFTED * period:
            clock.queue = 0.0
        elif clock.queue == 0.0 or (not stands(arrival, clock) and least < clock.queue - MOST_DRIFTED * period):
            clock.queue, clock.queue_since = least, arrival
        queued = least > QUEUED and clock.window_most - least > QUEUED
        if queued or least > RESTART_AFTER or (clock.queue > 0.0 and not stands(arrival, clock)):
            clock.slew = 0.0
            open_window(clock)
            return
        clock.slew = PROPORTIONAL * least / WINDOW
        drift = clock.drift + INTEGRAL * least / (WINDOW * period)
        clock.drift = min(max(drift, -FASTEST_DRIFT), FASTEST_DRIFT)
        open_window(clock)


@inline
def stands(arrival: float, clock: ClockState) -> bool:
    """Whether frames are late for so long, and no less so, that no queue explains it: the device itself is late."""
    return clock.queue > 0.0 and arrival - clock.queue_since > RESTART_AFTER


@inline
def open_window(clock: ClockState) -> None:
    """Begin another window, without a frame."""
    clock.window_frames = clock.window_evidence = 0
    clock.window_least, clock.window_most = np.inf, -np.inf
