"""How long messages take on a machine that others use, too."""

import statistics
from collections.abc import Sequence


def fastest_twentieth(latencies: Sequence[float]) -> float:
    """The latency within which a twentieth of the messages came.

    Other processes on the machine delay many messages, but not all; a wait for a client that has stopped delays each.
    """
    return statistics.quantiles(latencies, n=20)[0]


def all_are_late(latencies: Sequence[float], before: Sequence[float]) -> bool:
    """Whether what has stopped holds up every message, which took as long as `before` without it.

    Three times and 50 ms, as argued: a hundred times the scheduling slice, since a machine may be busier than it was
    before, while a wait for what has stopped lasts as long as it stands still, which is a second and more.
    """
    return fastest_twentieth(latencies) >= 3 * fastest_twentieth(before) + 0.05
