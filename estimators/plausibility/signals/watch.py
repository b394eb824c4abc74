"""Watches the frames of one joint before anything learns: asks every validator, and says which streams to refuse."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.alignment.frame_block import SPAN, FrameBlock, is_full
from estimators.alignment.resampler import AlignerState, Stream
from estimators.numerics.jit import inline, kernel
from estimators.plausibility.signals import VALIDATORS
from estimators.plausibility.signals.base import Facts, FramesState, StreamFacts, frames_of, take
from estimators.plausibility.signals.counter import CounterState, is_irregular
from estimators.plausibility.signals.dead_zone import DeadZoneState, skips_small
from estimators.plausibility.signals.dropouts import DropoutState, drops_out
from estimators.plausibility.signals.freezing import FreezingState, freezes
from estimators.plausibility.signals.leaps import LeapState, leaps
from estimators.plausibility.signals.order import OrderState, turns_back
from estimators.plausibility.signals.rate import RateState, is_off
from estimators.plausibility.signals.repeats import RepeatsState, come_again
from estimators.plausibility.signals.torque_flat import FlatState, stays
from estimators.plausibility.signals.torque_held import TorqueHeldState, repeats_some
from estimators.reasons import Reason
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Flags, Layout, by_address

#: blocks, argued: A stream is believed again after this many without a lie, a second.
CLEAN: Final = round(1.0 / SPAN)
#: ns, derived: The time of a whole block.
WHOLE: Final = round(SPAN * 1e9)
#: 1, argued: A block that lasted so many times longer holds a pause, which ends all joints' blocks at once.
PAUSE: Final = 2


class WatchState(Layout):
    """What kernels know of one stream, and have found in its last look."""

    facts: Facts
    whole: FramesState  # that are looked at
    own: FramesState  # of them, those that the counter does not show to be there already
    counter: CounterState
    repeats: RepeatsState
    order: OrderState
    rate: RateState
    freezing: FreezingState
    leap: LeapState
    torque_held: TorqueHeldState
    torque_flat: FlatState
    dead_zone: DeadZoneState
    dropouts: DropoutState
    speaks: Flags  # (validators,) whether each of VALIDATORS may have something to say
    any_speaks: bool = False
    looked: bool = False  # whether the stream's block was full


class WatchesState(Layout):
    """What kernels know of the streams of one joint."""

    first: int  # ns of the first block
    streams: tuple[WatchState, ...]
    newest: int = 0  # ns on the aligner's clock, last frame of the last look
    speaks: bool = False  # whether any validator may have something to say of it
    looked: bool = False  # whether a look has been made that was not followed


STATES: Final = (
    *("counter", "repeats", "order", "rate", "freezing", "leap"),
    *("torque_held", "torque_flat", "dead_zone", "dropouts"),
)  # of VALIDATORS, in the same order


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
        self._watched = [_WatchedStream(stream) for stream in streams]
        self.state = WatchesState(first=self._first, streams=tuple(one.state for one in self._watched))

    @property
    def due(self) -> bool:
        """Whether a block of frames has to be looked at before another one is taken, or a look is to be followed."""
        return self.state.looked or _look_is_due(self._aligner)

    def look(self) -> Look:
        """Look at every block that is full, and make room; or follow what the pass has looked at."""
        state = self.state
        if not state.looked:
            _look(self._aligner, state)
        state.looked = False
        for stream in self._watched:
            stream.follow()
        reasons = tuple(one.reason for one in self._watched if one.reason is not None)
        return Look(state.newest + self._aligner.origin, reasons)


class _WatchedStream:
    """One stream: its validators, and what the last of them to speak said."""

    def __init__(self, stream: StreamFacts) -> None:
        self.reason: Reason | None = None
        self._validators = [kind(stream) for kind in VALIDATORS]
        self.state = WatchState(
            facts=Facts.of(stream),
            whole=frames_of(stream),
            own=frames_of(stream),
            speaks=np.zeros(len(VALIDATORS), np.bool_),
            **{name: one.state for name, one in zip(STATES, self._validators, strict=True)},
        )
        self._clean = 0  # blocks

    def follow(self) -> None:
        """Take what a look has found."""
        state = self.state
        if not state.looked or not (state.any_speaks or self.reason is not None):
            return
        with np.errstate(invalid="ignore", over="ignore"):  # values may be anything
            found = [one for at in np.flatnonzero(state.speaks) if (one := self._reason_of(int(at))) is not None]
        if found:
            self.reason, self._clean = found[0], 0
            return
        self._clean += 1
        if self._clean >= CLEAN:
            self.reason = None

    def _reason_of(self, at: int) -> Reason | None:
        """What a validator says; that of counters is about all frames."""
        frames = self.state.whole if at == 0 else self.state.own
        return self._validators[at].reason(frames.as_frames())


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
        channels=len(own),
        room=len(stream.block.arrivals) + 1,
    )


@inline
def _look_at(block: FrameBlock, state: WatchState) -> None:
    """Ask all validators, in the order of VALIDATORS; what they look at stays until the next look."""
    facts, own, speaks = state.facts, state.own, state.speaks
    take(block, facts, state.whole, own)
    speaks[0] = is_irregular(state.whole, facts, state.counter)
    speaks[1] = come_again(own, facts, state.repeats)
    speaks[2] = turns_back(own, facts, state.order)
    speaks[3] = is_off(own, facts, state.rate)
    speaks[4] = freezes(own, facts, state.freezing)
    speaks[5] = leaps(own, facts, state.leap)
    speaks[6] = repeats_some(own, facts, state.torque_held)
    speaks[7] = stays(own, facts, state.torque_flat)
    speaks[8] = skips_small(own, facts, state.dead_zone)
    speaks[9] = drops_out(own, facts, state.dropouts)
    state.any_speaks = bool(speaks.any())


@kernel((AlignerState, WatchesState))
def look_at_full(aligner: AlignerState, watches: WatchesState) -> None:
    """Look at every block that is full, and empty it."""
    watches.newest, watches.speaks, watches.looked = 0, False, True
    for i in range(len(watches.streams)):
        block, watch = aligner.streams[i].block, watches.streams[i]
        watch.looked = is_full(block)
        if not watch.looked:
            continue
        _look_at(block, watch)
        begin, end = block.arrivals[0], block.arrivals[block.count - 1]
        block.count = 0
        block.span = WHOLE if end - begin < PAUSE * WHOLE else watches.first
        watches.newest = max(watches.newest, end)
        watches.speaks = watches.speaks or watch.any_speaks


@inline
def any_is_full(aligner: AlignerState) -> bool:
    """Whether a block of frames has to be looked at before another frame is taken."""
    found = False
    for i in range(len(aligner.streams)):
        found = found or is_full(aligner.streams[i].block)
    return found


@kernel((AlignerState,))
def _any_is_full(aligner: AlignerState) -> bool:
    return any_is_full(aligner)


_look_is_due: Final = direct(_any_is_full)
_look: Final = direct(look_at_full)
look: Final = by_address("void", AlignerState, WatchesState)  # within a kernel: `look_at_full`, by its address
