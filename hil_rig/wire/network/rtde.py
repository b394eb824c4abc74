"""A Universal Robots controller's RTDE server (TCP), written from the maker's guide, so that no robot is needed."""

import contextlib
import json
import select
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.wire.samples import SampleWire, unit_of

JOINTS: Final = 6
VERSION: Final = (5, 23, 0, 0)  # of URControl
# output fields of a controller and their types; fields without a value in the rig are 0
_VECTORS: Final = (
    *("target_q", "target_qd", "target_qdd", "target_current", "target_moment", "joint_control_output"),
    *("actual_q", "actual_qd", "actual_current", "actual_current_as_torque", "joint_temperatures"),
    *("actual_joint_voltage", "actual_TCP_pose", "actual_TCP_speed", "actual_TCP_force", "target_TCP_pose"),
    *("target_TCP_speed", "ft_raw_wrench", "payload_inertia"),
)
_DOUBLES: Final = (
    *("timestamp", "actual_execution_time", "speed_scaling", "target_speed_fraction", "actual_momentum", "payload"),
    *("actual_main_voltage", "actual_robot_voltage", "actual_robot_current", "standard_analog_input0"),
    *("standard_analog_input1", "standard_analog_output0", "standard_analog_output1"),
    *(f"output_double_register_{number}" for number in range(24)),
)
TYPES: Final = {
    **dict.fromkeys(_VECTORS, "VECTOR6D"),
    **dict.fromkeys(_DOUBLES, "DOUBLE"),
    **dict.fromkeys(("actual_tool_accelerometer", "payload_cog"), "VECTOR3D"),
    **dict.fromkeys(("actual_digital_input_bits", "actual_digital_output_bits"), "UINT64"),
    **dict.fromkeys(("runtime_state", "robot_status_bits", "safety_status_bits"), "UINT32"),
    **dict.fromkeys(("robot_mode", "safety_mode", *(f"output_int_register_{one}" for one in range(24))), "INT32"),
    "joint_mode": "VECTOR6INT32",
}
# type → format of `struct`, how many numbers
_FORMATS: Final = {
    **{"DOUBLE": ("d", 1), "VECTOR3D": ("3d", 3), "VECTOR6D": ("6d", 6), "UINT64": ("Q", 1), "UINT32": ("I", 1)},
    **{"INT32": ("i", 1), "VECTOR6INT32": ("6i", 6)},
}
# SI unit → the field that carries it
CARRIERS: Final = {
    "rad": "actual_q",
    "rad/s": "actual_qd",
    "A": "actual_current",
    "N·m": "actual_current_as_torque",
    "°C": "joint_temperatures",
}
BACKLOG: Final = 1 << 20  # bytes that may wait for a client: 2 s of everything at 500 Hz


