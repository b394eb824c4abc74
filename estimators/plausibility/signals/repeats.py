"""Values that are said more than once: by a sender that repeats frames, or a slow bus behind which values are held.

A frame with the same values as the one before says nothing new. Where the joint moves and noise is in the values that
happens by chance alone. Where it happens to every second frame (or more of them), frames are repeated if more arrive
than the rate says, else values are held. Where the torque is measured each time and only the position is held, its
steps tell: a position that stays for g − 1 frames and then moves by g + 1 of its smallest steps cannot have been
sampled with each of them, since it would have moved before; and one that moves by several steps in the frame before
and in the frame behind does not stay in the frame between.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.plausibility.signals.base import Frames, StreamFacts, distinct, unwrapped
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_layout import Flags

#: 1, argued: Share of frames that repeat all values of the one before, from which it is no chance.
REPEATED: Final = 0.4
#: 1, argued: Share of frames with other values without which the joint may just rest.
LIVELY: Final = 0.05
#: steps, argued: A channel that changes by this many of its smallest changes would show a new sample.
FINE: Final = 3.0
#: steps, argued: A position that moves by this many of its smallest steps before and behind a frame moves in it, too.
#: Noise would give it less than that more often than nothing at all.
FEW: Final = 3.5
#: 1, argued: Share of frames that halt from which values are held, twenty times what two clocks of one rate make.
HALTING: Final = 0.05
#: blocks, argued: Blocks with so many halts from which they are no accident of a tenth of a second.
HALTED: Final = 3
#: blocks, argued: Blocks in which those are counted, a second: at a turning point nothing moves fast enough.
BLOCKS: Final = 5
#: 1, argued: Frames arrive this many times faster than the rate says where they are repeated.
SURPLUS: Final = 1.25
#: frames, argued: Frames, and changes of a position, from which they are judged.
FEWEST: Final = 16
#: 1, argued: Share of frames that turn from new to repeated, or back, against those that are repeated: they alternate.
MOST: Final = 0.5
#: 1, argued: Share of changes that a sampled position could not make, from which it was not sampled; noise of some
#: steps of the encoder makes half of them, and the other half changes from one frame to the next.
NEARLY_ALL: Final = 0.9


class RepeatsValidator:
    """Tells frames that come more than once, and positions that are held."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._smallest = np.full(len(stream.positions), np.inf)  # rad (m), steps of each encoder
        self._halted = [deque[bool](maxlen=BLOCKS) for _ in stream.positions]  # of each encoder, block by block
        self._steps: Floats = np.zeros(0)  # smallest change of each channel

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        changed, same = frames.repeated
        count = len(same)
        if count < FEWEST:
            return None
        words = {"signal": self._stream.signal}
        lively = self._lively(np.abs(np.diff(frames.values, axis=0)), changed)
        if same.sum() >= REPEATED * count and _alternates(same) and lively:
            span = float(frames.arrivals[-1] - frames.arrivals[0])
            if count * self._stream.period > SURPLUS * span:
                return Reason("frames_repeated", None, {"percent": 100.0 * float(same.mean())}, words)
            return Reason("values_held", None, {"percent": 100.0 * float(same.mean())}, words)
        for number, place in enumerate(self._stream.positions):
            moved = unwrapped(np.diff(frames.values[:, place]), self._stream.wraps[number])
            share, halting = self._held(number, moved), self._halting(number, moved)
            self._halted[number].append(halting >= HALTING)
            if share >= NEARLY_ALL or sum(self._halted[number]) >= HALTED:
                share = max(share, halting)
                return Reason("values_held", None, {"percent": 100.0 * share}, words)
        return None

    def _lively(self, moved: Floats, changed: Flags) -> bool:
        """Whether a channel, a position if there is one, is too fine to stay the same by rounding."""
        if not len(self._steps):
            self._steps = np.full(moved.shape[1], np.inf)
        self._steps = np.min(moved, axis=0, initial=np.inf, where=moved > 0.0).clip(max=self._steps)
        if changed.sum() < LIVELY * len(changed):
            return False
        fine = np.asarray((moved[changed] >= FINE * self._steps).mean(axis=0))
        own = self._stream.positions or tuple(range(len(fine)))
        return bool(fine[list(own)].max() >= NEARLY_ALL)

    def _held(self, number: int, moved: Floats) -> float:
        """Share of changes of a position that it cannot have made if it was sampled each time."""
        changes = np.flatnonzero(np.nan_to_num(moved))
        if len(changes) == 0:
            return 0.0
        size = np.abs(moved[changes])
        self._smallest[number] = min(self._smallest[number], float(size.min()))
        if len(changes) < FEWEST:
            return 0.0
        waited = np.diff(changes)  # frames from change to change
        late = (waited > 1) & (size[1:] >= (waited + 0.5) * self._smallest[number])
        return float(late.mean())

    def _halting(self, number: int, moved: Floats) -> float:
        """Share of frames in which a position halts for just one of them, 0 where noise may make it."""
        few = FEW * self._smallest[number]
        before, within, behind = moved[:-2], np.abs(moved[1:-1]), moved[2:]
        passing = (np.minimum(np.abs(before), np.abs(behind)) >= few) & (before * behind > 0.0)
        halts = int((passing & (within == 0.0)).sum())
        return halts / len(moved) if halts > (passing & (within > 0.0) & (within < few)).sum() else 0.0


def _alternates(same: Flags) -> bool:
    """Whether frames repeat others again and again, not all in one piece, as those of a joint that comes to rest."""
    turns = int((same[1:] != same[:-1]).sum())
    return bool(turns >= MOST * same.sum())
