"""The two clocks of a Linux machine: CLOCK_MONOTONIC orders events, and Unix time is shown to people."""

import time


def unix_offset() -> int:
    """Return the ns to add to CLOCK_MONOTONIC to get Unix time; the value is never too large, so no time is in the
    future.

    The two clocks are read one after the other, and the process may be paused in between. Unix time is read first, so
    such a pause makes the difference smaller, never larger. The largest of three results is therefore the most
    accurate.
    """
    return max(time.time_ns() - time.monotonic_ns() for _ in range(3))
