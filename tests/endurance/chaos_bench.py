"""A running service that is broken on purpose: what it says of itself, and what came of a fault."""

import contextlib
import re
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from daq.subscriber import Subscriber
from hil_rig.live import Live


class Outcome(NamedTuple):
    """What one fault did."""

    observed: str
    good: bool
    recovery: float | None = None  # s
    lost: float = 0.0


class Fault(NamedTuple):
    """What is done, what is expected of it."""

    name: str
    expected: str
    run: Callable[["Bench"], Outcome]


class Bench:
    """A running service, and what it says of itself."""

    def __init__(self, live: Live, records: Path) -> None:
        self.live, self.records = live, records
        assert live.service is not None
        self.supervisor = live.service.pid

    def children(self) -> dict[str, int]:
        """Process → pid."""
        found = {}
        with contextlib.suppress(FileNotFoundError):
            for number in Path(f"/proc/{self.supervisor}/task/{self.supervisor}/children").read_text().split():
                with contextlib.suppress(OSError):
                    name = Path(f"/proc/{number}/comm").read_text().strip()
                    found[name.removeprefix("jw ")] = int(number)
        return found

    def metric(self, line: str) -> float:
        """Its value, NaN where there is none, or no answer."""
        with contextlib.suppress(OSError):
            text = urllib.request.urlopen(f"{self.live.page}/metrics", timeout=2).read().decode()
            found = re.findall(rf"^jointwatch_{line} (\S+)$", text, re.MULTILINE)
            return sum(map(float, found)) if found else float("nan")
        return float("nan")

    def lost(self) -> float:
        """Readings, samples and blocks that the counters call lost."""
        parts = (
            r"readings_lost_total\{[^}]*\}",
            r'samples_lost_total\{cause="lost"[^}]*\}',
            "recorder_blocks_lost_total",
        )
        return sum(value for part in parts if (value := self.metric(part)) == value)

    def recording(self) -> Path:
        """The newest file of the recorder."""
        return max(self.records.glob("*.mcap"), key=lambda file: (len(file.name), file.name))

    def flows(self, timeout: float = 30.0) -> bool:
        """Whether fresh updates come."""
        begin = time.time()
        with (
            contextlib.suppress(TimeoutError),
            Subscriber(self.live.endpoint, ("estimate/",), timeout=timeout) as stream,
        ):
            return any(update["timestamp"] > begin - 0.5 and update["phase"] != "faulted" for _, update in stream)
        return False

    def until(self, condition: Callable[[], bool], timeout: float) -> float:
        """s until it holds; infinite where it never does."""
        begin = time.monotonic()
        while not condition():
            if time.monotonic() - begin > timeout:
                return float("inf")
            time.sleep(0.02)
        return time.monotonic() - begin
