"""A torque that stays the same to the last bit while the joint moves: it froze, is switched off, or is clipped.

A measured torque of many steps changes from frame to frame. One that stays for long while its joint turns is no
measurement; one that reaches the same value again and again, stays there, and returns to where it came from is cut
off there.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import (
    BlockHistory,
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    history,
    moved,
    note,
    total,
)
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Layout

#: s, argued: Time for which a frozen torque stays: longer than a drive gives its largest torque in a usual move.
FROZEN: Final = 0.6
#: s, argued: Time for which a clipped torque stays each time.
CLIPPED: Final = 0.02
#: frames, argued: The same in frames: noise does not keep a torque for so long.
FEWEST: Final = 8
#: runs, argued: Stays at one value after the first, from which that is a limit: no fine torque has one value twice.
RUNS: Final = 1
#: blocks, argued: Blocks in which they are counted, 5 s.
REMEMBERED: Final = 25
#: 1, argued: Share of frames whose torque changes, of one that is measured.
NEARLY_ALL: Final = 0.9
#: 1, argued: Share of the frames for which a torque stays in which a joint moves that is in motion.
HALF: Final = 0.5
#: frames, argued: Frames without which nothing is known of a torque.
KNOWN: Final = 200


class StaysState(Layout):
    """State of one torque."""

    clipped: BlockHistory  # how often it stayed where it did the time before, by block
    known: int = 0  # frames
    changed: int = 0  # of them, those that changed the torque
    run: int = 0  # frames for which it has been the same, up to the last one, …
    moving: int = 0  # … and those in which the joint moved
    came: float = 0.0  # N·m (N), before them
    top: float = np.nan  # N·m (N), where it last stayed and fell again, …
    bottom: float = np.nan  # … and where it last stayed and rose again
    limit: float = 0.0  # the one of them that was last confirmed
    stays: int = 0  # how often it stayed where it did the time before
    frozen: bool = False


class FlatState(Layout):
    """State of one stream."""

    longest: int  # frames for which a frozen torque stays
    clipped: int  # frames for which a clipped one stays
    torques: tuple[StaysState, ...]
    frozen: bool = False  # whether it is a frozen torque that was found
    value: float = 0.0  # N·m (N), where it stays


class FlatTorqueValidator:
    """Tells a torque that stays although the joint moves."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words = {"signal": stream.signal}
        self.state = FlatState(
            longest=round(FROZEN * stream.rate),
            clipped=max(FEWEST, round(CLIPPED * stream.rate)),
            torques=tuple(StaysState(clipped=history(REMEMBERED)) for _ in stream.efforts),
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        value = self.state.value
        if self.state.frozen:
            return Reason("torque_frozen", None, {"value": value}, self._words)
        return Reason("torque_clipped", None, {"limit": abs(value)}, self._words)


@inline
def stays(frames: FramesState, facts: Facts, state: FlatState) -> bool:
    """Whether a torque stays the same although the joint moves."""
    count = frames.count
    if len(facts.positions) == 0 or count < 2:
        return False
    values, ways = frames.values[:count], np.zeros(count - 1)
    for number in range(len(facts.positions)):
        _note_onward(values, facts.positions[number], facts.wraps[number], ways)
    for number in range(len(state.torques)):
        torque, place = state.torques[number], facts.efforts[number]
        before = torque.stays
        _stays(torque, values, place, ways, state.longest, state.clipped, facts.limit)
        note(torque.stays - before, torque.clipped)
        state.frozen = torque.frozen
        state.value = values[count - 1, place] if torque.frozen else torque.limit
        if torque.frozen or total(torque.clipped) >= RUNS:
            return True
    return False


@inline
def _note_onward(values: Floats, place: int, wrap: float, ways: Floats) -> None:
    """Raise ways (frames − 1,) to how far an encoder goes on in the direction of its way before.

    What turns at every frame is noise.
    """
    own, before = moved(values, place, wrap), 0.0
    for i in range(len(own)):
        if own[i] != 0.0:
            if np.sign(own[i]) == np.sign(before) or before == 0.0:
                ways[i] = max(ways[i], abs(own[i]))
            before = own[i]


@inline
def _stays(
    state: StaysState, values: Floats, place: int, ways: Floats, longest: int, clipped: int, limit: float
) -> None:
    """Go through a block. ways: (frames − 1,) of the joint; longest, clipped: frames; limit: that is known, N·m (N)."""
    state.frozen = False
    measured = state.changed >= NEARLY_ALL * state.known and state.known >= KNOWN
    for i in range(1, len(values)):
        before, now = values[i - 1, place], values[i, place]
        if not np.isfinite(before) or not np.isfinite(now):
            state.run = state.moving = 0
            continue
        if now == before:
            state.run += 1
            state.moving += ways[i - 1] != 0.0
            state.known += state.run < clipped
            lasts = measured and state.run >= longest and state.moving >= HALF * state.run
            state.frozen = state.frozen or (lasts and abs(now) < limit)
            continue
        if measured and state.run >= clipped and state.moving >= HALF * state.run and abs(before) < limit:
            if state.came < before and now < before:
                state.stays += before == state.top
                state.limit = state.top = before
            elif state.came > before and now > before:
                state.stays += before == state.bottom
                state.limit = state.bottom = before
        state.run = state.moving = 0
        state.came = before
        state.changed += 1
        state.known += 1
