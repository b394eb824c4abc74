"""A gear between two encoders on a wire with the service beside it, as in the field."""

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.__main__ import main
from daq.recording.folder import recordings
from daq.recording.reader import said
from daq.subscriber import Subscriber
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

SHORT = "\n[joints.joint1.lost_motion]\nblocks = 18\nblock = 0.4\n"


def joints(live: Live) -> dict[str, Any]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)["joints"]
    return found


def hear(live: Live, what: Callable[[str, dict[str, Any]], bool], timeout: float = 90.0) -> dict[str, Any]:
    """The first update of the gear, or event, that is so; until then a number, or why there is none."""
    deadline = time.monotonic() + timeout
    with Subscriber(live.endpoint, ("lost_motion/", "event/"), timeout=timeout) as updates:
        for topic, told in updates:
            if what(topic, told):
                return told
            assert time.monotonic() < deadline, "waited in vain"
            assert topic.startswith("event/") or told["known"] or told["reasons"]
    raise AssertionError("the stream ended")


def test_the_lost_motion_of_a_gear_is_reported_live_and_its_recording_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gap of 200 µrad (2b) becomes 600 at 60 s, in windows of 7 s of used rows."""
    rig = ["gear", "--wire", "slcan", "--set", "half_gap=100e-6", "--jump", "60:lost_motion=3"]
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live(rig, more=SHORT + recorder) as live:
        told = hear(live, lambda topic, one: topic.startswith("lost_motion/") and one["known"])
        assert told["parameters"]["lost_motion"] == pytest.approx(200e-6, rel=0.1)
        assert told["parameters"]["gear_stiffness"] == pytest.approx(2e4, rel=0.03)
        assert told["parameters"]["link_friction"] == pytest.approx(1.0, abs=0.5)
        assert told["deviations"]["lost_motion"] < 20e-6
        assert not told["soft"]
        wait_until(lambda: joints(live)["joint1"]["lost_motion"].get("known"))
        text = urllib.request.urlopen(f"{live.page}/metrics", timeout=60).read().decode()
        assert 'jointwatch_lost_motion_known{joint="joint1"} 1.0' in text
        assert 'jointwatch_parameter_value{joint="joint1",parameter="lost_motion"} 0.000' in text
        grown = hear(live, lambda _, one: one.get("kind") == "lost_motion_grown")
        config = tmp_path / "jointwatch.toml"
        config.write_bytes(live.config.read_bytes())
        for dbc in live.config.parent.glob("*.dbc"):
            (tmp_path / dbc.name).write_bytes(dbc.read_bytes())
    began = live.farewell["began"]
    assert told["timestamp"] - began < 55.0, "before the jump"
    assert 60.0 < grown["timestamp"] - began < 90.0
    (file,) = recordings(tmp_path, "gear")
    topics = [one.topic for one in said(file)]
    assert topics.count("lost_motion/joint1") > 60
    assert main(["replay", str(file), str(config), "--check"]) == 0, capsys.readouterr().err
    assert int(capsys.readouterr().out.split()[0]) == sum("/" in topic for topic in topics)
