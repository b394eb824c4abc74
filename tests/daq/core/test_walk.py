"""In which order a turn goes on: joints whose pass ended before a review hold up nobody."""

import numpy as np
import pytest

from daq.core import walk
from daq.core.align import Sorter
from daq.core.walk import Walk
from drivers.reading import READING
from estimators.numerics.parcel import Parcel
from estimators.online.walk import FOUND, REVIEW


@pytest.mark.parametrize(("reviewed", "order"), [([], [0, 1, 2]), ([0], [1, 2, 0]), ([0, 1], [2, 0, 1])])
def test_who_has_something_to_decide_goes_last(
    reviewed: list[int], order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sorter = Sorter([], ["a", "b", "c"], {"a": (), "b": (), "c": ()})
    one = Walk(sorter, [Parcel()] * 3)

    def passed(*arguments: object) -> int:
        places, found = arguments[4], arguments[-1]
        assert isinstance(places, np.ndarray)
        assert isinstance(found, np.ndarray)
        assert found.shape == (3, 2, FOUND)
        places[:, 0], found[:] = range(3), 0
        found[reviewed, 1, REVIEW] = 1
        return 3

    monkeypatch.setattr(walk, "_through", passed)
    assert [joint for joint, _ in one.through(np.zeros(1, READING), False)] == order
