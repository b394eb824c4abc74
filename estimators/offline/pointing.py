"""The pointing mechanism with and without clearance: three models of one recording, and the bee colony.

    ideal      τ = Y(g) π + friction with sign(ω₁)          the paper's "ideal" model, as far as it can be known
    control    τ = Y(g) π + friction with tanh(ω₁ R/v_m)    no clearance either, but the friction's true shape
    clearance  τ = Y(g − ë) π + μ R F_n tanh(ω₁ R/v_m)      ë and F_n from where the load presses the pin

All linear once v_m is known, which one line search finds. Only base parameters are compared: the mechanism's eleven are
not identifiable one by one (design: pointing mechanism, §1, §5).
"""

from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.optimize import lsq_linear, minimize_scalar

from estimators.models.mechanisms.mechanism import Mechanism
from estimators.models.robots.base_parameters import BaseProjection, base_projection
from estimators.models.robots.newton_euler import newton_euler
from estimators.models.robots.regressor import regressor
from estimators.numerics.splines import zero_phase_low_pass
from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.base import Callback, batch
from estimators.search.bees import POINTING

Name = Literal["ideal", "control", "clearance"]
MODELS: Final[tuple[Name, ...]] = ("ideal", "control", "clearance")
CUTOFF: Final = 15.0  # Hz, both ways, of everything
EDGE: Final = 0.5  # s
CYCLES: Final = 200  # of the bee colony
PASSES: Final = 3


class PointingRun(NamedTuple):
    """A recording, and what CAD says."""

    q: Floats  # (ticks, 2) rad
    tau: Floats  # (ticks, 2) N·m, held during the tick
    radius: float  # m, of the pin
    clearance: float  # m
    slip_2: float  # rad/s, of the second joint's friction


class Pointed(NamedTuple):
    """One model's fit."""

    theta: Floats  # (base + 2,) base parameters, friction of joint 1 (μ of F_n, or N·m), of joint 2
    error: Floats  # (2,) rms of each joint, N·m
    friction: float  # N·m, mean of joint 1's full friction
    slip: float  # m/s, v_m
    columns: Floats  # (rows · 2, base + 2)
    target: Floats  # (rows · 2,)


def compare(run: PointingRun, cad: Mechanism, period: float) -> dict[Name, Pointed]:
    """The three models; v_m by a line search of the control, which needs no clearance. cad: for F_n only."""
    prepared = _Prepared(run, cad, period)

    def cost(log_slip: float) -> float:
        return float(np.sum(prepared.fit("control", float(np.exp(log_slip))).error ** 2))

    grid = np.log(np.geomspace(2e-5, 2e-3, 13))
    best = grid[int(np.argmin([cost(one) for one in grid]))]
    step = grid[1] - grid[0]
    slip = float(np.exp(minimize_scalar(cost, bounds=(best - step, best + step), method="bounded").x))
    return {name: prepared.fit(name, slip) for name in MODELS}


def colony(
    fitted: Pointed, centre: Floats, share: float, seed: int, callback: Callback | None = None
) -> tuple[float, float]:
    """Error (rms, N·m) of the bee colony in a box of ± share about centre, and of least squares in the same box.

    callback: called with evaluations, best point and best mean square.
    """
    X, y = fitted.columns, fitted.target
    K, c, yy = X.T @ X / len(y), X.T @ y / len(y), float(y @ y) / len(y)

    @batch
    def cost(points: Floats) -> Floats:
        return np.asarray(np.einsum("ij,jk,ik->i", points, K, points) - 2 * points @ c + yy)

    reach = share * np.maximum(np.abs(centre), 1e-9)
    budget = POINTING.sources * (1 + 2 * CYCLES)
    found = minimise(POINTING, cost, centre - reach, centre + reach, budget=budget, seed=seed, callback=callback)
    scale = np.sqrt(np.mean(X**2, axis=0))
    box = lsq_linear(X / scale, y, ((centre - reach) * scale, (centre + reach) * scale), method="bvls")
    return float(np.sqrt(found.value)), float(np.sqrt(2.0 * box.cost / len(y)))


def projection(cad: Mechanism) -> BaseProjection:
    """Base parameters of the mechanism."""
    return base_projection(cad.tree)


