"""A joint model's friction columns under another η, and how they change with it.

T_k = ∂(Φθ)/∂s_k (s = ln η where η is positive) are the columns by which another η would be told from the one in force.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.base import JointModel
from estimators.models.friction.base import FrictionLaw, FrictionSettings
from estimators.models.friction.structure import Model, look
from estimators.models.shared_instants import columns_of, distinct, smooth
from estimators.quantities import Floats, Parameter
from estimators.rows import ARGUMENTS, LOAD, POSITION, RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE, VELOCITY, Rows
from estimators.window.wrong_constants import Suspect, suspects

STEP: Final = 1e-3  # of s, central differences for the tangents


class Shape:
    """The friction law of one joint model, where it stands, and its η."""

    def __init__(self, model: JointModel, taps: Floats, law: FrictionSettings | None = None) -> None:
        """law: another one than the model's, with the same columns."""
        place = model.friction if law is None else model.friction._replace(law=law)
        assert isinstance(place.law, FrictionSettings)
        self.joint, self.place, self.taps, self.settings = model, place, taps, place.law
        self.nonlinear: tuple[Parameter, ...] = model.nonlinear
        self.law: FrictionLaw = place.law.law(place.axis)
        structure = look(self.settings, place.axis)
        self._own, self._alone = structure.moving, structure.alone  # of the law's columns, those that η moves
        self.moving = np.array(place.columns, np.int64)[self._own]  # of phi
        others = [column for column in range(len(model.parameters)) if column not in self.moving]
        self.fixed = np.array(others, np.int64)
        self.rest = np.array([c for c in others if c not in place.columns], np.int64)  # not friction at all
        self.model = Model(tuple(model.parameters[c] for c in others), place.law, place.axis)
        self.log = np.array([parameter.low > 0.0 for parameter in model.nonlinear])
        self._range = np.array([parameter.high - parameter.low for parameter in model.nonlinear])

    def refill(self, rows: Rows, eta: Floats) -> None:
        """Write the friction columns for η into the rows' phi."""
        seen, first = self.seen(rows)
        columns = columns_of(self.law, seen, eta)
        smooth(columns, first, self.taps, self._own, self.place.sign, self.place.output, self.moving, rows.phi)

    def seen(self, rows: Rows) -> tuple[Floats, NDArray[np.int64]]:
        """What the moving columns look at, each instant once, and where each row's begins (overlap.py)."""
        return distinct(rows.samples, 1 if self._alone else ARGUMENTS)

    def recentre(self, rows: Rows, zero: float) -> None:
        """Move the zero of the spring's twist in the rows' phi; zero: rad."""
        spring = self.joint.spring
        if spring is None or not zero:
            return
        linear, cubic = spring.columns
        for output, sign in enumerate(spring.signs):
            twist = sign * rows.phi[:, output, linear]
            rows.phi[:, output, linear] -= sign * zero
            rows.phi[:, output, cubic] -= sign * (3.0 * zero * twist * (twist - zero) + zero**3)

    def suspected(self, rows: Rows, eta: Floats, theta: Floats, noise: Floats, overlap: float) -> list[Suspect]:
        """Known constants whose error the residual of a fitted window shows; overlap: rows that say the same."""
        weight = np.isfinite(rows.y) / np.sqrt(noise)
        told = weight > 0.0
        both = np.concatenate([rows.phi, self.tangents(rows, eta, theta)], axis=2)
        design = both[told] * weight[told][:, np.newaxis]
        residual = (rows.y - rows.phi @ theta)[told] * weight[told]
        return suspects(self.joint.constants(rows, self.taps, theta), design, residual, weight, overlap)

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

    def tangents(self, rows: Rows, eta: Floats, theta: Floats) -> Floats:
        """∂(Φθ)/∂s at the middle of each row's samples: (rows, outputs, nonlinear)."""
        tangents = np.zeros((len(rows.time), rows.y.shape[1], len(eta)))
        slopes = self.slopes(rows, eta)
        tangents[:, self.place.output] = self.place.sign * np.einsum("rck,c->rk", slopes, theta[self.moving])
        return tangents

    def slopes(self, rows: Rows, eta: Floats) -> Floats:
        """What the tangents are made of, ∂(a moving column)/∂s at the middle of each row's samples.

        (rows, moving, nonlinear), without the law's sign in the equation of motion.
        """
        middle = rows.samples.shape[2] // 2
        signals = np.zeros((len(rows.time), 2, SIGNALS))
        signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = rows.samples[:, POSITION, middle]
        signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = rows.samples[:, VELOCITY, middle]
        signals[:, 1, VALUE] = signals[:, 1, SMOOTH] = rows.samples[:, LOAD, middle]
        up, down = (np.empty((len(signals), len(self.law.parameters))) for _ in range(2))
        slopes = np.empty((len(signals), len(self._own), len(eta)))
        for k in range(len(eta)):
            for step, columns in ((STEP, up), (-STEP, down)):
                shifted = eta.copy()
                shifted[k] = eta[k] * math.exp(step) if self.log[k] else eta[k] + step * self._range[k]
                self.law.fill(signals, 0, 1, shifted, columns)
            slopes[:, :, k] = (up - down)[:, self._own] / (2.0 * STEP)
        return slopes
