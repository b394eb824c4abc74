"""Heartbeats: a process that hangs is told from one that waits for a processor."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daq.processes import heartbeat
from daq.processes.heartbeat import Heartbeats, Life, Silence, waited
from tests.support.processes.waiting import wait_until

SPIN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"


@pytest.fixture
def rivals() -> Iterator[list[int]]:
    """Two processes that both want the same processor, all the time."""
    place = str(min(os.sched_getaffinity(0)))
    several = [
        subprocess.Popen([sys.executable, "-S", "-c", SPIN, place], stdout=subprocess.PIPE) for _ in range(2)
    ]  # fmt: skip
    for one in several:
        assert one.stdout is not None
        one.stdout.readline()
    yield [one.pid for one in several]
    for one in several:
        one.kill()
        one.communicate()


def test_the_system_counts_how_long_a_process_waits_for_a_processor(rivals: list[int]) -> None:
    shares = list[float]()
    while not shares or (not 0.5 < shares[-1] < 2.0 and len(shares) < 20):  # a machine that stands still: once more
        before, begin = [waited(pid) for pid in rivals], time.monotonic()
        time.sleep(0.5)
        both = sum(waited(pid) - was for pid, was in zip(rivals, before, strict=True))
        shares.append(both / (time.monotonic() - begin))
    assert 0.5 < shares[-1] < 2.0, "one of the two waits at any instant, more where others want it, too"
    os.kill(rivals[0], signal.SIGSTOP)
    wait_until(lambda: ") T " in Path(f"/proc/{rivals[0]}/stat").read_text(), look=0.01)
    stopped = waited(rivals[0])
    time.sleep(0.2)
    assert waited(rivals[0]) == stopped, "a process that is stopped waits for no processor"
    assert waited(2**22 + 1) == 0.0, "there is no such process"


def test_waiting_for_a_processor_is_no_silence_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    total = 100.0
    monkeypatch.setattr(heartbeat, "waited", lambda _: total)
    silence = Silence()
    silence.look(0.6, 1)
    total += 8.4
    silence.look(10.6, 1)
    assert silence.own == pytest.approx(2.2)
    assert silence.starved
    assert silence.words == "no sign of life for 10.6 s, in 8.4 s of it no processor: the machine is too busy"
    silence.look(0.1, 1)
    silence.look(10.0, 1)
    assert (silence.own, silence.starved, silence.words) == (10.0, False, "no sign of life for 10.0 s")


def test_a_heartbeat_is_seen() -> None:
    several = Heartbeats(2)
    several.begin(1)
    first = several.last(1)
    assert not several.ready(1)
    Life(several, 1).ready()
    assert several.ready(1)
    assert not several.ready(0)
    assert several.last(1) >= first
