"""A joint model's friction columns under another η, and what one look at a window says about θ and η.

With η frozen, y = Φθ + e is explained by least squares; the columns T_k = ∂(Φθ)/∂s_k (s = ln η where η is positive)
tell whether another η would explain more: the first Gauss–Newton step δs of [Φ T] and its standard deviation.
Reference: Golub & Pereyra 1973 (variable projection); irj-joint design, section 3.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.base import LOAD, POSITION, VELOCITY, Floats, JointModel, Parameter, Rows
from estimators.friction.base import FrictionLaw, FrictionSettings
from estimators.jit import kernel
from estimators.refit import Model
from estimators.suspects import Suspect, suspects

STEP: Final = 1e-3  # of s, central differences for the tangents
SMALL: Final = 1e-12  # of the largest eigenvalue: directions below it are none


class Prior(NamedTuple):
    """What is known of θ before a window, in units of the whitened residual variance."""

    theta: Floats  # (parameters,)
    information: Floats  # (parameters, parameters)

    def root(self) -> Floats:
        """R with RᵀR = information: (known, parameters), a row per direction that is known."""
        scale = np.sqrt(np.diag(self.information))
        told = np.flatnonzero(scale > 0.0)
        part = self.information[np.ix_(told, told)] / np.outer(scale[told], scale[told])
        values, vectors = np.linalg.eigh(part)
        rows = np.zeros((len(told), len(scale)))
        rows[:, told] = (vectors * np.sqrt(np.maximum(values, 0.0))).T * scale[told]
        return rows


class Explanation(NamedTuple):
    """A window explained with η frozen."""

    theta: Floats  # (parameters,)
    variance: float  # residual, whitened, per degree of freedom
    unchanged: float  # by how much χ² of the prior's own θ is worse than that of theta, in units of `variance` = 1
    signal: float  # mean square of y, whitened
    step: Floats  # (nonlinear,) of s
    sigma: Floats  # (nonlinear,) of that step, for a residual variance of 1
    spread: Floats  # (parameters,) standard deviations of θ with η free, for a residual variance of 1
    condition: float  # of [Φ T] with columns of length one
    inverse: Floats  # ([ΦᵀΦ ΦᵀT; TᵀΦ TᵀT] + prior)⁻¹
    mean: Floats  # the same products, without prior, a row
    rows: int


class Shape:
    """The friction law of one joint model, where it stands, and its η."""

    def __init__(self, model: JointModel, taps: Floats, law: FrictionSettings | None = None) -> None:
        """law: another one than the model's, with the same columns."""
        place = model.friction if law is None else model.friction._replace(law=law)
        assert isinstance(place.law, FrictionSettings)
        self.joint, self.place, self.taps, self.settings = model, place, taps, place.law
        self.nonlinear: tuple[Parameter, ...] = model.nonlinear
        self.law: FrictionLaw = place.law.law(place.axis)
        self._own = self.law.moving()  # of the law's columns, those that η moves
        self.moving = np.array(place.columns, np.int64)[self._own]  # of phi
        others = [column for column in range(len(model.parameters)) if column not in self.moving]
        self.fixed = np.array(others, np.int64)
        self.rest = np.array([c for c in others if c not in place.columns], np.int64)  # not friction at all
        self.model = Model(tuple(model.parameters[c] for c in others), place.law, place.axis)
        self.log = np.array([parameter.low > 0.0 for parameter in model.nonlinear])
        self._range = np.array([parameter.high - parameter.low for parameter in model.nonlinear])

    def refill(self, rows: Rows, eta: Floats) -> None:
        """Write the friction columns for η into the rows' phi."""
        seen = rows.samples
        columns = self.law.columns(seen[:, POSITION].ravel(), seen[:, VELOCITY].ravel(), seen[:, LOAD].ravel(), eta)
        _smooth(columns, self.taps, self._own, self.moving, self.place.sign, self.place.output, rows.phi)

    def recentre(self, rows: Rows, zero: float) -> None:
        """Move the zero of the spring's twist in the rows' phi; zero: rad."""
        spring = self.joint.spring
        if spring is None or not zero:
            return
        linear, cubic = spring.columns
        for output in range(rows.phi.shape[1]):
            sign = 1.0 if output == spring.output else -1.0
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
        """s that leads from eta to other: (nonlinear,)."""
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
        middle = rows.samples[:, :, rows.samples.shape[2] // 2]
        tangents = np.zeros((len(middle), rows.y.shape[1], len(eta)))
        for k in range(len(eta)):
            step = np.zeros(len(eta))
            step[k] = STEP
            up, down = (
                self.law.columns(middle[:, POSITION], middle[:, VELOCITY], middle[:, LOAD], self.shift(eta, s))
                for s in (step, -step)
            )
            slope = (up - down)[:, self._own] @ theta[self.moving] / (2.0 * STEP)
            tangents[:, self.place.output, k] = self.place.sign * slope
        return tangents

    def explain(self, rows: Rows, eta: Floats, noise: Floats, before: Prior) -> Explanation:
        """Least squares over rows with η frozen; before: what else is known.

        noise: (outputs,) variances, whitened units come out.
        """
        usable = np.isfinite(rows.y)
        weight = 1.0 / np.sqrt(noise)
        phi = (rows.phi * weight[:, np.newaxis])[usable]
        y = (rows.y * weight)[usable]
        p = phi.shape[1]
        gram, cross = phi.T @ phi + before.information, phi.T @ y + before.information @ before.theta
        solution = _solve(gram, cross)
        known = int(np.count_nonzero(np.diag(before.information)))
        residual = y - phi @ solution
        freedom = max(1, len(y) - p + known)
        variance = float(residual @ residual) / freedom
        old = y - phi @ before.theta
        tangents = (self.tangents(rows, eta, solution) * weight[:, np.newaxis])[usable]
        both = np.concatenate([phi, tangents], axis=1)
        products = both.T @ both
        whole = products.copy()
        whole[:p, :p] += before.information
        right = np.concatenate([np.zeros(p), tangents.T @ residual])
        right[:p] = phi.T @ residual - before.information @ (solution - before.theta)
        inverse, condition = _inverse(whole)
        spread = np.sqrt(np.maximum(np.diag(inverse), 0.0))
        return Explanation(
            solution,
            variance,
            float(old @ old - residual @ residual),
            float(y @ y) / max(1, len(y)),
            (inverse @ right)[p:],
            spread[p:],
            spread[:p],
            condition,
            inverse,
            products / max(1, len(y)),
            len(y),
        )


def nothing(parameters: int) -> Prior:
    """No prior."""
    return Prior(np.zeros(parameters), np.zeros((parameters, parameters)))


def _solve(gram: Floats, cross: Floats) -> Floats:
    inverse, _ = _inverse(gram)
    return np.asarray(inverse @ cross)


def _inverse(gram: Floats) -> tuple[Floats, float]:
    """Inverse of AᵀA, infinite spread where A says nothing, and A's condition, columns of length one."""
    lengths = np.sqrt(np.diag(gram))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
    least = SMALL * values[-1]
    condition = float(np.sqrt(values[-1] / max(values[0], least)))
    inverse = (vectors / np.maximum(values, least)) @ vectors.T
    return inverse / np.outer(lengths, lengths), condition


@kernel("void(f8[:, ::1], f8[::1], i8[::1], i8[::1], f8, i8, f8[:, :, :])")
def _smooth(
    columns: Floats,
    g: Floats,
    own: NDArray[np.int64],
    moving: NDArray[np.int64],
    sign: float,
    output: int,
    phi: Floats,
) -> None:
    """The kernel g over each row's samples, in the order of signals.py."""
    for row in range(len(phi)):
        for c in range(len(own)):
            total = 0.0
            for k in range(len(g)):
                total += g[k] * (sign * columns[row * len(g) + k, own[c]])
            phi[row, output, moving[c]] = total
