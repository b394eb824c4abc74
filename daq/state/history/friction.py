"""A joint's friction by speed in the history file: bands of speed, and the hours from which wear is judged.

A band is named after the middle of its speeds, `friction@0.39`; its value is half the difference of the friction in
both directions, so an offset of the torque is not in it.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.state.history.interval import BAND, Quantity
from daq.state.history.reading import HistoryReader, ValueRow
from daq.state.history.tables import DAY, HOUR
from estimators.quantities import Floats
from estimators.wear.friction_hours import FrictionHours

#: rad/s (m/s), argued: Middles of the bands, 2.5 times apart: within one, a friction law is about straight.
MIDDLES: Final = tuple(0.01 * 2.5**step for step in range(10))
#: 1, argued: Values in a band and hour from which its mean counts: four seconds of motion at 25 values a second.
FEWEST_VALUES: Final = 100
#: hours, argued: Hours with motion in a band from which the band is used.
FEWEST_HOURS: Final = 40
#: 1, argued: Bands that are judged at most: the slow ones among them are alike.
MOST: Final = 5
TEMPERATURE: Final = "temperature"
TORQUE: Final = "torque"


def band_name(middle: float) -> str:
    """The name of a band as a quantity."""
    return f"{BAND}{middle:.2g}"


def band_of(speed: Floats) -> NDArray[np.intp]:
    """Which band each speed (n,) is in; −1 for none."""
    with np.errstate(divide="ignore"):
        step = np.round(np.log(np.abs(speed) / MIDDLES[0]) / math.log(2.5))
    inside = (step >= 0) & (step < len(MIDDLES))
    return np.where(inside, step, -1).astype(np.intp)


def friction_hours(history: HistoryReader, joint: str, since: float, now: float) -> FrictionHours | None:
    """The hours of a joint since the beginning of the day of `since` (Unix s); None where friction is not known."""
    begin = int(since // DAY.seconds * DAY.seconds)
    found = history.values(HOUR, begin, now, joint)
    of = {quantity.name: rows for quantity, rows in found.items()}
    hours = {middle: sum(row.n >= FEWEST_VALUES for row in of.get(band_name(middle), [])) for middle in MIDDLES}
    bands = [middle for middle in MIDDLES if hours[middle] >= FEWEST_HOURS][-MOST:]
    if len(bands) < 2:
        return None
    count = int((now - begin) // HOUR.seconds) + 1
    friction, weight = np.full((count, len(bands)), np.nan), np.zeros((count, len(bands)))
    for column, middle in enumerate(bands):
        for row in of[band_name(middle)]:
            if row.n >= FEWEST_VALUES:
                at = (row.start - begin) // HOUR.seconds
                friction[at, column], weight[at, column] = row.mean, row.n
    seconds = np.zeros(count)
    for use in history.use(HOUR, begin, now, joint):
        seconds[(use.start - begin) // HOUR.seconds] = use.counts.seconds
    known = weight.sum(1) > 0
    total = np.where(known, weight.sum(1), 1.0)
    mean = np.nansum(weight * friction, axis=1) / total
    power = np.nansum(weight * friction * np.array(bands), axis=1) / total
    torque = _column(of.get(TORQUE, []), begin, count, rms=True)
    rest = np.sqrt(np.maximum(torque**2 - mean**2, 0.0))
    load = np.where(known & np.isfinite(rest), rest, np.nan)
    friction[np.isnan(load)] = np.nan
    losses = np.where(known, np.abs(power), 0.0) * np.minimum(seconds / HOUR.seconds, 1.0)
    temperature = _column(of.get(TEMPERATURE, []), begin, count, rms=False)
    return FrictionHours(np.array(bands), friction, load, losses, temperature)


def quantity(joint: str, middle: float, unit: str) -> Quantity:
    """The quantity of a band."""
    return Quantity(joint, band_name(middle), unit)


def _column(rows: list[ValueRow], begin: int, count: int, rms: bool) -> Floats:
    """One value an hour (hours,), NaN where there is none."""
    values = np.full(count, np.nan)
    for row in rows:
        values[(row.start - begin) // HOUR.seconds] = row.deviation if rms else row.mean
    return values
