"""The readings of a turn: sorted, and passed through all joints that have some, in one compiled pass."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.core.align import Sorter, sort
from drivers.reading import words
from estimators.numerics.jit import kernel
from estimators.online.walk import JointState, pass_on, walk
from estimators.quantities import Floats, Nanoseconds
from jointwatch_layout import Function, Layout


class Passed(NamedTuple):
    """What a pass has made of the readings of one joint."""

    joint: JointState  # what was found, see estimators.online.walk
    times: Nanoseconds  # (readings,) ns of arrival, of all joints
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples
    own: slice  # those of this joint

    def readings(self) -> tuple[Nanoseconds, Floats, NDArray[np.int32]]:
        """Of this joint, in order of arrival."""
        return self.times[self.own], self.values[self.own], self.columns[self.own]


class RobotState(Layout):
    """All joints of one robot."""

    joints: tuple[JointState, ...]  # in the order of the sorter's
    walk: Function  # by address, for it would be compiled again in here


class Walk:
    """Over the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointState]) -> None:
        """joints: in the order of the sorter's."""
        self._sorter, self._robot = sorter, RobotState(joints=tuple(joints), walk=walk)

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, Passed]]:
        """Which joints have readings, and what became of them: first those that have nothing to decide.

        late: whether one update each is enough.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _through(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._robot,
        )  # fmt: skip
        joints = self._robot.joints
        passed = [
            (index, Passed(joints[index], times, values, columns, slice(start, end)))
            for index, start, end in sorter.places[:present].tolist()
        ]
        yield from sorted(passed, key=_decides)


def _decides(one: tuple[int, Passed]) -> bool:
    """Whether a review is to follow on what a joint's pass has found, which takes as long as a dozen other joints."""
    joint = one[1].joint
    return joint.found.review or joint.beyond.review


def alone(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], late: bool, joint: JointState
) -> Passed:  # fmt: skip
    """What a pass makes of one joint's readings."""
    walk(times, values, columns, late, joint)
    return Passed(joint, times, values, columns, slice(None))


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
    """Sort (see `sort`) and walk; returns how many joints there are."""
    present = sort(rows, reals, joints, wanted, places, times, values, columns)
    for at in range(present):
        start, end = places[at, 1], places[at, 2]
        joint = robot.joints[places[at, 0]]
        pass_on(robot.walk, times[start:end], values[start:end], columns[start:end], late, joint)
    return int(present)
