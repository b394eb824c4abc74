"""How long messages take on a machine that others use, too."""

import statistics
from collections.abc import Sequence


def fastest_twentieth(latencies: Sequence[float]) -> float:
    """The latency within which a twentieth of the messages came.

    Other processes on the machine delay many messages, but not all; a wait for a client that has stopped delays each.
    """
    return statistics.quantiles(latencies, n=20)[0]
