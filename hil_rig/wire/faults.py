"""Faults between a sensor and a reader; each is switched on separately, drawn from a seed, and counted as truth."""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hil_rig.messages import Floats, Message, MessageField, MessageFrame
from hil_rig.plants.base import RigError
from hil_rig.wire.base import Wire

# kind → meaning of its value
KINDS: Final = {
    "garbage": "probability that bytes which are no frame precede a frame",
    "truncate": "probability that a frame loses its end",
    "crc": "probability that a packet's checksum is wrong (serial only)",
    "unknown": "probability that a frame with an unknown id precedes a frame",
    "drop": "probability that a frame is not sent",
    "repeat": "probability that a frame is sent once more, as a gateway does",
    "nan": "probability that one field of a frame carries the marker for no value",
    "wrap": "bits after which the position encoders start again",
    "jitter": "ms by which frames are late at most, at random, in order",
    "skew": "FIELD:ms by which one field is old, as torque:3 or LINK.torque:3",
}
ONE_JOINT: Final = re.compile(r"joint(\d+)\.")
OF_ONE_JOINT: Final = ("garbage", "truncate", "crc", "unknown", "drop", "repeat", "nan")
_DAMAGE: Final = ("drop", "truncate", "crc")  # a frame has at most one of these


class Faults:
    """The faults of one run. `counts`: how many of each were injected; settings for wrap and skew."""

    def __init__(self, specifications: Iterable[str], seed: int) -> None:
        """specifications: "KIND=VALUE" each, or "JOINT.KIND=VALUE" for one joint's frames. Raises RigError."""
        self.counts: dict[str, float] = {}
        self._chance: dict[tuple[str, int], float] = {}  # (kind, joint or 0 for all) → probability
        self.wrap: int | None = None
        self.jitter = 0.0  # s
        self._skew: dict[str, float] = {}  # field → s
        self._rng = np.random.default_rng([seed, 0xFA17])
        for specification in specifications:
            name, _, value = specification.partition("=")
            joint = ONE_JOINT.match(name)
            kind = name[joint.end() :] if joint else name
            if joint and kind not in OF_ONE_JOINT:
                raise RigError(f'fault "{kind}" of {joint[0][:-1]}: one joint can have {", ".join(OF_ONE_JOINT)}')
            if kind not in KINDS:
                raise RigError(f'unknown fault "{kind}", expected one of {", ".join(KINDS)}')
            try:
                self._set(kind, value, int(joint[1]) if joint else 0)
            except ValueError as error:
                raise RigError(f"fault {kind}: expected {KINDS[kind]}, found {value!r}") from error

    def _set(self, kind: str, value: str, node: int) -> None:
        if kind == "wrap":
            self.wrap = int(value)
            if not 2 <= self.wrap <= 31:
                raise ValueError(value)
            self.counts["wrap"] = self.wrap
            return
        field, _, number = value.rpartition(":") if kind == "skew" else ("", "", value)
        amount = float(number)
        if amount < 0 or not np.isfinite(amount) or (kind == "skew" and not field):
            raise ValueError(value)
        if kind == "skew":
            self._skew[field] = amount / 1e3
            self.counts[f"skew {field}"] = amount
        elif kind == "jitter":
            self.jitter = amount / 1e3
            self.counts["jitter"] = 0
        elif amount > 1:
            raise ValueError(value)
        else:
            self._chance[kind, node] = amount
            self.counts[kind] = 0

    def check(self, messages: Sequence[Message], wire: Wire) -> None:
        """Raise RigError for a fault that is impossible on this wire or with these messages."""
        names = {name for one in messages for field in one.fields for name in (field.name, f"{one.name}.{field.name}")}
        for field in self._skew.keys() - names:
            raise RigError(f'fault skew: unknown field "{field}", expected one of {", ".join(sorted(names))}')
        nodes = {one.node for one in messages}
        for kind, node in self._chance:
            if node and node not in nodes:
                raise RigError(f"fault {kind}: there is no joint{node}, expected joint1 to joint{max(nodes)}")
        sample = MessageFrame(messages[0], 0, bytes(sum(field.bits // 8 for field in messages[0].fields)))
        tried = np.random.default_rng(0)
        for kind in {kind for kind, _ in self._chance}:
            if kind == "crc":
                wire.miscounted(sample)
            elif kind == "truncate":
                wire.cut(sample, tried)
            elif kind == "unknown":
                wire.stranger(tried)
            elif kind == "garbage":
                wire.rubbish(tried)

    @property
    def spare_frames(self) -> bool:
        """Whether no fault changes single frames."""
        return not self._chance

    def on_messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages with wrapping encoders."""
        if self.wrap is None:
            return tuple(messages)
        return tuple(replace(one, fields=tuple(self._wrapped(field) for field in one.fields)) for one in messages)

    def _wrapped(self, field: MessageField) -> MessageField:
        return replace(field, wrap=self.wrap) if field.name == "position" else field

    def skew_of(self, message: Message, field: MessageField) -> float:
        """Return the age of this field, s."""
        return self._skew.get(f"{message.name}.{field.name}", self._skew.get(field.name, 0.0))

    def on_frame(self, frame: MessageFrame, wire: Wire) -> list[bytes]:
        """Return the pieces that are sent for a frame."""
        if not self._chance:
            return [wire.form(frame)]
        units, node = [], frame.message.node
        if self._strikes("garbage", node):
            units.append(wire.rubbish(self._rng))
        if self._strikes("unknown", node):
            units.append(wire.stranger(self._rng))
        if self._strikes("nan", node):
            frame = frame.without(int(self._rng.integers(len(frame.message.fields))))
        damage = next((kind for kind in _DAMAGE if self._strikes(kind, node)), "")
        if damage == "truncate":
            units.append(wire.cut(frame, self._rng))
        elif damage == "crc":
            units.append(wire.miscounted(frame))
        elif not damage:
            units.append(wire.form(frame))
            if self._strikes("repeat", node):
                units.append(units[-1])
        return units

    def _strikes(self, kind: str, node: int) -> bool:
        chance = self._chance.get((kind, node), self._chance.get((kind, 0)))
        strikes = chance is not None and self._rng.random() < chance
        if strikes:
            self.counts[kind] += 1
        return strikes

    def lateness(self) -> float:
        """Return the delay of the next frames, s."""
        if not self.jitter:
            return 0.0
        self.counts["jitter"] += 1
        return float(self._rng.uniform(0.0, self.jitter))


class Late:
    """Delays the values of one channel, with interpolation between samples."""

    def __init__(self, delay: float) -> None:
        """delay: samples."""
        whole = int(delay)
        self._part = delay - whole
        self._past: deque[float] = deque(maxlen=whole + 2)

    def __call__(self, values: Floats) -> Floats:
        """Return the delayed values, (rows,) → (rows,); before the first value the first value is used."""
        late = np.empty_like(values)
        for row, value in enumerate(values):
            if not self._past:
                self._past.extend([value] * (self._past.maxlen or 0))
            self._past.append(value)
            late[row] = (1 - self._part) * self._past[1] + self._part * self._past[0]
        return late
