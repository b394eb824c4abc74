"""A gear's lost motion: found where the load changes sides, refused where it does not, growth told."""

import math

import numpy as np
import pytest

from estimators.models.joints.lost_motion import LINK_FRICTION, LOST_MOTION, STIFFNESS, LostMotionSettings
from estimators.online.gear.lost_motion import LostMotion
from hil_rig.plants.base import Jump
from hil_rig.plants.joints.gear import GearPlantSettings
from hil_rig.plants.point_to_point import PointToPoint
from tests.support.signals.layouts import packed

pytestmark = pytest.mark.compiled
SETTINGS = LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, gravity=60.0, band=1.28, small=6.4)


def watched(
    gear: GearPlantSettings, seconds: int, *jumps: Jump, seed: int = 1, batch: int = 1000, hole: int = 0
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
    report = watched(GearPlantSettings(half_gap=half), 140).report()
    assert not report.reasons
    assert report.values[LOST_MOTION] == pytest.approx(2 * half, rel=0.1)
    assert report.values[STIFFNESS] == pytest.approx(2e4, rel=0.01)
    assert 0.0 < report.deviations[LOST_MOTION] < 3e-6


def test_no_number_on_a_one_sided_load() -> None:
    report = watched(GearPlantSettings(centre=1.5, motion=PointToPoint(reach=0.8, acceleration=3.0)), 120).report()
    assert math.isnan(report.values[LOST_MOTION])
    assert "one-sided" in str(report.reasons[0])
    assert report.values[STIFFNESS] == pytest.approx(2e4, rel=0.01)


def test_no_number_where_other_columns_imitate_the_loads_sign() -> None:
    report = watched(GearPlantSettings(T_g=0.0, motion=PointToPoint(acceleration=4.0)), 120).report()
    assert math.isnan(report.values[LOST_MOTION])
    assert any("imitate" in reason for reason in map(str, report.reasons))


@pytest.mark.parametrize(("how", "known"), [({"f_c": 6.0}, True), ({"f_v": 10.0}, True), ({"f_c": 15.0}, False)])
def test_friction_of_the_link_costs_rows_and_never_truth(how: dict[str, float], known: bool) -> None:
    """Where a link that overhauls rubs more than it carries, its load has not the gear's sign."""
    watch = watched(GearPlantSettings(**how), 150)  # type: ignore[arg-type]
    report = watch.report()
    assert report.values[LINK_FRICTION] == pytest.approx(how.get("f_c", 1.0), rel=0.1, abs=0.2)
    if math.isnan(report.values[LOST_MOTION]):
        assert not known
        assert any("imitate" in reason for reason in map(str, report.reasons))
    else:
        assert report.values[LOST_MOTION] == pytest.approx(150e-6, rel=0.05)


def test_a_spring_that_is_soft_at_first_is_distinguished_from_a_gap() -> None:
    soft = watched(GearPlantSettings(half_gap=0.0, soft_torque=10.0), 150).report()
    assert soft.soft
    assert soft.values[LOST_MOTION] == pytest.approx(2 * 10.0 * 0.67 / 2e4, rel=0.15), "all that it gives"
    gap = watched(GearPlantSettings(half_gap=300e-6), 150).report()
    assert not gap.soft
    assert gap.values[LOST_MOTION] == pytest.approx(600e-6, rel=0.05)


@pytest.mark.parametrize("band", [0.3, 3.0])
def test_the_number_does_not_hang_on_the_band(band: float) -> None:
    gear = GearPlantSettings()
    rows = gear.build(1, 11, []).rows(150_000)
    values = np.column_stack([rows[:, 0] / gear.ratio, rows[:, 2], 10.0 * rows[:, 1]])
    watch = LostMotion(SETTINGS.model_copy(update={"band": band}), 1e-3)
    watch.absorb(np.arange(len(values)) * 1_000_000, values)
    assert watch.report().values[LOST_MOTION] == pytest.approx(150e-6, rel=0.03)


def test_growth_is_reported_within_a_minute_and_nothing_before() -> None:
    watch = watched(GearPlantSettings(), 240, Jump(160.0, "lost_motion", 1.5))
    events = watch.events()
    assert [event.kind for event in events] == ["lost_motion_known", "lost_motion_grown"]
    assert 160.0 < events[1].time * 1e-9 < 220.0
    assert not watch.events()


def test_batches_and_holes_do_not_matter() -> None:
    whole = watched(GearPlantSettings(), 140, hole=700)
    pieces = watched(GearPlantSettings(), 140, hole=700, batch=37)
    assert packed(whole.block_state) == packed(pieces.block_state)
    assert whole.report().values[LOST_MOTION] == pytest.approx(150e-6, rel=0.1)


def test_samples_that_are_too_slow_are_refused() -> None:
    with pytest.raises(ValueError, match="expected samples at 100 Hz at least, found 50 Hz"):
        LostMotion(SETTINGS, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_no_alarm_in_an_hour(seed: int) -> None:
    for half in (15e-6, 75e-6):
        kinds = {event.kind for event in watched(GearPlantSettings(half_gap=half), 3600, seed=seed).events()}
        assert kinds == {"lost_motion_known"}
