"""Log of what happened to an estimate, until it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from estimators.base import Event


@dataclass(slots=True)
class EventLogState:
    """State of an EventLog."""

    VERSION: ClassVar[int] = 1

    time: int = 0  # ns, the instant of the last row


class EventLog:
    """Events in order, each at the instant of the last row."""

    def __init__(self) -> None:
        self.state = EventLogState()
        self._events: list[Event] = []

    def add_event(
        self,
        kind: str,
        text: str,
        window: tuple[int, int] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an event; window: ns, first and last instant of the rows that it is about; details: plain data."""
        self._events.append(Event(self.state.time, kind, text, window, details))

    def take_events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events
