"""CANopen drives of the profile CiA 402: process data as mapped in the drive, with the objects of a second encoder.

Objects by their index in CiA 402-2: 6041 statusword, 6061 mode, 6064 position, 606C velocity, 6077 torque and 6078
current in per mille of rated, 60F4 following error, 60E4 and 60E5 position and velocity of an additional encoder
(sub-index 1), 6079 voltage of the link, 603F error code, 60FD digital inputs.
"""

from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from drivers.base import StrictSettings
from drivers.layout.can_frames import FrameSettings

FIRST_IDS: Final = (0x180, 0x280, 0x380, 0x480)  # of the transmit PDOs 1 to 4, without the node


class Object(NamedTuple):
    """One entry of the object dictionary."""

    number: int  # its index
    bits: int
    type: str = "signed"
    unit: str = ""


OBJECTS: Final = {
    "statusword": Object(0x6041, 16, "unsigned"),
    "mode": Object(0x6061, 8),
    "position": Object(0x6064, 32, unit="counts"),
    "velocity": Object(0x606C, 32, unit="counts/s"),
    "torque": Object(0x6077, 16, unit="permille"),
    "torque_demand": Object(0x6074, 16, unit="permille"),
    "current": Object(0x6078, 16, unit="permille"),
    "following_error": Object(0x60F4, 32, unit="counts"),
    "second_position": Object(0x60E4, 32, unit="counts"),
    "second_velocity": Object(0x60E5, 32, unit="counts/s"),
    "link_voltage": Object(0x6079, 32, "unsigned", "mV"),
    "error_code": Object(0x603F, 16, "unsigned"),
    "inputs": Object(0x60FD, 32, "unsigned"),
    "skip8": Object(0x0005, 8, "unsigned"),
    "skip16": Object(0x0006, 16, "unsigned"),
    "skip32": Object(0x0007, 32, "unsigned"),
}
Name = Literal[
    "statusword",
    "mode",
    "position",
    "velocity",
    "torque",
    "torque_demand",
    "current",
    "following_error",
    "second_position",
    "second_velocity",
    "link_voltage",
    "error_code",
    "inputs",
    "skip8",
    "skip16",
    "skip32",
]


class CiA402Settings(StrictSettings):
    """One drive's transmit PDOs. Frames NAME_pdo1 … NAME_pdo4."""

    kind: Literal["cia402"]
    name: str = Field(pattern=r"^[^.]+$")
    node: int = Field(ge=1, le=127)
    pdos: dict[Literal["1", "2", "3", "4"], tuple[Name, ...]] = Field(
        min_length=1, description="number → mapped objects, in order"
    )
    counts_per_rev: float = Field(gt=0, description="counts per turn of `position`, at the motor")
    second_counts_per_rev: float | None = Field(
        default=None, gt=0, description="counts per turn of `second_position`, at the link"
    )
    velocity_unit: str = Field(default="counts/s", description='unit of `velocity`: "rpm" in many drives')
    rated_torque: float | None = Field(default=None, gt=0, description="N·m, 6076; without, torque is a fraction")
    rated_current: float | None = Field(default=None, gt=0, description="A, 6075; without, current is a fraction")
    timeout: float | None = Field(default=None, gt=0, description="s, of each PDO")

    def frames(self) -> tuple[FrameSettings, ...]:
        """Return the frames of this drive."""
        return tuple(
            FrameSettings.model_validate(
                {
                    "name": f"{self.name}_pdo{number}",
                    "id": FIRST_IDS[int(number) - 1] + self.node,
                    "length": sum(OBJECTS[name].bits for name in names) // 8,
                    "signals": self._signals(names),
                    "timeout": self.timeout,
                }
            )
            for number, names in self.pdos.items()
        )

    def _signals(self, names: tuple[Name, ...]) -> dict[str, dict[str, Any]]:
        signals: dict[str, dict[str, Any]] = {}
        start = 0
        for name in names:
            one = OBJECTS[name]
            if name in signals:
                raise ValueError(f"expected every object once in a PDO, found {name} twice")
            signals[name] = {"start": start, "bits": one.bits, "type": one.type} | self._meaning(name, one.unit)
            start += one.bits
        return signals

    def _meaning(self, name: str, unit: str) -> dict[str, Any]:
        if name == "velocity":
            unit = self.velocity_unit
        if unit.startswith("counts"):
            per_rev = self.second_counts_per_rev if name.startswith("second") else self.counts_per_rev
            if per_rev is None:
                raise ValueError(f"{name} needs second_counts_per_rev, found none")
            return {"unit": unit, "counts_per_rev": per_rev}
        rated, rated_unit = (self.rated_current, "A") if name == "current" else (self.rated_torque, "N·m")
        if unit == "permille" and rated is not None:
            return {"unit": unit, "rated": rated, "rated_unit": rated_unit}
        return {"unit": unit} if unit else {}
