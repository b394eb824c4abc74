"""Polled servos, live: a rig of two servos that answer reads, and the service that asks them, until both are normal."""

import time

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live

PATIENCE = 240.0  # s, of a busy machine; 25 s are enough on a quiet one


@pytest.mark.slow
def test_joints_of_polled_servos_become_normal_and_valid_with_their_true_values() -> None:
    """A rig that is late must not look like servos whose values are held: that faults the joint again and again."""
    rig = ["rigid", "--joints", "2", "--wire", "servo_polled", "--set", "rate=200"]
    told: dict[str, dict[str, float]] = {}
    with Live(rig) as live, Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as updates:
        deadline = time.monotonic() + PATIENCE
        for topic, update in updates:
            if (update["phase"], update["health"]["status"]) == ("normal", "valid"):
                told[topic.partition("/")[2]] = update["parameters"]
            if told.keys() == live.truth.keys():
                break
            assert time.monotonic() < deadline, (topic, update["phase"], update["health"])
        for joint, truth in live.truth.items():
            for name in ("inertia", "viscous", "coulomb", "gravity_sin"):
                assert told[joint][name] == pytest.approx(truth[name], rel=0.15), (joint, name)
