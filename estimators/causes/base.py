"""CauseKind: one thing that can happen to a joint, what it adds to torque and twist, and what to do about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from estimators.causes.healthy_joint import HealthyJoint
from estimators.causes.sample_rows import ROW, SignatureRows
from estimators.quantities import Floats

#: 1, argued: Shares of dry friction that come with a ripple.
SHARES: Final = np.array([0.0, 0.3, 0.7])


class Shape(NamedTuple):
    """What a cause may add to the rows of a window, but for its size: columns, and the mixes of them that it may be."""

    columns: Floats  # (n, k)
    mixes: Floats  # (k, m), all equally likely

    @classmethod
    def of(cls, column: Floats, either: bool = False) -> "Shape":
        """One column (n,); either: with either sign."""
        return cls(column[:, None], np.array([[1.0, -1.0]]) if either else np.ones((1, 1)))

    @classmethod
    def phased(cls, waves: Sequence[tuple[Floats, Floats]], phases: int, more: Floats | None = None) -> "Shape":
        """One of these waves, a sine and a cosine (n,), with any phase; more: a column that comes along in SHARES."""
        angles = 2.0 * np.pi * np.arange(phases) / phases
        turned = np.kron(np.eye(len(waves)), np.stack([np.cos(angles), np.sin(angles)]))
        columns = np.column_stack([one for wave in waves for one in wave])
        if more is None:
            return cls(columns, turned)
        shares = np.repeat(SHARES, turned.shape[1])
        return cls(np.column_stack([columns, more]), np.vstack([np.tile(turned, len(SHARES)), shares]))

    def growing(self, growth: Floats) -> "Shape":
        """The shape as it grows by these shares (n,) within the window."""
        return Shape(self.columns * growth[:, None], self.mixes)


@dataclass(frozen=True, slots=True)
class CauseKind:
    """One cause of the catalogue."""

    name: str
    title: str  # in words
    remedy: str  # what to do
    torque: "Callable[[FaultWindow], Sequence[Shape]]" = lambda _window: ()  # what it may add to the torque
    twist: "Callable[[FaultWindow], Sequence[Shape]]" = lambda _window: ()  # and to the gear's twist
    sudden: bool | None = None  # whether it is there at once; None: either
    only: bool = False  # it cannot come the other way
    leak: float = 0.2  # how far a real fault differs from its shape, a share of its size
    in_torque: bool = False  # it never shows in the twist alone
    rings: bool = False  # it has no shape, but swings by itself
    alike: tuple[str, ...] = ()  # causes that cannot be distinguished from it where the joint has one encoder


class FaultWindow:
    """A window of rows in which the joint slides, and what the healthy joint would have needed."""

    def __init__(self, healthy: HealthyJoint, rows: SignatureRows) -> None:
        """rows: as they came; those in which the joint does not slide are left out after filters have passed them."""
        self.healthy, self._all = healthy, rows
        self._slides = healthy.slides(rows)
        self.rows = rows.part(self._slides)
        self.inertia, self.viscous, self.dry, self.angle = healthy.parts(self.rows)
        self.predicted = self.inertia + self.viscous + self.dry + self.angle
        self.side = healthy.side(self.rows)
        self.place = healthy.place(self.rows)
        self.two_encoders = healthy.twist is not None

    @property
    def size(self) -> int:
        """Rows in which the joint slides."""
        return len(self.rows.q)

    @property
    def torque(self) -> Floats:
        """What the healthy joint does not explain of the torque, (n,)."""
        return np.asarray(self.rows.y - self.predicted)

    @property
    def twist(self) -> Floats:
        """What the healthy gear does not explain of the twist, (n,)."""
        assert self.healthy.twist is not None
        return np.asarray(self.rows.twist - self.healthy.twist_columns(self.rows) @ self.healthy.twist.coefficients)

    @cached_property
    def gear_torque(self) -> Floats:
        """Torque in the gear, (n,)."""
        return self.healthy.gear_torque(self.rows)

    @cached_property
    def gravity(self) -> tuple[Floats, Floats]:
        """Torque of the angle as a sine, and its derivative with the angle (n,) each."""
        q = self.rows.q
        columns = np.column_stack([np.sin(q), np.cos(q), np.ones_like(q)])
        sine, cosine, _ = np.linalg.lstsq(columns, self.angle, rcond=None)[0]
        return sine * np.sin(q) + cosine * np.cos(q), sine * np.cos(q) - cosine * np.sin(q)

    def second_derivative(self, signal: Callable[[SignatureRows], Floats]) -> Floats:
        """The second derivative of a signal of the rows, 1/s², in the rows in which the joint slides."""
        series = np.gradient(np.gradient(signal(self._all), ROW), ROW)
        return np.asarray(series[self._slides])

    def spread(self, values: Floats) -> tuple[Floats, Floats]:
        """Values (n,) of the rows in which the joint slides, at their places among all rows; and 1 there, else 0."""
        whole = np.zeros(len(self._slides))
        whole[self._slides] = values
        return whole, self._slides.astype(np.float64)


def unit(columns: Floats) -> Floats:
    """Columns (n,) or (n, k) of rms one; those that are nothing stay so."""
    rms = np.sqrt((columns**2).mean(axis=0))
    return np.asarray(columns / np.where(rms > 0.0, rms, 1.0))
