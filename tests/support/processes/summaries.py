"""Summaries of robots' joints as a service sends them, and services that send them on real sockets."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgpack
import zmq

from daq.fleet.live.batch import Catalogue, SummaryBatch
from daq.stream.keys import Curve, read_pair
from daq.stream.sockets import Forwarder, open_publisher

UNITS = {"coulomb": "N·m", "viscous": "N·m·s/rad"}


def summary(
    robot: str,
    seq: int,
    time: float,
    parameters: Mapping[str, float] | None = None,
    *,
    joint: str = "elbow",
    boot: int = 7,
    status: str = "valid",
    deviation: float = 0.02,
    changed: Mapping[str, float] | None = None,
    travel: float | None = None,
    temperature: float | None = None,
    model: str = "rigid",
) -> dict[str, Any]:
    """The map of summary/<joint>."""
    values = {"coulomb": 5.0} if parameters is None else dict(parameters)
    use: dict[str, Any] = {"unit": "rad", "seconds": 1.0 * seq, "travel": 2.0 * seq if travel is None else travel}
    use |= {"reversals": seq, "starts": 1} | ({} if temperature is None else {"temperature": temperature})
    return {
        "timestamp": time, "v": 2, "robot": robot, "joint": joint, "seq": seq, "boot": boot, "model": model,
        "unit": "N·m", "phase": "normal", "status": status, "parameters": values,
        "deviations": dict.fromkeys(values, deviation), "units": {name: UNITS.get(name, "") for name in values},
        "error": 0.03, "changed": dict(changed or {}), "use": use,
    }  # fmt: skip


def batch(*updates: dict[str, Any], now: float | None = None) -> SummaryBatch:
    """A batch of these."""
    found = SummaryBatch(Catalogue())
    for one in updates:
        found.add(one, one["timestamp"] if now is None else now)
    return found


class SendingService:
    """A service's public socket, locked where keys are given, and a way to send on it."""

    def __init__(self, folder: Path, curve: Curve | None = None, endpoint: str = "tcp://127.0.0.1:0") -> None:
        inside = f"ipc://{folder / 'updates'}"
        self._forwarder = Forwarder(inside, endpoint, curve)
        self.endpoint = self._forwarder.endpoint
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = open_publisher(self._context, inside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, update: Mapping[str, Any]) -> None:
        """Send one summary."""
        self._socket.send_multipart((f"summary/{update['joint']}".encode(), msgpack.packb(update)))

    def send_before_all(self) -> None:
        """Send a summary before anybody subscribes, and wait until it has left the public socket.

        A new subscriber is sent the last values. When this one has come, its subscription has been answered, and what
        is sent from then on comes once. A subscriber to events, which are never sent twice, sees when the summary is
        out: the event that follows it has come.
        """
        with self._context.socket(zmq.SUB) as events:
            events.setsockopt(zmq.RCVTIMEO, 60_000)
            events.setsockopt_string(zmq.SUBSCRIBE, "event/")
            events.connect(self.endpoint)
            deadline = time.monotonic() + 120.0
            while not events.poll(20):
                assert time.monotonic() < deadline
                self._socket.send_multipart((b"event/elbow", b"first"))
            self.send(summary("nobody", 0, 0.0, joint="before all"))
            self._socket.send_multipart((b"event/elbow", b"last"))
            while events.recv_multipart()[1] != b"last":
                pass

    def close(self) -> None:
        """Close the sockets; idempotent."""
        self._socket.close(100)
        self._context.term()
        self._forwarder.close()


def locked(folder: Path) -> Curve:
    """The lock of a service whose keys are in this folder (`jointwatch keys`)."""
    return Curve(read_pair(folder / "server.key_secret").secret, folder / "clients")
