"""What is kept of one part: every kind of value there and back, and nothing of another kind or shape."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import msgpack
import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.base import Phase
from estimators.online.checkpoint import NotTheSameError, keep, resume

pytestmark = pytest.mark.interpreted


class Pair(NamedTuple):
    """A tuple with names."""

    first: float
    second: str


@dataclass
class Counted:
    """One of everything."""

    VERSION: ClassVar[int] = 3

    count: int = 1
    share: float = 0.5
    on: bool = False
    word: str = "a"
    phase: Phase = Phase.WAITING
    pair: Pair = field(default_factory=lambda: Pair(1.0, "b"))
    rows: tuple[int, ...] = ()
    table: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 3)))
    grown: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


class Part:
    """It has one."""

    def __init__(self, **more: Any) -> None:
        self.state = Counted(**more)


FULL: dict[str, Any] = {
    "count": 7,
    "share": 0.25,
    "on": True,
    "word": "c",
    "phase": Phase.NORMAL,
    "pair": Pair(2.0, "d"),
    "rows": (4, 5),
    "table": np.arange(6.0).reshape(2, 3),
    "grown": np.arange(4),
}


def written(part: Part) -> Any:
    return msgpack.unpackb(msgpack.packb(keep({"part": part})), strict_map_key=False)


def test_everything_comes_back_where_it_was() -> None:
    fresh = Part()
    table = fresh.state.table
    resume({"part": fresh}, written(Part(**FULL)))
    for name, value in FULL.items():
        np.testing.assert_array_equal(getattr(fresh.state, name), value)
        assert type(getattr(fresh.state, name)) is type(value)
    assert fresh.state.table is table, "arrays stay where others look at them"


def test_a_number_may_be_another_kind_of_number() -> None:
    fresh = Part()
    resume({"part": fresh}, written(Part(share=2, count=3.0)))
    assert (fresh.state.share, fresh.state.count) == (2, 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "seven"),
        ("word", 3),
        ("word", None),
        ("table", np.zeros((3, 3))),
        ("table", np.zeros((1, 3))),
        ("table", np.zeros((2, 3), np.float32)),
        ("table", 4.0),
        ("grown", np.zeros((2, 2), np.int64)),
        ("grown", np.zeros(3)),
    ],
)
def test_another_kind_or_shape_is_refused(name: str, value: Any) -> None:
    other = written(Part())
    other["part"] |= written(Part(**{name: value}))["part"]
    with pytest.raises(NotTheSameError, match=rf"part\.{name}: expected"):
        resume({"part": Part()}, other)


def test_another_version_part_or_field_is_refused() -> None:
    other = written(Part())
    other["part"]["version"] = 2
    with pytest.raises(NotTheSameError, match="expected version 3 of what is kept"):
        resume({"part": Part()}, other)
    with pytest.raises(NotTheSameError, match="one of the two has not: more"):
        resume({"part": Part()}, written(Part()) | {"more": {}})
    short = written(Part())
    del short["part"]["word"]
    with pytest.raises(NotTheSameError, match="one of the two has not: word"):
        resume({"part": Part()}, short)
    cut = written(Part())
    cut["part"]["table"]["array"][2] = cut["part"]["table"]["array"][2][:-1]
    with pytest.raises(NotTheSameError, match="found 47 bytes"):
        resume({"part": Part()}, cut)
