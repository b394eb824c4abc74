"""Real processes that are stopped, hang or lose their supervisor: who says so, how soon, and what is left."""

import contextlib
import json
import os
import re
import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live

HANG = 15.0  # s, 13 more than until it is told: so long a machine with other work may take to tell it
BUSY = 60.0  # s that such a machine may add to every limit; the limits by themselves are measured by `make chaos`


def children(pid: int) -> dict[str, int]:
    """The service's processes by name: direct children, each named "jw …"."""
    found = {}
    for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            name = Path(f"/proc/{number}/comm").read_text().strip()
            if name.startswith("jw "):
                found[name[3:]] = int(number)
    return found


def gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " in stat.read_text()
    return True


def within(seconds: float, condition: Callable[[], object]) -> float:
    """How long it took, s."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds + BUSY, f"not within {seconds} s"
        time.sleep(0.02)  # between two looks
    return time.monotonic() - begin


def free(address: str) -> bool:
    with socket.socket() as port, contextlib.suppress(OSError):
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port.bind(("127.0.0.1", int(address.rsplit(":", 1)[1])))
        return True
    return False


def metric(live: Live, line: str) -> float:
    text = urllib.request.urlopen(f"{live.page}/metrics", timeout=60).read().decode()
    found = re.search(rf"^jointwatch_{re.escape(line)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else float("nan")


def state(live: Live) -> dict:  # type: ignore[type-arg]
    return json.load(urllib.request.urlopen(f"{live.page}/api/state", timeout=60))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def live(forked_programs: None) -> Iterator[Live]:
    with Live(["rigid", "--wire", "slcan"], more=f"\n[processes]\nhang = {HANG:g}\n") as started:
        assert started.service is not None
        within(20, lambda: metric(started, 'samples_total{joint="joint1"}') > 0)
        yield started


def test_a_core_that_hangs_is_not_up_its_joint_is_stale_and_it_is_started_anew(live: Live) -> None:
    assert live.service is not None
    core = children(live.service.pid)["core"]
    with Subscriber(live.endpoint, ("process/core",), timeout=60) as stream:
        os.kill(core, signal.SIGSTOP)
        stopped = time.monotonic()
        for _, update in stream:
            if not update["up"]:
                break
            assert time.monotonic() - stopped < 2.2 + BUSY
        assert "no sign of life" in update["cause"]
        assert update["deadline"] == HANG
    within(0.5, lambda: metric(live, 'process_up{process="core"}') == 0)
    within(1.0, lambda: metric(live, 'phase{joint="joint1",phase="faulted"}') == 1)
    joint = state(live)["joints"]["joint1"]
    assert joint["health"]["status"] == "faulted"
    assert "core" in joint["health"]["reasons"][0]["code"]
    within(HANG + 1.0, lambda: gone(core))
    within(10, lambda: metric(live, 'process_up{process="core"}') == 1)
    within(10, lambda: metric(live, 'phase{joint="joint1",phase="faulted"}') == 0)
    assert metric(live, 'process_restarts_total{process="core"}') == 1


def test_a_driver_that_hangs_shorter_than_its_limit_goes_on(live: Live) -> None:
    assert live.service is not None
    driver = children(live.service.pid)["wire"]
    os.kill(driver, signal.SIGSTOP)
    try:
        within(2.2, lambda: metric(live, 'process_up{process="wire"}') == 0)
    finally:
        os.kill(driver, signal.SIGCONT)
    within(2.0, lambda: metric(live, 'process_up{process="wire"}') == 1)
    assert children(live.service.pid)["wire"] == driver


def test_a_supervisor_that_hangs_is_not_up_and_ends_nobody_when_it_goes_on(live: Live) -> None:
    assert live.service is not None
    before = children(live.service.pid)
    os.kill(live.service.pid, signal.SIGSTOP)
    try:
        within(3.0, lambda: metric(live, 'process_up{process="supervisor"}') == 0)
        time.sleep(HANG - 2)  # as long as the others' limit: they are not ended for what was not theirs
    finally:
        os.kill(live.service.pid, signal.SIGCONT)
    within(3.0, lambda: metric(live, 'process_up{process="supervisor"}') == 1)
    assert children(live.service.pid) == before


def test_kill_9_of_the_supervisor_leaves_no_orphan_and_no_port(live: Live) -> None:
    assert live.service is not None
    processes = children(live.service.pid)
    assert processes.keys() - {"compile"} == {"outlet", "core", "wire"}, "at a first start it compiles, too"
    os.kill(processes["core"], signal.SIGSTOP)  # not even one that cannot hear
    live.service.kill()
    within(2.0, lambda: all(gone(pid) for pid in processes.values()))
    within(2.0, lambda: all(free(address) for address in (live.page, live.endpoint)))
