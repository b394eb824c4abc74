"""Channels that come seldom keep their last value."""

import numpy as np
import pytest

from estimators.conditioning.held import Held

NAN = float("nan")
GIVEN = [NAN, 20.0, NAN, np.inf, 21.0, NAN, NAN]
KEPT = [NAN, 20.0, 20.0, 20.0, 21.0, 21.0, 21.0]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_missing_value_is_the_one_before_it_in_its_own_column(size: int) -> None:
    values = np.column_stack([GIVEN, np.arange(7.0), GIVEN[::-1], GIVEN])
    before = values.copy()
    held = Held([0, 2])
    found = np.concatenate([held.absorb(values[first : first + size]) for first in range(0, 7, size)])
    assert np.array_equal(values, before, equal_nan=True), "what was given stays as it is"
    reversed_kept = [NAN, NAN, 21.0, 21.0, 21.0, 20.0, 20.0]
    wanted = np.column_stack([KEPT, np.arange(7.0), reversed_kept, GIVEN])
    assert np.array_equal(found, wanted, equal_nan=True)


def test_without_such_columns_rows_pass_as_they_are() -> None:
    values = np.array([[NAN, 1.0]])
    assert Held([]).absorb(values) is values
    assert not Held([]).any
    assert Held([1]).any
    assert Held([1]).absorb(values[:0]).shape == (0, 2)
