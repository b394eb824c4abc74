"""The readings of a turn: sorted, and passed through all joints that have some, in one compiled pass."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.core.align import Sorter, sort
from drivers.reading import words
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, function, inner
from estimators.online.walk import FOUND, REVIEW, pass_on, walk
from estimators.quantities import Floats, Nanoseconds

WALK: Final = 0  # of the parcel of all joints: by address, for it would be compiled again in here


class Passed(NamedTuple):
    """What a pass has made of the readings of one joint."""

    found: Sequence[Sequence[int]]  # (2, FOUND), see estimators.online.walk
    times: Nanoseconds  # (readings,) ns of arrival, of all joints
    values: Floats  # (readings,) SI
    columns: NDArray[np.int32]  # (readings,) of the joint's samples
    own: slice  # those of this joint

    def readings(self) -> tuple[Nanoseconds, Floats, NDArray[np.int32]]:
        """Of this joint, in order of arrival."""
        return self.times[self.own], self.values[self.own], self.columns[self.own]


class Walk:
    """Over the joints of one robot."""

    def __init__(self, sorter: Sorter, joints: Sequence[Parcel]) -> None:
        """joints: in the order of the sorter's."""
        self._sorter, self._parcel = sorter, Parcel(parcels=joints, functions=[walk])
        self._found = np.zeros((len(joints), 2, FOUND), np.int64)

    def through(self, readings: NDArray[np.void], late: bool) -> Iterator[tuple[int, Passed]]:
        """Which joints have readings, and what became of them: first those that have nothing to decide.

        late: whether one update each is enough.
        """
        count, rows, sorter = len(readings), words(readings), self._sorter
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = _through(
            rows, rows.view(np.float64), sorter.joint, sorter.column, sorter.places, times, values, columns, late,
            self._parcel.table, self._found,
        )  # fmt: skip
        places, found = sorter.places[:present].tolist(), self._found[:present].tolist()
        for (joint, start, end), one in sorted(zip(places, found, strict=True), key=_decides):
            yield joint, Passed(one, times, values, columns, slice(start, end))


def _decides(passed: tuple[list[int], list[list[int]]]) -> bool:
    """Whether a review is to follow on what a joint's pass has found, which takes as long as a dozen other joints."""
    first, second = passed[1]
    return bool(first[REVIEW] or second[REVIEW])


def alone(times: Nanoseconds, values: Floats, columns: NDArray[np.int32], late: bool, joint: Parcel) -> Passed:
    """The same of one joint's readings."""
    found = np.empty((2, FOUND), np.int64)
    walk(times, values, columns, late, joint.table, found)
    return Passed(found.tolist(), times, values, columns, slice(None))


@kernel(
    "i8(Array(i8, 2, 'C', readonly=True), Array(f8, 2, 'C', readonly=True), i4[::1], i4[::1], i8[:, ::1], i8[::1], "
    f"f8[::1], i4[::1], b1, {TABLE}, i8[:, :, ::1])"
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
    table: Table,
    found: NDArray[np.int64],
) -> int:
    """Sort (see `sort`) and walk; returns how many joints there are; table: of all joints; found (joints, 2, FOUND)."""
    step = function(table, WALK)
    present = sort(rows, reals, joints, wanted, places, times, values, columns)
    for at in range(present):
        start, end = places[at, 1], places[at, 2]
        one = inner(table, places[at, 0])
        pass_on(step, times[start:end], values[start:end], columns[start:end], late, one, found[at])
    return int(present)
