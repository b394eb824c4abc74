"""Medians of each series of a lake over some minutes or hours, and over both halves of that time.

A file of these tables is one interval, and has the same series in the same order as the one before it, but for robots
that were silent. So the values of a file are a row of a matrix (intervals, series), and medians are those of its
columns. A database would group the same rows by five texts first, which takes several times as long.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.fleet.live.batch import USE
from daq.fleet.live.lake import Lake, LakeFile
from estimators.quantities import Floats

NAMES: Final = ("joint", "model", "quantity", "unit", "robot")
READ: Final = (*NAMES, "value", "deviation", "known")
#: series, argued: Columns of the matrix that are sorted at once: 63 MB with the 120 minutes of two hours.
BLOCK: Final = 1 << 16
ROBOT: Final = 32  # bits of a series' number that say which robot it is

Numbers = NDArray[np.int64]


class _Interval(NamedTuple):
    """What counts of one file, a row each."""

    series: Numbers  # kind · 2^ROBOT + robot
    values: Floats
    deviations: Floats


class _Catalogue:
    """Numbers kinds (joint, model, quantity, unit) and robots in the order in which they appear."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, ...], int] = {}
        self._robots: dict[str, int] = {}

    def interval(self, rows: Any) -> _Interval:
        """What counts of a file. rows: a pyarrow Table of READ."""
        import pyarrow

        columns = [rows[name].chunk(0) for name in NAMES]
        words = [one.dictionary.to_pylist() for one in columns]
        codes = [one.indices.to_numpy() for one in columns]
        counted = (rows["known"].to_numpy() > 0) & np.array([word not in USE for word in words[2]])[codes[2]]
        *parts, robot = (one[counted] for one in codes)
        sizes = [len(one) for one in words[:-1]]
        kind = pyarrow.array(np.ravel_multi_index(parts, sizes)).dictionary_encode()
        at = np.unravel_index(kind.dictionary.to_numpy(), sizes)
        names = zip(*(np.array(of, object)[one] for of, one in zip(words, at, strict=False)), strict=True)
        kinds = np.array([self._kinds.setdefault(one, len(self._kinds)) for one in names], np.int64)
        robots = np.array([self._robots.setdefault(one, len(self._robots)) for one in words[-1]], np.int64)
        series = kinds[kind.indices.to_numpy()] << ROBOT | robots[robot]
        return _Interval(series, *(rows[name].to_numpy()[counted] for name in READ[-3:-1]))

    def in_order(self, series: Numbers) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """The order of these series by NAMES, and their names in that order, (series,) each."""
        kinds, robots = sorted(self._kinds), sorted(self._robots)
        kind, robot = series >> ROBOT, series & ((1 << ROBOT) - 1)
        kind = np.argsort([self._kinds[one] for one in kinds])[kind]
        robot = np.argsort([self._robots[one] for one in robots])[robot]
        order = np.argsort(kind << ROBOT | robot, kind="stable")
        named = [np.array(one, object)[kind[order]] for one in zip(*kinds, strict=True)]
        return order, dict(zip(NAMES, [*named, np.array(robots, object)[robot[order]]], strict=True))


def medians_of_halves(lake: Lake, files: Sequence[LakeFile], middle: float) -> dict[str, NDArray[Any]]:
    """Intervals, median and rms of σ of each series, sorted by NAMES; its median before middle, and from it on.

    σ of a half is that of the whole. files: in order of time; middle: Unix s. NaN where nothing is known, empty where
    nothing counts. Raises LakeError.
    """
    catalogue = _Catalogue()
    intervals = [catalogue.interval(lake.rows(one, READ)) for one in files]
    others = [
        one.series for before, one in itertools.pairwise(intervals) if not np.array_equal(before.series, one.series)
    ]
    series = np.unique(np.concatenate([intervals[0].series, *others]))
    if not len(series):
        return {}
    turns = [_turns(series, one.series) for one in intervals]
    values = np.full((sum(map(len, turns)), len(series)), np.nan)
    count, certain = np.zeros((2, len(series)), np.int64)
    squares = np.zeros(len(series))
    early = count.copy()
    for file, interval, those in zip(files, intervals, turns, strict=True):
        for rows, at in those:
            values[count[at], at] = interval.values[rows]
            count[at] += 1
            deviation = interval.deviations[rows]
            known = np.isfinite(deviation)
            squares[at] += np.where(known, deviation, 0.0) ** 2
            certain[at] += known
        early = count.copy() if file.first < middle else early
    deviation = np.sqrt(np.divide(squares, certain, out=np.full(len(series), np.nan), where=certain > 0))
    whole, before, after = (_medians(values, *one) for one in ((0 * count, count), (0 * count, early), (early, count)))
    order, named = catalogue.in_order(series)
    found = {"intervals": count, "value": whole, "deviation": deviation}
    found |= {"before": before, "deviation before": deviation, "after": after, "deviation after": deviation}
    return named | {name: one[order] for name, one in found.items()}


def _turns(series: Numbers, own: Numbers) -> list[tuple[Any, Numbers]]:
    """The rows of a file with these series, and the places of their series: in each turn a series appears once.

    It appears twice in a file where a core has started anew.
    """
    at = np.arange(len(series)) if np.array_equal(series, own) else np.searchsorted(series, own)
    if not len(at) or np.bincount(at).max() == 1:
        return [(slice(None), at)]
    order = np.argsort(at, kind="stable")
    first = np.searchsorted(at[order], at[order])  # row of the first of the same series
    turn = np.arange(len(at)) - first
    return [(order[turn == one], at[order[turn == one]]) for one in range(turn.max() + 1)]


def _medians(values: Floats, begin: Numbers, end: Numbers) -> Floats:
    """Medians (series,) of values (intervals, series) from row begin to before row end of each column."""
    found, row = np.empty(values.shape[1]), np.arange(len(values))[:, None]
    for first in range(0, len(found), BLOCK):
        some = slice(first, first + BLOCK)
        count = end[some] - begin[some]
        mine = np.where((row >= begin[some]) & (row < end[some]), values[:, some], np.nan)
        mine.sort(axis=0)  # NaN last
        column = np.arange(len(count))
        found[some] = 0.5 * (mine[np.maximum(count - 1, 0) // 2, column] + mine[count // 2, column])
    return found
