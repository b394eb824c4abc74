"""Rig → service → subscriber: a controller over RTDE, joint states of ROS 2 over DDS and zenoh."""

import urllib.request
from importlib.util import find_spec
from typing import Any

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live


def metric(page: str, start: str) -> float:
    """Sum of the samples whose line begins so."""
    text = urllib.request.urlopen(f"{page}/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start))


def the_truth_comes_out(live: Live) -> None:
    """Two joints come to normal mode with parameters near the rig's."""
    normal: dict[str, Any] = {}
    with Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        for _, update in subscriber:
            if update["phase"] == "normal":
                normal[update["joint"]] = update
            if len(normal) == 2:
                break
    for joint, update in normal.items():
        for name, truth in live.truth[joint].items():
            assert update["parameters"][name] == pytest.approx(truth, abs=0.05 * abs(truth) + 0.1), (joint, name)


@pytest.mark.parametrize(
    ("wire", "needs"), [pytest.param("rtde", "", marks=pytest.mark.slow), ("ros2", "cyclonedds"), ("zenoh", "zenoh")]
)
def test_the_truth_comes_out_and_nothing_is_lost(wire: str, needs: str) -> None:
    if needs and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed (pip install jointwatch[{wire}])")
    with Live(["rigid", "--joints", "2", "--wire", wire]) as live:
        the_truth_comes_out(live)
        assert metric(live.page, "jointwatch_samples_lost_total{") == 0
        assert metric(live.page, "jointwatch_decode_errors_total{") == 0
