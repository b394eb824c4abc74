"""Draws figures as SVG: lines over time with bands and marks, and clouds of points with curves."""

import math
from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Marks = Sequence[tuple[float, str]]  # Unix s, tone

COLUMNS: Final = 240  # of a time axis: more points than that fall into one and are drawn as their mean or their extent
GAP: Final = 2.0  # s without a value after which a line is interrupted
SELDOM: Final = 0.04  # share of a plot's columns, either way, that may leave it
LATE: Final = 0.2  # share of the time, of the samples that stand out
ROOM: Final = 0.07  # of the range, left free above and below
OVERLAY_WIDTH: Final = 1080.0  # px
LEFT, RIGHT, TOP, BOTTOM = 52.0, 8.0, 8.0, 20.0  # px around a plot


class PlotFrame(NamedTuple):
    """The scale of a plot: from data to pixels."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, value: Floats) -> Floats:
        """x in px."""
        low, high = self.x
        return np.asarray(LEFT + (value - low) / (high - low) * (self.width - LEFT - RIGHT))

    def up(self, value: Floats) -> Floats:
        """y in px."""
        low, high = self.y
        return np.asarray(self.height - BOTTOM - (value - low) / (high - low) * (self.height - TOP - BOTTOM))


def history(label: str, times: Floats, values: Floats, spread: Floats, start: float, end: float, marks: Marks) -> str:
    """A value over time (s since start on its axis) with its ± spread, and marked instants (time, tone).

    times, values, spread: (rows,); start, end: Unix s.
    """
    binned = _binned(times, values, spread, start, end)
    if not len(binned.at):
        return _empty(label)
    frame = PlotFrame(340, 150, (0.0, max(end - start, 1e-9)), _range(binned))
    parts = binned.parts((end - start) / COLUMNS)
    drawn = "".join(_area(frame, part.at - start, part.low, part.high) for part in parts)
    drawn += "".join(_line(frame, part.at - start, part.middle) for part in parts)
    return _svg(frame, label, _axes(frame, timed=True) + _clipped(frame, drawn) + _marks(frame, marks, start))


def envelope(label: str, times: Floats, values: Floats, start: float, end: float, marks: Marks) -> str:
    """The range (low to high) of a fast signal over time: (rows,)."""
    binned = _binned(times, values, np.zeros(len(values)), start, end, extent=True)
    if not len(binned.at):
        return _empty(label)
    frame = PlotFrame(
        1080, 170, (0.0, max(end - start, 1e-9)), _padded(float(binned.low.min()), float(binned.high.max()))
    )
    parts = binned.parts((end - start) / COLUMNS)
    drawn = "".join(_area(frame, part.at - start, part.low, part.high, "fast") for part in parts)
    return _svg(frame, label, _axes(frame, timed=True) + drawn + _marks(frame, marks, start))


def curve(label: str, points: Floats, law: tuple[Floats, Floats] | None, baseline: tuple[Floats, Floats] | None) -> str:
    """A cloud (rows, 3: time, abscissa, ordinate) with the fitted law and, where there is one, the baseline's.

    Points before the last fifth of the time are drawn paler: they may belong to another law.
    """
    lines = [one for one in (law, baseline) if one is not None]
    if not len(points):
        return _empty(label)
    x = np.concatenate([points[:, 1], *(line[0] for line in lines)])
    y = np.concatenate([points[:, 2], *(line[1] for line in lines)])
    frame = PlotFrame(420, 290, _padded(float(x.min()), float(x.max())), _padded(float(y.min()), float(y.max())))
    late = points[:, 0] > points[-1, 0] - LATE * (points[-1, 0] - points[0, 0])
    drawn = _cloud(frame, points[~late], "past") + _cloud(frame, points[late], "cloud")
    if baseline is not None:
        drawn += _line(frame, *baseline, "baseline")
    if law is not None:
        drawn += _line(frame, *law, "law")
    return _svg(frame, label, _axes(frame, timed=False) + drawn)


def overlay(label: str, times: Floats, measured: Floats, predicted: Floats) -> str:
    """Measured and predicted values over time as lines: (rows,); lines are interrupted at gaps in time."""
    if not len(times):
        return _empty(label)
    values = np.concatenate([measured, predicted[np.isfinite(predicted)]])
    frame = PlotFrame(
        OVERLAY_WIDTH, 170, (0.0, max(float(np.ptp(times)), 1e-9)), _padded(float(values.min()), float(values.max()))
    )
    steps = np.diff(times)
    usual = float(np.median(np.abs(steps))) if len(steps) else 0.0
    cuts = np.flatnonzero((steps < 0) | (steps > max(5.0 * usual, 1e-9))) + 1
    drawn = ""
    for part in np.split(np.arange(len(times)), cuts):
        at = times[part] - times.min()
        drawn += _line(frame, at, measured[part], "baseline")
        known = np.isfinite(predicted[part])
        drawn += _line(frame, at[known], predicted[part][known])
    return _svg(frame, label, _axes(frame, timed=True) + _clipped(frame, drawn))


def _cloud(frame: PlotFrame, points: Floats, kind: str) -> str:
    steps = zip(frame.across(points[:, 1]), frame.up(points[:, 2]), strict=True)
    return f'<path class="{kind}" d="{"".join(f"M{a:.1f} {b:.1f}h0" for a, b in steps)}"/>'


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers in a range."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round((first + i) * step, 12) for i in range(int((high - first * step) / step + 1e-9) + 1)]


class Binned(NamedTuple):
    """Time, mean, low and high of every pixel column that has values."""

    at: Floats
    middle: Floats
    low: Floats
    high: Floats

    def parts(self, width: float) -> "list[Binned]":
        """Cut where there is no value for longer than GAP and three columns of this width (s)."""
        cuts = np.flatnonzero(np.diff(self.at) > max(GAP, 3 * width)) + 1
        return [Binned(*part) for part in zip(*(np.split(one, cuts) for one in self), strict=True)]


def _binned(times: Floats, values: Floats, spread: Floats, start: float, end: float, extent: bool = False) -> Binned:
    known = np.isfinite(values) & np.isfinite(times)
    times, values, spread = times[known], values[known], np.nan_to_num(spread[known])
    if not len(times):
        return Binned(*(np.zeros(0),) * 4)
    place = ((times - start) / max(end - start, 1e-9) * COLUMNS).astype(np.int64).clip(0, COLUMNS - 1)
    used = np.unique(place)
    count = np.bincount(place)[used]
    middle = np.bincount(place, values)[used] / count
    at = np.bincount(place, times - start)[used] / count + start
    if extent:
        order = np.argsort(place, kind="stable")
        edges = np.searchsorted(place[order], used)
        return Binned(at, middle, np.minimum.reduceat(values[order], edges), np.maximum.reduceat(values[order], edges))
    width = np.bincount(place, spread)[used] / count
    return Binned(at, middle, middle - width, middle + width)


def _range(binned: Binned) -> tuple[float, float]:
    """The range to show: the values without the first guesses of a start, and the usual band of the last half."""
    half = len(binned.at) // 2
    low, high = np.quantile(binned.middle, [SELDOM, 1 - SELDOM])
    low = min(low, binned.middle[half:].min(), np.median(binned.low[half:]))
    high = max(high, binned.middle[half:].max(), np.median(binned.high[half:]))
    return _padded(float(low), float(high))


def _padded(low: float, high: float) -> tuple[float, float]:
    span = max(high - low, 1e-6 * max(abs(low), abs(high)), 1e-12)
    return low - ROOM * span, high + ROOM * span


def _svg(frame: PlotFrame, label: str, inside: str) -> str:
    size = f"{frame.width:.0f} {frame.height:.0f}"
    return f'<svg viewBox="0 0 {size}" role="img" aria-label="{escape(label)}">{inside}</svg>'


def _empty(label: str) -> str:
    return f'<p class="none">{escape(label)}: nothing was recorded.</p>'


def _clipped(frame: PlotFrame, inside: str) -> str:
    """Clip a drawing to the area of the plot."""
    box = f"{LEFT} {TOP} {frame.width - LEFT - RIGHT} {frame.height - TOP - BOTTOM}"
    x, y, width, height = box.split()
    return f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{box}">{inside}</svg>'


def _axes(frame: PlotFrame, timed: bool) -> str:
    parts = []
    right, bottom = frame.width - RIGHT, frame.height - BOTTOM
    rows = ticks(*frame.y, 4)
    for value, text in zip(rows, _numbers(rows), strict=True):
        y = float(frame.up(np.array(value)))
        parts.append(f'<path class="{_rule(value)}" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{text}</text>')
    columns = ticks(*frame.x, 5)
    words = [_time_label(value, columns) for value in columns] if timed else _numbers(columns)
    for value, text in zip(columns, words, strict=True):
        x = float(frame.across(np.array(value)))
        rule = "grid" if timed else _rule(value)
        parts.append(f'<path class="{rule}" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{frame.height - 5}" text-anchor="middle">{text}</text>')
    return "".join(parts)


def _rule(value: float) -> str:
    return "zero" if value == 0 else "grid"


def _numbers(values: Sequence[float]) -> list[str]:
    step = abs(values[1] - values[0]) if len(values) > 1 else 1.0
    if values and max(map(abs, values)) >= 1e5:
        return [f"{value:.3g}".replace("-", "−") for value in values]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{value:.{decimals}f}".replace("-", "−") for value in values]


def _time_label(value: float, columns: Sequence[float]) -> str:
    longest = max(columns)
    if longest < 180:
        return f"{value:g} s"
    return f"{value / 60:.3g} min" if longest < 3 * 3600 else f"{value / 3600:.3g} h"


def _line(frame: PlotFrame, x: Floats, y: Floats, kind: str = "law") -> str:
    steps = np.column_stack([frame.across(x), frame.up(y)])
    return f'<polyline class="{kind}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in steps)}"/>'


def _area(frame: PlotFrame, x: Floats, low: Floats, high: Floats, kind: str = "band") -> str:
    across = frame.across(x)
    edge = [*zip(across, frame.up(high), strict=True), *zip(across[::-1], frame.up(low)[::-1], strict=True)]
    return f'<polygon class="{kind}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in edge)}"/>'


def _marks(frame: PlotFrame, marks: Marks, start: float) -> str:
    parts = []
    for time, tone in marks:
        x = float(frame.across(np.array(time - start)))
        parts.append(f'<path class="mark {tone}" d="M{x:.1f} {TOP}V{frame.height - BOTTOM}"/>')
        parts.append(f'<path class="sign {tone}" d="M{x - 4:.1f} {TOP - 6}h8l-4 7z"/>')
    return "".join(parts)
