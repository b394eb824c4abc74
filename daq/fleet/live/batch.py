"""Gathers `summary/<joint>` messages of many robots in memory, and makes rows of them: one for each quantity."""

import math
from array import array
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.fleet.known import KNOWN, LEARNING

#: s, argued: A robot's clock may be this far off; else the collector's own is taken. NTP keeps clocks within 0.1 s; a
#: message that has waited in a full queue is half a minute old.
CLOCK: Final = 60.0
USE: Final = ("use.seconds", "use.travel")  # quantities that are counted since the core's start
TEMPERATURE: Final = "temperature"
NEVER_LEFT: Final = math.nan


class Series(NamedTuple):
    """What one column of values is of."""

    robot: str
    joint: str
    model: str
    quantity: str
    unit: str


class SeriesLayout(NamedTuple):
    """The series of one kind of message of one joint, which follow each other."""

    key: int  # number of (robot, joint)
    first: int  # number of its first series
    columns: int


class Catalogue:
    """Numbers robots' joints, and the series that their messages have."""

    def __init__(self) -> None:
        self.keys: dict[tuple[str, str], int] = {}
        self.series: list[Series] = []
        self.layouts: list[SeriesLayout] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def layout(self, update: Mapping[str, Any]) -> int:
        """The number of a message's layout. Raises KeyError, TypeError where it is none of ours."""
        use, names = update["use"], tuple(update["parameters"])
        found = update["robot"], update["joint"], update["model"], names, TEMPERATURE in use
        number = self._numbers.get(found)
        if number is None:
            robot, joint, model = (str(one) for one in found[:3])
            units = update["units"]
            key = self.keys.setdefault((robot, joint), len(self.keys))
            kinds = [(str(name), str(units[name])) for name in names]
            kinds += [("use.seconds", "s"), ("use.travel", str(use["unit"]))]
            kinds += [(TEMPERATURE, "°C")] if TEMPERATURE in use else []
            self.layouts.append(SeriesLayout(key, len(self.series), len(kinds)))
            self.series += [Series(robot, joint, model, *kind) for kind in kinds]
            number = self._numbers[found] = len(self.layouts) - 1
        return number


class SummaryBatch:
    """Messages that wait to be written: one row each in `times` and the like, all their values in `values`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.layouts, self.boots, self.seqs = array("q"), array("q"), array("q")
        self.times, self.values, self.deviations = array("d"), array("d"), array("d")
        self.statuses: list[str] = []
        self.changed: list[tuple[int, float]] = []  # row of values, value that it has left

    def add(self, update: Mapping[str, Any], now: float) -> bool:
        """Add a message. now: Unix s; returns whether the robot's clock could be used.

        Raises KeyError, TypeError, ValueError, AttributeError or OverflowError where it is no summary; nothing is then
        added.
        """
        layout, use = self.catalogue.layout(update), update["use"]
        parameters, deviations = update["parameters"], update["deviations"]
        values = [*parameters.values(), use["seconds"], use["travel"]]
        if TEMPERATURE in use:
            values.append(use[TEMPERATURE])
        of_parameters = [deviations[name] for name in parameters]
        of_parameters += [math.nan] * (len(values) - len(of_parameters))
        row, uncertain = array("d", values), array("d", of_parameters)
        time, boot, seq, status = float(update["timestamp"]), int(update["boot"]), int(update["seq"]), update["status"]
        if not (0 <= boot < 1 << 62 and 0 <= seq < 1 << 62 and isinstance(status, str)):
            raise ValueError("boot, seq or status")
        changed = update["changed"]
        if changed:
            left = {str(name): float(value) for name, value in changed.items()}
            self.changed += [(len(self.values) + i, left[one]) for i, one in enumerate(parameters) if one in left]
        right = abs(time - now) <= CLOCK
        self.layouts.append(layout)
        self.boots.append(boot)
        self.seqs.append(seq)
        self.times.append(time if right else now)
        self.statuses.append(status)
        self.values.extend(row)
        self.deviations.extend(uncertain)
        return right

    def __len__(self) -> int:
        return len(self.layouts)

    @property
    def rows(self) -> int:
        """Rows that it makes."""
        return len(self.values)

    def keys(self) -> NDArray[np.int64]:
        """(messages,) number of each message's robot and joint."""
        of_layout = np.array([one.key for one in self.catalogue.layouts], np.int64)
        return of_layout[np.asarray(self.layouts, np.int64)]

    def table(self, lost: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Rows as a pyarrow Table, sorted by series, then time.

        lost: (messages,) how many are missing just before each; kept: (messages,) which are to be in it.
        """
        import pyarrow

        layouts = self.catalogue.layouts
        counts, firsts = (np.array([getattr(one, name) for one in layouts], np.int64) for name in ("columns", "first"))
        mine = np.asarray(self.layouts, np.int64)
        count = counts[mine]
        message = np.repeat(np.arange(len(mine)), count)
        ends = np.cumsum(count)
        series = np.arange(len(message)) - np.repeat(ends - count, count) + firsts[mine][message]
        left = np.full(len(message), NEVER_LEFT)
        for row, value in self.changed:
            left[row] = value
        order = np.argsort(series[kept[message]], kind="stable")
        order = np.flatnonzero(kept[message])[order]
        message, series, left = message[order], series[order], left[order]
        values, deviations = (np.asarray(one, np.float64)[order] for one in (self.values, self.deviations))
        statuses, status = _coded(self.statuses)
        known = [Series(*one) for one in self.catalogue.series]
        columns = {"time": pyarrow.array((np.asarray(self.times)[message] * 1e6).astype("datetime64[us]"))}
        for name in Series._fields:
            words, codes = _coded([getattr(one, name) for one in known])
            columns[name] = pyarrow.DictionaryArray.from_arrays(codes[series], words)
        trusted = np.isin(statuses, KNOWN)[status][message]
        learning = (np.array(statuses) == LEARNING)[status][message] & np.isfinite(deviations)
        stateless = np.array([one.quantity in (*USE, TEMPERATURE) for one in known])[series]
        columns |= {
            "value": pyarrow.array(values),
            "deviation": pyarrow.array(deviations),
            "counted": pyarrow.array((trusted | learning | stateless) & np.isfinite(values)),
            "status": pyarrow.DictionaryArray.from_arrays(status[message], statuses),
            "left": pyarrow.array(left),
            "boot": pyarrow.array(np.asarray(self.boots, np.int64)[message]),
            "seq": pyarrow.array(np.asarray(self.seqs, np.int64)[message]),
            "lost": pyarrow.array(lost[message].astype(np.int32)),
        }
        return pyarrow.table(columns)


def _coded(words: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The different words, and the number of each."""
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(one, len(numbers)) for one in words], np.int32)
    return list(numbers), codes
