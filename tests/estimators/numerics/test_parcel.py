"""Arrays of a parcel are those that a kernel writes, and nothing else goes into one."""

import gc

import numpy as np
import pytest

from estimators.models.friction.base import fill_law
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import (
    TABLE,
    Parcel,
    Table,
    cube,
    flags,
    function,
    integer_matrix,
    integers,
    matrix,
    vector,
)
from estimators.quantities import Axis


@kernel(f"f8({TABLE})")
def _write(table: Table) -> float:
    one, other = vector(table, 0), vector(table, 1)
    other[2] += one[0]
    matrix(table, 0)[1, 2] = other[2] + len(other)
    cube(table, 0)[1, 0, 3] = matrix(table, 0).shape[0]
    integers(table, 0)[1] += 5
    integer_matrix(table, 0)[0, 1] = cube(table, 0).shape[2]
    flags(table, 0)[1] = True
    return float(one[0] + other[2])


@pytest.mark.interpreted
def test_what_a_kernel_writes_is_in_the_arrays() -> None:
    one, other, a, b = np.array([0.5]), np.arange(4.0), np.zeros((2, 3)), np.zeros((2, 2, 4))
    c, d, e = np.arange(2), np.zeros((2, 2), np.int64), np.zeros(2, np.bool_)
    parcel = Parcel([one, other], [a], [b], [c], [d], [e])
    assert _write(parcel.table) == 3.0
    assert (other[2], a[1, 2], b[1, 0, 3], c[1], d[0, 1], e.tolist()) == (2.5, 6.5, 2.0, 6, 4, [False, True])
    assert not a[0].any(), "and nothing beside"


@kernel(f"void(f8[:, :, ::1], f8[:, ::1], {TABLE})")
def _call(signals: np.ndarray, columns: np.ndarray, table: Table) -> None:
    fill_law(function(table, 1), signals, 0, 0, vector(table, 0), vector(table, 1), columns[:, 1:])


@pytest.mark.interpreted
def test_a_function_is_called_where_it_lies() -> None:
    law = ViscousCoulombSettings(transition=0.1).law(Axis.ROTARY)
    other = ViscousCoulombSettings(viscous=False).law(Axis.ROTARY)
    parcel = Parcel([law.constants, law.start], functions=[_write, law.kernel, other.kernel])
    signals, columns, expected = np.random.default_rng(1).normal(size=(5, 1, 5)), np.zeros((5, 3)), np.zeros((5, 2))
    law.fill(signals, 0, 0, law.start, expected)
    _call(signals, columns, parcel.table)
    assert np.array_equal(columns[:, 1:], expected)
    assert not columns[:, 0].any()


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "other",
    [np.zeros(3, np.float32), np.zeros((3, 1)), np.zeros(6)[::2], np.broadcast_to(np.zeros(1), 3)],
    ids=["dtype", "dimensions", "gaps", "read-only"],
)
def test_arrays_of_another_kind_are_refused(other: np.ndarray) -> None:
    with pytest.raises(TypeError, match="expected 1-d f8, contiguous, writable"):
        Parcel([other])


@pytest.mark.interpreted
def test_a_parcel_holds_its_arrays() -> None:
    def made() -> Parcel:
        return Parcel([np.array([0.5]), np.zeros(1 << 16)], [np.zeros((2, 3))], [np.zeros((2, 2, 4))],
                      [np.zeros(2, np.int64)], [np.zeros((2, 2), np.int64)], [np.zeros(2, np.bool_)])  # fmt: skip

    parcel = made()
    gc.collect()
    rest = [np.full(1 << 16, 7.0) for _ in range(8)]  # where freed memory would be handed out again
    assert _write(parcel.table) == 1.0
    assert all((one == 7.0).all() for one in rest)
