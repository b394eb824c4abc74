"""One compiled pass over the readings of a turn: sorts them by joint, then advances each joint until it stops.

A turn is one round of the core's loop: the new readings of all joints are processed. A joint stops where Python has to
act, and the pass returns for each joint which task that is.

Most turns are uneventful: nothing has to be decided for the joint, and an update that is due differs from the last one
only in its numbers. In such a turn the pass also does the work that Python would do around it: it gives the samples to
their followers, lets the validators check the frames, and computes when the next update is due. Only the update itself
is made in Python.

A replay has all its readings from the start, and passes the readings of many turns at once. The pass processes them up
to a turn in which a joint has a task. The results are the same as if each turn had been passed alone.
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
from estimators.online.joint_pass import EstimatorState, JointPassState, advance_readings, run_pass
from estimators.online.reporting.report import is_sound
from estimators.plausibility.signals.watch import WatchesState, any_is_full, look, look_at_full
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Function, Layout, Vector

# Tasks: what Python has to do for a joint after the pass
NOTHING: Final = 0
REPEATED_UPDATE: Final = 1  # make an update that differs from the last one only in its numbers
DECISION: Final = 2  # handle the stop of the joint
LONG_DECISION: Final = 3  # handle a stop that is a review, which takes as long as a dozen other joints


class Readings(NamedTuple):
    """The readings of one joint in order of arrival."""

    times: Nanoseconds  # (readings,) ns of arrival
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) column of the joint's samples


NO_READINGS: Final = Readings(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int32))


class UneventfulTurn(Layout):
    """The state with which the pass finishes an uneventful turn of one joint without Python."""

    followers: FollowersState
    rows: RowsState
    due: NextDue
    watches: WatchesState
    last_sample: int = 0  # ns, time of the last sample given to the followers in this turn; 0: none
    needs_python: bool = True  # whether every turn must be handled in Python
    # The next update may repeat the last one with new numbers only if all of the following hold:
    may_repeat: bool = False  # nothing has been decided since the last update
    last_resting: bool = False  # the joint was at rest at the last update; it must be so again
    last_changes: int = 0  # number of changes of parameter states at the last update; it must be the same
    summary_due: int = 0  # ns, time of the sample at which a summary is due; it is not reached yet
    comparison_due: int = 0  # ns, time of the row at which a comparison with the baseline is due; it is not reached yet
    last_doubted: bool = False  # whether the last update gave reasons to doubt its values; then also …
    last_judged: Vector  # … the values that were judged must still be these


class RobotState(Layout):
    """The state of all joints of one robot, for the compiled pass."""

    joints: tuple[JointPassState, ...]  # in the order of the sorter
    uneventful: tuple[UneventfulTurn, ...]  # in the same order
    # Both are called by address; otherwise they would be compiled into this kernel again
    advance: Function  # processes readings of one joint up to its next stop
    look: Function  # lets the validators of one joint check its frames
    present: int = 0  # number of joints with readings in the turn
    latest: int = 0  # ns, time of the last reading of all turns


class BatchPass:
    """Runs the pass for the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointPassState], uneventful: Sequence[UneventfulTurn]) -> None:
        """joints, uneventful: in the order of the sorter."""
        self._sorter = sorter
        self._robot = RobotState(
            joints=tuple(joints), uneventful=tuple(uneventful), advance=advance_readings, look=look_at_full
        )

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, int, Readings]]:
        """Run the pass over the readings of one turn.

        Yields for every joint with readings its number, its task, and its readings if the task is a decision. Joints
        with a long decision come last. late: whether only the last of several updates of a joint is made.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _pass(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._robot,
        )  # fmt: skip
        for index, start, end, task in self._places(present):
            if task < DECISION:
                yield index, task, NO_READINGS
            else:
                yield index, task, Readings(times[start:end], values[start:end], columns[start:end])

    def through_turns(
        self, readings: NDArray[np.void], ends: NDArray[np.int64], silence_due: Callable[[], int]
    ) -> Iterator[tuple[int, int, list[tuple[int, int, Readings]]]]:
        """Run the pass over the readings of many turns.

        Yields for every turn in which a joint has a task: the number of the turn, the time of the last reading so far
        (ns), and for each joint with a task the values that `through` yields. ends: (turns,) index of the reading after
        each turn; silence_due: ns from which silent joints are checked: a turn that reaches it is yielded in any case.
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
                    (index, task, Readings(times[start:end], values[start:end], columns[start:end]))
                    for index, start, end, task in self._places(robot.present)
                    if task != NOTHING
                ]
                yield turn, robot.latest, stopped
            turn += 1

    def _places(self, present: int) -> list[list[int]]:
        """Return [number, first reading, reading after the last, task] of each joint; long decisions come last."""
        return sorted(self._sorter.places[:present].tolist(), key=_takes_long)


