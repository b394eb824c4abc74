"""The two clocks of a Linux machine: CLOCK_MONOTONIC orders what happens, Unix time is what people read."""

import time


def unix_offset() -> int:
    """Ns to add to CLOCK_MONOTONIC to get Unix time; never too many, so that nothing seems to come from the future.

    The two clocks are read one after the other, and a process may be put aside between them. Unix time is read first,
    so that such a pause makes the difference smaller, never larger: of three readings the largest is the nearest.
    """
    return max(time.time_ns() - time.monotonic_ns() for _ in range(3))
