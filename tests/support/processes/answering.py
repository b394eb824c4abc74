"""A device of the rig that answers in a thread, for drivers that wait for its answers while they open."""

import threading
from collections.abc import Callable


class Answering:
    """Calls poll() every millisecond; `lock` is held meanwhile, and must be by whoever else uses the device."""

    def __init__(self, poll: Callable[[], object]) -> None:
        self.lock = threading.Lock()
        self._poll = poll
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(0.001):
            with self.lock:
                self._poll()

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()
