"""One compiled pass over the readings of a turn: sorts them by joint, then advances each joint until it stops.

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
from drivers.reading import words
from estimators.conditioning.stop import DONE, REVIEW
from estimators.numerics.jit import inline, kernel
from estimators.online.joint_pass import JointPassState, advance_readings, pass_on
from estimators.plausibility.signals.watch import any_is_full
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Function, Layout


class Readings(NamedTuple):
    """The readings of one joint in order of arrival."""

    times: Nanoseconds  # (readings,) ns of arrival
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples


class BesideState(Layout):
    """What a turn of one joint needs beside the pass where nothing is to be decided."""

    followers: FollowersState
    rows: RowsState
    attended: bool = True  # whether Python has to see every turn
    plain: bool = False  # whether nothing was to be decided in the last one


class RobotState(Layout):
    """The state of all joints of one robot, for the compiled pass."""

    joints: tuple[JointPassState, ...]  # in the sorter's order, as the next
    beside: tuple[BesideState, ...]
    advance: Function  # called by address: otherwise it would be compiled into this kernel once more
    present: int = 0  # joints that have readings in a turn
    latest: int = 0  # ns, last reading of all turns


class BatchPass:
    """Runs the pass for the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointPassState], beside: Sequence[BesideState]) -> None:
        """joints, beside: in the sorter's order."""
        self._sorter = sorter
        self._robot = RobotState(joints=tuple(joints), beside=tuple(beside), advance=advance_readings)

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, Readings]]:
        """Run the pass; yields (joint, its readings), joints that stopped for a review last.

        late: make only the last update of each joint.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _pass(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._robot,
        )  # fmt: skip
        for index, start, end in self._places(present):
            yield index, Readings(times[start:end], values[start:end], columns[start:end])

    def through_turns(
        self, readings: NDArray[np.void], ends: NDArray[np.int64], silence_due: Callable[[], int]
    ) -> Iterator[tuple[int, int, list[tuple[int, Readings]]]]:
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
                places = [one for one in self._places(robot.present) if not robot.beside[one[0]].plain]
                stopped = [(index, Readings(times[a:b], values[a:b], columns[a:b])) for index, a, b in places]
                yield turn, robot.latest, stopped
            turn += 1

    def _places(self, present: int) -> list[list[int]]:
        """Joint, first reading, and the one behind its last; joints that stopped for a review last."""
        joints = self._robot.joints
        return sorted(self._sorter.places[:present].tolist(), key=lambda one: _decides(joints[one[0]]))


def _decides(joint: JointPassState) -> bool:
    """Whether the joint stopped for a review, which takes as long as a dozen other joints."""
    return joint.estimator.stop == REVIEW


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
        joint.taken = 0
        joint.estimator.late = late
        pass_on(robot.advance, times[start:end], values[start:end], columns[start:end], joint)
    return int(present)


@inline
def _goes_on(joint: JointPassState, beside: BesideState) -> bool:
    """Do what a turn needs behind a pass that has used all readings; whether that was all."""
    state = joint.estimator
    if state.stop != DONE or any_is_full(joint.aligner):
        return False
    if joint.aligned and not follow_on(state.ticks, state.samples, state.count, beside.followers):
        return False
    note_rows(joint.arrival, state.preprocessing.former.newest, state.preprocessing.clipped, beside.rows)
    return True


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
            joint.taken = 0
            joint.estimator.late = False
            pass_on(robot.advance, times[begin:behind], values[begin:behind], columns[begin:behind], joint)
            beside.plain = not beside.attended and _goes_on(joint, beside)
            goes_on = goes_on and beside.plain
        if not goes_on:
            return turn
        start = end
    return len(ends)


_pass: Final = direct(_through)
_turns: Final = direct(_through_turns)
