"""The newest rows of a trace: decimated, bounded, and the same in pieces as at once."""

import math

import numpy as np
import pytest

from daq.outlet.trace import SPAN, Trace


def rows(packed: bytes, columns: int) -> np.ndarray:
    return np.frombuffer(packed, "<f4").reshape(-1, columns)


def fed(trace: Trace, times: np.ndarray) -> Trace:
    for time in times:
        trace.append((time, 2 * time))
    return trace


def test_a_trace_keeps_the_newest_rows_only() -> None:
    trace = fed(Trace(2, 10.0), np.arange(0, 3 * SPAN, 0.1))
    kept = rows(trace.all(0.0), 2)
    assert len(kept) == SPAN * 10
    assert kept[-1, 0] == pytest.approx(3 * SPAN - 0.1)
    np.testing.assert_allclose(np.diff(kept[:, 0]), 0.1, atol=1e-3)
    np.testing.assert_allclose(kept[:, 1], 2 * kept[:, 0], rtol=1e-6)


def test_a_trace_thins_what_comes_faster() -> None:
    kept = rows(fed(Trace(2, 10.0), np.arange(0, 10, 0.001)).all(0.0), 2)
    assert 100 <= len(kept) <= 112


def test_pieces_make_the_whole() -> None:
    trace, pieces, base = Trace(2, 10.0), [], 1.7e9
    for start in range(0, 400, 7):  # s, more than twice what is kept
        fed(trace, base + np.arange(start, start + 7, 0.1))
        pieces.append(rows(trace.fresh(base), 2))
    whole = rows(trace.all(base), 2)
    np.testing.assert_array_equal(np.concatenate(pieces)[-len(whole) :], whole)
    assert not trace.fresh(base)


def test_times_keep_their_microseconds_far_from_1970() -> None:
    base = 1.8e9
    kept = rows(fed(Trace(2, 50.0), base - np.array([100.0, 50.0, 0.125])).all(base), 2)
    np.testing.assert_allclose(kept[:, 0], [-100.0, -50.0, -0.125], atol=1e-5)


def test_a_clock_set_back_starts_a_new_trace() -> None:
    trace = fed(Trace(2, 10.0), np.array([100.0, 101.0, 102.0]))
    fed(trace, np.array([50.0, 51.0]))
    assert rows(trace.all(0.0), 2)[:, 0].tolist() == [50.0, 51.0]
    assert trace.last() == [51.0, 102.0]


def test_a_row_may_come_a_tenth_of_its_interval_early_and_no_more() -> None:
    """Updates jitter; what comes late is no reason to lose the next one."""
    trace = fed(Trace(2, 10.0), np.array([100.0, 100.089]))
    assert trace.last() == [100.0, 200.0]
    assert fed(trace, np.array([100.091])).last()[0] == 100.091


def test_a_row_out_of_order_is_left_out_and_a_second_back_is_another_clock() -> None:
    trace = fed(Trace(2, 10.0), np.array([100.0, 101.0, 100.95, 100.5, 100.001]))
    assert rows(trace.all(0.0), 2)[:, 0].tolist() == [100.0, 101.0]
    assert not trace.wants(100.001)
    assert trace.wants(100.0)
    fed(trace, np.array([100.0]))
    assert rows(trace.all(0.0), 2)[:, 0].tolist() == [100.0]
    assert rows(trace.fresh(0.0), 2)[:, 0].tolist() == [100.0], "rows of the other clock are told no more"


def test_what_was_skipped_is_reported_in_no_piece_but_in_the_whole() -> None:
    trace = fed(Trace(2, 10.0), np.array([1.0, 2.0]))
    trace.skip()
    fed(trace, np.array([3.0]))
    assert rows(trace.fresh(0.0), 2)[:, 0].tolist() == [3.0]
    assert rows(trace.all(0.0), 2)[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_whoever_asks_late_is_told_all_that_is_kept_once() -> None:
    """Four times as much has come as is kept, so that the buffer has been moved."""
    trace = fed(Trace(2, 10.0), np.arange(0.0, 4 * SPAN, 0.1))
    assert trace.fresh(7.0) == trace.all(7.0)
    assert trace.fresh(7.0) == b""


def test_the_largest_magnitudes_are_those_of_the_rows_that_are_kept() -> None:
    trace = Trace(3, 1.0)
    assert trace.largest() is None
    assert trace.last() == []
    for row in ([1.0, -500.0, math.nan], [2.0, -3.0, math.nan], [3.0, 2.0, math.nan]):
        trace.append(row)
    largest = trace.largest()
    assert largest is not None
    np.testing.assert_array_equal(largest, [3.0, 500.0, np.nan])
    for time in np.arange(4.0, 3.0 + SPAN):
        trace.append([time, math.nan if time % 2 else -1.0, 0.5])
    largest = trace.largest()
    assert largest is not None
    np.testing.assert_array_equal(largest, [2.0 + SPAN, 2.0, 0.5], "the first two are gone")
    trace.append([1.0, math.nan, math.nan])
    largest = trace.largest()
    assert largest is not None
    np.testing.assert_array_equal(largest, [1.0, np.nan, np.nan])


def test_a_row_that_comes_its_whole_interval_after_the_last_is_taken() -> None:
    """0.9 rows a second, of which each may come a tenth early: one second is enough."""
    trace = fed(Trace(2, 0.9), np.array([8.0, 8.9999, 9.0]))
    assert rows(trace.all(0.0), 2)[:, 0].tolist() == [8.0, 9.0]
