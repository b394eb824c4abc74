"""The packed reply of MIT's mini-cheetah drives and their descendants: position, velocity, torque in 16 + 12 + 12 bits.

Byte 0 has the motor's number; values are unsigned, most significant byte first, from −range to +range (B. Katz, A low
cost modular actuator for dynamic robots, MIT 2018; `pack_reply` of the drive's program). T-motor's AK series adds
temperature and error, Damiao puts the error into the upper half of byte 0 and adds two temperatures. The ranges are
settings of the drive; with a wrong range the scale is wrong.
"""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from drivers.base import StrictSettings
from drivers.layout.can_frames import FrameSettings


class MitSettings(StrictSettings):
    """Replies of motors that share one id. Signals NAME.MOTOR_position, NAME.MOTOR_velocity, NAME.MOTOR_torque, …"""

    kind: Literal["mit"]
    name: str = Field(pattern=r"^[^.]+$")
    id: int = Field(default=0, ge=0, le=0x7FF, description="id of the replies")
    motors: dict[str, int] = Field(min_length=1, description="name → number in byte 0")
    dialect: Literal["mini-cheetah", "t-motor", "damiao"] = "mini-cheetah"
    position: float = Field(gt=0, description="rad, range of the drive")
    velocity: float = Field(gt=0, description="rad/s, range of the drive")
    torque: float = Field(gt=0, description="N·m, range of the drive")
    timeout: float | None = Field(default=None, gt=0, description="s, of the replies")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        most = 15 if self.dialect == "damiao" else 255
        if len(set(self.motors.values())) < len(self.motors) or not all(0 <= n <= most for n in self.motors.values()):
            raise ValueError(f"expected every motor with its own number from 0 to {most}, found {self.motors}")
        return self

    def frames(self) -> tuple[FrameSettings, ...]:
        """Return the only frame."""
        signals: dict[str, dict[str, Any]] = {"motor": {"start": 0, "bits": 4 if self.dialect == "damiao" else 8}}
        for motor, number in self.motors.items():
            there = {"multiplexer": "motor", "when": (number,)}
            signals |= {f"{motor}_{name}": signal | there for name, signal in self._signals().items()}
        frame = {
            "name": self.name,
            "id": self.id,
            "length": 6 if self.dialect == "mini-cheetah" else 8,
            "signals": signals,
            "timeout": self.timeout,
        }
        return (FrameSettings.model_validate(frame),)

    def _signals(self) -> dict[str, dict[str, Any]]:
        signals = {
            "position": _packed(15, 16, self.position, "rad"),
            "velocity": _packed(31, 12, self.velocity, "rad/s"),
            "torque": _packed(35, 12, self.torque, "N·m"),
        }
        if self.dialect == "t-motor":
            signals["temperature"] = {"start": 48, "bits": 8, "type": "signed", "unit": "°C"}
            signals["error"] = {"start": 56, "bits": 8}
        if self.dialect == "damiao":
            signals["error"] = {"start": 4, "bits": 4}
            signals["temperature"] = {"start": 48, "bits": 8, "unit": "°C"}
            signals["motor_temperature"] = {"start": 56, "bits": 8, "unit": "°C"}
        return signals


def _packed(start: int, bits: int, limit: float, unit: str) -> dict[str, Any]:
    scale = 2 * limit / ((1 << bits) - 1)
    return {"start": start, "bits": bits, "order": "motorola", "scale": scale, "offset": -limit, "unit": unit}
