"""Years of joints under ±20 K and random loads, judged by `estimators.wear.dry_wear`: when wear is told, its size."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.wear.dry_wear import Wear, follow, wear_of
from estimators.wear.friction_hours import FrictionHours
from hil_rig.plants.ageing.years import DAY, JointYear, joint_year, ramp, step

DAYS: Final = 365
SIZE: Final = 0.10
BEGIN: Final = (65, 246)  # days between which the step comes
AFTER: Final = 60  # days after it at which its size is read
THERMOMETERS: Final = (True, False)


class Told(NamedTuple):
    """What is found of one joint-year by one way of knowing the temperature."""

    thermometer: bool
    known: bool  # whether anything is known of the temperature; without, nothing is said
    told: bool  # at all
    early: bool  # before there was any wear
    hours: float  # in motion from its beginning until it was told; inf: not by the end
    days: float  # the same in days
    wear: float  # estimated size AFTER days later, NaN where it was not told by then
    true: float  # w of the law
    growth: float  # by how much dry friction had truly grown
    at: float  # true wear when it was told


def no_wear(seed: tuple[int, int]) -> list[Told]:
    """A joint-year without wear."""
    year = joint_year(np.random.default_rng([*seed, 0]), np.zeros(DAYS * DAY))
    return [_score(year, thermometer, None) for thermometer in THERMOMETERS]


def with_step(seed: tuple[int, int]) -> list[Told]:
    """A joint-year with a step of SIZE on a day that is drawn."""
    random = np.random.default_rng([*seed, 1])
    begin = int(random.integers(*BEGIN))
    year = joint_year(random, step(DAYS, begin, SIZE))
    return [_score(year, thermometer, begin) for thermometer in THERMOMETERS]


def with_ramp(seed: tuple[int, int]) -> list[Told]:
    """A joint-year with wear that grows to twice SIZE within 150 days."""
    random = np.random.default_rng([*seed, 2])
    begin = int(random.integers(65, 180))
    year = joint_year(random, ramp(DAYS, begin, 150, 2 * SIZE))
    return [_score(year, thermometer, begin) for thermometer in THERMOMETERS]


def hours_of(year: JointYear, thermometer: bool, days: int = DAYS) -> FrictionHours:
    """What the estimator sees of the first days."""
    end = days * DAY
    said = year.thermometer[:end] if thermometer else np.full(end, math.nan)
    return FrictionHours(year.speeds, year.friction[:end], year.load[:end], year.losses[:end], said)


def _score(year: JointYear, thermometer: bool, begin: int | None) -> Told:
    found = wear_of(hours_of(year, thermometer))
    if found is None:
        return Told(thermometer, False, False, False, math.inf, math.inf, math.nan, 0.0, 0.0, math.nan)
    moving = np.isfinite(year.load)
    told = found.detected
    if begin is None or told is None or told < begin:
        early = told is not None
        return Told(thermometer, True, early, early, math.inf, math.inf, math.nan, 0.0, 0.0, math.nan)
    hours = float(moving[begin * DAY : (told + 1) * DAY].sum())
    wear, growth, read = math.nan, math.nan, begin + AFTER
    if told <= read < DAYS:
        wear = _size(year, thermometer, found, read)
        after = slice((read - 10) * DAY, read * DAY)
        growth = float(np.mean(year.growth[after][moving[after]])) if moving[after].any() else math.nan
    true, at = float(year.wear[read * DAY - 1]) if read < DAYS else math.nan, float(year.wear[told * DAY])
    return Told(thermometer, True, True, False, hours, float(told - begin), wear, true, growth, at)


def _size(year: JointYear, thermometer: bool, found: Wear, day: int) -> float:
    """The wear as it is followed at the end of a day, knowing nothing of later ones."""
    newest = [one for one in found.days if one.day < day][-1]
    _, wear, _ = follow(hours_of(year, thermometer, day), newest.onset)
    return float(wear[-1]) if len(wear) else math.nan


def quantile(values: list[float], share: float) -> float:
    """A quantile that is one of the values, so that inf may be among them; NaN of none."""
    return float(np.quantile(np.array(values), share, method="nearest")) if values else math.nan


Floats = NDArray[np.float64]
