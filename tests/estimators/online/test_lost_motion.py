"""A gear's lost motion: found where the load changes sides, refused where it does not, growth told."""

import math

import numpy as np
import pytest

from estimators.models.joints.lost_motion import LOST_MOTION, STIFFNESS, LostMotionSettings
from estimators.online.gear.lost_motion import LostMotion
from hil_rig.plants.base import Jump
from hil_rig.plants.joints.gear import GearSettings
from hil_rig.plants.point_to_point import PointToPoint

pytestmark = pytest.mark.compiled
SETTINGS = LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, gravity=60.0, band=8.0)


def watched(
    gear: GearSettings, seconds: int, *jumps: Jump, seed: int = 1, batch: int = 1000, hole: int = 0
) -> LostMotion:
    plant = gear.build(1, seed, jumps)
    watch = LostMotion(SETTINGS.model_copy(update={"gravity": gear.T_g}), 1e-3)
    rows = plant.rows(1000 * seconds)
    values = np.column_stack([rows[:, 0] / gear.ratio, rows[:, 2], 10.0 * rows[:, 1]])
    if hole:
        values[hole::5000] = np.nan
    time = np.arange(len(values)) * 1_000_000
    for first in range(0, len(values), batch):
        watch.absorb(time[first : first + batch], values[first : first + batch])
    return watch


@pytest.mark.parametrize("half", [15e-6, 75e-6])
def test_lost_motion_and_stiffness_over_the_top(half: float) -> None:
    report = watched(GearSettings(half_gap=half), 120).report()
    assert not report.reasons
    assert report.values[LOST_MOTION] == pytest.approx(2 * half, rel=0.1)
    assert report.values[STIFFNESS] == pytest.approx(2e4, rel=0.01)
    assert 0.0 < report.deviations[LOST_MOTION] < 3e-6


def test_no_number_on_a_one_sided_load() -> None:
    report = watched(GearSettings(centre=1.5, motion=PointToPoint(reach=0.8, acceleration=3.0)), 120).report()
    assert math.isnan(report.values[LOST_MOTION])
    assert "one-sided" in report.reasons[0]
    assert report.values[STIFFNESS] == pytest.approx(2e4, rel=0.01)


def test_no_number_where_other_columns_imitate_the_loads_sign() -> None:
    report = watched(GearSettings(T_g=0.0, motion=PointToPoint(acceleration=4.0)), 120).report()
    assert math.isnan(report.values[LOST_MOTION])
    assert any("imitate" in reason for reason in report.reasons)


def test_growth_is_told_within_a_minute_and_nothing_before() -> None:
    watch = watched(GearSettings(), 240, Jump(160.0, "lost_motion", 1.5))
    events = watch.events()
    assert [event.kind for event in events] == ["lost_motion_known", "lost_motion_grown"]
    assert 160.0 < events[1].time * 1e-9 < 220.0
    assert not watch.events()


def test_batches_and_holes_do_not_matter() -> None:
    whole = watched(GearSettings(), 110, hole=700)
    pieces = watched(GearSettings(), 110, hole=700, batch=37)
    assert np.array_equal(whole.state, pieces.state)
    assert whole.report().values[LOST_MOTION] == pytest.approx(150e-6, rel=0.1)


def test_samples_that_are_too_slow_are_refused() -> None:
    with pytest.raises(ValueError, match="expected samples at 100 Hz at least, found 50 Hz"):
        LostMotion(SETTINGS, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_no_alarm_in_an_hour(seed: int) -> None:
    for half in (15e-6, 75e-6):
        kinds = {event.kind for event in watched(GearSettings(half_gap=half), 3600, seed=seed).events()}
        assert kinds == {"lost_motion_known"}
