"""What validators ask of the numbers of a block, against NumPy's functions of that name."""

import numpy as np
import pytest

from estimators.plausibility.signals.base import BlockHistory, largest, median, note, smallest, total
from jointwatch_numba.matrix import any_nonzero, contiguous


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 100, 1001])
@pytest.mark.parametrize("kinds", [3, 10_000])
def test_median_and_ends_are_numpys_to_the_bit(count: int, kinds: int) -> None:
    rng = np.random.default_rng(count)
    drawn = rng.integers(0, kinds, count) * 0.1  # some of them several times
    for values in (drawn, np.sort(drawn), np.sort(drawn)[::-1].copy(), np.full(count, 0.3)):
        before = values.copy()
        assert median(values) == np.median(values)
        assert (smallest(values), largest(values)) == (values.min(), values.max())
        assert np.array_equal(values, before)


def test_a_history_is_summed_in_its_order() -> None:
    past = BlockHistory(values=np.zeros(3))
    for value in (1e16, 1.0, -1e16, 0.5):
        note(value, past)
    assert total(past) == (0.5 + 1.0) - 1e16


def test_a_vector_of_zeros_has_no_number_that_is_not_zero() -> None:
    assert not any_nonzero(np.array([0.0, -0.0]))
    assert any_nonzero(np.array([0.0, np.nan]))
    assert any_nonzero(np.array([0.0, -1e-300]))


def test_an_array_that_kernels_take_is_not_copied() -> None:
    values, fixed = np.zeros((4, 3)), np.zeros(4)
    fixed.flags.writeable = False
    assert contiguous(values) is values
    for other in (values[:, 1], values.T, fixed):
        made = contiguous(other)
        assert made.flags.carray
        assert np.array_equal(made, other)
