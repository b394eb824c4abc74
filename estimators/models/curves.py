"""A joint's curves: its friction over velocity and its spring's torque over twist, as points and as laws.

A point is what the rest of the equation of motion leaves over: y − Φ_other θ_other, so model and measurement meet in
one picture. Only those columns of a friction law that depend on velocity alone belong to its curve; parts
that follow position or load are taken off the points with the rest.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from estimators.models.base import Model
from estimators.models.friction.base import FrictionSettings
from estimators.quantities import Floats, Settings
from estimators.rows import VELOCITY, Rows

POINT: Final = ("velocity", "friction", "twist", "spring")  # columns of `points`


class Curves:
    """The curves of one joint model; `values` are those of an Estimate: θ, then η where there is one."""

    def __init__(self, model: Model, law: Settings | None = None) -> None:
        """law: another friction law than the model's, with the same columns."""
        place = model.blocks[0] if law is None else model.blocks[0]._replace(law=law)
        assert isinstance(place.law, FrictionSettings)
        self._model, self._place, self._count = model, place, len(model.parameters)
        self._spring = model.springs[0] if model.springs else None
        self._law = place.law.law(place.axis)
        self.names = tuple(parameter.name for parameter in (*model.parameters, *model.nonlinear))
        self.has_spring = self._spring is not None
        velocity = np.concatenate([-np.geomspace(3.0, 1e-3, 20), np.geomspace(1e-3, 3.0, 20)])
        here, there = (
            self._law.columns(np.full(40, at), velocity, np.full(40, at), self._law.start) for at in (0.0, 7.0)
        )
        self._own = np.asarray((here == there).all(axis=0) & (np.ptp(here, axis=0) > 0))
        mix = np.linalg.lstsq(here, velocity)[0] if here.shape[1] else np.zeros(0)
        self._mix = mix if np.allclose(here @ mix, velocity) else np.full_like(mix, np.nan)
        columns = np.array(place.columns, np.int64)[self._own]
        self._others = np.setdiff1d(np.arange(self._count), columns)

    @property
    def law(self) -> dict[str, Any]:
        """The friction law's settings."""
        return self._place.law.model_dump()

    @property
    def fixed(self) -> dict[str, Any]:
        """What of it is not searched."""
        assert isinstance(self._place.law, FrictionSettings)
        return self._place.law.fixed(self._place.axis)

    def using(self, law: Mapping[str, Any]) -> "Curves":
        """These curves with another friction law, by its settings. Raises ValueError for one of another kind."""
        return self if law == self.law else Curves(self._model, type(self._place.law).model_validate(law))

    def points(self, rows: Rows, values: Floats, taps: Floats) -> Floats:
        """One point a row: (rows, 4), columns POINT in SI; NaN where the model or the estimate gives no value.

        taps: of the kernel that smoothed the rows.
        """
        place, theta = self._place, values[: self._count]
        points = np.full((len(rows.y), len(POINT)), np.nan)
        phi, y = rows.phi[:, place.output], rows.y[:, place.output]
        if rows.samples.shape[3]:
            points[:, 0] = rows.samples[:, 0, VELOCITY] @ taps
        else:
            points[:, 0] = place.sign * (phi[:, place.columns] @ self._mix)
        points[:, 1] = place.sign * (y - phi[:, self._others] @ theta[self._others])
        if self._spring is not None:
            phi, y = rows.phi[:, self._spring.output], rows.y[:, self._spring.output]
            rest = np.setdiff1d(np.arange(self._count), self._spring.columns)
            points[:, 2] = phi[:, self._spring.columns[0]]
            points[:, 3] = y - phi[:, rest] @ theta[rest]
        return points

    def friction(self, values: Floats, velocity: Floats) -> Floats:
        """The law at these velocities (n,), rad/s (m/s): torque (n,), N·m (N)."""
        nothing = np.zeros(len(velocity))
        columns = self._law.columns(nothing, velocity, nothing, values[self._count :])
        return np.asarray(columns[:, self._own] @ values[list(self._place.columns)][self._own])

    def spring(self, values: Floats, twist: Floats) -> Floats:
        """The spring's torque (n,), N·m, at these twists (n,), rad."""
        if self._spring is None:
            raise ValueError("expected a joint with an elastic gear, found a rigid one")
        linear, cubic = values[list(self._spring.columns)]
        return np.asarray(linear * twist + cubic * twist**3)
