"""Dry wear, corrected for heat and load: reported where it is, not where it is not, and of the right size."""

import math

import numpy as np
import pytest

from estimators.wear import dry_wear
from estimators.wear.dry_wear import COMMISSIONING, follow, wear_of
from estimators.wear.friction_hours import DAY, FrictionHours
from estimators.wear.warmth import warmth
from hil_rig.plants.ageing.years import JointYear, joint_year, step

pytestmark = pytest.mark.compiled
DAYS, BEGIN = 170, 100


def seen(year: JointYear, thermometer: bool) -> FrictionHours:
    said = year.thermometer if thermometer else np.full(len(year.load), math.nan)
    return FrictionHours(year.speeds, year.friction, year.load, year.losses, said)


@pytest.fixture(scope="module")
def worn() -> JointYear:
    return joint_year(np.random.default_rng(77), step(DAYS, BEGIN, 0.2))


@pytest.fixture(scope="module")
def sound() -> JointYear:
    return joint_year(np.random.default_rng(77), np.zeros(DAYS * DAY))


@pytest.mark.parametrize("thermometer", [True, False])
def test_a_step_of_20_percent_is_detected_and_its_size_is_right(worn: JointYear, thermometer: bool) -> None:
    hours = seen(worn, thermometer)
    found = wear_of(hours)
    assert found is not None
    assert found.detected is not None
    assert BEGIN < found.detected < BEGIN + 50
    assert found.onset is not None
    assert abs(found.onset - BEGIN) <= 25
    days, wear, sigma = follow(hours, found.onset)
    moving = np.isfinite(worn.load)
    growth = float(np.mean(worn.growth[-10 * DAY :][moving[-10 * DAY :]]))
    assert wear[-1] == pytest.approx(growth, rel=0.3)
    assert 0.0 < sigma[-1] < 0.05
    assert days[-1] == found.days[-1].day


@pytest.mark.parametrize("thermometer", [True, False])
def test_the_same_year_without_wear_is_not_called_worn(sound: JointYear, thermometer: bool) -> None:
    found = wear_of(seen(sound, thermometer))
    assert found is not None
    assert found.detected is None
    assert found.onset is None
    assert found.thermometer is thermometer


def test_nothing_is_said_before_the_first_days_are_learnt(sound: JointYear) -> None:
    few = slice(0, COMMISSIONING * DAY)
    hours = seen(sound, True)
    early = FrictionHours(hours.speeds, *(values[few] for values in hours[1:]))
    assert wear_of(early) is None


def test_without_fast_motion_a_thermometer_is_needed(sound: JointYear) -> None:
    slow = seen(sound, False)._replace(speeds=sound.speeds[:3], friction=sound.friction[:, :3].copy())
    slow.friction[:, 2] = math.nan
    assert warmth(slow, 60 * DAY) is None
    assert wear_of(slow) is None


def test_without_a_thermometer_nothing_is_said_where_fast_friction_is_not_viscous(sound: JointYear) -> None:
    hours = seen(sound, False)
    friction = hours.friction.copy()
    rising = 0.05 * np.nanmean(friction[:, -1]) * np.random.default_rng(5).normal(1.0, 2.0, len(friction))
    friction[:, -1] = friction[:, -2] + rising  # as often falling as rising with speed, rising on average
    assert warmth(hours._replace(friction=friction), 60 * DAY) is None
    assert warmth(hours._replace(friction=friction, temperature=sound.thermometer), 60 * DAY) is not None


def test_a_joint_that_gets_hotter_than_its_viscosity_tells_is_not_called_worn() -> None:
    """Its gear gets to 116 °C, and to 65 °C at most while its friction is learnt; above 55 °C viscosity is too thin."""
    year = joint_year(np.random.default_rng([3700, 65, 0]), np.zeros(365 * DAY))
    hours = seen(JointYear(year.speeds, *(values[: 165 * DAY] for values in year[1:])), False)
    found = warmth(hours, 70 * DAY)
    assert found is not None
    moving = np.isfinite(hours.load)
    hot = moving & (year.gear[: 165 * DAY] > 65.0) & np.isfinite(found.thin)
    assert hot.sum() > 10
    assert np.mean(found.thin[hot]) > 0.95
    judged = wear_of(hours)
    assert judged is not None
    assert judged.detected is None
    assert any(day.new > 0.9 for day in judged.days)


def test_a_joint_whose_friction_varies_more_is_known_less(sound: JointYear, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = seen(sound, False)
    noise = np.random.default_rng(6).normal(1.0, 0.12, hours.friction.shape)
    varied = hours._replace(friction=hours.friction * noise)
    by_itself = wear_of(varied)
    monkeypatch.setattr(dry_wear, "ENERGY_ROWS", 1e12)  # as if this joint were like any other
    usual = wear_of(varied)
    assert by_itself is not None
    assert usual is not None
    ratios = [one.deviation / two.deviation for one, two in zip(by_itself.days, usual.days, strict=True)]
    assert min(ratios[-30:]) > 1.03


def test_warmth_follows_the_true_temperature(sound: JointYear) -> None:
    moving = np.isfinite(sound.load)
    for thermometer, most in ((True, 2.5), (False, 5.0)):
        found = warmth(seen(sound, thermometer), 60 * DAY)
        assert found is not None
        design = np.column_stack([np.ones(moving.sum()), found.theta[moving], found.theta[moving] ** 2])
        error = sound.gear[moving] - design @ np.linalg.lstsq(design, sound.gear[moving])[0]
        assert float(np.sqrt(np.mean(error**2))) < most


def test_the_estimate_of_a_step_is_that_of_generalised_least_squares() -> None:
    """The recursion of Willsky and Jones against one regression over all days, on a small linear problem."""
    from estimators.wear.dry_wear import _Filter, _update

    random = np.random.default_rng(3)

    class Small(_Filter):
        def __init__(self) -> None:
            self.x, self.covariance = np.zeros(2), np.diag([1.0, 4.0])

    one, days, begin = Small(), 12, 5
    designs = random.normal(size=(days, 3, 2))
    truth = np.array([0.4, -0.7])
    y = [design @ truth + 0.3 * (day >= begin) + 0.1 * random.normal(size=3) for day, design in enumerate(designs)]
    moved, about, fit = np.zeros((2, 1)), 0.0, 0.0
    for day in range(days):
        g = np.ones(3) * (day >= begin)
        signature = (g - designs[day] @ moved[:, 0])[:, None]
        white, gained = _update(one, y[day] - designs[day] @ one.x, designs[day], np.full(3, 0.01), signature)
        moved += gained
        about += float((white[:, 1] ** 2).sum())
        fit += float(white[:, 1] @ white[:, 0])
    rows = np.column_stack([designs.reshape(-1, 2), np.repeat(np.arange(days) >= begin, 3)])
    information = rows.T @ rows / 0.01 + np.diag([1.0, 0.25, 0.0])
    expected = np.linalg.solve(information, rows.T @ np.concatenate(y) / 0.01)
    assert fit / about == pytest.approx(expected[2], rel=1e-9)
    assert 1.0 / about == pytest.approx(np.linalg.inv(information)[2, 2], rel=1e-9)
