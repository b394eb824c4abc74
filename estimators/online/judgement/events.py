"""What happened to an estimate, until someone asks."""

from dataclasses import dataclass
from typing import ClassVar

from estimators.base import Event


@dataclass(slots=True)
class EventLogState:
    """What an EventLog keeps."""

    VERSION: ClassVar[int] = 1

    time: int = 0  # ns, the instant of the last row


class EventLog:
    """Events in order, each at the instant of the last row."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"_events"})

    def __init__(self) -> None:
        self.kept = EventLogState()
        self._events: list[Event] = []

    def say(self, kind: str, text: str, window: tuple[int, int] | None = None) -> None:
        """Something has happened; window: ns, first and last instant of the rows that it speaks of."""
        self._events.append(Event(self.kept.time, kind, text, window))

    def taken(self) -> list[Event]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events
