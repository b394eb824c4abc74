"""A robot's joints, sampled together: the time of each sample, and the contents of its messages."""

from collections.abc import Mapping, Sequence

import numpy as np

from hil_rig.messages import Floats, Message, MessageFrame, frames
from hil_rig.plants.base import Plant
from hil_rig.wire.faults import Faults, Late


class RigRobot:
    """Joints that are sampled together, as batches of frames per sample."""

    def __init__(self, joints: Mapping[str, Plant], faults: Faults, loop: bool) -> None:
        """loop: whether a recording is repeated at its end."""
        self.joints = joints
        self._faults, self._loop = faults, loop
        plants = list(joints.values())
        self.rate = plants[0].rate
        self.times: Floats | None = plants[0].times()
        self.messages: dict[str, tuple[Message, ...]] = {
            name: tuple(one.of_node(node, len(joints)) for one in faults.on_messages(plant.messages))
            for node, (name, plant) in enumerate(joints.items(), 1)
        }
        self.buses = 1 + max(one.bus for messages in self.messages.values() for one in messages)
        self._late = {name: self._delays(messages) for name, messages in self.messages.items()}
        self._next = 0

    def _delays(self, messages: Sequence[Message]) -> dict[int, Late]:
        """Return column of a joint's rows → its delay."""
        fields = [(one, field) for one in messages for field in one.fields]
        delays = ((column, self._faults.skew_of(*pair)) for column, pair in enumerate(fields))
        return {column: Late(delay * self.rate) for column, delay in delays if delay > 0}

    def due(self, elapsed: float) -> int:
        """Return the number of samples that are due `elapsed` s after the first."""
        if self.times is None:
            return int(elapsed * self.rate) + 1
        rounds, rest = divmod(elapsed, self._round()) if self._loop else (0, elapsed)
        return int(rounds) * len(self.times) + int(np.searchsorted(self.times, rest, "right"))

    def at(self, sample: int) -> float:
        """Return the time at which a sample is due, s after the first; inf beyond the end."""
        if self.times is None:
            return sample / self.rate
        rounds, place = divmod(sample, len(self.times))
        if rounds and not self._loop:
            return float("inf")
        return float(self.times[place]) + (rounds * self._round() if rounds else 0.0)

    def _round(self) -> float:
        assert self.times is not None
        return float(self.times[-1]) + 1 / self.rate

    def samples(self, count: int) -> list[list[MessageFrame]]:
        """Return the frames of the next samples; fewer samples only at the end."""
        rows = {name: plant.rows(count) for name, plant in self.joints.items()}
        count = min(len(values) for values in rows.values())
        parts = [part for name, values in rows.items() for part in self._by_message(name, values[:count])]
        batches = [frames(message, values, self._next) for message, values in parts]
        self._next += count
        return [list(sample) for sample in zip(*batches, strict=True)]

    def columns(self, joint: str, count: int) -> list[tuple[Message, Floats]]:
        """Return a joint's next samples by message: (≤ count, fields of the message), fewer only at the end."""
        return self._by_message(joint, self.joints[joint].rows(count))

    def _by_message(self, name: str, values: Floats) -> list[tuple[Message, Floats]]:
        if self._late[name]:
            values = values.copy()
            for column, late in self._late[name].items():
                values[:, column] = late(values[:, column])
        parts, start = [], 0
        for message in self.messages[name]:
            end = start + len(message.fields)
            parts.append((message, values[:, start:end]))
            start = end
        return parts
