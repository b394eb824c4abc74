"""A layout is one object for kernels and Python: what either writes the other reads, and nothing else fits into it."""

import copy
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated

import numpy as np
import pytest

from jointwatch_numba.jit import INTERPRETED, inline, kernel
from jointwatch_numba.layout import (
    Cube,
    Flags,
    Function,
    IntegerMatrix,
    Integers,
    Layout,
    Matrix,
    Own,
    Scratch,
    Vector,
    by_address,
    own_as,
)
from jointwatch_numba.layout import copy as copy_layout
from jointwatch_numba.matrix import Floats, as_matrix, as_vector

pytestmark = pytest.mark.interpreted


class Inner(Layout):
    """Two lengths that are one."""

    count: int
    values: Annotated[Vector, "count"]
    square: Annotated[Matrix, "count", "count"]
    work: Scratch[Annotated[Vector, "count"]]
    factor: float = 1.0
    seen: bool = False


class Other(Layout):
    """Something that only its own kernel knows."""

    sums: Vector
    times: int


class All(Layout):
    """Every kind of field."""

    one: Inner
    several: tuple[Inner, ...]
    anything: Own
    call: Function
    cube: Annotated[Cube, "a", "b", "3"]
    integers: Integers
    integer_matrix: IntegerMatrix
    flags: Flags


as_other = own_as(Other)
add_to: object = by_address("f8", Own, "f8")


@kernel((Layout, "f8"))
def add(own: Own, number: float) -> float:
    other = as_other(own)
    other.times += 1
    other.sums[1] += number
    return float(other.sums[1])


@inline
def _scale(inner: Inner) -> None:
    inner.seen = not inner.seen
    for i in range(inner.count):
        inner.values[i] *= inner.factor
        inner.square[i, 0] = inner.values[i]


@kernel((All, "f8"))
def work(everything: All, number: float) -> float:
    everything.one.factor = number
    _scale(everything.one)
    for i in range(len(everything.several)):
        _scale(everything.several[i])
    everything.cube[1, 0, 2] = everything.cube.shape[0]
    everything.integers[1] += 5
    everything.integer_matrix[0, 1] = len(everything.several)
    everything.flags[1] = True
    return float(add_to(everything.call, everything.anything, number))  # type: ignore[operator]


def inner(count: int, factor: float = 2.0) -> Inner:
    return Inner(
        count=count, values=np.arange(1.0, count + 1.0), square=np.zeros((count, count)), work=np.zeros(count),
        factor=factor,
    )  # fmt: skip


def everything(several: tuple[Inner, ...] = ()) -> All:
    return All(
        one=inner(2), several=several, anything=Other(sums=np.zeros(3), times=0), call=add,
        cube=np.zeros((2, 1, 3)), integers=np.zeros(2, np.int64), integer_matrix=np.zeros((1, 2), np.int64),
        flags=np.zeros(2, np.bool_),
    )  # fmt: skip


def test_what_a_kernel_writes_python_reads() -> None:
    several = inner(3), inner(1, 5.0)
    one = everything(several)
    assert work(one, 10.0) == 10.0
    assert one.one.factor == 10.0
    assert one.one.values.tolist() == [10.0, 20.0]
    assert one.one.square.tolist() == [[10.0, 0.0], [20.0, 0.0]]
    assert [each.values.tolist() for each in several] == [[2.0, 4.0, 6.0], [5.0]], "each with its own lengths"
    assert one.one.seen is True
    assert (one.anything.times, one.anything.sums.tolist()) == (1, [0.0, 10.0, 0.0])
    assert one.cube[1, 0].tolist() == [0.0, 0.0, 2.0]
    assert (one.integers.tolist(), one.integer_matrix.tolist()) == ([0, 5], [[0, 2]])
    assert one.flags.tolist() == [False, True]


def test_any_layout_may_be_given_where_any_is_asked_for() -> None:
    other = Other(sums=np.zeros(3), times=0)
    assert add(other, 2.5) == 2.5
    assert other.times == 1


def test_what_python_writes_a_kernel_reads() -> None:
    one = everything()
    work(one, 2.0)
    one.one.values = np.array([7.0, 8.0])
    one.anything = other = Other(sums=np.ones(3), times=40)
    one.one = inner(1)
    one.several = (inner(2),)
    assert work(one, 3.0) == 4.0
    assert (other.times, other.sums[1]) == (41, 4.0)
    assert one.one.values.tolist() == [3.0]
    assert one.several[0].values.tolist() == [2.0, 4.0]


def test_an_unknown_name_is_refused() -> None:
    one = inner(2)
    with pytest.raises(AttributeError, match="no attribute 'valeus'"):
        one.valeus = np.zeros(2)
    with pytest.raises(AttributeError):
        _ = one.valeus


@pytest.mark.skipif(INTERPRETED, reason="compiled code alone knows it beforehand")
def test_a_kernel_with_an_unknown_name_does_not_compile() -> None:
    def misspelt(one: Inner) -> float:
        return one.thetta

    with pytest.raises(Exception, match="Unknown attribute 'thetta'"):
        kernel((Inner,))(misspelt)


@kernel((Inner,))
def doubled(inner: Inner) -> None:
    inner.factor *= 2.0


@pytest.mark.skipif(INTERPRETED, reason="interpreted a kernel is Python")
def test_a_kernel_is_called_with_a_layout_without_a_detour_through_python() -> None:
    inner = Inner.zeros(count=3)
    doubled(inner)  # the first call may be another one
    seen: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        doubled(inner)
    finally:
        sys.setprofile(before)
    assert (seen, inner.factor) == (["doubled"], 4.0), "numba itself says that it is called"


