"""An executor that releases results only between two batches, so that a replay can release them at the same place.

A worker can finish at any time, and a result released in the middle of a batch could not be replayed. Here a result is
released when `release_finished` finds it or, in a replay, when `release` is called with its number. Refits are numbered
from 0 in the order of submission, plausibility checks from LOOKS. ~number marks a job that failed; it fails again in a
replay.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Final

LOOKS: Final = 1 << 40  # number of the first plausibility check: refits keep their numbers in recordings without checks


class DeferredExecutor(Executor):
    """Wraps another executor and defers the release of its results."""

    def __init__(self, executor: Executor, first: int = 0, later: bool = False) -> None:
        """first: number of the first result; later: whether jobs wait until `pass_on` submits them."""
        self._executor, self._later = executor, later
        self._waiting: list[tuple[int, Callable[[], Any], Future[Any]]] = []  # number, job, deferred future
        self._running: dict[int, tuple[Future[Any], Future[Any]]] = {}  # number → future of the worker, deferred future
        self._submitted = first

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run fn in the wrapped executor; the returned future is done only after `release_finished` or `release`."""
        deferred: Future[Any] = Future()
        self._waiting.append((self._submitted, partial(fn, *args, **kwargs), deferred))
        self._submitted += 1
        if not self._later:
            self.pass_on()
        return deferred

    def pass_on(self) -> None:
        """Submit the waiting jobs to the wrapped executor.

        This wakes threads that need the interpreter, so the core does it after it has sent its updates.
        """
        while self._waiting:
            number, job, deferred = self._waiting.pop(0)
            self._running[number] = (self._executor.submit(job), deferred)

    def release_finished(self) -> list[int]:
        """Release every finished result; returns the numbers of the results."""
        if not self._running:
            return []
        done = {number: worker for number, (worker, _) in self._running.items() if worker.done()}
        numbers = [~number if worker.exception() else number for number, worker in done.items()]
        self.release(numbers)
        return numbers

    def release(self, numbers: Sequence[int]) -> None:
        """Release these results, and wait for them if necessary; numbers that were never submitted are ignored."""
        for number in numbers:
            worker, deferred = self._running.pop(number if number >= 0 else ~number, (None, None))
            if worker is None or deferred is None:  # a replay with another configuration: see daq.replay.repeat
                continue
            if number < 0:
                deferred.set_exception(worker.exception() or RuntimeError("it failed when it was recorded"))
            else:
                deferred.set_result(worker.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the wrapped executor down."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)
