"""Watches the frames of one joint before anything learns: asks every validator, and says which streams to refuse."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.alignment.frame_block import SPAN, is_full
from estimators.alignment.resampler import AlignerState, Stream
from estimators.numerics.jit import kernel
from estimators.plausibility.signals import VALIDATORS
from estimators.plausibility.signals.base import StreamFacts, StreamFrames
from estimators.reasons import Reason
from jointwatch_numba.direct import direct

#: blocks, argued: A stream is believed again after this many without a lie, a second.
CLEAN: Final = round(1.0 / SPAN)
#: ns, derived: The time of a whole block.
WHOLE: Final = round(SPAN * 1e9)
#: 1, argued: A block that lasted so many times longer holds a pause, which ends all joints' blocks at once.
PAUSE: Final = 2


class Look(NamedTuple):
    """What came of a look."""

    arrival: int  # ns, of the last frame that was looked at
    reasons: tuple[Reason, ...]  # why frames are refused from now on; (): they are not


class SignalWatch:
    """The validators of one joint's streams."""

    def __init__(
        self,
        aligner: AlignerState,
        roles: Sequence[str],
        signals: Sequence[str],
        limit: float = math.inf,
        first: float = 1.0,
    ) -> None:
        """aligner: of a resampler that keeps frames; roles: of its channels; signals: DRIVER.MESSAGE.SIGNAL of each;
        limit: N·m (N) from which a torque is left out in any case; first: share of a whole block that the first one is,
        so that joints that begin together are not all looked at together."""
        self._aligner, self._first = aligner, round(first * WHOLE)
        for one in aligner.streams:
            one.block.span = self._first
        streams = [_stream(stream, aligner, roles, signals)._replace(limit=limit) for stream in aligner.streams]
        self._watched = [_WatchedStream(stream, CLEAN) for stream in streams]

    @property
    def due(self) -> bool:
        """Whether a block of frames has to be looked at before another frame is taken."""
        return _look_is_due(self._aligner)

    def look(self) -> Look:
        """Look at every block that is full, and make room."""
        newest = 0
        for stream, watched in zip(self._aligner.streams, self._watched, strict=True):
            block = stream.block
            if not is_full(block):
                continue
            count = block.count
            block.count = 0
            block.span = WHOLE if block.arrivals[count - 1] - block.arrivals[0] < PAUSE * WHOLE else self._first
            newest = max(newest, int(block.arrivals[count - 1]))
            watched.look(StreamFrames(block.arrivals[:count], block.counters[:count], block.values[:count]))
        reasons = tuple(one.reason for one in self._watched if one.reason is not None)
        return Look(newest + self._aligner.origin, reasons)


class _WatchedStream:
    """One stream: its validators, and what the last of them to speak said."""

    def __init__(self, stream: StreamFacts, clean: int) -> None:
        self.reason: Reason | None = None
        self._validators = [kind(stream) for kind in VALIDATORS]
        self._last: StreamFrames | None = None  # the last frame of the look before
        self._needed, self._clean = clean, 0

    def look(self, frames: StreamFrames) -> None:
        """Look at another block of frames, which may be views of what will be written over."""
        last = self._last or frames.part(slice(0, 0))
        whole = StreamFrames(
            np.concatenate((last.arrivals, frames.arrivals)),
            np.concatenate((last.counters, frames.counters)),
            np.concatenate((last.values, frames.values)),
        )
        self._last = whole.part(slice(-1, None))
        with np.errstate(invalid="ignore", over="ignore"):  # values may be anything
            found = [reason for one in self._validators if (reason := one.look(whole)) is not None]
        if found:
            self.reason, self._clean = found[0], 0
            return
        self._clean += 1
        if self._clean >= self._needed:
            self.reason = None


def _stream(stream: Stream, aligner: AlignerState, roles: Sequence[str], signals: Sequence[str]) -> StreamFacts:
    """What is configured about one stream of an aligner."""
    own = [int(channel) for channel in stream.channels]
    clock = stream.clock
    places = [place for place, channel in enumerate(own) if roles[channel].endswith("position")]
    return StreamFacts(
        signal=signals[own[0]].rsplit(".", 1)[0],
        period=clock.period,
        modulo=clock.modulo,
        unit=clock.unit,
        positions=tuple(places),
        efforts=tuple(place for place, channel in enumerate(own) if roles[channel].endswith(("torque", "force"))),
        wraps=tuple(aligner.channels[own[place]].unwrapping.wrap for place in places),
    )


@kernel((AlignerState,))
def _any_is_full(aligner: AlignerState) -> bool:
    found = False
    for i in range(len(aligner.streams)):
        found = found or is_full(aligner.streams[i].block)
    return found


_look_is_due: Final = direct(_any_is_full)
