"""Rig → service → subscriber: a controller over RTDE, joint states of ROS 2 over DDS and zenoh."""

import time
import urllib.request
from importlib.util import find_spec
from typing import Any

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until


def metrics(page: str, name: str, *left_out: str) -> float:
    """Sum of the samples of this name, without lines that have any of these words."""
    text = urllib.request.urlopen(f"{page}/metrics").read().decode()
    lines = [line for line in text.splitlines() if line.startswith(f"jointwatch_{name}{{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if not any(word in line for word in left_out))


def the_truth_comes_out(live: Live) -> None:
    """Two joints come to normal mode with parameters near the rig's."""
    normal: dict[str, Any] = {}
    end = time.monotonic() + 300.0
    with Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        for _, update in subscriber:
            assert time.monotonic() < end, f"normal so far: {', '.join(normal)}"
            if update["phase"] == "normal":
                normal[update["joint"]] = update
            if len(normal) == 2:
                break
    for joint, update in normal.items():
        for name, truth in live.truth[joint].items():
            assert update["parameters"][name] == pytest.approx(truth, abs=0.05 * abs(truth) + 0.1), (joint, name)


@pytest.mark.usefixtures("short_start")
@pytest.mark.parametrize(
    ("wire", "needs"),
    [
        ("ros2", "cyclonedds"),
        # the service knows no wire: of these each has its contract (test_drivers.py), a rig (test_rigs.py), and its
        # losses (test_ros2_zenoh.py, test_rtde.py) in `make test`
        pytest.param("rtde", "", marks=pytest.mark.slow),
        pytest.param("zenoh", "zenoh", marks=pytest.mark.slow),
    ],
)
def test_the_truth_comes_out_and_nothing_is_lost_but_on_the_way(wire: str, needs: str) -> None:
    if needs and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed (pip install jointwatch[{wire}])")
    with Live(["rigid", "--joints", "2", "--set", "rate=500", "--wire", wire]) as live:
        the_truth_comes_out(live)
        played = live.end_rig(60.0)["samples"]
        lost = "samples_lost_total"
        wait_until(lambda: metrics(live.page, "samples_total") + metrics(live.page, lost) == 2 * played, 120.0)
        # None is lost on the way unless this machine let a reader starve; drivers send their totals once a second.
        wait_until(lambda: metrics(live.page, lost) == 2 * (played - metrics(live.page, "frames_total")), 120.0)
        assert metrics(live.page, lost, 'cause="lost"') == 0
        assert metrics(live.page, "decode_errors_total", 'cause="lost"') == 0
