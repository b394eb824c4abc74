"""One compiled pass over the readings of a turn: sorts them by joint, then advances each joint until it stops.

In most turns a joint makes an update that says what the last one said, with other numbers, and nothing is to be
decided. Then the pass does all that is to be done but the update itself.

A replay has its readings beforehand, and hands over those of many turns. The pass goes through them until a turn in
which anything is to be decided for a joint; what follows that turn is the same as if each had come alone.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.core.align import Sorter, sort
from daq.core.followers.joint_silence import RowsState, note_rows
from daq.core.followers.sample_followers import FollowersState, follow_on
from daq.core.next_due import NextDue, foresee
from drivers.reading import words
from estimators.conditioning.stop import DONE, DRAIN, INTERVAL, REVIEW
from estimators.numerics.jit import inline, kernel
from estimators.online.joint_pass import EstimatorState, JointPassState, advance_readings, pass_on
from estimators.online.reporting.report import is_sound
from estimators.plausibility.signals.watch import WatchesState, any_is_full, look, look_at_full
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Function, Layout, Vector

# what is left to be done in Python for a joint
NOTHING: Final = 0
UPDATE: Final = 1  # that says what the last one did
DECISION: Final = 2
REVIEWED: Final = 3  # a decision that takes as long as a dozen other joints


class Readings(NamedTuple):
    """The readings of one joint in order of arrival."""

    times: Nanoseconds  # (readings,) ns of arrival
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples


NONE: Final = Readings(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int32))


class BesideState(Layout):
    """What a turn of one joint needs beside the pass where nothing is to be decided."""

    followers: FollowersState
    rows: RowsState
    due: NextDue
    watches: WatchesState
    last: int = 0  # ns, of the last sample that was given to the followers in this turn; 0: none
    attended: bool = True  # whether Python has to see every turn
    # an update says the same as the last one, …
    repeats: bool = False  # … if it may
    resting: bool = False  # … while the joint rests as it did then
    changes: int = 0  # … and so many states have changed
    summary_due: int = 0  # ns, … before this sample, with which a summary is due
    comparison_due: int = 0  # ns, … and before this row, which is compared
    doubted: bool = False  # whether it gives reasons against its values, …
    judged: Vector  # … which hold while these are the values that were judged last


class RobotState(Layout):
    """The state of all joints of one robot, for the compiled pass."""

    joints: tuple[JointPassState, ...]  # in the sorter's order, as the next
    beside: tuple[BesideState, ...]
    advance: Function  # called by address: otherwise it would be compiled into this kernel once more, as the next
    look: Function
    present: int = 0  # joints that have readings in a turn
    latest: int = 0  # ns, last reading of all turns


class BatchPass:
    """Runs the pass for the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointPassState], beside: Sequence[BesideState]) -> None:
        """joints, beside: in the sorter's order."""
        self._sorter = sorter
        self._robot = RobotState(
            joints=tuple(joints), beside=tuple(beside), advance=advance_readings, look=look_at_full
        )

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, int, Readings]]:
        """Run the pass; yields of every joint that has some its number, what is left to be done, and the readings where
        that is a decision; joints that stopped for a review last.

        late: make only the last update of each joint.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _pass(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._robot,
        )  # fmt: skip
        for index, start, end, left in self._places(present):
            if left < DECISION:
                yield index, left, NONE
            else:
                yield index, left, Readings(times[start:end], values[start:end], columns[start:end])

    def through_turns(
        self, readings: NDArray[np.void], ends: NDArray[np.int64], silence_due: Callable[[], int]
    ) -> Iterator[tuple[int, int, list[tuple[int, int, Readings]]]]:
        """Run the pass over turns; yields those in which anything is to be decided: turn, ns of the last reading so
        far, and of the joints concerned what `through` yields.

        ends: (turns,) number of the reading behind each; silence_due: ns from which silences are looked for.
        """
        count, rows, sorter, robot = len(readings), words(readings), self._sorter, self._robot
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        turn = 0
        while turn < len(ends):
            turn = _turns(
                rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, ends,
                turn, silence_due(), robot,
            )  # fmt: skip
            if turn < len(ends):
                stopped = [
                    (index, left, Readings(times[start:end], values[start:end], columns[start:end]))
                    for index, start, end, left in self._places(robot.present)
                    if left != NOTHING
                ]
                yield turn, robot.latest, stopped
            turn += 1

    def _places(self, present: int) -> list[list[int]]:
        """Joint, first reading, the one behind its last, what is left to be done; joints that stopped for a review
        last."""
        return sorted(self._sorter.places[:present].tolist(), key=_is_reviewed)


def _is_reviewed(place: list[int]) -> bool:
    return place[3] == REVIEWED


@inline
def _repeats(state: EstimatorState, beside: BesideState) -> bool:
    """Whether the update that is due says what the last one did, and nothing else is due with it."""
    if not beside.repeats or state.resting != beside.resting:
        return False
    if beside.doubted:
        if not is_sound(state.report):
            return False
        for i in range(len(beside.judged)):
            if beside.judged[i] != state.report.judged.values[i]:
                return False
    elif not state.certain:
        return False
    if state.report.judged.changes != beside.changes:
        return False
    for channel in range(len(state.preprocessing.ranges.reported)):
        if state.preprocessing.ranges.reported[channel] > 0:  # its values are wrong: that is said
            return False
    return state.intervals.tick < beside.summary_due and 0 < state.learning.time < beside.comparison_due


@inline
def _follow(joint: JointPassState, beside: BesideState) -> bool:
    """Give samples that the last pass has aligned to the followers; returns whether they took them."""
    state = joint.estimator
    if not joint.aligned:
        return True
    if not follow_on(state.ticks, state.samples, state.count, beside.followers):
        return False
    joint.aligned = False
    if state.count > 0:
        beside.last = state.ticks[state.count - 1]
    return True


@inline
def _take(
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    joint: JointPassState,
    beside: BesideState,
    robot: RobotState,
) -> int:
    """Run the pass over the readings of a joint, and past looks at its frames that have nothing to say.

    Returns what is left to be done; where that is no decision, all else has been done that a turn needs.
    """
    state = joint.estimator
    joint.taken, beside.last = 0, 0
    pass_on(robot.advance, times, values, columns, joint)
    if state.stop == REVIEW:
        return REVIEWED
    if beside.attended:
        return DECISION
    note_rows(joint.arrival, state.preprocessing.former.newest, state.preprocessing.clipped, beside.rows)
    while (state.stop == DRAIN or state.stop == DONE) and not joint.full and any_is_full(joint.aligner):
        if not _follow(joint, beside):
            return DECISION
        look(robot.look, joint.aligner, beside.watches)
        if beside.watches.speaks:
            return DECISION
        beside.watches.looked = False
        if state.stop == DONE:
            break
        pass_on(robot.advance, times, values, columns, joint)
    if state.stop == REVIEW:
        return REVIEWED
    if state.stop != DONE and (state.stop != INTERVAL or state.more or not _repeats(state, beside)):
        return DECISION
    if not _follow(joint, beside):
        return DECISION
    foresee(beside.last, joint, beside.due)
    return NOTHING if state.stop == DONE else UPDATE


@kernel(
    (
        *("Array(i8, 2, 'C', readonly=True)", "Array(f8, 2, 'C', readonly=True)", "i4[::1]", "i4[::1]", "i8[:, ::1]"),
        *("i8[::1]", "f8[::1]", "i4[::1]", "b1", RobotState),
    )
)
def _through(
    rows: NDArray[np.int64],
    reals: Floats,
    joints: NDArray[np.int32],
    wanted: NDArray[np.int32],
    places: NDArray[np.int64],
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    late: bool,
    robot: RobotState,
) -> int:
    """Sort the readings and advance each joint to its first stop; returns how many joints have readings."""
    present = sort(rows, reals, joints, wanted, places, times, values, columns)
    for at in range(present):
        start, end = places[at, 1], places[at, 2]
        joint = robot.joints[places[at, 0]]
        joint.estimator.late = late
        beside = robot.beside[places[at, 0]]
        places[at, 3] = _take(times[start:end], values[start:end], columns[start:end], joint, beside, robot)
    return int(present)


@kernel(
    (
        *("Array(i8, 2, 'C', readonly=True)", "Array(f8, 2, 'C', readonly=True)", "i4[::1]", "i4[::1]", "i8[:, ::1]"),
        *("i8[::1]", "f8[::1]", "i4[::1]", "i8[::1]", "i8", "i8", RobotState),
    )
)
def _through_turns(
    rows: NDArray[np.int64],
    reals: Floats,
    joints: NDArray[np.int32],
    wanted: NDArray[np.int32],
    places: NDArray[np.int64],
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    ends: NDArray[np.int64],
    first: int,
    silence_due: int,
    robot: RobotState,
) -> int:
    """Take turns from the first on up to one in which anything is to be decided; returns its number."""
    start = ends[first - 1] if first > 0 else 0
    for turn in range(first, len(ends)):
        end = ends[turn]
        robot.latest = max(robot.latest, rows[end - 1, 0])
        robot.present = sort(rows[start:end], reals[start:end], joints, wanted, places, times, values, columns)
        goes_on = robot.latest < silence_due
        for at in range(robot.present):
            begin, behind = places[at, 1], places[at, 2]
            joint, beside = robot.joints[places[at, 0]], robot.beside[places[at, 0]]
            joint.estimator.late = False
            places[at, 3] = _take(
                times[begin:behind], values[begin:behind], columns[begin:behind], joint, beside, robot
            )
            goes_on = goes_on and places[at, 3] == NOTHING
        if not goes_on:
            return turn
        start = end
    return len(ends)


_pass: Final = direct(_through)
_turns: Final = direct(_through_turns)
