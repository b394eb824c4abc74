"""An encoder that freezes: it stops from one frame to the next, and says the same to the last bit from then on.

A joint has mass. From frame to frame its speed changes by no more than it ever does, which the largest second
difference of its position shows. An encoder that stops from an increment that is twice as large, and stays the same for
a while, or one that leaps that far after it has been the same, was frozen. At a low rate, or where steps of the encoder
are as large as increments, the bound is wide and nothing is said.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.plausibility.signals.base import Frames, StreamFacts, distinct, steps, unwrapped
from estimators.quantities import Floats
from estimators.reasons import Reason

#: s, argued: Time for which a frozen encoder says the same.
STILL: Final = 0.05
#: frames, argued: The same in frames.
FEWEST: Final = 8
#: 1, argued: A stop is none of the joint's from this many times its largest change of speed on.
SUDDEN: Final = 2.0
#: steps, derived: Rounding alone changes an increment by up to this many steps of the encoder.
ROUNDED: Final = 2.0
#: blocks, argued: Blocks over which the largest change of speed counts, 10 s.
REMEMBERED: Final = 50
#: frames, argued: Changes of speed without which nothing is known of it.
KNOWN: Final = 100


class FreezingValidator:
    """Tells an encoder that freezes."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._encoders = [
            _EncoderHistory(stream, place, wrap) for place, wrap in zip(stream.positions, stream.wraps, strict=True)
        ]

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        gaps = steps(frames, self._stream)
        late = np.rint(np.diff(frames.arrivals) / self._stream.period)
        apart = np.maximum(1.0, np.where(np.isfinite(gaps), gaps, late))
        frozen = [one.frozen(frames, apart) for one in self._encoders]
        return Reason("encoder_frozen", None, {}, {"signal": self._stream.signal}) if any(frozen) else None


class _EncoderHistory:
    """What one encoder has shown so far."""

    def __init__(self, stream: StreamFacts, place: int, wrap: float) -> None:
        self._place, self._wrap, self._fewest = place, wrap, max(FEWEST, round(STILL * stream.rate))
        self._bounds: deque[float] = deque([0.0], maxlen=REMEMBERED)  # largest change of speed, block by block
        self._known = 0  # changes of speed
        self._smallest = np.inf  # step
        self._run = 0  # frames for which it has been the same, up to the last one
        self._speed = 0.0  # a frame, before them
        self._frozen = False  # whether that stop was none of the joint's

    def frozen(self, frames: Frames, apart: Floats) -> bool:
        """Look at another block; returns whether it was frozen in it. apart: samples from frame to frame."""
        moved = np.abs(unwrapped(np.diff(frames.values[:, self._place]), self._wrap)) / apart
        if len(moved) < FEWEST or not np.isfinite(moved).all():
            self._run, self._frozen = 0, False
            return False
        count, moving = len(moved), np.flatnonzero(moved)
        self._smallest = np.min(moved, initial=self._smallest, where=moved > 0.0)
        begins, ends = np.append(-1, moving), np.append(moving, count)
        still = ends - begins - 1  # frames that say the same before each that moves, and behind the last
        still[0] += self._run
        before = np.append(self._speed, moved[moving])
        at_rest = np.flatnonzero((still >= self._fewest) | (ends == count))
        inside = np.abs(np.diff(moved))
        for one in at_rest:  # what is to be judged is no measure of itself
            inside[max(0, begins[one]) : begins[one] + 1] = inside[ends[one] - 1 : ends[one]] = 0.0
        bound = max(*self._bounds, float(inside.max(initial=0.0)), ROUNDED * self._smallest)
        limit = SUDDEN * bound if self._known >= KNOWN else np.inf
        found = False
        for one in at_rest:
            if still[one] < self._fewest:  # it may go on
                continue
            judged = one == 0 and self._run >= self._fewest  # in a block before
            frozen = self._frozen if judged else bool(before[one] > limit)
            leapt = ends[one] < count and moved[ends[one]] > limit
            self._frozen = frozen and ends[one] == count
            found = found or frozen or bool(leapt)
        self._run, self._speed = int(still[-1]), float(before[-1])
        if not found:
            unresolved = len(moving) > 0 and still[-1] < self._fewest
            changes = np.abs(np.diff(moved))[: moving[-1] if unresolved else None]
            self._bounds.append(float(changes.max(initial=0.0)))
            self._known += int(np.count_nonzero(changes))
        return found