class RtdeClient:
    """One client: its recipes, whether it has started them, and bytes that wait to be sent."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.recipes: dict[int, tuple[str, ...]] = {}
        self.started = False
        self.heard = b""
        self.waiting = b""


class RtdeController:
    """An RTDE server that answers when it is polled. `asked`: letters of all packages that clients have sent."""

    def __init__(
        self,
        types: Mapping[str, str] = TYPES,
        version: tuple[int, int, int, int] = VERSION,
        address: tuple[str, int] = ("127.0.0.1", 0),
    ) -> None:
        self.types, self.version = dict(types), version
        self.asked: list[str] = []
        self.skipped = 0  # packages that a client was too slow for
        self._clients: list[RtdeClient] = []
        self._server = socket.create_server(address)
        self._server.setblocking(False)
        self.port: int = self._server.getsockname()[1]

    def poll(self) -> bool:
        """Accept clients and answer their requests; returns whether a client has started."""
        while select.select([self._server], [], [], 0)[0]:
            connection, _ = self._server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setblocking(False)
            self._clients.append(RtdeClient(connection))
        for client in list(self._clients):
            self._hear(client)
            self._push(client)
        return any(client.started for client in self._clients)

    def send(self, values: Mapping[str, Sequence[float]]) -> None:
        """Send a data package to every client that has started; values: field → its doubles."""
        for client in list(self._clients):
            if not client.started:
                continue
            for recipe, names in client.recipes.items():
                formats = [_FORMATS[self.types[name]] for name in names]
                zeros = ((0,) * count for _, count in formats)
                numbers = [one for name, none in zip(names, zeros, strict=True) for one in values.get(name, none)]
                body = struct.pack(">B" + "".join(text for text, _ in formats), recipe, *numbers)
                if len(client.waiting) > BACKLOG:
                    self.skipped += 1
                else:
                    client.waiting += _package(b"U", body)
            self._push(client)

    def raw(self, data: bytes) -> None:
        """Send raw bytes to every client."""
        for client in list(self._clients):
            client.waiting += data
            self._push(client)

    def hang_up(self) -> None:
        """Close the connection of every client."""
        for client in list(self._clients):
            self._drop(client)

    def close(self) -> None:
        """Close every client's connection and accept no more."""
        self.hang_up()
        self._server.close()

    def _hear(self, client: RtdeClient) -> None:
        try:
            data = client.connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        client.heard += data
        while len(client.heard) >= 3:
            size, kind = struct.unpack_from(">Hc", client.heard)
            if len(client.heard) < size or size < 3:
                return
            body, client.heard = client.heard[3:size], client.heard[size:]
            self.asked.append(kind.decode("latin-1"))
            client.waiting += self._answer(client, kind, body)

    def _answer(self, client: RtdeClient, kind: bytes, body: bytes) -> bytes:
        if kind == b"V":
            return _package(kind, bytes([struct.unpack(">H", body)[0] == 2]))
        if kind == b"v":
            return _package(kind, struct.pack(">4I", *self.version))
        if kind == b"O":
            names = tuple(body[8:].decode().rstrip(",").split(","))
            types = [self.types.get(name, "NOT_FOUND") for name in names]
            recipe = 0 if "NOT_FOUND" in types else len(client.recipes) + 1
            if recipe:
                client.recipes[recipe] = names
            return _package(kind, bytes([recipe]) + ",".join(types).encode())
        if kind in (b"S", b"P"):
            client.started = kind == b"S"
            return _package(kind, b"\x01")
        return message(f"unknown package {kind!r}")

    def _push(self, client: RtdeClient) -> None:
        try:
            while client.waiting:
                client.waiting = client.waiting[client.connection.send(client.waiting) :]
        except BlockingIOError:
            return
        except OSError:
            self._drop(client)

    def _drop(self, client: RtdeClient) -> None:
        with contextlib.suppress(ValueError):
            self._clients.remove(client)
        client.connection.close()


def _package(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">Hc", 3 + len(body), kind) + body


def message(text: str, source: str = "RTDE", level: int = 2) -> bytes:
    """Make a package with a text message."""
    said, who = text.encode()[:255], source.encode()[:255]
    return _package(b"M", bytes([len(said)]) + said + bytes([len(who)]) + who + bytes([level]))


class RtdeWire(SampleWire):
    """A controller that plays the rig: each of the rig's messages is one of its six joints."""

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(link, messages, rate)
        if len(messages) > JOINTS:
            raise RigError(
                f"expected at most {JOINTS} messages on rtde, since a UR has {JOINTS} joints, found {len(messages)}: "
                "choose fewer joints with --joints"
            )
        for one in messages:
            units = [unit_of(field) for field in one.fields]
            wrong = [unit for unit in units if unit not in CARRIERS]
            if wrong or len(set(units)) < len(units):
                known = ", ".join(CARRIERS)
                raise RigError(f"expected fields of {one.name} with different units of {known} on rtde, found {units}")
        self._fields = sorted({CARRIERS[unit_of(field)] for one in messages for field in one.fields})
        self.controller = RtdeController()
        self.device = f"127.0.0.1:{self.controller.port}"

    def listening(self) -> bool:
        """Whether a client has started its recipe."""
        return self.controller.poll()

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Send one data package."""
        package: dict[str, list[float]] = {name: [0.0] * JOINTS for name in self._fields}
        package["timestamp"] = [number / self.rate]
        for place, (one, mine) in enumerate(zip(self.messages, values, strict=True)):
            for field, value in zip(one.fields, mine, strict=True):
                package[CARRIERS[unit_of(field)]][place] = value
        self.controller.send(package)

    def stranger(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault unknown on rtde: a client receives only requested fields")

    def rubbish(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault garbage on rtde: TCP delivers what was sent")

    def close(self) -> None:
        """Release the port."""
        self.controller.close()

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        names = [one.name for one in self.messages] + [f"spare{n}" for n in range(len(self.messages), JOINTS)]
        lists = {"fields": self._fields, "joints": names}
        return [
            'kind = "ur_rtde"',
            'host = "127.0.0.1"',
            f"port = {self.controller.port}",
            f"rate = {self.rate!r}",
            *(f"{key} = {json.dumps(some)}" for key, some in lists.items()),
        ]

    def signal(self, message: Message, field: str) -> str:
        """JOINT.FIELD of RTDE."""
        found = next(one for one in message.fields if one.name == field)
        return f"{message.name}.{CARRIERS[unit_of(found)]}"

    def clock(self, message: Message) -> dict[str, Any]:
        """The controller's time."""
        return {"device_time": {"signal": f"{message.name}.timestamp"}}
