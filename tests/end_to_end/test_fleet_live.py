"""Services and a collector, set up as docs/fleet.md says: all of them are in the lake, with what they found."""

import contextlib
import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.__main__ import main
from daq.subscriber import Subscriber
from hil_rig.live import Live

ROOT = Path(__file__).parents[2]
# a rig's service has its rig's name; so three rigs, and not three of a kind
RIGS = {"arm1": ["rigid", "--set", "rate=500"], "arm2": ["arm", "--joints", "2"], "arm3": ["two_mass"]}
KNOWN = ("inertia", "viscous", "coulomb")  # parameters that are compared with the truth
JOINTS = {"arm1": ("joint1",), "arm2": ("joint1", "joint2"), "arm3": ("joint1",)}


@pytest.mark.compiled
@pytest.mark.usefixtures("short_start")
@pytest.mark.parametrize("names", [("arm1",), pytest.param(tuple(RIGS), marks=pytest.mark.slow)])
def test_services_and_a_collector(
    names: tuple[str, ...], tmp_path: Path, start_program: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    [text] = re.findall(r"```toml\n(# lake.toml\n.*?)```", (ROOT / "docs" / "fleet.md").read_text("utf-8"), re.DOTALL)
    assert len(text.splitlines()) <= 10
    absent = tuple(f"{name} =" for name in RIGS if name not in names)
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(absent))
    rigs = {name: RIGS[name] for name in names}
    with contextlib.ExitStack() as stack:
        services = [stack.enter_context(Live([*rig, "--wire", "udp"])) for rig in rigs.values()]
        for (name, rig), port, live in zip(rigs.items(), (5556, 5557, 5558), services, strict=False):
            text = text.replace(f"{name} =", f"{rig[0]} =").replace(f"tcp://127.0.0.1:{port}", live.endpoint)
        (tmp_path / "lake.toml").write_text(text)
        # A value of the fleet is the median of its minutes, also of one of which only seconds were seen.
        # So the collector starts when the values are right.
        truth = {name: pytest.approx(services[0].truth["joint1"][name], rel=0.1) for name in KNOWN}
        for live in services[::-1]:  # the rigid one last: its values are compared with the truth
            wanted = truth if live is services[0] else {}
            with Subscriber(live.endpoint, ("summary/",), timeout=120) as updates:
                for _, one in updates:
                    values = {name: one["parameters"].get(name) for name in wanted}
                    if one["parameters"] and values == wanted and (not wanted or one["status"] == "valid"):
                        break
        collector = start_program("daq", "fleet", "collect", tmp_path / "lake.toml")
        while f"collecting {len(names)} robots" not in (line := collector.stderr.readline()):
            assert line, "it has ended"
        for live in services:
            with Subscriber(live.endpoint, ("summary/",), timeout=120) as updates:
                for _ in range(10):
                    next(updates)
        collector.send_signal(signal.SIGINT)
        said, log = collector.communicate()
    assert collector.returncode == 0, log
    assert " 0 missing, 0 given up, 0 malformed, 0 batches not written" in said
    assert main(["fleet", "watch", str(tmp_path / "lake.toml"), "--once", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = {(one["robot"], one["joint"]): one for one in told["joints"]}
    assert found.keys() == {(rig[0], joint) for name, rig in rigs.items() for joint in JOINTS[name]}
    assert {one["lost"] for one in found.values()} == {0}
    assert all(one["travel"] > 1.0 for one in found.values())
    known = {(one["robot"], one["quantity"]): one["value"] for one in told["quantities"]}
    assert {name: known["rigid", name] for name in truth} == truth
