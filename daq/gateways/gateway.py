"""What a gateway is: it takes messages of the stream without ever waiting, and says what it has sent and dropped."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self


@dataclass(slots=True)
class Counts:
    """What a gateway counts; `sent` and `dropped` are messages since its start."""

    clients: int = 0
    sent: int = 0
    dropped: int = 0


class Gateway(Protocol):
    """One other system. Entering it opens addresses and raises CannotStartError where that fails."""

    counts: Counts

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def take(self, topic: str, update: Mapping[str, Any]) -> None:
        """Take one message; what cannot be sent is dropped and counted, never waited for."""

    async def turn(self, now: float, /) -> None:
        """Send what is due. now: Unix s."""
