"""A mechanism through the whole pipeline: its messages, a silent drive, and a restart."""

from pathlib import Path

import jsonschema
import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.stream.schema import schema
from daq.stream.update import Map, Message
from drivers.reading import READING
from hil_rig.plants.base import encoder
from hil_rig.plants.mechanisms.four_bar import FourBar, FourBarSettings

pytestmark = pytest.mark.compiled

RATE = 250
START = 1_000_000_000  # ns
EPOCH = 1_764_000_000_000_000_000  # ns: Unix time is the rows' time and this
MODEL = Path(__file__).parents[4] / "docs" / "four_bar.toml"
CONFIG = f"""[robot]
mechanism = "{MODEL}"
[publish]
rate = 10.0
[drivers.wire]
kind = "can"
channel = "can0"
interface = "socketcan"
[[drivers.wire.frames]]
name = "M"
id = 1
signals.q = {{ start = 0, bits = 32, type = "float", unit = "rad" }}
signals.t = {{ start = 32, bits = 32, type = "float", unit = "N·m" }}
[joints.motor]
rate = {RATE}
model = {{ kind = "rigid", gravity_sin = true, gravity_cos = true }}
[joints.motor.channels]
position = {{ signal = "wire.M.q" }}
torque = {{ signal = "wire.M.t" }}
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "jointwatch.toml"
    file.write_text(CONFIG)
    return load(file)


@pytest.fixture(scope="module")
def motion() -> np.ndarray:
    rows = FourBar(FourBarSettings(), []).exact(1000 * 16)[:: 1000 // RATE]
    torque = rows[:, 1] + 0.005 * np.random.default_rng(3).standard_normal(len(rows))
    return np.column_stack([encoder(rows[:, 0], 20), torque])


def play(to: Pipeline, values: np.ndarray, begin: int = 0) -> list[Message]:
    said: list[Message] = []
    for first in range(0, len(values), 25):
        part = values[first : first + 25]
        readings = np.zeros(2 * len(part), READING)
        readings["time"] = np.repeat(START + (begin + first + np.arange(len(part))) * (1_000_000_000 // RATE), 2)
        readings["channel"] = np.tile(np.arange(2), len(part))
        readings["value"] = part.ravel()
        said += to.absorb(readings, EPOCH, lambda: 0)
    return said


def maps(messages: list[Message], topic: str) -> list[Map]:
    return [msgpack.unpackb(body) for name, body in messages if name == topic.encode()]


def test_residuals_and_constraint_forces_are_published_and_a_silent_drive_is_reported(
    config: Config, motion: np.ndarray
) -> None:
    to = Pipeline(config, 1)
    said = play(to, motion)
    told = maps(said, "mechanism")
    assert 150 <= len(told) <= 162, "ten a second"
    for one in told[::20]:
        jsonschema.validate(one, schema("mechanism"))
    assert [one["seq"] for one in told] == list(range(len(told)))
    last = told[-1]
    assert (last["phase"], last["health"]["status"]) == ("normal", "valid")
    crank = last["drives"]["crank"]
    assert abs(crank["residual"]) < crank["threshold"] < 0.1
    assert set(last["joints"]) == {"crank", "coupler", "rocker", "tip"}
    assert 5.0 < last["joints"]["tip"]["radial"] < 17.0
    assert "position" in last["joints"]["rocker"]
    assert "position" not in last["joints"]["tip"]
    assert last["timestamp"] - EPOCH / 1e9 == pytest.approx(17.0, abs=0.3)
    (started,) = maps(said, "event/mechanism")
    assert (started["kind"], 2.0 < started["timestamp"] - EPOCH / 1e9 < 17.0) == ("started", True)
    silent = to.check_silence(START + 30_000_000_000, EPOCH)
    (faulted,) = maps(silent, "mechanism")
    assert (faulted["phase"], faulted["health"]["status"]) == ("faulted", "faulted")
    (fault,) = maps(silent, "event/mechanism")
    assert (fault["kind"], fault["timestamp"] - EPOCH / 1e9) == ("fault", pytest.approx(31.0))


def test_thresholds_outlive_a_restart(config: Config, motion: np.ndarray) -> None:
    before = Pipeline(config, 1)
    play(before, motion)
    assert before.mechanism is not None
    kept = before.mechanism.keep()
    assert kept is not None
    after = Pipeline(config, 2)
    after.resume({"mechanism": kept})
    told = maps(play(after, motion[: 3 * RATE], len(motion)), "mechanism")
    assert told[-1]["phase"] == "normal"
    assert told[-1]["drives"]["crank"]["threshold"] == pytest.approx(kept["thresholds"][0])
    with pytest.raises(ValueError, match="starts anew"):
        after.resume({"mechanism": kept | {"version": 0}})
    assert maps(play(after, motion[: 3 * RATE], 2 * len(motion)), "mechanism")[-1]["phase"] == "starting"
