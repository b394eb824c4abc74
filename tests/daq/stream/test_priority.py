"""Short slices of threads on an update's way, and usual ones of the refit's process, as Linux itself says."""

import multiprocessing
import os
import platform
from pathlib import Path

import pytest

from daq.stream import priority

KNOWN = tuple(map(int, platform.release().split("-")[0].split(".")[:2])) >= (6, 12)


def told() -> tuple[int, int]:
    """Policy and slice (ns; 0: this kernel does not tell it) of this process's first thread."""
    table = Path("/proc/self/sched")
    lines = table.read_text().splitlines() if table.exists() else []
    slices = [int(line.split()[-1]) for line in lines if line.startswith("se.slice")]
    return os.sched_getscheduler(0), slices[0] if slices else 0


def asked(answers: "multiprocessing.Queue[tuple[bool, tuple[int, int], int]]") -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    answers.put((priority.ask_for_short_slice(), told(), before))
    answers.put((priority.take_usual_slice(), told(), os.getpriority(os.PRIO_PROCESS, 0)))


@pytest.mark.skipif(platform.machine() not in priority.SET_ATTRIBUTES, reason="a machine whose call is not known")
def test_a_process_asks_for_a_short_slice_and_gives_it_back_without_another_priority() -> None:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[tuple[bool, tuple[int, int], int]] = context.Queue()
    process = context.Process(target=asked, args=(answers,))
    process.start()
    (done, (policy, short), before), (again, (other, usual), after) = answers.get(timeout=60), answers.get(timeout=60)
    process.join(60)
    assert done
    assert again
    assert (policy, other) == (os.SCHED_OTHER, os.SCHED_OTHER)
    assert before == after
    if KNOWN and short:
        assert short == priority.SHORT < usual
