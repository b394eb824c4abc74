"""kill -9 of the core: its joints are valid again at once, with what they had learnt."""

import os
import signal
import time
from pathlib import Path

import pytest

from daq.state.checkpoint_file import FILE, read
from daq.subscriber import Subscriber
from hil_rig.live import Live


def pid_of(name: str, above: int) -> int:
    """The service's process of this name below another one."""
    parents: dict[int, int] = {}
    named = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(tail.split()[1])
        if head.partition("(")[2] == name:
            named.append(number)
    for number in named:
        parent = number
        while parent in parents and parent != above:
            parent = parents[parent]
        if parent == above:
            return number
    raise AssertionError(f"no process {name}")


@pytest.mark.compiled
@pytest.mark.usefixtures("short_start")
def test_a_killed_core_goes_on_with_what_it_knew() -> None:
    with (
        Live(["rigid", "--wire", "slcan"]) as live,
        Subscriber(live.endpoint, timeout=120) as updates,
    ):
        file = live.config.with_name(f"rigid.{FILE}")
        before = {}
        for topic, update in updates:
            if topic == "estimate/joint1" and update["health"]["status"] == "valid":
                before = update
                if "joint1" in read(file):
                    break
        assert live.service is not None
        os.kill(pid_of("jw core", live.service.pid), signal.SIGKILL)
        killed, said, after = time.time(), [], {}
        for topic, update in updates:
            if update["boot"] == before["boot"]:
                continue
            if topic == "event/joint1":
                said.append(update["kind"])
            if topic == "estimate/joint1" and update["arrival"] > killed:
                after = update
                if said:
                    break
        assert said[0] == "resumed"
        assert after["health"]["status"] == "valid"
        sigma = before["deviations"]
        for name, value in before["parameters"].items():
            assert abs(after["parameters"][name] - value) < 10 * sigma[name] + 0.02 * abs(value), name
