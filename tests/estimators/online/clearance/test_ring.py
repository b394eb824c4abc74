"""The clearance of a bearing by the encoders on either side: covered for loads and contacts; none from a twist."""

import math

import numpy as np
import pytest

from estimators.base import Event
from estimators.models.joints.lost_motion import LOST_MOTION, LostMotionSettings
from estimators.models.mechanisms.bearing import RingBearingSettings
from estimators.online.clearance.ring import RingWatch
from estimators.online.gear.lost_motion import LostMotion
from estimators.quantities import Floats
from hil_rig.plants.base import encoder
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.journal import TICK, Journal, Measured, chirp, published, sines
from hil_rig.plants.mechanisms.pointing import ANGLES, RING, TORQUES, Pointing, PointingSettings

pytestmark = pytest.mark.compiled
WINDOW = 61.0  # s of samples that fill a window
UPRIGHT = RingBearingSettings(ring_radius=0.03, gravity=0.0)


def pointing(seconds: float, seed: int, bits: int = 20, late: float = 0.0, twist: float = 0.0, **how: object) -> Floats:
    """(rows, 3): motor, link and torque of the first joint, whose load the second joint's motion turns, too."""
    played = Pointing(PointingSettings.model_validate(how), []).exact(round(seconds / TICK))
    motor, torque = played[:, ANGLES], played[:, TORQUES]
    link = played[:, RING] - late * np.gradient(motor, TICK) - twist * torque
    noise = 1e-4 * np.random.default_rng(seed).standard_normal(len(played))
    return np.column_stack([encoder(motor, bits), encoder(link, bits), torque + noise])


def pin(clearance: float, motion: Floats, vertical: bool, seed: int, bits: int) -> Floats:
    """(rows, 3): motor, link and torque of one link on its pin, whose contact is integrated in full.

    The motion is repeated until a window is full.
    """
    seen = Measured(bits=bits, torque=1e-3).of(
        Journal(vertical=vertical, steel=Steel(clearance=clearance)).play(motion), np.random.default_rng(seed)
    )
    return np.tile(seen[:, [0, 2, 1]], (math.ceil(WINDOW / TICK / len(seen)), 1))


def feed(to: RingWatch, samples: Floats, begin: float = 0.0) -> list[Event]:
    events = []
    for first in range(0, len(samples), 37):
        part = samples[first : first + 37]
        time = 1 + np.round(1e9 * (begin + TICK * (first + np.arange(len(part))))).astype(np.int64)
        to.absorb(time, part)
        events += to.events()
    return events


def watched(samples: Floats, bearing: RingBearingSettings = UPRIGHT) -> RingWatch:
    to = RingWatch(bearing, TICK)
    feed(to, samples)
    return to


