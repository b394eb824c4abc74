"""The configuration of joints of which there are columns only: rates, roles, axes, and what is lacking."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.routes import routes
from daq.recording.columns import Channels, Columns
from daq.recording.reader import RecordingError
from daq.replay.from_columns import configured
from estimators.alignment.channel_delay import ChannelSeries
from estimators.models.joints.rigid import RigidSettings

FILE = Path("x.csv")


def channels(*roles: str, step: float = 0.004, jitter: float = 0.0) -> Channels:
    time = np.arange(1000) * step
    time[1::2] += jitter
    return {"a": {role: ChannelSeries(time, np.sin(time)) for role in roles}}


@pytest.mark.parametrize(("effort", "slides"), [("torque", False), ("force", True)])
def test_a_joint_with_a_torque_turns_and_one_with_a_force_slides(effort: str, slides: bool) -> None:
    config = configured(FILE, channels("position", effort, "temperature"), None)
    [(name, joint)] = config.joints.items()
    assert (name, joint.rate, list(joint.channels)) == ("a", 250.0, ["position", effort])
    assert [(one.role, one.driver, one.signal) for one in routes(config)] == [
        ("position", "recording", "a.position"),
        ("" + effort, "recording", f"a.{effort}"),
    ]
    model = joint.model
    assert isinstance(model, RigidSettings)
    assert (model.axis == "prismatic", model.gravity_sin, model.gravity_cos) == (slides, not slides, not slides)
    assert config.drivers == {}
    assert config.robot.name == "recording"


def table(unit: str) -> Columns:
    columns = {"position": {"column": "q", "unit": unit}, "torque": {"column": "u"}, "force": {"column": "u"}}
    return Columns.model_validate({"rate": 1.0, "joints": {"a": columns}})


def test_a_position_in_metres_slides_and_wants_a_force() -> None:
    [joint] = configured(FILE, channels("position", "force"), table("mm")).joints.values()
    assert isinstance(joint.model, RigidSettings)
    assert joint.model.axis == "prismatic"
    with pytest.raises(RecordingError, match=r"^x.csv: joint a is prismatic: rename its torque to force$"):
        configured(FILE, channels("position", "torque"), table("mm"))
    [joint] = configured(FILE, channels("position", "torque"), table("deg")).joints.values()
    assert isinstance(joint.model, RigidSettings)
    assert joint.model.axis == "rotary"


def test_what_is_lacking_is_said_of_every_joint() -> None:
    found = channels("position") | {
        "b": channels("torque", "velocity")["a"],
        "c": {},
        "d": channels("position", "torque")["a"],
    }
    with pytest.raises(RecordingError) as caught:
        configured(FILE, found, None)
    assert str(caught.value).splitlines() == [
        f"x.csv: joint {name}: expected position and torque (or force), found {what}"
        for name, what in (("a", "position"), ("b", "torque, velocity"), ("c", "nothing"))
    ]


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (0.004, 250.0),
        (1.0 / 999.7, 1000.0),
        (1.0 / 60.03, 60.0),
        (1.0 / 2.4, 2.4),
        (0.8, 1.25),
        (0.048, 1.0 / 0.048),  # 21 Hz would be refused by the clock
        (1.0 / 30.4, 30.4),
        (1.0 / 60.0, 60.0),
    ],
)
def test_a_rate_is_the_whole_number_of_hertz_that_a_clock_within_a_thousandth_means(step: float, rate: float) -> None:
    [joint] = configured(FILE, channels("position", "torque", step=step), None).joints.values()
    assert joint.rate == pytest.approx(rate, rel=1e-6)


def test_a_rate_is_that_of_most_rows() -> None:
    found = channels("position", "torque")
    series = found["a"]["position"]
    series.time[500:] += 100.0
    [joint] = configured(FILE, found, None).joints.values()
    assert joint.rate == 250.0


def test_rows_with_the_stamp_of_the_one_before_make_no_rate() -> None:
    found = channels("position", "torque")
    for series in found["a"].values():
        series.time[1::10] = series.time[:-1:10]
    [joint] = configured(FILE, found, None).joints.values()
    assert joint.rate == 250.0


@pytest.mark.parametrize("time", [np.zeros(100), np.zeros(1), np.zeros(0), -np.arange(100.0)])
def test_times_that_do_not_rise_are_said(time: np.ndarray) -> None:
    series = ChannelSeries(time, np.zeros(len(time)))
    with pytest.raises(RecordingError, match=r"^x.csv: expected rising times$"):
        configured(FILE, {"a": {"position": series, "torque": series}}, None)
