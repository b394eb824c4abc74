"""The soak ends in order when it is told to, and leaves nothing running."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def below(pid: int) -> set[int]:
    """Every process that this one has started, directly or not."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | below(child)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.3, 25.0])  # s: while it starts; in the middle
def test_sigterm_ends_rig_and_service_too_and_the_figures_are_those_so_far(after: float) -> None:
    words = [sys.executable, "tests/endurance/soak.py", "--hours", "1"]
    soak = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while len(below(soak.pid)) < (1 if after < 1 else 6):  # rig, supervisor, driver, core, outlet, recorder
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(after)
        started = below(soak.pid)
        soak.send_signal(signal.SIGTERM)
        said, _ = soak.communicate(timeout=120)
    finally:
        soak.kill()
    alive = [pid for pid in started if Path(f"/proc/{pid}").exists() and not _is_dead(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert not alive
    if after > 1:
        told = json.loads(said)
        assert 0 < told["hours"] < 0.1
        assert told["updates"] > 100
        assert told["counted"] == told["not_sent"]


def _is_dead(pid: int) -> bool:
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()
