"""When samples were lost last, by which cause, and how fast: a total alone does not say whether it still happens."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

#: s, argued: A loss this recent still happens: reports come once a second, and a rate over ten of them is steady.
RECENT: Final = 10.0


class Losses:
    """The losses of one joint."""

    def __init__(self) -> None:
        self._reports: deque[tuple[float, dict[str, int]]] = deque()  # Unix s, totals by cause
        self._last: dict[str, float] = {}  # cause → Unix s at which its total grew last
        self._boot: object = None

    def absorb(self, lost: Mapping[str, int], boot: object, timestamp: float) -> None:
        """Take a report. lost: totals by cause since the core's start; boot: of the core; timestamp: of it, Unix s."""
        if boot != self._boot or (self._reports and timestamp < self._reports[-1][0]):
            self._boot = boot
            self._reports.clear()
        before = self._reports[-1][1] if self._reports else dict(lost)
        self._last |= {cause: timestamp for cause, count in lost.items() if count > before.get(cause, 0)}
        self._reports.append((timestamp, dict(lost)))
        while len(self._reports) > 1 and timestamp - self._reports[0][0] > RECENT:
            self._reports.popleft()

    def recent(self) -> dict[str, dict[str, Any]]:
        """Cause → when it lost a sample last (Unix s) and the samples/s that it lost over the last ten seconds.

        Only of those that grew while the outlet watched.
        """
        if not self._reports:
            return {}
        (first, before), (last, now) = self._reports[0], self._reports[-1]
        seconds = max(last - first, 1.0)
        return {
            cause: {"last": at, "rate": (now.get(cause, 0) - before.get(cause, 0)) / seconds}
            for cause, at in self._last.items()
        }
