"""A joint is commissioned from the command line while it runs; from then on the stream tells its drift."""

import json
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from daq.config.load import load
from daq.subscriber import Subscriber
from hil_rig.live import Live
from tests.support.processes.commands import called


def baseline(config: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return called("baseline", config, *words)


def statuses(live: Live) -> set[str]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as answer:
        joints = json.load(answer)["joints"].values()
    return {joint.get("health", {}).get("status", "") for joint in joints}


@pytest.mark.compiled
@pytest.mark.usefixtures("short_start")
def test_a_joint_is_commissioned_while_it_runs() -> None:
    with Live(["rigid", "--joints", "2", "--wire", "slcan"]) as live:
        live.hold_rig(True)  # no start may end before it is asked for too early
        joints = list(load(live.config).joints)
        assert baseline(live.config).stdout == "".join(f"{name}: no baseline\n" for name in joints)
        early = baseline(live.config, "--set")
        assert (early.returncode, early.stdout) == (1, "")
        assert early.stderr.startswith("jointwatch: the values of joint1 are no baseline: ")
        assert early.stderr.count("\n") == 1
        live.hold_rig(False)
        deadline = time.monotonic() + 120
        while statuses(live) != {"valid"}:
            assert time.monotonic() < deadline, statuses(live)
            time.sleep(0.2)  # between two looks
        deadline = time.monotonic() + 120
        with Subscriber(live.endpoint, ("drift/", "event/"), timeout=60) as updates:
            before = time.time()
            while (done := baseline(live.config, "--set", joints[0])).returncode:
                assert time.monotonic() < deadline, done.stderr  # a machine that stands still makes a joint learn again
                time.sleep(0.2)  # between two tries
            assert done.stdout.splitlines()[0].startswith(f"{joints[0]}: set 20")
            assert "± " in done.stdout.splitlines()[1]
            assert done.stdout.splitlines()[-1] == f"{joints[1]}: no baseline"
            drift = next(
                drift for topic, drift in updates if topic == f"drift/{joints[0]}" and drift["reference"] == "baseline"
            )
        assert drift["drifted"] == []
        assert before - 5 < drift["since"] < time.time()
        assert all(abs(z) < 5 for z in drift["z"].values())
        line = f'jointwatch_drifted{{joint="{joints[0]}",parameter="inertia"}} 0.0'
        while line not in (page := urllib.request.urlopen(f"{live.page}/metrics", timeout=60).read().decode()):
            assert time.monotonic() < deadline, page  # the page hears of it when the subscriber does, or just after
            time.sleep(0.1)
        unknown = baseline(live.config, "--set", "nobody")
        assert (unknown.returncode, unknown.stderr) == (1, "jointwatch: There is no joint 'nobody'.\n")
    gone = baseline(live.config)
    assert gone.returncode == 78, "the rig's folder is gone, and with it the configuration"
