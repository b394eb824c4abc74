"""An encoder that leaps: in one frame it is somewhere else, and goes on from there as before.

A joint that moved so far in one frame would have moved many times faster than it ever did, for that frame alone. Behind
a hole in the arrivals the way counts for all the frames that the hole has room for. A
single wild value comes back in the next frames and is left out elsewhere (conditioning/spikes.py); an encoder that
starts again, is set to zero or loses a turn stays where it leapt to, and what was learnt of the weight is wrong there.
"""

import math
from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import StreamFacts, StreamFrames, distinct, moved
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason

#: 1, argued: A leap is this many times the largest way that the encoder ever went in one frame: frames that were lost
#: without a counter, or held for a while, make smaller ones.
FARTHER: Final = 40.0
#: frames, argued: Frames before and behind a leap in which the encoder moves as ever.
QUIET: Final = 8
#: blocks, argued: Blocks over which the largest way counts, a minute: joints rest in between.
REMEMBERED: Final = 300
#: frames, argued: Ways from frame to frame without which nothing is known of them.
KNOWN: Final = 200
#: 1, argued: A leap is of a whole turn to this share of it: what the joint itself moves in a frame is far less.
WHOLE: Final = 0.02
#: s, argued: Time in which leaps of whole turns are left to the look at mistakes of a configuration, which is made near
#: the end of a start and says that the position wraps; twelve seconds of motion and rests between them.
LOOKED: Final = 60.0


class LeapValidator:
    """Tells an encoder that leaps and stays there."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._farthest = [deque[float](maxlen=REMEMBERED) for _ in stream.positions]  # rad (m), in one frame, by block
        self._smallest = np.full(len(stream.positions), np.inf)  # rad (m), steps of each encoder
        self._known = np.zeros(len(stream.positions), np.int64)  # ways that were not zero
        self._seen = 0  # frames
        self._values: Floats = np.zeros((0, 0))  # of frames in which a leap could not be judged yet, …
        self._came: Nanoseconds = np.zeros(0, np.int64)  # … and when these arrived

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        values, came = frames.values, frames.arrivals
        if len(self._came):
            values, came = np.concatenate((self._values, values[1:])), np.concatenate((self._came, came[1:]))
        self._values, self._came = frames.values[-2 * QUIET :], frames.arrivals[-2 * QUIET :]
        self._seen += len(frames.arrivals) - 1
        leapt = False
        for number, place in enumerate(self._stream.positions):
            known = self._known[number] >= KNOWN
            farthest = max(self._farthest[number], default=0.0)
            found, largest, self._smallest[number], count = _leap(
                values, came, self._stream.period, place, self._stream.wraps[number], farthest, self._smallest[number],
                known,
            )  # fmt: skip
            self._farthest[number].append(largest)
            self._known[number] += count
            turned = abs(found - 2.0 * math.pi) < WHOLE * 2.0 * math.pi
            if turned and self._seen > LOOKED * self._stream.rate:
                return Reason("position_wraps", None, {"jumps": 1.0})
            leapt = leapt or (found > 0.0 and not turned)
        return Reason("encoder_leaps", None, {}, {"signal": self._stream.signal}) if leapt else None


@kernel("Tuple((f8, f8, f8, i8))(f8[:, ::1], i8[::1], f8, i8, f8, f8, f8, b1)")
def _leap(
    values: Floats,
    came: Nanoseconds,
    period: float,
    place: int,
    wrap: float,
    farthest: float,
    smallest: float,
    known: bool,
) -> tuple[float, float, float, int]:
    """How far an encoder leaps once in these frames, 0: it does not; its largest other way, its smallest, their number.

    values: (frames, channels); came: (frames,) ns; period: ns;
    farthest: rad (m), in frames before; known: whether there were enough of them.
    """
    ways = np.abs(moved(values, place, wrap))
    n, count, largest, second, at = len(ways), 0, 0.0, 0.0, -1
    for i in range(n):
        ways[i] /= max(1.0, (came[i + 1] - came[i]) / period)
        if not np.isfinite(ways[i]):
            return 0.0, 0.0, smallest, 0
        if ways[i] > 0.0:
            count += 1
            smallest = min(smallest, ways[i])
        if ways[i] > largest:
            largest, second, at = ways[i], largest, i
        else:
            second = max(second, ways[i])
    if not known or at < 0 or largest <= FARTHER * max(max(farthest, second), smallest):
        return 0.0, largest, smallest, count
    return largest if QUIET <= at < n - QUIET else 0.0, second, smallest, count