def _takes_long(place: list[int]) -> bool:
    return place[3] == LONG_DECISION


@inline
def _may_repeat_update(state: EstimatorState, uneventful: UneventfulTurn) -> bool:
    """Whether the due update differs from the last one only in its numbers, and nothing else is due with it."""
    if not uneventful.may_repeat or state.resting != uneventful.last_resting:
        return False
    if uneventful.last_doubted:
        if not is_sound(state.report):
            return False
        for i in range(len(uneventful.last_judged)):
            if uneventful.last_judged[i] != state.report.judged.values[i]:
                return False
    elif not state.certain:
        return False
    if state.report.judged.changes != uneventful.last_changes:
        return False
    for channel in range(len(state.preprocessing.ranges.reported)):
        if state.preprocessing.ranges.reported[channel] > 0:  # values out of range are reported, so the update differs
            return False
    return state.intervals.tick < uneventful.summary_due and 0 < state.learning.time < uneventful.comparison_due


@inline
def _feed_followers(joint: JointPassState, uneventful: UneventfulTurn) -> bool:
    """Give the samples that the pass has just aligned to the followers; returns whether they were accepted."""
    state = joint.estimator
    if not joint.aligned:
        return True
    if not follow_on(state.ticks, state.samples, state.count, uneventful.followers):
        return False
    joint.aligned = False
    if state.count > 0:
        uneventful.last_sample = state.ticks[state.count - 1]
    return True


@inline
def _advance_joint(
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    joint: JointPassState,
    uneventful: UneventfulTurn,
    robot: RobotState,
) -> int:
    """Run the pass over the readings of one joint, and continue after the validators have found no fault in its frames.

    Returns the task for Python. Unless the task is a decision, everything else in this turn has been done.
    """
    state = joint.estimator
    joint.taken, uneventful.last_sample = 0, 0
    run_pass(robot.advance, times, values, columns, joint)
    if state.stop == REVIEW:
        return LONG_DECISION
    if uneventful.needs_python:
        return DECISION
    note_rows(joint.arrival, state.preprocessing.former.newest, state.preprocessing.clipped, uneventful.rows)
    while (state.stop == DRAIN or state.stop == DONE) and not joint.full and any_is_full(joint.aligner):
        if not _feed_followers(joint, uneventful):
            return DECISION
        look(robot.look, joint.aligner, uneventful.watches)
        if uneventful.watches.speaks:
            return DECISION
        uneventful.watches.looked = False
        if state.stop == DONE:
            break
        run_pass(robot.advance, times, values, columns, joint)
    if state.stop == REVIEW:
        return LONG_DECISION
    if state.stop != DONE and (state.stop != INTERVAL or state.more or not _may_repeat_update(state, uneventful)):
        return DECISION
    if not _feed_followers(joint, uneventful):
        return DECISION
    foresee(uneventful.last_sample, joint, uneventful.due)
    return NOTHING if state.stop == DONE else REPEATED_UPDATE


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
    """Sort the readings of a turn and advance each joint to its first stop; returns the number of joints with readings.

    The task of each joint is written into the last column of `places`, see daq.core.align.sort.
    """
    present = sort(rows, reals, joints, wanted, places, times, values, columns)
    for at in range(present):
        start, end = places[at, 1], places[at, 2]
        joint = robot.joints[places[at, 0]]
        joint.estimator.late = late
        uneventful = robot.uneventful[places[at, 0]]
        places[at, 3] = _advance_joint(
            times[start:end], values[start:end], columns[start:end], joint, uneventful, robot
        )
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
    """Process turns from number `first` up to one in which a joint has a task; returns the number of that turn.

    ends: (turns,) index of the reading after each turn. Readings are sorted as in daq.core.align.sort.
    """
    start = ends[first - 1] if first > 0 else 0
    for turn in range(first, len(ends)):
        end = ends[turn]
        robot.latest = max(robot.latest, rows[end - 1, 0])
        robot.present = sort(rows[start:end], reals[start:end], joints, wanted, places, times, values, columns)
        no_task = robot.latest < silence_due
        for at in range(robot.present):
            begin, behind = places[at, 1], places[at, 2]
            joint, uneventful = robot.joints[places[at, 0]], robot.uneventful[places[at, 0]]
            joint.estimator.late = False
            places[at, 3] = _advance_joint(
                times[begin:behind], values[begin:behind], columns[begin:behind], joint, uneventful, robot
            )
            no_task = no_task and places[at, 3] == NOTHING
        if not no_task:
            return turn
        start = end
    return len(ends)


_pass: Final = direct(_through)
_turns: Final = direct(_through_turns)
