"""Puts a recording in columns on even ticks by its own stamps: they say when it was sampled, not when it arrived.

A live clock takes uneven arrivals for the jitter of a link and takes the jitter off; of a log whose samples are 10 and
12 ms apart that would move every sample. So an uneven one is interpolated before it is played, by cubic splines and
never across a gap, as `identify` does it. The same holds for one whose rows were sent twice at times.
"""

from typing import Final

import numpy as np

from daq.recording.columns import Channels
from estimators.alignment.channel_delay import ChannelSeries
from estimators.conditioning.repeated_rows import without_repeats
from estimators.numerics.splines import cubic_spline
from estimators.offline.robot.motion import GAP, GAP_SECONDS

OFF: Final = 0.1  # of the usual step, by which one is uneven
RARE: Final = 0.05  # share of uneven steps that a clock may show by itself: lost samples, a late one


def without_repeated_rows(channels: Channels) -> tuple[Channels, bool]:
    """The channels without rows that were sent once more, at the instants of the others, and whether there were some.

    They are sought where all channels have the same rows.
    """
    every = [(role, series) for roles in channels.values() for role, series in roles.items()]
    time = every[0][1].time if every else np.zeros(0)
    if len(time) < 2 or not all(np.array_equal(series.time, time) for _, series in every):
        return channels, False
    positions = [series.values for role, series in every if role == "position"]
    others = [series.values for role, series in every if role != "position"]
    if not positions or not others:
        return channels, False
    measured, once = without_repeats(time, np.column_stack(positions), np.column_stack(others))
    if once.all():
        return channels, False
    kept = {
        name: {role: ChannelSeries(measured[once], series.values[once]) for role, series in roles.items()}
        for name, roles in channels.items()
    }
    return kept, True


def once_an_instant(series: ChannelSeries) -> ChannelSeries:
    """The channel without samples that have the stamp of the one before: two samples of a joint are never at once."""
    kept = np.concatenate([[True], np.diff(series.time) != 0.0])[: len(series.time)]
    return series if kept.all() else ChannelSeries(series.time[kept], series.values[kept])


def is_uneven(series: ChannelSeries) -> bool:
    """Whether the steps between its samples differ too often for one rate."""
    steps = np.diff(series.time)
    steps = steps[steps > 0.0]
    if len(steps) < 2:
        return False
    step = float(np.median(steps))
    whole = np.maximum(np.round(steps / step), 1.0) * step  # lost samples make whole steps
    return bool(np.mean(np.abs(steps - whole) > OFF * step) > RARE)


def even(series: ChannelSeries, rate: float) -> ChannelSeries:
    """The channel on ticks of that rate, Hz, from its first sample on; without those in a gap."""
    known = np.isfinite(series.values) & np.concatenate([[True], np.diff(series.time) > 0.0])
    time, values = series.time[known], series.values[known]
    if len(time) < 2:
        return series
    ticks = time[0] + np.arange(int((time[-1] - time[0]) * rate + 1e-6) + 1) / rate
    after = np.searchsorted(time, ticks).clip(1, len(time) - 1)
    steps = np.diff(time)
    longest = max(GAP * float(np.median(steps)), GAP_SECONDS)
    inside = steps[after - 1] <= longest
    found = np.full(len(ticks), np.nan)
    for part in np.split(np.arange(len(time)), np.flatnonzero(steps > longest) + 1):
        own = (after > part[0]) & (after <= part[-1])
        if own.any():
            found[own] = cubic_spline(time[part], values[part])(ticks[own])
    return ChannelSeries(ticks[inside], found[inside])
