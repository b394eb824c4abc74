"""Wires that carry each sample as one stamped joint state of ROS 2: the part common to all middlewares."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.wire.samples import SampleWire, unit_of

# SI unit → the field that carries it
CARRIERS: Final = {"rad": 0, "m": 0, "rad/s": 1, "m/s": 1, "N·m": 2, "N": 2, "A": 2, "V": 2}
NAMES: Final = ("position", "velocity", "effort")


class JointStateWire(SampleWire):
    """A publisher that plays the rig: each of the rig's messages is a joint of the joint state."""

    kind: str  # kind of the driver that reads this wire
    settle = 0.2  # s to wait until the reader has ended its discovery

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(link, messages, rate)
        for one in messages:
            units = [unit_of(field) for field in one.fields]
            wrong = [unit for unit in units if unit not in CARRIERS]
            if wrong or len({CARRIERS[unit] for unit in units}) < len(units):
                raise RigError(
                    f"expected a position, a velocity and an effort of {one.name} on {self.kind}, found {units}"
                )
        self.device = f"/joint_states{messages[0].bus or ''}"
        self._names = [one.name for one in messages]
        self._began = 0

    def state(self, stamp: int, names: list[str], columns: NDArray[np.float64]) -> None:
        """Publish a joint state. stamp: ns; columns: positions, velocities, efforts, (3, joints), SI, NaN for none."""
        raise NotImplementedError

    def place(self) -> list[str]:
        """Return the lines of [drivers.NAME] that locate the topic."""
        raise NotImplementedError

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Publish one joint state, stamped with the instant at which the sample was due."""
        self._began = self._began or time.time_ns()
        columns = np.full((3, len(values)), np.nan)
        for place, (one, mine) in enumerate(zip(self.messages, values, strict=True)):
            for field, value in zip(one.fields, mine, strict=True):
                columns[CARRIERS[unit_of(field)], place] = value
        self.state(self._began + round(number * 1e9 / self.rate), self._names, columns)

    def stranger(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError(f"expected no fault unknown on {self.kind}: a reader receives only its own topic")

    def rubbish(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError(f"expected no fault garbage on {self.kind}: the middleware delivers what was sent")

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        quoted = ", ".join(f'"{name}"' for name in self._names)
        slid = ", ".join(f'"{m.name}"' for m in self.messages if {"m", "N"} & {unit_of(f) for f in m.fields})
        return [
            f'kind = "{self.kind}"',
            *self.place(),
            f'topic = "{self.device}"',
            f"joints = [{quoted}]",
            *([f"prismatic = [{slid}]"] if slid else []),
        ]

    def signal(self, message: Message, field: str) -> str:
        """JOINT.FIELD of the joint state."""
        found = next(one for one in message.fields if one.name == field)
        return f"{message.name}.{NAMES[CARRIERS[unit_of(found)]]}"

    def clock(self, message: Message) -> dict[str, Any]:
        """The header's stamp."""
        return {"device_time": {"signal": f"{message.name}.stamp"}}
