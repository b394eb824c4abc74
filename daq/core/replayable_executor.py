"""Refits whose results count only between two batches: what a replay must know is then which ones, before which batch.

A worker finishes when it likes; an estimator that looked at it in the middle of a batch could not be replayed. Here a
result shows itself when `latch` finds it, or, in a replay, when `release` says that it was found. Refits are numbered
from 0 as they are submitted; ~number stands for one that failed, and fails again in a replay.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any


class DeferredExecutor(Executor):
    """An executor around another one; its futures are numbered as they are submitted."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._running: dict[int, tuple[Future[Any], Future[Any]]] = {}  # number → the worker's, and what is shown
        self._submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As an Executor's; the future is done only after latch or release."""
        shown: Future[Any] = Future()
        self._running[self._submitted] = (self._executor.submit(fn, *args, **kwargs), shown)
        self._submitted += 1
        return shown

    def latch(self) -> list[int]:
        """Show every result that is there; their numbers."""
        done = {number: worker for number, (worker, _) in self._running.items() if worker.done()}
        told = [~number if worker.exception() else number for number, worker in done.items()]
        self.release(told)
        return told

    def release(self, numbers: Sequence[int]) -> None:
        """Show these results, waiting for them if need be; one that was never asked for is none."""
        for number in numbers:
            worker, shown = self._running.pop(number if number >= 0 else ~number, (None, None))
            if worker is None or shown is None:  # a replay that is another one: see daq.replay.repeat
                continue
            if number < 0:
                shown.set_exception(worker.exception() or RuntimeError("it failed when it was recorded"))
            else:
                shown.set_result(worker.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As an Executor's."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)
