"""Rows that are kept to be looked back at, against a plain list of every row that ever came."""

import numpy as np
import pytest

from estimators.rows import Rows, moved
from estimators.window.row_history import RowHistory
from tests.support.signals.histories import put

CAPACITY = 40


def numbered(first: int, count: int) -> Rows:
    """Rows whose every value says which row it is: two outputs, three parameters, one joint, a law with two taps."""
    number = np.arange(first, first + count)
    phi = number[:, None, None] + np.array([[0.1, 0.2, -0.3], [0.4, 0.5, 0.6]])
    y, speed = number[:, None] + np.array([0.7, 0.8]), number[:, None] + 0.9
    samples = number[:, None, None, None] + np.arange(6.0).reshape(1, 3, 2)
    return Rows(1_000 * number + 5, phi, y, speed, samples, moved(speed + 0.1, speed))


def same(found: Rows, first: int, last: int) -> None:
    """Whether these are the rows of the numbers first to last."""
    for ours, theirs in zip(found, numbered(first, last - first), strict=True):
        assert np.array_equal(ours, theirs)


def filled(total: int, seed: int = 0, most: int = 25) -> RowHistory:
    """A history to which so many rows came, in batches of any size."""
    history, rng, first = RowHistory(CAPACITY), np.random.default_rng(seed), 0
    while first < total:
        count = min(int(rng.integers(0, most)), total - first)
        put(history, numbered(first, count))
        first += count
    return history


@pytest.mark.parametrize("seed", range(3))
def test_a_row_keeps_its_number_and_at_least_the_last_rows_are_there(seed: int) -> None:
    for total in (1, 39, 40, 41, 50, 51, 52, 199, 400):
        history = filled(total, seed)
        assert history.total == total
        assert history.oldest <= max(0, total - CAPACITY)
        assert history.total - history.oldest <= 1.25 * CAPACITY + 1
        for number in (0, history.oldest, total - 30, total - 1):
            same(history.since(number), max(number, history.oldest), total)
        assert len(history.since(total).time) == 0
        assert len(history.since(total + 9).time) == 0


def test_a_window_may_end_before_the_newest_row() -> None:
    history = filled(100)
    same(history.since(70, 85), 70, 85)
    same(history.since(0, 85), history.oldest, 85)
    same(history.since(70, 400), 70, 100)
    for first, last in ((85, 85), (85, 70), (0, 0), (200, 300)):
        assert len(history.since(first, last).time) == 0


def test_what_is_forgotten_is_gone_and_numbers_go_on() -> None:
    history = filled(33)
    history.clear()
    assert (history.total, history.oldest) == (33, 33)
    assert len(history.since(0).time) == 0
    assert history.largest(0, 0) == 0.0
    put(history, numbered(33, 4))
    same(history.since(0), 33, 37)


def test_before_the_first_row_there_is_nothing_to_be_shown() -> None:
    history = RowHistory(CAPACITY)
    assert history.span(0) is None
    assert history.largest(0, 0) == 0.0
    with pytest.raises(ValueError, match="found none yet"):
        history.since(0)


def test_only_rows_that_taught_are_kept_and_all_of_them_where_nothing_else_is_said() -> None:
    history, rows = RowHistory(CAPACITY), numbered(0, 10)
    taught = np.arange(10) % 3 == 1
    put(history, rows, taught)
    assert history.total == 3
    assert np.array_equal(history.since(0).y, rows.y[taught])
    assert history.span(0) == (1_005, 7_005)
    put(history, rows)
    assert history.total == 13
    assert np.array_equal(history.since(3).y, rows.y)


def test_without_rows_only_their_numbers_and_instants_are_kept() -> None:
    history = RowHistory(CAPACITY, whole=False)
    put(history, numbered(0, 10), np.arange(10) >= 4)
    put(history, numbered(10, 5))
    assert (history.total, history.oldest) == (11, 11)
    assert history.span(0) == (4_005, 14_005)
    with pytest.raises(ValueError, match="found none yet"):
        history.since(0)


@pytest.mark.parametrize("batch", [1, 7, 40, 41, 90])
def test_instants_of_a_window_are_those_of_its_first_and_last_row(batch: int) -> None:
    history = RowHistory(CAPACITY, whole=False)
    for first in range(0, 200, batch):
        put(history, numbered(first, batch))
        total = first + batch
        assert history.span(total) is None
        for back in (1, 2, CAPACITY - 1, CAPACITY, CAPACITY + 1, 10 * CAPACITY):
            begin = max(0, total - min(back, CAPACITY))
            assert history.span(total - back) == (1_000 * begin + 5, 1_000 * (total - 1) + 5)


def test_the_largest_entry_is_given_with_either_sign_and_without_what_is_not_finite() -> None:
    history, rows = RowHistory(CAPACITY), numbered(0, 6)
    rows.phi[:, 1, 2] = (1.0, -7.0, np.nan, np.inf, 3.0, 0.0)
    rows.phi[:, 0, 2] = np.nan
    put(history, rows)
    assert history.largest(1, 2) == 7.0
    assert history.largest(0, 2) == 0.0
    assert history.largest(0, 1) == 5.2


def test_rows_of_before_are_written_anew_once_each_and_only_as_far_back_as_someone_looks() -> None:
    """What is written again would be written with an η that may have moved on since."""
    history, asked = filled(60), list[tuple[int, int]]()
    begin = history.oldest

    def refill(old: Rows) -> None:
        asked.append((int(old.time[0]) // 1_000, int(old.time[-1]) // 1_000 + 1))
        old.y[:] += 0.5

    history.outdate(50, refill)
    history.since(50)
    history.since(55)
    assert asked == []
    history.since(45)
    history.since(45)
    history.since(47)
    assert asked == [(45, 50)]
    history.since(begin - 1)
    history.since(0)
    assert asked == [(45, 50), (begin, 45)]
    expected = numbered(begin, 60 - begin).y
    expected[: 50 - begin] += 0.5
    assert np.array_equal(history.since(0).y, expected)
