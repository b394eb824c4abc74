"""Registers of servos by model: address, and conversion to SI units, from the makers' control tables."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

_TURN: Final = 2 * np.pi / 4096
_RPM: Final = 2 * np.pi / 60


class ServoRegister(NamedTuple):
    """One register of a servo: its address, and its conversion to SI: scale × number + offset."""

    address: int
    size: int  # bytes, little-endian
    scale: float
    unit: str
    sign: int = 0  # bit that is the sign, as in Feetech's; 0: two's complement; −1: unsigned
    offset: float = 0.0

    def value(self, data: bytes) -> float:
        """SI value of the register's bytes."""
        raw = int.from_bytes(data, "little", signed=self.sign == 0)
        if self.sign > 0:
            size = raw & ((1 << self.sign) - 1)
            raw = -size if raw >> self.sign & 1 else size
        return self.scale * raw + self.offset


def _x_series(current: dict[str, ServoRegister]) -> dict[str, ServoRegister]:
    return {
        "position": ServoRegister(132, 4, _TURN, "rad", offset=-np.pi),
        "velocity": ServoRegister(128, 4, 0.229 * _RPM, "rad/s"),
        "temperature": ServoRegister(146, 1, 1.0, "°C", sign=-1),
        "voltage": ServoRegister(144, 2, 0.1, "V", sign=-1),
    } | current


# model → registers, from the makers' control tables; positions from the middle of the turn
MODELS: Final[Mapping[str, Mapping[str, ServoRegister]]] = {
    "xl330": _x_series({"current": ServoRegister(126, 2, 1e-3, "A")}),
    "xm430": _x_series({"current": ServoRegister(126, 2, 2.69e-3, "A")}),
    "xl430": _x_series({"load": ServoRegister(126, 2, 1e-3, "1")}),
    "mx": {
        "position": ServoRegister(36, 2, _TURN, "rad", sign=-1, offset=-np.pi),
        "current": ServoRegister(68, 2, 4.5e-3, "A", sign=-1, offset=-2048 * 4.5e-3),
        "temperature": ServoRegister(43, 1, 1.0, "°C", sign=-1),
    },
    "sts": {
        "position": ServoRegister(56, 2, _TURN, "rad", sign=15, offset=-np.pi),
        "velocity": ServoRegister(58, 2, _TURN, "rad/s", sign=15),
        "load": ServoRegister(60, 2, 1e-3, "1", sign=10),
        "voltage": ServoRegister(62, 1, 0.1, "V", sign=-1),
        "temperature": ServoRegister(63, 1, 1.0, "°C", sign=-1),
        "current": ServoRegister(69, 2, 6.5e-3, "A", sign=15),
    },
}
