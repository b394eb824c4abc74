"""A gear between two encoders, live: told once a second, against a baseline, kept over a restart."""

from collections.abc import Sequence

import jsonschema
import msgpack
import numpy as np
import pytest

from daq.config.sections import JointSection
from daq.core.joint_pipeline import JointPipeline
from daq.state.baselines import Baseline
from daq.stream.schema import schema
from daq.stream.update import Map, Message, Publication
from estimators.online.checkpoint import NotTheSameError
from estimators.online.gear.two_encoders import gear_of
from estimators.quantities import Floats
from hil_rig.plants.base import Jump
from hil_rig.plants.joints.gear import GearPlantSettings

pytestmark = pytest.mark.compiled

SHORT = {"blocks": 18, "block": 0.6}  # a window of eleven seconds of used rows, after six that tell friction
SECOND = 1_000_000_000
EPOCH = 1_000_000_000  # s from the samples' clock to Unix time


def joint(**lost_motion: object) -> JointSection:
    friction = {"kind": "viscous_coulomb"}
    model = {"kind": "two_mass", "inertia_motor": 0.5, "inertia_link": 2.0, "gravity": 60.0}
    model |= {"motor_friction": friction, "link_friction": friction}
    channels = {role: {"signal": f"wire.M.{role}"} for role in ("position", "link_position", "torque")}
    return JointSection.model_validate({"rate": 1000, "model": model, "channels": channels, "lost_motion": lost_motion})


