"""ODrive CANSimple: the cyclic messages of one axis (id = node × 32 + command), as in ODrive's own DBC."""

from typing import Any, Final, Literal

from pydantic import Field

from drivers.base import StrictSettings
from drivers.layout.can_frames import FrameSettings

_FLOAT: Final = {"bits": 32, "type": "float"}
_WORD: Final = {"bits": 32}
# command: (frame, signals)
_MESSAGES: Final[dict[int, tuple[str, dict[str, dict[str, Any]]]]] = {
    0x01: ("heartbeat", {"error": _WORD | {"start": 0}, "state": {"start": 32, "bits": 8}}),
    0x09: (
        "encoder",
        {"position": _FLOAT | {"start": 0, "unit": "rev"}, "velocity": _FLOAT | {"start": 32, "unit": "rev/s"}},
    ),
    0x14: (
        "current",
        {"setpoint": _FLOAT | {"start": 0, "unit": "A"}, "measured": _FLOAT | {"start": 32, "unit": "A"}},
    ),
    0x17: (
        "supply",
        {"voltage": _FLOAT | {"start": 0, "unit": "V"}, "current": _FLOAT | {"start": 32, "unit": "A"}},
    ),
}
# from firmware 0.6 on
_NEWER: Final[dict[int, tuple[str, dict[str, dict[str, Any]]]]] = {
    0x15: (
        "temperature",
        {"inverter": _FLOAT | {"start": 0, "unit": "°C"}, "motor": _FLOAT | {"start": 32, "unit": "°C"}},
    ),
    0x1C: (
        "torque",
        {"target": _FLOAT | {"start": 0, "unit": "N·m"}, "estimate": _FLOAT | {"start": 32, "unit": "N·m"}},
    ),
}


class ODriveSettings(StrictSettings):
    """One axis. Frames NAME_heartbeat, NAME_encoder, NAME_current, NAME_supply, NAME_temperature, NAME_torque."""

    kind: Literal["odrive"]
    name: str = Field(pattern=r"^[^.]+$")
    node: int = Field(ge=0, le=63)
    timeout: float | None = Field(default=None, gt=0, description="s, of the encoder's frame")

    def frames(self) -> tuple[FrameSettings, ...]:
        """Return the frames of this axis."""
        return tuple(
            FrameSettings.model_validate(
                {
                    "name": f"{self.name}_{what}",
                    "id": self.node << 5 | command,
                    "length": 8,
                    "signals": signals,
                    "timeout": self.timeout if what == "encoder" else None,
                }
            )
            for command, (what, signals) in (_MESSAGES | _NEWER).items()
        )
