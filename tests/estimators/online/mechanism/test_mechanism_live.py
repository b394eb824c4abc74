"""A mechanism with loops, live, on a linkage whose plant has equations of its own: residual, forces, friction, gaps."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from estimators.base import Event, Phase, Status
from estimators.models.mechanisms.description import Description, DriveResidual
from estimators.models.mechanisms.joint_load import RADIAL
from estimators.models.mechanisms.mechanism import load
from estimators.offline.mechanism_residuals import DriveRecording, undisturbed
from estimators.online.mechanism.estimator import MechanismEstimator
from estimators.quantities import Floats
from hil_rig.plants.base import Jump, encoder
from hil_rig.plants.mechanisms.four_bar import FourBar, FourBarSettings

pytestmark = pytest.mark.compiled

DOCS = Path(__file__).parents[4] / "docs"
PINS = {"crank": 3, "coupler": 5, "tip": 7, "rocker": 9}  # bearing → its force in the plant's columns
RATE = 250


def sheet() -> Description:
    return load(DOCS / "four_bar.toml").description


@cache
def played(seconds: int, jumps: tuple[Jump, ...] = (), amplitude: float = 1.3, frequency: float = 0.4) -> Floats:
    """Rows of the plant's columns, at a fourth of its rate, with an encoder of 20 bits and noise of 5 mN·m."""
    settings = FourBarSettings(amplitude=amplitude, frequency=frequency)
    rows = FourBar(settings, list(jumps)).exact(1000 * seconds)[:: 1000 // RATE].copy()
    rows[:, 0] = encoder(rows[:, 0], 20)
    rows[:, 1] += 0.005 * np.random.default_rng(5).standard_normal(len(rows))
    return rows


def feed(to: MechanismEstimator, rows: Floats, cut: int = 50, begin: int = 0) -> list[Event]:
    events = []
    for first in range(0, len(rows), cut):
        part = rows[first : first + cut]
        time = 1 + (begin + first + np.arange(len(part))) * (1_000_000_000 // RATE)
        to.absorb(time, part[:, :1], part[:, 1:2])
        events += to.events()
    return events


def kinds(events: Sequence[Event]) -> list[str]:
    return [one.kind for one in events]


def test_the_residual_is_small_and_every_pin_carries_what_the_plant_says() -> None:
    rows, to = played(20), MechanismEstimator(sheet(), 1.0 / RATE)
    assert kinds(feed(to, rows[: 18 * RATE])) == ["started"]
    largest, off = 0.0, dict.fromkeys(PINS, 0.0)
    for k in range(18 * RATE, 20 * RATE, 10):
        feed(to, rows[k : k + 10], begin=k)
        found = to.estimate()
        assert (found.phase, found.status) == (Phase.NORMAL, Status.VALID)
        assert abs(found.measured[0] - found.predicted[0]) < found.thresholds[0]
        largest = max(largest, abs(found.measured[0]))
        late = k + 10 - 1 - round(np.sqrt(2.0) / (2 * np.pi * 40.0) * RATE)  # the quick low-pass is behind by this
        for place, name in enumerate(to.mechanism.joints):
            force = np.hypot(*rows[late, PINS[name] : PINS[name] + 2])
            off[name] = max(off[name], abs(found.loads[place, RADIAL] - force))
    assert found.thresholds[0] < 0.04 * largest
    for name, error in off.items():
        assert error < 0.5, name  # N, of 16 to 31


def test_results_do_not_depend_on_how_rows_are_cut() -> None:
    rows = played(20)
    one, other = (MechanismEstimator(sheet(), 1.0 / RATE, 5.0) for _ in range(2))
    assert feed(one, rows, 1000) == feed(other, rows, 7)
    assert one.estimate().predicted == other.estimate().predicted
    assert one.estimate().loads.tolist() == other.estimate().loads.tolist()


def test_a_push_is_reported_and_over_again() -> None:
    rows = played(20).copy()
    rows[15 * RATE : 16 * RATE, 1] += 0.3  # N·m, the rocker is held
    events = feed(MechanismEstimator(sheet(), 1.0 / RATE, 5.0), rows)
    assert kinds(events) == ["started", "contact", "recovered"]
    assert 15.0 < events[1].time / 1e9 < 15.3
    assert 16.0 < events[2].time / 1e9 < 17.0
    assert events[1].text.startswith("crank: 0.")


def test_friction_that_doubles_is_measured_reported_and_then_counts() -> None:
    """The plant's pins rub twice as much from 40 s on; its viscous part stays, so the crank feels less than twice."""
    rows, to = played(75, (Jump(40.0, "friction", 2.0),)), MechanismEstimator(sheet(), 1.0 / RATE)
    before = feed(to, rows[: 40 * RATE])
    ratio = to.estimate().ratios[0]
    assert kinds(before) == ["started"]
    assert ratio.ratio == pytest.approx(1.0, abs=0.05)
    events = feed(to, rows[40 * RATE :], begin=40 * RATE)
    assert kinds(events)[:2] == ["contact", "friction"]
    assert kinds(events)[-1] == "started"
    found = to.estimate()
    model = MechanismEstimator(sheet(), 1.0 / RATE)
    assert 1.2 < found.ratios[0].ratio < 2.0
    assert abs(found.measured[0] - found.predicted[0]) < found.thresholds[0]
    assert [one.code for one in found.reasons] == ["mechanism_friction"]
    kept = to.keep()
    assert kept is not None
    model.resume(kept)
    feed(model, rows[-4 * RATE :])
    assert model.estimate().reasons[0].code == "mechanism_friction"
    assert abs(model.estimate().measured[0] - model.estimate().predicted[0]) < found.thresholds[0]


def test_a_crank_may_turn_on_and_on() -> None:
    rows = played(6, amplitude=15.0, frequency=0.05)
    assert np.ptp(rows[:, 0]) > 4.0 * np.pi
    to = MechanismEstimator(sheet(), 1.0 / RATE)
    assert not feed(to, rows)
    assert np.isfinite(to.estimate().predicted).all()


def test_a_start_far_from_the_drawn_pose_is_reached_in_small_steps() -> None:
    mechanism = load(DOCS / "four_bar.toml")
    q = np.zeros((1, 3))
    q[0, 0] = 40.0  # six turns from where it is drawn
    whole = mechanism.fit(q).q[0]
    q[0, 0] = 40.0 - 12.0 * np.pi
    near = mechanism.fit(q).q[0]
    assert np.cos(whole[1] + whole[0] - near[1] - near[0]) == pytest.approx(1.0, abs=1e-9), "the same way up"


def test_positions_that_no_pose_has_are_a_fault_that_passes() -> None:
    leg = load(DOCS / "leg.toml")
    to = MechanismEstimator(leg.description, 1.0 / RATE)
    t = np.arange(3 * RATE) / RATE
    rows = np.column_stack([0.3 * np.sin(3.0 * t), np.cos(t)])
    rows[RATE : 2 * RATE, 0] += 40.0
    events = feed(to, rows[: 2 * RATE])
    assert kinds(events) == ["fault"]
    found = to.estimate()
    assert (found.phase, found.reasons[0].code) == (Phase.FAULTED, "loops_open")
    assert "the loops cannot close" in str(found.reasons[0])
    assert np.isnan(found.loads).all()
    assert "recovered" in kinds(feed(to, rows[2 * RATE :], begin=2 * RATE))


def test_a_torque_constant_that_is_wrong_leaves_torque_unexplained() -> None:
    to = MechanismEstimator(sheet(), 1.0 / RATE, 5.0)
    assert [one.code for one in to.estimate().reasons] == ["drives_incomplete"]
    feed(to, played(20)[: 12 * RATE] * (1.0, 1.3, *(1.0,) * 9))
    found = to.estimate()
    assert (found.status, [one.code for one in found.reasons]) == (Status.LEARNING, ["mechanism_unexplained"])
    assert found.reasons[0].numbers["percent"] == pytest.approx(100.0 * 0.3 / 1.3, abs=3.0)


def test_a_gap_is_not_judged() -> None:
    rows = played(20).copy()
    rows[14 * RATE : 15 * RATE] = np.nan
    events = feed(MechanismEstimator(sheet(), 1.0 / RATE, 5.0), rows)
    assert kinds(events) == ["started"]


def test_residuals_of_recordings_are_those_of_the_live_filters() -> None:
    rows = played(20)[: 10 * RATE]
    recording = DriveRecording(np.arange(len(rows)) / RATE, rows[:, :1], rows[:, 1:2])
    (found,) = undisturbed(sheet(), [recording, recording])
    to = MechanismEstimator(sheet(), 1.0 / RATE, 1e9)
    feed(to, rows)
    peaks, deviations = to.start_residuals()
    assert found.drive == "crank"
    assert found.peak == pytest.approx(peaks[0], rel=0.3)
    assert found.deviation == pytest.approx(deviations[0], rel=0.2)
    taught = sheet().model_copy(update={"residuals": (DriveResidual(drive="crank", peak=9.0, deviation=1.0),)})
    known = MechanismEstimator(taught, 1.0 / RATE, 5.0)
    feed(known, rows)
    assert known.estimate().thresholds[0] >= 13.5, "1.5 times what was taught, whatever the start says"


def test_a_state_of_another_mechanism_is_refused() -> None:
    to = MechanismEstimator(sheet(), 1.0 / RATE, 5.0)
    assert to.keep() is None
    feed(to, played(20))
    kept = to.keep()
    assert kept is not None
    for wrong in (kept | {"version": 0}, kept | {"thresholds": [1.0, 2.0]}, kept | {"adopted": [float("nan")]}):
        with pytest.raises(ValueError, match="starts anew"):
            MechanismEstimator(sheet(), 1.0 / RATE).resume(wrong)