def line(settings: JointSection) -> JointPipeline:
    return JointPipeline("elbow", settings, Publication("r", "elbow", 1, "N·m"), SECOND // 5, None)


def rows(seconds: float, *jumps: Jump) -> Floats:
    gear = GearPlantSettings(skew=0.0)
    told = gear.build(1, 3, jumps).rows(round(1000 * seconds))
    return np.column_stack([told[:, 0] / gear.ratio, told[:, 2], told[:, 1] * gear.torque_constant])


def play(to: JointPipeline, values: Floats, begin: int = 0, batch: int = 200) -> list[Message]:
    said: list[Message] = []
    for first in range(0, len(values), batch):
        part = values[first : first + batch]
        time = SECOND + (begin + first + np.arange(len(part))) * 1_000_000
        columns = np.tile(np.arange(3, dtype=np.int32), len(part))
        said += to.absorb(np.repeat(time, 3), part.ravel(), columns, EPOCH * SECOND, lambda: 0)
    return said


def maps(messages: Sequence[Message], family: str) -> list[Map]:
    return [msgpack.unpackb(body) for topic, body in messages if topic == f"{family}/elbow".encode()]


@pytest.fixture(scope="module")
def motion() -> Floats:
    return rows(70.0, Jump(40.0, "lost_motion", 3.0))


@pytest.fixture(scope="module")
def said(motion: Floats) -> list[Message]:
    to = line(joint(**SHORT))
    first = play(to, motion[:36_000])
    kept = maps(first, "lost_motion")[-1]
    estimate = maps(first, "estimate")[-1]
    names = ("gear_stiffness", "lost_motion", "gear_friction")
    baseline = Baseline(
        since=1.0,
        model="two_mass",
        values=estimate["parameters"] | {name: kept["parameters"][name] for name in names},
        deviations=estimate["deviations"] | {name: kept["deviations"][name] for name in names},
    )
    to.set_baseline(baseline)
    return first + play(to, motion[36_000:], 36_000)


def test_it_is_told_once_a_second_and_found(said: list[Message]) -> None:
    told = maps(said, "lost_motion")
    at = [one["timestamp"] - EPOCH for one in told]
    assert (at[0], at[-1]) == pytest.approx((1.2, 70.2), abs=0.201)
    assert np.diff(at) == pytest.approx(1.0, abs=0.21)
    before = [one for one in told if one["timestamp"] - EPOCH < 41.0]
    assert not before[0]["known"]
    assert "% of the rows that a first window takes" in before[3]["reasons"][0]["text"]
    assert before[-1]["known"]
    assert before[-1]["parameters"]["lost_motion"] == pytest.approx(150e-6, rel=0.15)
    assert before[-1]["parameters"]["gear_stiffness"] == pytest.approx(2e4, rel=0.02)
    for one in (before[0], before[-1], told[-1]):
        jsonschema.validate(one, schema("lost_motion/"))


def test_readings_of_the_motor_before_the_gear_tell_as_much_as_those_behind_it(motion: Floats) -> None:
    """A motor that turns a hundred times as far with a hundredth of the torque; its inertia is a ten thousandth."""
    behind, model = joint(**SHORT), {"inertia_motor": 0.5e-4, "gear": 100.0}
    before = behind.model_copy(update={"model": behind.model.model_copy(update=model)})
    told = [
        maps(play(line(settings), motion[:36_000] * factor), "lost_motion")[-1]
        for settings, factor in ((behind, 1.0), (before, np.array([100.0, 1.0, 0.01])))
    ]
    assert told[0]["known"]
    assert told[1]["known"]
    assert told[1]["parameters"] == pytest.approx(told[0]["parameters"], rel=1e-4, abs=1e-9), "but for rounding"


def test_growth_is_an_event(said: list[Message]) -> None:
    events = [(one["kind"], one["timestamp"] - EPOCH) for one in maps(said, "event")]
    grown = [time for kind, time in events if kind == "lost_motion_grown"]
    assert [kind for kind, _ in events].count("lost_motion_known") == 1
    assert len(grown) == 1
    assert 41.0 < grown[0] < 71.0
    assert maps(said, "lost_motion")[-1]["grown"]


def test_growth_is_a_drift_against_the_baseline(said: list[Message]) -> None:
    drift = [one for one in maps(said, "drift") if one["reference"] == "baseline"]
    assert drift[0]["percent"]["lost_motion"] == pytest.approx(0.0, abs=15.0)
    told = [one["percent"]["lost_motion"] for one in drift if "lost_motion" in one["drifted"]]
    assert max(told) == pytest.approx(200.0, abs=50.0)


def test_any_cut_of_batches_gives_the_same_messages(motion: Floats) -> None:
    """What is published falls on the rows' clock, whatever the link hands over at once."""
    one, other = (play(line(joint(**SHORT)), motion[:6_000], batch=batch) for batch in (40, 1000))
    assert maps(one, "lost_motion") != []
    for mine, theirs in zip(maps(one, "lost_motion"), maps(other, "lost_motion"), strict=True):
        assert msgpack.packb(mine) == msgpack.packb(theirs)


def test_a_restart_goes_on_with_the_number(motion: Floats) -> None:
    before = line(joint(**SHORT))
    play(before, motion[:30_000])
    assert before.gear is not None
    state = msgpack.unpackb(msgpack.packb(before.gear.keep()), strict_map_key=False)
    after = line(joint(**SHORT))
    assert after.gear is not None
    after.gear.resume(state)
    told = maps(play(after, motion[30_000:32_000], 32_000), "lost_motion")[0]
    assert told["known"]
    assert told["first"] == before.gear.watch.state.reference[0]
    with pytest.raises(NotTheSameError, match="version"):
        after.gear.resume(state | {"lost_motion": state["lost_motion"] | {"version": 0}})
    assert after.gear.watch.blocks.filled == 0


def test_a_joint_that_cannot_resume_still_hears_its_gear(motion: Floats) -> None:
    """An estimator that starts anew is another one; the gear gets the rows of that one."""
    fresh, refused = line(joint(**SHORT)), line(joint(**SHORT))
    with pytest.raises(NotTheSameError):
        refused.resume({"nobody": 7})
    expected, found = (maps(play(to, motion[:3_000]), "lost_motion") for to in (fresh, refused))
    assert repr(found) == repr(expected)
    assert found[-1]["progress"] > 0.0


def test_a_hole_in_time_costs_rows_and_no_truth(motion: Floats) -> None:
    """After two seconds without frames the filters begin anew: no row joins what lies on its two sides."""
    to = line(joint(**SHORT))
    play(to, motion[:15_000])
    assert to.gear is not None
    before = to.gear.watch.state.tallies[:, 0].sum()
    told = maps(play(to, motion[20_000:39_000], 20_000), "lost_motion")[-1]
    assert to.gear.watch.state.tallies[:, 0].sum() >= before
    assert told["parameters"]["lost_motion"] == pytest.approx(150e-6, rel=0.15)


def test_who_is_watched() -> None:
    watched = gear_of(joint(), 1000.0)
    assert watched is not None
    assert (watched.settings.inertia_motor, watched.settings.gravity) == (0.5, 60.0)
    assert watched.settings.band == pytest.approx(0.02 * (60.0 + 2 * 2.0))
    assert gear_of(joint(watch=False), 1000.0) is None
    plain = joint().model_copy(update={"lost_motion": None})
    assert gear_of(plain, 1000.0) is not None
    assert gear_of(plain, 50.0) is None, "too slow, and not asked for"
    sensed = plain.model_copy(update={"model": plain.model.model_copy(update={"spring_torque": True, "gear": 50.0})})
    found = gear_of(sensed, 1000.0)
    assert found is not None
    assert found.roles == ("position", "link_position", "torque", "joint_torque")
    assert found.scale.tolist() == [1 / 50, 1.0, 50.0, 1.0]
    assert (found.settings.load, found.settings.inertia_motor, found.settings.ratio) == (True, 1250.0, 50.0)


def test_a_rigid_joint_may_have_a_second_encoder_for_its_gear_alone() -> None:
    channels = {role: {"signal": f"wire.M.{role}"} for role in ("position", "link_position", "torque")}
    known = {"inertia_motor": 0.5, "inertia_link": 2.0, "gravity": 60.0}
    rigid = {"rate": 1000, "model": {"kind": "rigid", "gravity_sin": True}, "channels": channels}
    settings = JointSection.model_validate(rigid | {"lost_motion": SHORT | known})
    to = line(settings)
    assert to.estimator.channels == ("position", "torque", "link_position")
    values = rows(30.0)
    told = maps(play(to, values[:, [0, 2, 1]]), "lost_motion")[-1]
    assert told["parameters"]["lost_motion"] == pytest.approx(150e-6, rel=0.15)
