"""A gear between two encoders, and mechanisms, on a wire with the service beside them, as in the field."""

import json
import time
import urllib.request
from typing import Any

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live

SHORT = "\n[joints.joint1.lost_motion]\nblocks = 18\nblock = 0.4\n"
ALONE = {  # rig → its joints' prediction error at most, each taking itself for alone
    "leg": (["leg"], 0.06),
    "pointing": (["pointing", "--set", "period=5"], 0.25),
}


def joints(live: Live) -> dict[str, Any]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)["joints"]
    return found


def test_the_lost_motion_of_a_gear_is_told_live() -> None:
    rig = ["gear", "--wire", "slcan", "--set", "half_gap=100e-6"]
    with Live(rig, more=SHORT) as live, Subscriber(live.endpoint, ("lost_motion/",), timeout=60) as updates:
        for _, told in updates:
            if told["known"]:
                break
            assert told["reasons"], "a number, or why there is none"
        assert told["parameters"]["lost_motion"] == pytest.approx(200e-6, rel=0.15)
        assert told["parameters"]["gear_stiffness"] == pytest.approx(2e4, rel=0.03)
        assert told["deviations"]["lost_motion"] < 20e-6
        deadline = time.monotonic() + 60.0
        while not joints(live)["joint1"]["lost_motion"].get("known") and time.monotonic() < deadline:
            time.sleep(0.1)
        text = urllib.request.urlopen(f"{live.page}/metrics", timeout=10).read().decode()
        assert 'jointwatch_lost_motion_known{joint="joint1"} 1.0' in text
        assert 'jointwatch_parameter_value{joint="joint1",parameter="lost_motion"} 0.000' in text
        assert 'parameter="lost_motion",unit="rad"} 1.0' in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_a_mechanism_plays_in_real_time_and_its_joints_start(name: str) -> None:
    rig, error = ALONE[name]
    with Live([*rig, "--wire", "slcan"]) as live:
        deadline = time.monotonic() + 180.0
        while time.monotonic() < deadline:
            now = joints(live)
            if all(one.get("phase") in ("normal", "transient", "held") for one in now.values()):
                break
            time.sleep(0.5)
        assert {joint: one["phase"] for joint, one in now.items() if one["phase"] in ("waiting", "starting")} == {}
        assert max(one["error"] for one in now.values()) < error
