"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], timeout: float = 60.0, look: float = 0.1) -> None:
    """Return once the condition holds, looked at every `look` seconds; AssertionError after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(look)
