"""The package's own tests: the kit of jointwatch on its driver. Run where the package is installed."""

import socket

from jointwatch_udp_state import DATAGRAM

from drivers.testing import DriverRules, DriverWire
from hil_rig.ports import free_port


class Sender(DriverWire):
    position, torque = "STATE.position", "STATE.torque"

    def __init__(self) -> None:
        self.port = free_port()
        self.settings = {"kind": "udp_state", "port": self.port}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.number = 0

    def send(self, count: int) -> None:
        self.socket.sendto(DATAGRAM.pack(self.number, 0.001 * count, 0.01 * count), ("127.0.0.1", self.port))
        self.number += 1

    def rubbish(self) -> set[str]:
        self.socket.sendto(b"not a state", ("127.0.0.1", self.port))
        return {"malformed"}

    def close(self) -> None:
        self.socket.close()


class TestUdpState(DriverRules):
    wire_type = Sender
