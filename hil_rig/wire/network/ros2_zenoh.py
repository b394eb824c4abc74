"""A joint state publisher of ROS 2 over zenoh, as rmw_zenoh: a router on this machine, CDR, each message numbered."""

import json
import os
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.ports import free_port
from hil_rig.wire.network.joint_states import JointStateWire

TYPE: Final = "sensor_msgs::msg::dds_::JointState_"
HASH: Final = "TypeHashNotSupported"  # as written by rmw_zenoh of Humble; a reader accepts any


def joint_state(stamp: int, names: Sequence[str], columns: Sequence[Sequence[float]]) -> bytes:
    """A sensor_msgs/JointState in little-endian CDR. stamp: ns; columns: positions, velocities, efforts."""
    body = bytearray(struct.pack("<iI", *divmod(stamp, 10**9)))

    def text(value: str) -> None:
        data = value.encode() + b"\0"
        body.extend(bytes(-len(body) % 4) + struct.pack("<I", len(data)) + data)

    text("")  # the frame's id
    body.extend(bytes(-len(body) % 4) + struct.pack("<I", len(names)))
    for name in names:
        text(name)
    for column in columns:
        body.extend(bytes(-len(body) % 4) + struct.pack("<I", len(column)))
        if len(column):
            body.extend(bytes(-len(body) % 8) + struct.pack(f"<{len(column)}d", *column))
    return b"\0\1\0\0" + bytes(body)


def attachment(number: int, stamp: int, publisher: bytes) -> bytes:
    """Make the attachment of a message as rmw_zenoh (since 0.2.4): number, time in ns, publisher (16 bytes)."""
    return struct.pack("<qqB", number, stamp, len(publisher)) + publisher


class ZenohPublisher:
    """A router on this machine, and a publisher on it. `number`: number of the newest message, from 1."""

    def __init__(self, domain: int, topic: str) -> None:
        """Start the router on a free port. Raises RigError."""
        try:
            import zenoh
        except ImportError as error:
            raise RigError("ROS 2 over zenoh needs zenoh: pip install 'jointwatch[zenoh]'") from error
        self.port = free_port()
        self.number = 0
        config = zenoh.Config()
        config.insert_json5("mode", '"router"')
        config.insert_json5("listen/endpoints", json.dumps([self.endpoint]))
        config.insert_json5("scouting/multicast/enabled", "false")
        try:
            self._session: Any = zenoh.open(config)
        except zenoh.ZError as error:
            raise RigError(f"zenoh router {self.endpoint}: {error}") from error
        self._publisher: Any = self._session.declare_publisher(f"{domain}/{topic.strip('/')}/{TYPE}/{HASH}")
        self._id = os.urandom(16)

    @property
    def endpoint(self) -> str:
        """The router's address."""
        return f"tcp/127.0.0.1:{self.port}"

    def matched(self) -> bool:
        """Whether a reader has subscribed."""
        return bool(self._publisher.matching_status.matching)

    def put(self, message: bytes) -> None:
        """Publish a message with the next number."""
        self.number += 1
        self._publisher.put(message, attachment=attachment(self.number, time.time_ns(), self._id))

    def close(self) -> None:
        """Close router and publisher."""
        self._session.close()


class ZenohWire(JointStateWire):
    """A publisher with its own router."""

    kind = "zenoh"

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(link, messages, rate)
        self._publisher = ZenohPublisher(0, self.device)

    def listening(self) -> bool:
        """Whether a reader has subscribed."""
        return self._publisher.matched()

    def state(self, stamp: int, names: list[str], columns: NDArray[np.float64]) -> None:
        """Publish a joint state."""
        self._publisher.put(joint_state(stamp, names, columns.tolist()))

    def close(self) -> None:
        """End the router."""
        self._publisher.close()

    def place(self) -> list[str]:
        """Return the configuration of the router on this machine."""
        return [f'router = "{self._publisher.endpoint}"']