class _Prepared:
    """A recording, filtered, and the inertial columns, which no model changes but for ë."""

    def __init__(self, run: PointingRun, cad: Mechanism, period: float) -> None:
        self.run, self.cad, self.period = run, cad, period
        self.q = self._low_pass(run.q)
        held = run.tau.copy()
        held[1:] = 0.5 * (run.tau[1:] + run.tau[:-1])
        self.tau = self._thin(self._low_pass(held))
        self.dq = np.gradient(self.q, period, axis=0)
        self.ddq = np.gradient(self.dq, period, axis=0)
        self.base = projection(cad).columns
        self.Y = self._regressor(self.q, self.dq, self.ddq, np.array(cad.tree.gravity))
        still = np.zeros_like(self.q)
        self.shift = [self._regressor(self.q, still, still, unit) for unit in np.eye(3)[:2]]

    def fit(self, name: Name, slip: float) -> Pointed:
        """Least squares; the clearance model looks again where the pin lies after each pass."""
        speed = self.dq[:, 0] * self.run.radius
        shape = np.sign(speed) if name == "ideal" else np.tanh(speed / slip)
        normal, Y, mu = np.ones(len(shape)), self.Y, 0.1
        for _ in range(PASSES if name == "clearance" else 1):
            if name == "clearance":
                normal, second = self._pin(mu * shape)
                Y = self.Y - sum(one * second[:, k, None, None] for k, one in enumerate(self.shift))
            X = np.zeros((*Y.shape[:2], len(self.base) + 2))
            X[..., :-2] = Y
            X[:, 0, -2] = shape * normal * (self.run.radius if name == "clearance" else 1.0)
            X[:, 1, -1] = np.tanh(self.dq[:, 1] / self.run.slip_2)
            X = self._thin(self._low_pass(X))
            table, y = X.reshape(-1, X.shape[2]), self.tau.ravel()
            scale = np.sqrt(np.mean(table**2, axis=0))
            theta = np.linalg.lstsq(table / scale, y, rcond=None)[0] / scale
            mu = float(theta[-2])
        error = np.sqrt(np.mean((self.tau - X @ theta) ** 2, axis=0))
        friction = mu * float(normal.mean()) * (self.run.radius if name == "clearance" else 1.0)
        return Pointed(theta, error, friction, slip, table, y)

    def _pin(self, slope: Floats) -> tuple[Floats, Floats]:
        """F_n (rows,), N, and ë (rows, 2) of a pin that lies where the chain's force presses it."""
        rows, n = self.q.shape
        tau, wrench = np.empty((rows, n)), np.empty((rows, n, 6))
        q, dq, ddq = (np.ascontiguousarray(one) for one in (self.q, self.dq, self.ddq))
        newton_euler(*self.cad.tree, q, dq, ddq, self.cad.parameters, np.zeros((0, n, 6)), tau, wrench)
        c, s = np.cos(self.q[:, 0]), np.sin(self.q[:, 0])
        pull = -np.column_stack([c * wrench[:, 0, 0] - s * wrench[:, 0, 1], s * wrench[:, 0, 0] + c * wrench[:, 0, 1]])
        length = np.hypot(pull[:, 0], pull[:, 1])
        x, y = (pull / length[:, None]).T
        cosine = 1.0 / np.sqrt(1.0 + slope**2)
        sine = -slope * cosine
        e = self.run.clearance * self._low_pass(np.column_stack([cosine * x - sine * y, sine * x + cosine * y]))
        second = np.zeros_like(e)
        second[1:-1] = np.diff(e, 2, axis=0) / self.period**2
        return length * cosine, second

    def _regressor(self, q: Floats, dq: Floats, ddq: Floats, gravity: Floats) -> Floats:
        tree = self.cad.tree._replace(gravity=gravity)
        Y = np.empty((len(q), 2, 20))
        regressor(*tree, np.ascontiguousarray(q), np.ascontiguousarray(dq), np.ascontiguousarray(ddq), Y)
        return Y[..., self.base]

    def _low_pass(self, values: Floats) -> Floats:
        return zero_phase_low_pass(values, 4, CUTOFF, 1 / self.period)

    def _thin(self, values: Floats) -> Floats:
        edge, step = round(EDGE / self.period), max(1, round(0.01 / self.period))
        return values[edge:-edge:step]