def test_the_deviation_covers_the_error_while_another_joint_moves_too() -> None:
    z = []
    for seed, clearance in enumerate(np.random.default_rng(411).uniform(2.5e-5, 1.8e-4, 6)):
        how = {"clearance": clearance, "period": (4.0, 6.0, 11.0)[seed % 3], "vertical": True, "contact": "reduced"}
        to = watched(pointing(WINDOW, seed, (17, 20)[seed % 2], late=(0.0, 3e-4)[seed // 3], **how))
        assert math.isfinite(to.report.clearance), to.report.reasons
        assert to.report.deviation < 0.1 * clearance
        z.append((to.report.clearance - clearance) / to.report.deviation)
    assert np.abs(z).max() < 2.0


@pytest.mark.parametrize("clearance", [35e-6, 120e-6])
def test_a_contact_in_full_is_covered_about_both_axes_and_where_the_pin_flies(clearance: float) -> None:
    across = RingBearingSettings(ring_radius=0.03, gravity=9.81, centre=0.063)
    glide, fast = chirp(10.0, 1.2, 2.8, 0.55), chirp(10.0, 1.2, 3.0, 0.62)
    flies = sines(10.0, (1.1, 1.97), (0.3, 0.25))
    for motion, bearing in ((glide, UPRIGHT), (flies, UPRIGHT), (fast, across)):
        found = watched(pin(clearance, motion, bearing is UPRIGHT, 5, 17), bearing).report
        assert abs(found.clearance - clearance) < 2.0 * found.deviation, found
        assert found.deviation < 0.1 * clearance


def test_where_the_weight_holds_the_pin_there_is_no_number() -> None:
    across = RingBearingSettings(ring_radius=0.03, gravity=9.81, centre=0.063)
    found = watched(pin(50e-6, published(20.0), False, 2, 20), across).report
    assert math.isnan(found.clearance)
    assert [one.code for one in found.reasons] == ["clearance_arc"]
    wrong = watched(pointing(WINDOW, 3, period=4.0, contact="reduced")).report  # said to be vertical, and is not
    assert math.isnan(wrong.clearance)
    assert [one.code for one in wrong.reasons] == ["clearance_swings"]


@pytest.mark.parametrize("late", [5e-3, 2.5e-2])
def test_encoders_that_are_read_apart_are_covered_or_reported(late: float) -> None:
    """Half of δ² times the acceleration moves the ring like a clearance: 0.3 and 40 µm here."""
    link = pointing(WINDOW, 12, clearance=5e-5, period=4.0, vertical=True, contact="reduced")
    link[round(late / TICK) :, 1] = link[: -round(late / TICK), 1]
    found = watched(link).report
    if late > 1e-2:
        assert [one.code for one in found.reasons] == ["clearance_skew"]
        assert found.reasons[0].numbers["milliseconds"] == pytest.approx(-1e3 * late, rel=0.3)
    else:
        assert abs(found.clearance - 5e-5) < 2.0 * found.deviation


def test_what_the_load_does_not_explain_is_no_clearance() -> None:
    samples = pointing(WINDOW, 13, clearance=5e-5, period=4.0, vertical=True, contact="reduced")
    samples[:, 1] += 4e-3 * np.sin(2.0 * np.pi * 0.83 * TICK * np.arange(len(samples)))  # something else moves the ring
    found = watched(samples).report
    assert [one.code for one in found.reasons] == ["clearance_swings"]


def test_a_twist_between_the_encoders_is_no_clearance() -> None:
    how = {"period": 4.0, "vertical": True, "contact": "reduced"}
    for clearance, twist in ((1e-8, 2e-3), (30e-6, 1e-2)):
        found = watched(pointing(WINDOW, 4, twist=twist, clearance=clearance, **how)).report
        assert [one.code for one in found.reasons] == ["clearance_twist"], found
        assert math.isnan(found.clearance)


def test_the_equation_of_a_gear_tells_less_than_the_lost_motion_of_a_bearing() -> None:
    """The gear's load changes sign where the bearing's turns: another column, and σ does not show it."""
    clearance = 6e-5
    samples = pointing(130.0, 10, clearance=clearance, period=4.0, vertical=True, contact="reduced")
    gear = LostMotion(LostMotionSettings(inertia_motor=0.0, inertia_link=0.033, band=2e-3, ratio=1.0), TICK)
    gear.absorb(1 + np.round(1e9 * TICK * np.arange(len(samples))).astype(np.int64), samples)
    report, whole = gear.report(), 2.0 * clearance / UPRIGHT.ring_radius
    assert report.reasons == ()
    lost, deviation = report.values[LOST_MOTION], report.deviations[LOST_MOTION]
    assert 0.85 * whole < lost < 0.95 * whole
    assert whole - lost > 5.0 * deviation
    found = watched(samples).report
    assert abs(2.0 * found.clearance / UPRIGHT.ring_radius - whole) < 2.0 * whole * found.deviation / found.clearance


def test_growth_is_reported_and_outlives_a_restart() -> None:
    how = {"period": 4.0, "vertical": True, "contact": "reduced"}
    to = RingWatch(UPRIGHT, TICK)
    same = pointing(WINDOW, 6, clearance=5e-5, **how)
    events = feed(to, same) + feed(to, same[: round(20.0 / TICK)], 100.0)
    assert [one.kind for one in events] == ["clearance_known"], "the same clearance does not grow"
    events = feed(to, pointing(80.0, 7, clearance=7.5e-5, **how), 200.0)
    assert [one.kind for one in events] == ["clearance_grown"]
    kept = to.keep()
    assert kept is not None
    after = RingWatch(UPRIGHT, TICK)
    after.resume(kept)
    assert after.grown
    assert after.first == pytest.approx(5e-5, rel=0.03)


def test_lost_samples_leave_rows_out_and_nothing_else() -> None:
    samples = pointing(WINDOW + 9.0, 8, clearance=5e-5, period=4.0, vertical=True, contact="reduced")
    rng = np.random.default_rng(9)
    samples[rng.integers(0, len(samples), 100), rng.integers(0, 3, 100)] = np.nan
    found = watched(samples).report
    assert abs(found.clearance - 5e-5) < 2.0 * found.deviation
    to = RingWatch(UPRIGHT, TICK)
    feed(to, samples[:30_000])
    feed(to, samples[30_000:], 31.0)  # a second later
    assert to.report.progress == 0.0 or abs(to.report.clearance - 5e-5) < 2.0 * to.report.deviation


def test_no_row_is_of_samples_on_either_side_of_a_gap() -> None:
    """Two pieces a second apart have the rows of each by itself; without the gap there are more."""
    samples = pointing(4.0, 8, clearance=5e-5, period=4.0, vertical=True, contact="reduced")
    first, second, apart, whole = (RingWatch(UPRIGHT, TICK) for _ in range(4))
    half = len(samples) // 2
    feed(first, samples[:half])
    feed(second, samples[half:])
    feed(whole, samples)
    feed(apart, samples[:half])
    feed(apart, samples[half:], half * TICK + 1.0)
    assert apart._count == first._count + second._count < whole._count


def test_what_is_needed_is_said() -> None:
    with pytest.raises(ValueError, match="expected centre, m"):
        RingBearingSettings(ring_radius=0.03, gravity=9.81)
    with pytest.raises(ValueError, match="expected samples at 200 Hz at least, found 100 Hz"):
        RingWatch(UPRIGHT, 0.01)
