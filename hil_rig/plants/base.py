"""The interface of a rig's joint: it can be sampled without end, and has channels, messages and a known truth."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from hil_rig.messages import Message

Floats = NDArray[np.float64]


class RigError(Exception):
    """A rig cannot do something; the text is one sentence for the user."""


class FrozenSettings(BaseModel):
    """Immutable settings in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Jump(NamedTuple):
    """A change of the truth: at this time a parameter (or a named group of parameters) is multiplied or set."""

    time: float  # s after the first sample
    name: str  # of all joints that have this parameter, or of one joint, as joint3.coulomb
    factor: float  # or the new value
    sets: bool = False

    def of_joint(self, joint: str) -> "Jump | None":
        """Return the jump for one joint, which knows only its own parameters; None if the jump does not concern it."""
        where, dot, name = self.name.partition(".")
        if dot:
            return self._replace(name=name) if where == joint else None
        return self


class Role(NamedTuple):
    """The signal that an estimator needs for a role: value = scale × signal."""

    signal: str  # MESSAGE.field, with the joint's own names of messages
    scale: float = 1.0


class Plant(Protocol):
    """One joint that is sampled equidistantly at its own rate."""

    rate: float  # Hz
    messages: tuple[Message, ...]
    model: Mapping[str, Any]  # `model` in a configuration that identifies the joint
    roles: Mapping[str, Role]

    def rows(self, count: int) -> Floats:
        """Return the next measured samples, (≤ count, fields of all messages) in SI; fewer only at the end."""

    def times(self) -> Floats | None:
        """Return the times of a finite recording's samples, s after the first; None: one sample every 1/rate, without
        end."""

    def truth(self) -> Mapping[str, float]:
        """Return the values that an estimator of `model` should find now; empty if they are unknown."""

    def parameters(self) -> Mapping[str, float]:
        """Return the present values of all of the plant's own parameters."""


class PlantSettings(FrozenSettings):
    """Settings of one kind of plant."""

    def build(self, node: int, seed: int, jumps: Sequence[Jump], /) -> Plant:
        """Build joint number `node` (from 1) of a robot. Raises RigError."""
        raise NotImplementedError

    def data_sheet(self) -> str:
        """Return the data sheet of the robot's maker, a URDF. Raises RigError."""
        raise RigError(
            "expected a rig whose maker gives out a URDF (lwr4, tree5, pointing), or none: there is none of this one"
        )

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build joints without coupling, joint1, joint2, … Raises RigError."""
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
    """The parameters of a plant as an array for its kernel, and their jumps."""

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
        """Apply the jumps that are due; returns the number of samples (≤ most) until the next jump."""
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
    """A plant that a kernel integrates between the jumps of its parameters, without end."""

    rate: float  # Hz
    physics: Parameters
    columns: int  # number of columns of `exact`, which the plant's module names
    substeps: int  # steps of the integration per sample

    def exact(self, count: int) -> Floats:
        """Return the next samples without sensors, (count, columns) in SI."""
        out = np.empty((count, self.columns))
        start = 0
        while start < count:
            stretch = self.physics.next_stretch(count - start)
            self.integrate(1 / (self.rate * self.substeps), out[start : start + stretch])
            start += stretch
        return out

    def integrate(self, step: float, out: Floats) -> None:
        """Fill `out`, (samples, columns), with constant parameters; step: s."""
        raise NotImplementedError

    def times(self) -> Floats | None:
        """None: a simulation has no end."""
        return None

    def parameters(self) -> Mapping[str, float]:
        """All parameters, as they are now."""
        return self.physics.as_dict()


def encoder(values: Floats, bits: int) -> Floats:
    """Quantise positions (rad) like an encoder with 2^bits steps a turn."""
    step = 2 * np.pi / (1 << bits)
    return np.floor(values / step + 0.5) * step
