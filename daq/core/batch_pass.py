"""The readings of a turn: sorted, and taken by all joints that have some, in one compiled pass up to a stop of each."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.core.align import Sorter, sort
from drivers.reading import words
from estimators.conditioning.stop import REVIEW
from estimators.numerics.jit import kernel
from estimators.online.joint_pass import JointState, advance_readings, pass_on
from estimators.quantities import Floats, Nanoseconds
from jointwatch_layout import Function, Layout


class Readings(NamedTuple):
    """Of one joint, in order of arrival."""

    times: Nanoseconds  # (readings,) ns of arrival
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples


class RobotState(Layout):
    """All joints of one robot."""

    joints: tuple[JointState, ...]  # in the order of the sorter's
    advance: Function  # by address, for it would be compiled again in here


class BatchPass:
    """Over the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointState]) -> None:
        """joints: in the order of the sorter's."""
        self._sorter, self._robot = sorter, RobotState(joints=tuple(joints), advance=advance_readings)

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, Readings]]:
        """Which joints have readings, each gone on with up to its first stop: first those with nothing to decide.

        late: whether one update each is enough.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _through(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._robot,
        )  # fmt: skip
        joints = self._robot.joints
        for index, start, end in sorted(sorter.places[:present].tolist(), key=lambda one: _decides(joints[one[0]])):
            yield index, Readings(times[start:end], values[start:end], columns[start:end])


def _decides(joint: JointState) -> bool:
    """Whether a review is to follow, which takes as long as a dozen other joints."""
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
    """Sort (see `sort`) and go on with each joint; returns how many joints there are."""
    present = sort(rows, reals, joints, wanted, places, times, values, columns)
    for at in range(present):
        start, end = places[at, 1], places[at, 2]
        joint = robot.joints[places[at, 0]]
        joint.taken = 0
        joint.estimator.late = late
        pass_on(robot.advance, times[start:end], values[start:end], columns[start:end], joint)
    return int(present)
