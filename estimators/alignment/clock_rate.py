"""How fast a device's clock runs against the host's: from the least lateness of a window of frames, but no queue's.

At the end of a window of 128 frames whose least lateness is m (see device_clock)

    σ ← 0.3 m / 128      ρ ← ρ + 0.04 m / (128 P)

More than P/2 in a window is no drift: frames wait in a queue, or the device paused. A queue drains: only where m was no
less for 1.5 s the device itself is late, and it is followed.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import (
    ARRIVED,
    BEHIND,
    DRIFT,
    EVENED,
    OFF,
    PACE,
    QUEUE,
    QUEUE_SINCE,
    SLEW,
    WINDOW_EVIDENCE,
    WINDOW_FRAMES,
    WINDOW_LEAST,
    WINDOW_MOST,
)
from estimators.numerics.jit import inline
from estimators.quantities import Floats

WINDOW: Final = 128  # frames
PROPORTIONAL: Final = 0.3  # the loop of window minima is critically damped with these
INTEGRAL: Final = 0.04
FASTEST_DRIFT: Final = 1e-3  # crystals differ by less than 1e-4
RESTART_AFTER: Final = 1.5e9  # ns
QUEUED: Final = 20e6  # ns of lateness, and of its change, that a queue explains, and no clock
MOST_DRIFTED: Final = 0.5  # periods that a window's least lateness may be off by drift: more is a queue, or a pause
EVIDENCE_FRAMES: Final = 8
FORGIVEN: Final = 0.05  # a frame, share of OFF: a device whose own period is another is not off for ever
REMEMBERED: Final = 1000.0  # frames that say where even ones would be
EVEN: Final = 2e-3  # periods off, up to which a frame is where it should be
YOUNG, SURE = 10.0, 100.0  # frames, before which none is believed to show another pace by a leap, and by its trend
MOST_PACE: Final = 0.1  # of the period
LEAP: Final = 0.5  # … from which sampling is not uneven: the clock leaps


@inline
def even(steps: float, step: int, floats: Floats) -> None:
    """Where a frame stands among even ones, `steps` periods and `step` frames behind the one before.

    With r = behind + steps − step·(1 + pace): behind ← (1 − α) r, and after SURE frames pace ← pace + ¼α² r, critically
    damped; α is one over the frames so far, at least one over REMEMBERED. Even frames have r = 0 and stay where they
    are. Where r leaps, the frame is the first of its kind, and what r has grown by is the pace.
    """
    floats[OFF] = (1.0 - FORGIVEN) * (steps + floats[OFF] - step * (1.0 + floats[PACE]))
    apart = floats[BEHIND] + steps - step * (1.0 + floats[PACE])
    if abs(apart) > LEAP:
        if floats[EVENED] > YOUNG:
            floats[PACE] = min(max(floats[PACE] + apart / floats[EVENED], -MOST_PACE), MOST_PACE)
        floats[BEHIND], floats[EVENED] = 0.0, 1.0
        return
    floats[EVENED] = min(floats[EVENED] + 1.0, REMEMBERED)
    share = 1.0 / floats[EVENED]
    floats[BEHIND] = (1.0 - share) * apart
    if floats[EVENED] > SURE:
        floats[PACE] += 0.25 * share * share * apart


@inline
def gather(late: float, integers: NDArray[np.int64], floats: Floats) -> None:
    """One more frame of the window, whose lateness is decided."""
    integers[WINDOW_FRAMES] += 1
    floats[WINDOW_LEAST] = min(floats[WINDOW_LEAST], late)
    floats[WINDOW_MOST] = max(floats[WINDOW_MOST], late)


@inline
def learn(period: float, integers: NDArray[np.int64], floats: Floats) -> None:
    """Follow the window's least lateness; a window has eight frames that were not queued behind others."""
    if integers[WINDOW_FRAMES] >= WINDOW and integers[WINDOW_EVIDENCE] >= EVIDENCE_FRAMES:
        least, arrival = floats[WINDOW_LEAST], floats[ARRIVED]
        if least <= MOST_DRIFTED * period:
            floats[QUEUE] = 0.0
        elif floats[QUEUE] == 0.0 or (not stands(arrival, floats) and least < floats[QUEUE] - MOST_DRIFTED * period):
            floats[QUEUE], floats[QUEUE_SINCE] = least, arrival
        queued = least > QUEUED and floats[WINDOW_MOST] - least > QUEUED
        if queued or least > RESTART_AFTER or (floats[QUEUE] > 0.0 and not stands(arrival, floats)):
            floats[SLEW] = 0.0
            open_window(integers, floats)
            return
        floats[SLEW] = PROPORTIONAL * floats[WINDOW_LEAST] / WINDOW
        drift = floats[DRIFT] + INTEGRAL * floats[WINDOW_LEAST] / (WINDOW * period)
        floats[DRIFT] = min(max(drift, -FASTEST_DRIFT), FASTEST_DRIFT)
        open_window(integers, floats)


@inline
def stands(arrival: float, floats: Floats) -> bool:
    """Whether frames are late for so long, and no less so, that no queue explains it: the device itself is late."""
    return bool(floats[QUEUE] > 0.0 and arrival - floats[QUEUE_SINCE] > RESTART_AFTER)


@inline
def open_window(integers: NDArray[np.int64], floats: Floats) -> None:
    integers[WINDOW_FRAMES] = integers[WINDOW_EVIDENCE] = 0
    floats[WINDOW_LEAST], floats[WINDOW_MOST] = np.inf, -np.inf
