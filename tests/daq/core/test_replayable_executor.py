"""Refits count between two batches only, by number; a replay shows the same ones at the same place."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from daq.core.replayable_executor import DeferredExecutor
from estimators.refit.inline import Inline


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as one:
        yield one


def latched(latch: DeferredExecutor) -> list[int]:
    """The next numbers that a latch tells."""
    deadline = time.monotonic() + 60
    while not (told := latch.release_finished()):
        assert time.monotonic() < deadline, "nothing was done"
        time.sleep(0.001)  # between two looks
    return told


def failing() -> None:
    raise ZeroDivisionError("of the job")


def test_a_result_counts_only_after_a_latch_and_once(pool: ThreadPoolExecutor) -> None:
    gate, done = threading.Event(), threading.Event()
    latch = DeferredExecutor(pool)
    first = latch.submit(lambda number: number if gate.wait(60) else 0, number=3)
    second = latch.submit(done.set)
    assert latch.release_finished() == []
    gate.set()
    assert done.wait(60), "both are done but for a latch"
    assert not first.done()
    told = latched(latch)
    while len(told) < 2:
        told += latched(latch)
    assert told == [0, 1]
    assert (first.result(0), second.result(0)) == (3, None)
    assert latch.release_finished() == []


def test_a_job_that_failed_is_distinguished_and_fails_where_it_counts(pool: ThreadPoolExecutor) -> None:
    latch = DeferredExecutor(pool)
    jobs: list[Callable[[], object]] = [lambda: 1, failing]
    futures = [latch.submit(job) for job in jobs]
    told = latched(latch)
    while len(told) < 2:
        told += latched(latch)
    assert told == [0, ~1]
    assert futures[0].result(0) == 1
    with pytest.raises(ZeroDivisionError, match="of the job"):
        futures[1].result(0)


def test_a_replay_waits_for_what_counted_then_and_shows_nothing_else(pool: ThreadPoolExecutor) -> None:
    gate = threading.Event()
    latch = DeferredExecutor(pool)
    first, second = latch.submit(lambda: gate.wait(60)), latch.submit(lambda: 2)
    threading.Timer(0.05, gate.set).start()
    latch.release([1])  # after the first in the only thread
    assert (first.done(), second.done(), second.result(0)) == (False, True, 2)
    latch.release([0])
    assert first.result(0) is True


def test_what_failed_when_it_was_recorded_fails_again_although_it_could_be_done() -> None:
    latch = DeferredExecutor(Inline())
    able, unable = latch.submit(lambda: 1), latch.submit(failing)
    latch.release([~0, ~1, 7, ~9])  # the last two of another recording
    with pytest.raises(RuntimeError, match="failed when it was recorded"):
        able.result(0)
    with pytest.raises(ZeroDivisionError):
        unable.result(0)


def test_a_job_waits_until_it_is_passed_on_and_keeps_its_number() -> None:
    ran: list[int] = []
    latch = DeferredExecutor(Inline(), 5, later=True)
    first, second = latch.submit(ran.append, 1), latch.submit(ran.append, 2)
    assert (ran, latch.release_finished()) == ([], [])
    latch.pass_on()
    latch.pass_on()
    assert ran == [1, 2]
    assert latch.release_finished() == [5, 6]
    assert first.done()
    assert second.done()


def test_it_ends_with_the_executor_behind_it(pool: ThreadPoolExecutor) -> None:
    gate = threading.Event()
    latch = DeferredExecutor(pool)
    latch.submit(gate.wait, 60)
    waiting = latch.submit(lambda: 1)
    latch.shutdown(wait=False, cancel_futures=True)
    gate.set()
    with pytest.raises(RuntimeError, match="shutdown"):
        latch.submit(lambda: 2)
    assert not waiting.done()
