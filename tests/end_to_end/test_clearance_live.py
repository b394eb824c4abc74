"""The clearance of a bearing over a real wire, by both kinds of sensors: known, grown, and the same by command."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.recording.folder import recordings
from daq.subscriber import Subscriber
from hil_rig.live import Live

pytestmark = [pytest.mark.compiled, pytest.mark.slow]
RIG = ["pointing", "--set", "vertical=true", "--set", "period=4", "--set", "contact=reduced", "--wire", "udp"]


def hear(live: Live, wanted: Callable[[str, dict[str, Any]], bool], timeout: float = 150.0) -> dict[str, Any]:
    deadline = time.monotonic() + timeout
    with Subscriber(live.endpoint, ("clearance/", "change/", "event/"), timeout=timeout) as updates:
        for topic, update in updates:
            if wanted(topic, update):
                return update
            assert time.monotonic() < deadline, "waited in vain"
    raise AssertionError("the stream has ended")


def of(change: dict[str, Any]) -> list[str]:
    """The parameters that have changed."""
    return [one["parameter"] for one in change["records"]]


def test_a_bearing_that_wears_is_reported_live_and_its_recording_says_the_same(tmp_path: Path) -> None:
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live([*RIG, "--jump", "60:clearance=1.5"], more=recorder) as live:
        known = hear(live, lambda topic, one: topic == "clearance/joint1" and one["known"])
        assert abs(known["clearance"] - 50e-6) < 3.0 * known["deviation"] < 3e-6
        grown = hear(live, lambda topic, one: topic == "change/joint1" and "clearance" in of(one))
        (record,) = [one for one in grown["records"] if one["parameter"] == "clearance"]
        assert record["to"] == pytest.approx(75e-6, rel=0.03)
    words = ["clearance", *map(str, recordings(tmp_path, "pointing")), "--joint", "joint1", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "daq", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)["now"]
    assert told["way"] == "proximity sensors"
    assert 49e-6 < told["clearance"] < 76e-6, "both are in this recording"


def test_two_encoders_tell_a_bearing_that_wears_live_and_their_recordings_say_the_same(tmp_path: Path) -> None:
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\nfile_duration = 30\n'
    with Live([*RIG, "--set", "sensors=ring", "--jump", "80:clearance=1.5"], more=recorder) as live:
        known = hear(live, lambda topic, one: topic == "clearance/joint1" and one["known"])
        assert known["way"] == "link ring"
        assert abs(known["clearance"] - 50e-6) < 2.0 * known["deviation"] < 10e-6
        grown = hear(live, lambda topic, one: topic == "change/joint1" and "clearance" in of(one), 240.0)
        (record,) = [one for one in grown["records"] if one["parameter"] == "clearance"]
        assert record["to"] == pytest.approx(75e-6, rel=0.05)
        hear(live, lambda topic, one: topic == "clearance/joint1" and one["grown"])
        with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as page:
            shown = json.load(page)["joints"]["joint1"]["clearance"]
        assert shown["way"] == "link ring"
        assert shown["first"] == pytest.approx(50e-6, rel=0.05)
    first, *_, whole, _ = recordings(tmp_path, "pointing")  # of half a minute each; the last one is cut off
    words = ["clearance", str(whole), "--before", str(first), "--joint", "joint1", "--json"]
    words += ["--ring-radius", "0.03", "--gravity", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "daq", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    said = json.loads(done.stdout)
    for when, truth in (("before", 50e-6), ("now", 75e-6)):
        (told,) = said[when]
        assert told["way"] == "link_position"
        assert abs(told["clearance"] - truth) < 2.0 * told["deviation"] < 10e-6
    assert [one["grown"] for one in said["growth"]] == [True]
