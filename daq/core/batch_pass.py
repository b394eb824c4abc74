"""One compiled pass over the readings of a turn: sorts them by joint, then advances each joint until it stops."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.core.align import Sorter, sort
from drivers.reading import words
from estimators.conditioning.stop import REVIEW
from estimators.numerics.jit import kernel
from estimators.online.joint_pass import JointPassState, advance_readings, pass_on
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Function, Layout


class Readings(NamedTuple):
    """The readings of one joint in order of arrival."""

    times: Nanoseconds  # (readings,) ns of arrival
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples


class RobotState(Layout):
    """The state of all joints of one robot, for the compiled pass."""

    joints: tuple[JointPassState, ...]  # in the sorter's order
    advance: Function  # called by address: otherwise it would be compiled into this kernel once more


class BatchPass:
    """Runs the pass for the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[JointPassState]) -> None:
        """joints: in the sorter's order."""
        self._sorter, self._robot = sorter, RobotState(joints=tuple(joints), advance=advance_readings)

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
        joints = self._robot.joints
        for index, start, end in sorted(sorter.places[:present].tolist(), key=lambda one: _decides(joints[one[0]])):
            yield index, Readings(times[start:end], values[start:end], columns[start:end])


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


_pass: Final = direct(_through)
