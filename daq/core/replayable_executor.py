"""An executor whose results count only between two batches, so that a replay can let them count at the same place.

A worker finishes at any time, and a result that counted in the middle of a batch could not be replayed. Here a result
counts when `release_finished` finds it or, in a replay, when `release` is called with its number. Refits are numbered
from 0 in the order of submission, plausibility looks from LOOKS; ~number marks one that failed, and it fails again
in a replay.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Final

LOOKS: Final = 1 << 40  # number of the first plausibility look: recordings without looks keep the numbers of refits


class DeferredExecutor(Executor):
    """Wraps another executor and defers its results."""

    def __init__(self, executor: Executor, first: int = 0, later: bool = False) -> None:
        """first: number of the first result; later: whether jobs wait until `pass_on` hands them over."""
        self._executor, self._later = executor, later
        self._waiting: list[tuple[int, Callable[[], Any], Future[Any]]] = []  # number, job, the deferred future
        self._running: dict[int, tuple[Future[Any], Future[Any]]] = {}  # number → the worker's future, the deferred one
        self._submitted = first

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run fn in the wrapped executor; the future is done only after release_finished or release."""
        deferred: Future[Any] = Future()
        self._waiting.append((self._submitted, partial(fn, *args, **kwargs), deferred))
        self._submitted += 1
        if not self._later:
            self.pass_on()
        return deferred

    def pass_on(self) -> None:
        """Hand over what waits.

        That wakes threads which want the interpreter, so a core does it when its updates are out.
        """
        while self._waiting:
            number, job, deferred = self._waiting.pop(0)
            self._running[number] = (self._executor.submit(job), deferred)

    def release_finished(self) -> list[int]:
        """Let every finished result count; returns their numbers."""
        if not self._running:
            return []
        done = {number: worker for number, (worker, _) in self._running.items() if worker.done()}
        numbers = [~number if worker.exception() else number for number, worker in done.items()]
        self.release(numbers)
        return numbers

    def release(self, numbers: Sequence[int]) -> None:
        """Let these results count, waiting for them if necessary; numbers that were never submitted are ignored."""
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
