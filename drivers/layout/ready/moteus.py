"""moteus: the registers in a controller's reply, in the resolutions that its host requests.

A reply is a sequence of subframes: type (0x20 int8, 0x24 int16, 0x28 int32, 0x2C float; plus the number of registers up
to three, or a byte with it), first register, values. The same query always has a reply of the same form, so its places
are fixed; the first bytes of each subframe are compared, so that replies to other queries are not confused with it.
Scales of registers and the most negative integer for "no value": moteus' register reference.
"""

from typing import Any, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from drivers.base import StrictSettings
from drivers.layout.can_frames import FrameSettings


class Register(NamedTuple):
    """One register: its number, unit, and resolution as int8, int16 and int32."""

    number: int
    unit: str = ""
    scales: tuple[float, float, float] = (1.0, 1.0, 1.0)


_POSITION: Final = ("rev", (1e-2, 1e-4, 1e-5))
_VELOCITY: Final = ("rev/s", (1e-1, 2.5e-4, 1e-5))
_TORQUE: Final = ("N·m", (0.5, 1e-2, 1e-3))
_CURRENT: Final = ("A", (1.0, 1e-1, 1e-3))
_TEMPERATURE: Final = ("°C", (1.0, 1e-1, 1e-3))
REGISTERS: Final = {
    "mode": Register(0x000),
    "position": Register(0x001, *_POSITION),
    "velocity": Register(0x002, *_VELOCITY),
    "torque": Register(0x003, *_TORQUE),
    "q_current": Register(0x004, *_CURRENT),
    "d_current": Register(0x005, *_CURRENT),
    "abs_position": Register(0x006, *_POSITION),
    "motor_temperature": Register(0x00A, *_TEMPERATURE),
    "trajectory_complete": Register(0x00B),
    "home_state": Register(0x00C),
    "voltage": Register(0x00D, "V", (0.5, 1e-1, 1e-3)),
    "temperature": Register(0x00E, *_TEMPERATURE),
    "fault": Register(0x00F),
    "encoder_0_position": Register(0x050, *_POSITION),
    "encoder_0_velocity": Register(0x051, *_VELOCITY),
    "encoder_1_position": Register(0x052, *_POSITION),
    "encoder_1_velocity": Register(0x053, *_VELOCITY),
    "encoder_2_position": Register(0x054, *_POSITION),
    "encoder_2_velocity": Register(0x055, *_VELOCITY),
}
_TYPES: Final = {"int8": (0x20, 8), "int16": (0x24, 16), "int32": (0x28, 32), "float": (0x2C, 32)}


class Subframe(StrictSettings):
    """Registers with consecutive numbers, in one resolution."""

    type: Literal["int8", "int16", "int32", "float"]
    registers: tuple[str, ...] = Field(min_length=1, max_length=31)

    @model_validator(mode="after")
    def _in_a_row(self) -> Self:
        unknown = [name for name in self.registers if name not in REGISTERS]
        if unknown:
            raise ValueError(f"expected registers of {', '.join(REGISTERS)}, found {', '.join(unknown)}")
        numbers = [REGISTERS[name].number for name in self.registers]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise ValueError(f"expected registers that follow each other, found {', '.join(self.registers)}")
        return self

    def head(self) -> bytes:
        """Return the bytes before the values."""
        count, first = len(self.registers), REGISTERS[self.registers[0]].number
        kind = _TYPES[self.type][0]
        return bytes([kind + count, first] if count <= 3 else [kind, count, first])


class MoteusSettings(StrictSettings):
    """The reply of one controller: frame NAME."""

    kind: Literal["moteus"]
    name: str = Field(pattern=r"^[^.]+$")
    node: int = Field(ge=1, le=127, description="id of the controller")
    host: int = Field(default=0, ge=0, le=127, description="id of the host that sends queries")
    reply: tuple[Subframe, ...] = Field(min_length=1, description="subframes, in order")
    timeout: float | None = Field(default=None, gt=0, description="s, of the reply")

    def frames(self) -> tuple[FrameSettings, ...]:
        """Return the only frame."""
        signals: dict[str, dict[str, Any]] = {}
        start = 0
        above: dict[str, Any] = {}
        for number, subframe in enumerate(self.reply):
            head = subframe.head()
            signals[f"format{number}"] = {"start": start, "bits": 8 * len(head)} | above
            above = {"multiplexer": f"format{number}", "when": (int.from_bytes(head, "little"),)}
            start += 8 * len(head)
            for name in subframe.registers:
                if name in signals:
                    raise ValueError(f"expected every register once, found {name} twice")
                signals[name] = {"start": start} | _value(subframe.type, REGISTERS[name]) | above
                start += int(signals[name]["bits"])
        ident = self.node << 8 | self.host
        frame = {"name": self.name, "id": ident, "extended": ident > 0x7FF, "signals": signals, "timeout": self.timeout}
        return (FrameSettings.model_validate(frame),)


def _value(kind: str, register: Register) -> dict[str, Any]:
    bits = _TYPES[kind][1]
    unit: dict[str, Any] = {"unit": register.unit} if register.unit else {}
    if kind == "float":
        return {"bits": bits, "type": "float"} | unit
    scale = register.scales[("int8", "int16", "int32").index(kind)]
    return {"bits": bits, "type": "signed", "scale": scale, "invalid": -(1 << (bits - 1))} | unit
