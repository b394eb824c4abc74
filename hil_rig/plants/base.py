"""What a rig's joint is: something that can be sampled on and on, with channels, messages and a known truth."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from hil_rig.messages import Message

Floats = NDArray[np.float64]


class RigError(Exception):
    """Something a rig cannot do, said in one sentence."""


class FrozenSettings(BaseModel):
    """Frozen settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Jump(NamedTuple):
    """A change of the truth: at this time a parameter (or a named group of them) is multiplied, or set."""

    time: float  # s after the first sample
    name: str  # of a robot of several joints: of all joints that have it, or of one as joint3.coulomb
    factor: float  # or the value
    sets: bool = False

    def of_joint(self, joint: str) -> "Jump | None":
        """What it is to one joint that knows its own parameters only; None: nothing."""
        where, dot, name = self.name.partition(".")
        if dot:
            return self._replace(name=name) if where == joint else None
        return self


class Role(NamedTuple):
    """Which signal an estimator needs for a role: value = scale × signal."""

    signal: str  # MESSAGE.field, of the joint's own message names
    scale: float = 1.0


class Plant(Protocol):
    """One joint that is sampled equidistantly, at its own rate, one sample after the other."""

    rate: float  # Hz
    messages: tuple[Message, ...]
    model: Mapping[str, Any]  # the configuration's `model` for identifying it
    roles: Mapping[str, Role]

    def rows(self, count: int) -> Floats:
        """The next samples as measured, (≤ count, fields of all messages) in SI; fewer only at the end."""

    def times(self) -> Floats | None:
        """When each sample of a finite recording is due, s after the first; None: one every 1/rate, without end."""

    def truth(self) -> Mapping[str, float]:
        """What an estimator of `model` should find now; empty when it is not known."""

    def parameters(self) -> Mapping[str, float]:
        """All of the plant's own parameters, as they are now."""


class PlantSettings(FrozenSettings):
    """Settings of one kind of plant."""

    def build(self, node: int, seed: int, jumps: Sequence[Jump], /) -> Plant:
        """Joint number `node` (from 1) of a robot. Raises RigError."""
        raise NotImplementedError

    def data_sheet(self) -> str:
        """What the robot's maker says of it, a URDF. Raises RigError."""
        raise RigError(
            "expected a rig whose maker gives out a URDF (lwr4, tree5, pointing), or none: there is none of this one"
        )

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Joints that do not feel each other, joint1, joint2, … Raises RigError."""
        names = [f"joint{node}" for node in range(1, joints + 1)]
        for jump in jumps:
            joint, dot, _ = jump.name.partition(".")
            if dot and joint not in names:
                raise RigError(f'unknown joint "{joint}" in {jump.name}, expected one of {", ".join(names)}')
        theirs = ([own for jump in jumps if (own := jump.of_joint(name)) is not None] for name in names)
        return {
            name: self.build(node, seed, own) for node, (name, own) in enumerate(zip(names, theirs, strict=True), 1)
        }


class Parameters:
    """A plant's parameters as the array that its kernel reads, and the jumps they make."""

    def __init__(
        self, values: Mapping[str, float], rate: float, jumps: Sequence[Jump], groups: Mapping[str, Sequence[str]]
    ) -> None:
        self.names = tuple(values)
        self.values = np.array(list(values.values()), np.float64)
        for jump in jumps:
            if jump.name not in values and jump.name not in groups:
                raise RigError(f'unknown parameter "{jump.name}", expected one of {", ".join([*values, *groups])}')
        self._groups = groups
        self._jumps = sorted((round(jump.time * rate), jump.name, jump.factor, jump.sets) for jump in jumps)
        self._sample = 0

    def next_stretch(self, most: int) -> int:
        """Apply the jumps that are due; how many samples (≤ most) may pass until the next one."""
        while self._jumps and self._jumps[0][0] <= self._sample:
            _, name, factor, sets = self._jumps.pop(0)
            for one in self._groups.get(name, (name,)):
                place = self.names.index(one)
                self.values[place] = factor if sets else factor * self.values[place]
        stretch = min(most, self._jumps[0][0] - self._sample) if self._jumps else most
        self._sample += stretch
        return stretch

    def as_dict(self) -> dict[str, float]:
        """Name → value."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


class SimulatedPlant:
    """What a kernel integrates from jump to jump of the parameters, without end."""

    rate: float  # Hz
    physics: Parameters
    columns: int  # of `exact`, which the plant's module names
    substeps: int  # of the integration, per sample

    def exact(self, count: int) -> Floats:
        """The next samples without sensors, (count, columns) in SI."""
        out = np.empty((count, self.columns))
        start = 0
        while start < count:
            stretch = self.physics.next_stretch(count - start)
            self.integrate(1 / (self.rate * self.substeps), out[start : start + stretch])
            start += stretch
        return out

    def integrate(self, step: float, out: Floats) -> None:
        """Fill out, (samples, columns), while the parameters hold; step: s."""
        raise NotImplementedError

    def times(self) -> Floats | None:
        """None: a simulation has no end."""
        return None

    def parameters(self) -> Mapping[str, float]:
        """All parameters, as they are now."""
        return self.physics.as_dict()


def encoder(values: Floats, bits: int) -> Floats:
    """What an encoder of 2^bits steps a turn makes of positions (rad)."""
    step = 2 * np.pi / (1 << bits)
    return np.floor(values / step + 0.5) * step
