"""The subscriber of jointwatch_client, with a real-time priority for those that measure latencies."""

from collections.abc import Sequence
from pathlib import Path

import zmq

import jointwatch_client.subscriber as client
from daq.stream.priority import give, take
from jointwatch_client.keys import KeyFileError
from jointwatch_client.subscriber import Continuity as Continuity
from jointwatch_client.subscriber import RefusedError as RefusedError


class Subscriber(client.Subscriber):
    """The stream of one service, as an iterator of (topic, map); reconnects by itself.

    ```python
    with Subscriber(topics=("estimate/",), timeout=5) as updates:
        for topic, update in updates:
            print(update["joint"], update["parameters"])
    ```
    """

    def __init__(
        self,
        endpoint: str = "tcp://127.0.0.1:5556",
        topics: Sequence[str] = ("",),
        timeout: float | None = None,
        key: Path | None = None,
        server_key: Path | None = None,
        priority: int = 0,
    ) -> None:
        """Subscribe as jointwatch_client.Subscriber does; this thread and those of ZeroMQ get a priority.

        priority: as in [processes] priority; 0: none. Raises OSError where it is not allowed.
        """
        take(priority)
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        give(context, priority)
        try:
            super().__init__(endpoint, topics, timeout, key, server_key, context)
        except (ValueError, KeyFileError):
            context.term()
            raise
