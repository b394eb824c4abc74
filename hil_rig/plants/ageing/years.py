"""A year of a joint hour by hour: weather, production, heat, thermometer, friction by speed, and wear if requested.

Everything is random for each joint: its friction; the season and its phase, in all ±20 K about the year's mean; shifts,
holidays, jobs with their loads and intensities; two thermal masses heated by the losses of friction and motor; a torque
constant that falls with the motor's temperature; friction that is higher after a rest; and errors, common to all bands
and of each band, that last for a day or an hour.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hil_rig.plants.ageing.friction import AgeingFriction
from hil_rig.plants.base import Floats

SPEEDS: Final = np.array([4.0, 12.0, 35.0, 90.0, 180.0])  # rad/s of the motor, one for each band
SWING: Final = 20.0  # K, largest deviation of the ambient temperature from its mean
DAY: Final = 24
FAST_HOURS: Final = 0.25  # share of the hours in motion with the two fastest bands
HOUR_NOISE, DAY_COMMON, DAY_BAND = 0.03, 0.015, 0.01
TORQUE_CONSTANT: Final = -0.001  # 1/K
THERMOMETER_NOISE, THERMOMETER_STEP = 0.5, 1.0  # K


class JointYear(NamedTuple):
    """Measured and true values of every hour."""

    speeds: Floats  # (bands,) rad/s
    friction: Floats  # (hours, bands), NaN where the joint did not move at that speed
    load: Floats  # (hours,) NaN at rest
    losses: Floats  # (hours,) mean of |torque·speed|, 0 at rest
    thermometer: Floats  # (hours,) °C, of the motor
    gear: Floats  # (hours,) °C, true temperature of the lubricant
    wear: Floats  # (hours,) true
    growth: Floats  # (hours,) true relative growth of dry friction in the slowest band

    @property
    def moving(self) -> Floats:
        """1 in hours in motion, else 0."""
        return np.isfinite(self.load).astype(float)


def step(days: int, first: int, size: float) -> Floats:
    """Wear (days·24,) that appears at once on day `first`."""
    return np.where(np.arange(days * DAY) >= first * DAY, size, 0.0)


def ramp(days: int, first: int, length: int, size: float) -> Floats:
    """Wear that grows steadily over `length` days and then stays constant."""
    return size * np.clip((np.arange(days * DAY) / DAY - first) / length, 0.0, 1.0)


def joint_year(random: np.random.Generator, wear: Floats) -> JointYear:
    """Simulate a year of a random joint. wear: (hours,) of whole days."""
    hours = len(wear)
    friction = AgeingFriction.drawn(random)
    ambient, moving = _weather(random, hours), _shifts(random, hours)
    load, intensity = _jobs(random, hours)
    fast = random.uniform(size=hours) < FAST_HOURS
    losses, gear, motor = _heat(random, friction, ambient, moving * intensity, load, fast)
    torque = friction.torque(SPEEDS, load, gear, wear)
    growth = friction.growth(SPEEDS[:1], load, gear, wear)
    torque *= 1.0 + TORQUE_CONSTANT * (motor - 40.0)[:, None]
    days = hours // DAY
    common = DAY_COMMON * random.normal(size=(days, 1)) + DAY_BAND * random.normal(size=(days, len(SPEEDS)))
    torque *= 1.0 + np.repeat(common, DAY, axis=0) + _running_up(random, moving)[:, None]
    torque *= 1.0 + HOUR_NOISE * random.normal(size=torque.shape)
    torque[moving == 0.0] = math.nan
    torque[:, 3:][~fast] = math.nan
    said = np.round((motor + THERMOMETER_NOISE * random.normal(size=hours)) / THERMOMETER_STEP) * THERMOMETER_STEP
    return JointYear(SPEEDS, torque, np.where(moving > 0.0, load, math.nan), losses, said, gear, wear, growth)


def _weather(random: np.random.Generator, hours: int) -> Floats:
    """Ambient temperature: season, weather of some days, time of day; within SWING of its mean."""
    t = np.arange(hours) / DAY
    season = random.uniform(10.0, 14.0) * np.cos(2 * np.pi * (t / 365.0 + random.uniform()))
    days = hours // DAY + 1
    weather = np.empty(days)
    weather[0] = random.normal()
    for day in range(1, days):
        weather[day] = 0.8 * weather[day - 1] + 0.6 * random.normal()
    of_day = random.uniform(2.0, 4.0) * np.cos(2 * np.pi * (t - 15 / 24))
    swing = season + 3.5 * np.interp(t, np.arange(days), weather) + of_day
    return np.asarray(random.uniform(20.0, 26.0) + np.clip(swing, -SWING, SWING))


def _shifts(random: np.random.Generator, hours: int) -> Floats:
    """1 in hours in motion, else 0: a shift on six days a week with some idle hours, and a fortnight of holidays."""
    length, begin = random.uniform(11.0, 15.0), random.integers(4, 9)
    hour, day = np.arange(hours) % DAY, np.arange(hours) // DAY
    on = (hour >= begin) & (hour < begin + length) & ((day + random.integers(7)) % 7 > 0)
    holiday = random.integers(100, 330)
    on &= ~((day >= holiday) & (day < holiday + 14))
    return np.asarray(on & (random.uniform(size=hours) < 0.97), float)


def _jobs(random: np.random.Generator, hours: int) -> tuple[Floats, Floats]:
    """Load and intensity of every hour: a job lasts some days, and its hours differ."""
    job = np.cumsum(random.uniform(size=hours) < 1 / (3.0 * DAY))
    loads, intensities = random.uniform(0.1, 0.8, job[-1] + 1), random.uniform(0.4, 1.0, job[-1] + 1)
    load = np.clip(loads[job] + 0.05 * random.normal(size=hours), 0.02, 1.0)
    return load, np.clip(intensities[job] + 0.1 * random.normal(size=hours), 0.1, 1.0)


def _heat(
    random: np.random.Generator,
    friction: AgeingFriction,
    ambient: Floats,
    use: Floats,
    load: Floats,
    fast: NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats]:
    """Losses, and temperatures of gear and motor, by two thermal masses and the motor's."""
    rise, into_gear = random.uniform(15.0, 30.0), 1.0 - math.exp(-1.0 / random.uniform(0.5, 1.5))
    into_house, into_motor = (1.0 - math.exp(-1.0 / random.uniform(*one)) for one in ((2.0, 6.0), (0.5, 1.0)))
    gear = house = motor = ambient[0]
    found = np.empty((3, len(ambient)))
    usual = 5.0  # mean losses at full use, by which the rise is stated
    one = np.zeros(1)
    middle = np.where(fast, 70.0, 30.0)  # rad/s
    for hour, (outside, part, ell) in enumerate(zip(ambient, use, load, strict=True)):
        torque = 0.0
        if part > 0.0:
            torque = float(friction.torque(middle[hour : hour + 1], one + ell, one + gear, one)[0, 0])
        power = part * torque * middle[hour]
        heat = rise * (0.7 * power / usual + 0.3 * part * (ell + torque) ** 2 / 0.3)
        house += into_house * (outside + 0.4 * heat - house)
        gear += into_gear * (house + 0.6 * heat - gear)
        motor += into_motor * (house + 0.8 * heat - motor)
        found[:, hour] = power, gear, motor
    return found[0], found[1], found[2]


def _running_up(random: np.random.Generator, moving: Floats) -> Floats:
    """Relative increase of friction after a rest of four hours or more, which decays within hours."""
    height, extra, rest, found = random.uniform(0.01, 0.05), 0.0, 0, np.zeros(len(moving))
    for hour, on in enumerate(moving):
        rest = 0 if on else rest + 1
        extra = height if rest >= 4 else extra * (math.exp(-1.0 / 1.5) if on else 1.0)
        found[hour] = extra
    return found
