"""A joint model's friction columns under another η, and how they change with it.

T_k = ∂(Φθ)/∂s_k (s = ln η where η is positive) are the columns by which another η would be distinguished from the one
in force.
"""

import math
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from estimators.models.base import Model
from estimators.models.friction.base import FrictionLaw, FrictionSettings
from estimators.models.friction.structure import RefitModel, law_structure
from estimators.models.shared_instants import columns_of, distinct, smooth
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import ARGUMENTS, Rows

STEP: Final = 1e-3  # of s, central differences for the tangents


class NonlinearBlock:
    """One law of a model whose columns η moves, where it stands, and the coordinates s of its η."""

    def __init__(self, model: Model, taps: Floats, law: FrictionSettings | None = None, index: int = 0) -> None:
        """law: another one than the model's, with the same columns; index: of the model's blocks."""
        place = model.blocks[index] if law is None else model.blocks[index]._replace(law=law)
        assert isinstance(place.law, FrictionSettings)
        self.joint, self.index, self.place, self.taps, self.settings = model, index, place, taps, place.law
        self.law: FrictionLaw = place.law.law(place.axis)
        self.nonlinear: tuple[Parameter, ...] = _own(model, index)
        structure = law_structure(self.settings, place.axis)
        self.own, self._alone = structure.moving, structure.alone  # of the law's columns, those that η moves
        self.moving = np.array(place.columns, np.int64)[self.own]  # of phi
        others = [column for column in range(len(model.parameters)) if column not in self.moving]
        self.fixed = np.array(others, np.int64)
        self.rest = np.array([c for c in others if c not in place.columns], np.int64)  # not part of the friction
        self.model = RefitModel(tuple(model.parameters[c] for c in others), place.law, place.axis)
        self.log = np.array([parameter.low > 0.0 for parameter in self.nonlinear])
        self._range = np.array([parameter.high - parameter.low for parameter in self.nonlinear])

    def __reduce__(self) -> tuple[type[Self], tuple[Model, Floats, FrictionSettings, int]]:
        """Pickle what it was made of: compiled functions are invalid in another process."""
        return type(self), (self.joint, self.taps, self.settings, self.index)

    def with_law(self, law: FrictionSettings) -> "NonlinearBlock":
        """This block under another law with the same columns."""
        return NonlinearBlock(self.joint, self.taps, law, self.index)

    def refill(self, rows: Rows, eta: Floats) -> None:
        """Write the friction columns for η into the rows' phi."""
        seen, first = self.seen(rows)
        columns = columns_of(self.law, seen, eta)
        smooth(columns, first, self.taps, self.own, self.place.sign, self.place.output, self.moving, rows.phi)

    def seen(self, rows: Rows) -> tuple[Floats, NDArray[np.int64]]:
        """What the moving columns look at, each instant once, and where each row's begins (shared_instants.py)."""
        return distinct(rows.samples[:, self.index], 1 if self._alone else ARGUMENTS)

    def shift(self, eta: Floats, s: Floats) -> Floats:
        """η moved by s: times exp(s) where it is positive, else by s of its range."""
        return np.where(self.log, eta * np.exp(s), eta + s * self._range)

    def distance(self, eta: Floats, other: Floats) -> Floats:
        """s that leads from eta to other (nonlinear,): of ln η where it is positive, else in shares of its range."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.log, np.log(other / eta), (other - eta) / self._range)

    def deviations(self, eta: Floats, sigma: Floats) -> Floats:
        """Standard deviations of η (nonlinear,) as those of s."""
        return np.where(self.log, sigma / eta, sigma / self._range)

    def absolute(self, eta: Floats, sigma: Floats) -> Floats:
        """Standard deviations of s as those of η (nonlinear,)."""
        return np.where(self.log, sigma * eta, sigma * self._range)

    def tangents(self, rows: Rows, eta: Floats, theta: Floats, slopes: Floats | None = None) -> Floats:
        """∂(Φθ)/∂s: (rows, outputs, nonlinear); slopes: of these rows, where they are known."""
        tangents = np.zeros((len(rows.time), rows.y.shape[1], len(eta)))
        slopes = self.slopes(rows, eta) if slopes is None else slopes
        tangents[:, self.place.output] = self.place.sign * np.einsum("rck,c->rk", slopes, theta[self.moving])
        return tangents

    def slopes(self, rows: Rows, eta: Floats) -> Floats:
        """What the tangents are made of, ∂(a moving column)/∂s under each row's kernel: (rows, moving, nonlinear).

        Without the law's sign in the equation of motion.
        """
        return self.slopes_along(*self.seen(rows), eta)

    def slopes_along(self, seen: Floats, first: NDArray[np.int64], eta: Floats) -> Floats:
        """Slopes along a stretch (arguments, instants), in which the instants of each row begin at `first` (rows,)."""
        slopes = np.empty((len(first), len(self.own), len(eta)))
        for k in range(len(eta)):
            sides = []
            for step in (STEP, -STEP):
                shifted = eta.copy()
                shifted[k] = eta[k] * math.exp(step) if self.log[k] else eta[k] + step * self._range[k]
                sides.append(columns_of(self.law, seen, shifted))
            slope = (sides[0] - sides[1]) / (2.0 * STEP)
            under = np.empty((len(first), 1, len(self.own)))
            smooth(slope, first, self.taps, self.own, 1.0, 0, np.arange(len(self.own)), under)
            slopes[:, :, k] = under[:, 0]
        return slopes


def _own(model: Model, index: int) -> tuple[Parameter, ...]:
    """η of one block of a model."""
    laws = [place.law for place in model.blocks]
    counts = [len(law.law(Axis.ROTARY).nonlinear) for law in laws if isinstance(law, FrictionSettings)]
    return model.nonlinear[sum(counts[:index]) : sum(counts[: index + 1])]
