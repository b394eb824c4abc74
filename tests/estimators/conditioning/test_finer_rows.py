"""Rows between those of a slow recording, against the motion itself."""

import numpy as np
import pytest

from estimators.conditioning.finer_rows import FinerRows

RATE = 25.0  # Hz


def played(rows: np.ndarray, sizes: list[int]) -> tuple[np.ndarray, np.ndarray, FinerRows]:
    finer = FinerRows(rows.shape[1], 1.0 / RATE, 80.0)
    time = np.round((1.0 + np.arange(len(rows)) / RATE) * 1e9).astype(np.int64)
    parts = np.split(np.arange(len(rows)), np.cumsum(sizes))
    found = [finer.absorb(time[part], rows[part]) for part in parts]
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]), finer


def motion(time: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(2.0 * np.pi * 1.5 * time), 3.0 - time**3])


def test_a_motion_goes_on_between_the_rows_at_its_own_times() -> None:
    rows = motion(1.0 + np.arange(100) / RATE)
    time, found, finer = played(rows, [])
    assert finer.factor == 4
    assert finer.period == pytest.approx(0.01)
    assert len(time) == 4 * 98
    assert (np.diff(time) == 10_000_000).all()
    wrong = np.abs(found - motion(time * 1e-9))[4:]
    assert wrong[:, 0].max() < 0.004  # of a sine at 1.5 Hz; straight lines are wrong by 0.018
    assert wrong[:, 1].max() < 1e-9 * np.abs(rows).max()  # a cubic is one


def test_how_rows_are_cut_changes_nothing() -> None:
    rows = motion(np.arange(60) / RATE)
    once, parts = played(rows, []), played(rows, [1, 1, 2, 7, 30])
    np.testing.assert_array_equal(once[0], parts[0])
    np.testing.assert_array_equal(once[1], parts[1])


def test_a_missing_row_costs_the_two_intervals_beside_it() -> None:
    rows = motion(np.arange(20) / RATE)
    rows[10, 0] = np.nan
    time, found, _ = played(rows, [])
    lost = (time * 1e-9 - 1.0)[np.isnan(found[:, 0])]
    assert lost.min() == pytest.approx(9.25 / RATE)
    assert lost.max() == pytest.approx(10.75 / RATE)
    assert np.isfinite(found[:, 1]).all()


def test_a_missing_row_beside_an_interval_is_put_on_the_line_through_the_rows_around_it() -> None:
    """Also where the missing one is the very first."""
    time = 1.0 + np.arange(20) / RATE
    rows = np.column_stack([5.0 - 2.0 * time, time**2])
    lost = rows.copy()
    lost[[0, 10], :] = np.nan
    times, found, _ = played(lost, [])
    at, known = times * 1e-9, np.isfinite(found[:, 0])
    np.testing.assert_allclose(found[known, 0], (5.0 - 2.0 * at)[known], rtol=1e-12)
    for first, missing in ((1, 0), (8, 10), (11, 10)):
        around = rows[first - 1 : first + 3, 1].copy()
        b, d = around[1:3]
        around[missing - first + 1] = 2.0 * b - d if missing < first else 2.0 * d - b
        inside = (at > time[first] + 1e-6) & (at < time[first + 1] - 1e-6)
        cubic = np.polyfit(np.arange(-1.0, 3.0), around, 3)
        np.testing.assert_allclose(found[inside, 1], np.polyval(cubic, (at[inside] - time[first]) * RATE), rtol=1e-9)


def test_quick_rows_pass_as_they_are() -> None:
    finer = FinerRows(2, 1.0 / 125.0, 80.0)
    time, rows = np.arange(5), np.arange(10.0).reshape(5, 2)
    assert finer.absorb(time, rows) == (time, rows)
