"""Our own recordings as drivers: what the recorder wrote comes back under its names on the wire, damage is counted."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Config, Record
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.stream.transcript import Batch, TurnBlock
from drivers import AnyDriver
from drivers.base import DriverSettings, EndOfFileError, Wanted
from drivers.reading import OWN, READING

TEXT = """
[recorder]
folder = "kept"
[drivers.bus]
kind = "can"
interface = "slcan"
channel = "/dev/ttyACM0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", unit = "mrad" }
signals.counter = { start = 32, bits = 16 }
[drivers.port]
kind = "serial"
port = "/dev/ttyUSB0"
packets = [{ name = "TORQUE", id = 1, fields = [{ name = "current", type = "i16", unit = "mA" }] }]
[joints.elbow]
rate = 1000.0
model = { kind = "rigid" }
counter = { signal = "bus.STATE.counter" }
channels.position = { signal = "bus.STATE.position", scale = -0.01, offset = 1.5 }
channels.torque = { signal = "port.TORQUE.current", scale = 11.0 }
"""


def rows(start: int, count: int) -> np.ndarray:
    """Position and counter in one frame, torque in another a little later; values on the joint's side."""
    n = np.arange(start, start + count)
    table = np.zeros((count, 3), READING)
    table["time"] = 10**12 + n[:, None] * 1_000_000 + [0, 0, 300_000]
    table["channel"] = [0, 2, 1]
    table["value"] = np.stack([-0.01 * n + 1.5, n % 65536, 11.0 * np.sin(n)], 1)
    table["flags"][:, 2] = OWN
    return table.reshape(-1)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Config]:
    """A recording of 300 samples in ten blocks, and the configuration that it was made with."""
    (tmp_path / "c.toml").write_text(TEXT)
    config = load(tmp_path / "c.toml")
    config = config.model_copy(update={"recorder": Record(folder=tmp_path / "kept", reserve=0.0)})
    expected = NextBlock(tmp_path / "next")
    recorder = Recorder(config, expected)
    for number in range(10):
        batch = Batch(90, 10**18, number, [], [], None)
        recorder.take(TurnBlock(1, number, [batch], rows(30 * number, 30), []))
    recorder.close()
    expected.close()
    (file,) = recordings(tmp_path / "kept", "robot")
    return file, config


def settings(path: Path, **changes: Any) -> DriverSettings:
    found: DriverSettings = TypeAdapter(AnyDriver).validate_python({"kind": "file", "path": path, "speed": 0} | changes)
    return found


def played(given: DriverSettings, wanted: list[Wanted]) -> tuple[np.ndarray, dict[str, int]]:
    parts = [np.zeros(0, READING)]
    with given.open(wanted) as driver:
        try:
            while True:
                parts.append(driver.read(0.1))
        except EndOfFileError:
            pass
        return np.concatenate(parts), {cause: count for cause, count in driver.counters().items() if count}


def test_the_same_configuration_gives_the_same_readings_from_the_file(kept: tuple[Path, Config]) -> None:
    file, config = kept
    wanted = [Wanted(index, route.signal, route.scale, route.offset) for index, route in enumerate(routes(config))]
    given = settings(file)
    assert given.signals() == dict.fromkeys(("STATE.position", "STATE.counter", "TORQUE.current"), "SI")
    readings, counts = played(given, wanted)
    recorded = rows(0, 300)
    assert counts == {"frames": 900}
    for name in ("time", "channel", "flags"):
        assert np.array_equal(readings[name], recorded[name]), name
    np.testing.assert_allclose(readings["value"], recorded["value"], rtol=1e-12, atol=1e-12)


def test_of_several_drivers_the_one_that_is_wanted(kept: tuple[Path, Config]) -> None:
    given = settings(kept[0], channel="port")
    assert set(given.signals()) == {"TORQUE.current"}
    readings, counts = played(given, [Wanted(5, "TORQUE.current")])
    np.testing.assert_allclose(readings["value"], np.sin(np.arange(300)), atol=1e-12)
    assert counts == {"frames": 300, "other_channels": 600}


def test_a_recording_that_breaks_off_is_played_as_far_as_it_goes(kept: tuple[Path, Config]) -> None:
    whole = kept[0].read_bytes()
    for part in (0.4, 0.7):
        kept[0].write_bytes(whole[: int(part * len(whole))])
        readings, _ = played(settings(kept[0]), [Wanted(0, "STATE.counter")])
        assert 0 < len(readings) < 300
        assert readings["value"].tolist() == list(range(len(readings)))


def test_damaged_bytes_are_counted_or_said_and_never_break_it(kept: tuple[Path, Config]) -> None:
    file, _ = kept
    given, whole = settings(file), file.read_bytes()
    random = np.random.default_rng(2)
    for _ in range(300):
        data = bytearray(whole)
        for place in random.integers(2000, len(data), 4):
            data[place] = random.integers(256)
        file.write_bytes(data)
        os.utime(file, (1e9, 1e9))  # it is not being written
        readings, _ = played(given, [Wanted(0, "STATE.counter")])
        assert len(readings) <= 300


@pytest.mark.parametrize(
    ("content", "changes", "said"),
    [
        (b"junk", {}, "not a recording"),
        (b"", {}, "found no configuration in it"),
        (None, {}, "No such file"),
        (b"junk", {"columns": {"q": {}}}, "expected neither columns nor a layout"),
    ],
)
def test_what_is_no_recording_is_a_configuration_error(
    content: bytes | None, changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.mcap"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValidationError, match=said):
        settings(file, **changes)


def test_unknown_names_get_the_nearest(kept: tuple[Path, Config]) -> None:
    with pytest.raises(ValidationError, match='found no driver "ports" in it, did you mean "port"'):
        settings(kept[0], channel="ports")
