"""Joints of one mechanism: each is a separate plant on the wire, and all of them belong to one simulation."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Role, encoder

LOCKED: Final = (
    "the friction of the joints' own forces does not settle: self-locking, expected smaller arms or coefficients"
)
SETTLES: Final = 0.9  # largest ratio of the changes of friction in two successive iterations


class Simulation(Protocol):
    """The simulation of the whole mechanism."""

    def exact(self, count: int) -> Floats:
        """Return the next samples without sensors, (count, columns)."""

    def parameters(self) -> Mapping[str, float]:
        """Return the present parameters by name."""


class Shared:
    """Distributes the samples of a simulation to several readers, each of which takes all samples."""

    def __init__(self, simulation: Simulation, readers: int) -> None:
        self.simulation = simulation
        self._taken = [0] * readers
        self._begin = 0
        self._kept: Floats | None = None

    def take(self, reader: int, count: int) -> Floats:
        """Return the next samples of a reader, (count, columns)."""
        first = self._taken[reader]
        self._taken[reader] = first + count
        have = self._begin + (0 if self._kept is None else len(self._kept))
        if first + count > have:
            fresh = self.simulation.exact(first + count - have)
            self._kept = fresh if self._kept is None else np.concatenate([self._kept, fresh])
        assert self._kept is not None
        out = self._kept[first - self._begin : first - self._begin + count]
        done = min(self._taken) - self._begin
        self._kept, self._begin = self._kept[done:], self._begin + done
        return out


class Driven:
    """One driven joint: its encoder (rad), its torque, and other measurements there."""

    def __init__(
        self,
        shared: Shared,
        reader: int,
        rate: float,
        bits: int,
        noise: Floats,
        columns: tuple[int, ...],
        extra: Sequence[tuple[MessageField, str, float]],
        rng: np.random.Generator,
        model: Mapping[str, Any],
        step: float = 2e-3,
        tables: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make a joint.

        columns: of the simulation: position, torque, then further ones; extra: field, role and scale of each further
        one; noise: (columns,) standard deviations of white noise in SI; the position is rounded instead; step: N·m,
        resolution of the torque on the wire, which has 16 bits; tables: of the joint in the configuration, in addition
        to its model.
        """
        self.rate, self.model, self.tables = rate, model, tables or {}
        self._shared, self._reader, self._bits, self._noise = shared, reader, bits, noise
        self._columns, self._rng = columns, rng
        fields = (
            MessageField("position", 32, "counts", counts_per_rev=1 << bits),
            MessageField("torque", 16, "N·m", step),
        )
        messages = [Message("STATE", fields)]
        roles = {"position": Role("STATE.position"), "torque": Role("STATE.torque")}
        for rank, (field, role, scale) in enumerate(extra, 1):
            messages.append(Message(field.name.upper(), (field,), rank=rank))
            if role:
                roles[role] = Role(f"{field.name.upper()}.{field.name}", scale)
        self.messages: tuple[Message, ...] = tuple(messages)
        self.roles: Mapping[str, Role] = roles

    def rows(self, count: int) -> Floats:
        """Return the next measured samples."""
        values = self._shared.take(self._reader, count)[:, self._columns].copy()
        values += self._noise * self._rng.standard_normal(values.shape)
        values[:, 0] = encoder(values[:, 0], self._bits)
        return values

    def times(self) -> Floats | None:
        """None: a simulation has no end."""
        return None

    def truth(self) -> Mapping[str, float]:
        """Return nothing: the true values of a joint that is identified alone are unknown."""
        return {}

    def parameters(self) -> Mapping[str, float]:
        """Return the present parameters of the whole mechanism."""
        return self._shared.simulation.parameters()