@kernel("f8(f8[::1], i8)")
def corner(values: Floats, columns: int) -> float:
    matrix = as_matrix(values[1:], 2, columns)
    matrix[1, 0] += 10.0
    return float(matrix[1, columns - 1])


def test_a_stretch_of_a_vector_is_a_matrix_that_shares_its_memory() -> None:
    values = np.arange(8.0)
    assert corner(values, 3) == 6.0
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 14.0, 5.0, 6.0, 7.0]


@kernel("f8(f8[:, :, ::1])")
def last(values: Floats) -> float:
    vector = as_vector(values)
    vector[3] += 10.0
    return float(vector[len(vector) - 1])


def test_the_numbers_of_an_array_are_a_vector_that_shares_its_memory() -> None:
    values = np.arange(12.0).reshape(3, 2, 2)
    assert last(values) == 11.0
    assert values.reshape(-1).tolist() == [0.0, 1.0, 2.0, 13.0, *range(4, 12)]
    assert last(values[1:2]) == 17.0, "the vector of a part begins and ends with it"


@pytest.mark.skipif(INTERPRETED, reason="interpreted there are no types")
def test_a_layout_of_another_class_is_refused_by_a_kernel() -> None:
    with pytest.raises(TypeError, match="No matching definition"):
        work(inner(2), 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(2, np.float32), "expected 1-d float64"),
        (np.zeros((2, 1)), "expected 1-d float64"),
        (np.zeros(4)[::2], "contiguous, writable"),
        (np.broadcast_to(np.zeros(1), 2), "contiguous, writable"),
        ([0.0, 0.0], "expected 1-d float64, found list"),
    ],
    ids=["dtype", "dimensions", "gaps", "read-only", "list"],
)
def test_arrays_of_another_kind_are_refused(values: np.ndarray, message: str) -> None:
    one = inner(2)
    with pytest.raises(TypeError, match=message):
        one.values = values


def test_lengths_that_a_declaration_names_have_to_agree() -> None:
    one = inner(2)
    with pytest.raises(ValueError, match=r"Inner.values: expected count = 2, as in count; found 3"):
        one.values = np.zeros(3)
    with pytest.raises(ValueError, match="expected 3 = 3, as in its declaration; found 4"):
        everything().cube = np.zeros((2, 1, 4))


def test_zeros_have_the_lengths_that_are_named() -> None:
    one = Inner.zeros(count=3, seen=True)
    assert (one.values.tolist(), one.square.shape, one.factor, one.seen) == ([0.0] * 3, (3, 3), 1.0, True)
    with pytest.raises(TypeError, match=r"Inner\.values: expected lengths count"):
        Inner.zeros()
    with pytest.raises(TypeError, match=r"Other\.sums: expected lengths with names"):
        Other.zeros(times=3)


def test_a_field_left_out_and_one_that_does_not_exist_are_named() -> None:
    with pytest.raises(TypeError, match="missing or unknown: times, tims"):
        Other(sums=np.zeros(1), tims=3)
    with pytest.raises(TypeError, match=r"All\.one: expected Inner, found Other"):
        everything().one = Other(sums=np.zeros(1), times=0)


def test_a_layout_holds_what_it_points_to() -> None:
    one = everything((inner(2), inner(3)))
    one.one.values = np.full(2, 3.0)
    gc.collect()
    rest = [np.full(1 << 12, 7.0) for _ in range(64)]  # where freed memory would be handed out again
    work(one, 2.0)
    assert one.one.values.tolist() == [6.0, 6.0]
    assert all((each == 7.0).all() for each in rest)


def test_a_layout_is_not_copied_by_address() -> None:
    one = inner(2)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="keep its values instead"):
            way(one)
    other = one.copied()
    other.values[0], other.factor = 9.0, 9.0
    assert (one.values[0], one.factor) == (1.0, 2.0)


@kernel((Inner, Inner))
def take_over(source: Inner, target: Inner) -> None:
    copy_layout(source, target)


@pytest.mark.parametrize("way", [copy_layout, take_over], ids=["python", "kernel"])
def test_numbers_and_arrays_are_taken_over(way: Callable[[Inner, Inner], None]) -> None:
    one, other = inner(3), inner(3)
    one.values[:], one.square[1, 2], one.factor, one.seen = (4.0, 5.0, 6.0), 7.0, -1.0, not other.seen
    values = other.values
    way(one, other)
    assert other.values is values
    assert pickle.dumps(other.as_dict()) == pickle.dumps(one.as_dict())


def test_layouts_of_other_classes_or_lengths_are_not_taken_over() -> None:
    with pytest.raises(TypeError, match="expected Inner, found Other"):
        copy_layout(inner(2), Other(sums=np.zeros(1), times=0))
    with pytest.raises(ValueError, match=r"Inner.values: expected \(3,\), found \(2,\)"):
        copy_layout(inner(3), inner(2))


def test_scratch_is_not_kept() -> None:
    assert [field.name for field in Inner.fields() if not field.kept] == ["work"]


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_kernel_of_layouts_is_found_on_disk(tmp_path: object) -> None:
    folder = str(tmp_path)
    with open(f"{folder}/program.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(
            "import numpy as np\nfrom jointwatch_numba.jit import kernel\n"
            "from jointwatch_numba.layout import Layout, Vector\n\n\n"
            "class Pair(Layout):\n    a: Vector\n    b: float\n\n\n"
            "@kernel((Pair,))\ndef answer(pair):\n    return pair.a[1] * pair.b\n"
        )
    run = "from program import *; print(answer(Pair(a=np.arange(2.0), b=3.0)), answer.stats.cache_hits.total())"
    said = [
        subprocess.run(
            [sys.executable, "-c", run], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [one[0] for one in said] == ["3.0", "3.0"]
    assert said[1][1] == "1", "the second process loads what the first one has compiled"
