"""Rows of a start: scale, whitening, motion period and the alarm's threshold are computed from them."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.recent_values import gain_of
from estimators.numerics.directions import Directions
from estimators.numerics.robust import OUTLIER, deviation_factors, robust_mean
from estimators.online.start.pieces import Pieces
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.weights import reversals
from estimators.rows import MOTION, ROUNDING, WEIGHT, Rows
from estimators.thresholds import LEAST_DIVISOR, NOISE_FLOOR
from estimators.window.motion_period import motion_period

#: 1, derived: Share of the largest eigenvalue up to which a direction is rounding of float64 sums only.
SINGULAR: Final = 1e-10
#: 1, argued: Batch means a parameter in the start's own deviation factor, at least.
BLOCKS: Final = 3
#: times, argued: Rounds of Huber's weights; after three they change by less than the rows' noise.
ROUNDS: Final = 3
#: 1, argued: Share of what values of every part explain from which those before and after an instant are the reason.
MOSTLY: Final = 0.5
#: deviations, derived: Median of the magnitude of a standard normal.
MEDIAN: Final = 0.6745


class StartRows:
    """Rows that taught; where all are evaluated, an output that is not finite counts as zero in phi and y."""

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return len(self._y)

    @property
    def moving(self) -> bool:
        """Whether rows say how their joint moved."""
        return len(self._motion) > 0

    def clear(self) -> None:
        """Forget all rows."""
        self.span: tuple[int, int] | None = None  # ns, first and last instant
        # as they came, rows without any finite output left out
        self._phi, self._y = Pieces(np.zeros((0, 1, 1))), Pieces(np.zeros((0, 1)))
        self._seen = Pieces(np.zeros((0, 1), np.bool_))  # (rows, outputs) which saw a reversal
        self._ways = Pieces(np.zeros((0, 1)))  # which way the joint moved, 0: something of one was seen, …
        self._either: Floats = np.zeros((2, 1))  # … and in how many of them it moved forth, and back: (2, outputs)
        self._motion = Pieces(np.zeros((0, 1, MOTION)))  # of Rows
        self._finite: tuple[Floats, Floats] | None = None  # all of them, once someone has asked

    def add(
        self,
        time: Nanoseconds,
        phi: Floats,
        y: Floats,
        seen: NDArray[np.bool_] | None = None,
        ways: Floats | None = None,
        motion: Floats | None = None,
    ) -> int:
        """Append rows; returns how many had no finite output.

        time (rows,) ns, phi (rows, outputs, parameters), y (rows, outputs); seen (rows, outputs): which saw a reversal;
        ways: of reversals.turning; motion: of Rows.
        """
        refused = 0
        if not math.isfinite(phi.sum() + y.sum()):
            whole = (np.isfinite(y) & np.isfinite(phi).all(axis=2)).any(axis=1)
            refused = int(np.count_nonzero(~whole))
            time, phi, y = time[whole], phi[whole], y[whole]
            seen = None if seen is None else seen[whole]
            ways = None if ways is None else ways[whole]
            motion = None if motion is None or not len(motion) else motion[whole]
        if len(time):
            self.span = (self.span[0] if self.span else int(time[0]), int(time[-1]))
        self._phi.add(phi)
        self._y.add(y)
        self._seen.add(np.zeros(y.shape, np.bool_) if seen is None else seen)
        ways = np.ones(y.shape) if ways is None else ways
        self._ways.add(ways)
        self._either = self._either + [(ways > 0.0).sum(axis=0), (ways < 0.0).sum(axis=0)]
        if motion is not None:
            self._motion.add(motion)
        self._finite = None
        return refused

    def weigh(self, weighed: Callable[[Rows], Rows], owners: NDArray[np.int64]) -> Floats:
        """Weigh every row as in normal mode, by what is known at the end of the start.

        Returns the share of the noise of steps that is left: (outputs,); owners: the joint of each output.
        """
        (phi, y), motion = self.raw(), self._motion.all()
        rows = weighed(Rows(np.zeros(len(y), np.int64), phi, y, np.zeros(motion.shape[:2]), motion=motion))
        self._phi, self._y, self._motion = Pieces(rows.phi), Pieces(rows.y), Pieces(rows.motion)
        self._finite = None
        before, after = (one[:, owners, ROUNDING].sum(axis=0) for one in (motion, rows.motion))
        return np.asarray(np.where(before > 0.0, after / np.where(before > 0.0, before, 1.0), 1.0))

    def squared_weights(self, owners: NDArray[np.int64]) -> Floats:
        """Mean squared weight of the rows of each output, 1 where rows do not say how their joint moved: (outputs,).

        owners: the joint of each output.
        """
        motion = self._motion.all()
        return np.asarray(np.mean(motion[:, owners, WEIGHT] ** 2, axis=0)) if len(motion) else np.ones(len(owners))

    def raw(self) -> tuple[Floats, Floats]:
        """Return phi (rows, outputs, parameters) and y (rows, outputs) as they came."""
        return self._phi.all(), self._y.all()

    def power(self) -> Floats:
        """Mean square of each output, 1 where it is zero: (outputs,)."""
        _, y = self._rows()
        power = np.mean(y**2, axis=0)
        return np.asarray(np.where(power > 0, power, 1.0))

    def noise(self, theta: Floats) -> Floats:
        """Residual variance of each output: (outputs,)."""
        phi, y = self._rows()
        residual = y - phi @ theta
        noise = np.array([robust_mean(column[column != 0.0] ** 2) for column in residual.T])
        return np.asarray(np.maximum(noise, NOISE_FLOOR**2 * self.power()))

    def scale(self, noise: Floats) -> tuple[Floats, float]:
        """Root mean square of each column (parameters,) and of y, whitened; a column of zeros has that of ones."""
        phi, y = self._rows()
        scale = np.sqrt(np.mean(np.sum(phi**2 / noise[None, :, None], axis=1), axis=0))
        signal = np.sqrt(np.mean(np.sum(y**2 / noise, axis=1)))
        return np.where(scale > 0, scale, 1.0 / np.sqrt(noise.min())), float(signal)

    def products(self, noise: Floats, which: NDArray[np.bool_] | None = None) -> Floats:
        """ΦᵀΦ, whitened: (parameters, parameters); noise: (outputs,) variances; which: (rows, outputs), else all."""
        phi, _ = self._rows()
        phi = phi / np.sqrt(noise)[:, None]
        flat = (phi if which is None else phi * which[:, :, None]).reshape(-1, phi.shape[2])
        return np.asarray(flat.T @ flat)

    def either_way(self, least: int) -> bool:
        """Whether the joint of every output has moved either way in at least so many rows without a reversal."""
        return bool(self._either.min() >= least)

    def moves(self) -> int:
        """Moves from one stop or reversal to the next that the joint of every output has made, at least."""
        clear = self._ways.all() != 0.0
        return int(np.count_nonzero(np.diff(clear, axis=0, prepend=False) & clear, axis=0).min())

    def rests_on_reversals(self, noise: Floats) -> Floats:
        """Factor (parameters,) by which deviations grow without the rows that saw a reversal or a stop."""
        with_them, without = self.products(noise), self.products(noise, self._ways.all() != 0.0)
        scale = np.sqrt(np.maximum(np.diag(with_them), np.finfo(float).tiny))
        unit = np.outer(scale, scale)
        if np.linalg.eigvalsh(without / unit)[0] <= SINGULAR:
            return np.full(len(scale), np.inf)
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(without / unit)) / np.diag(np.linalg.pinv(with_them / unit))))

    def discount(self, noise: Floats, scale: Floats, least: float, proven: bool) -> Floats:
        """Weigh rows with a reversal by their own variance; returns the weights (outputs,); arguments as of solution().

        proven: whether all of θ is identifiable without them.
        """
        seen, (phi, y) = self._seen.all(), self._rows()
        theta = self.solution(noise, scale, least, ~seen)
        squares = (y - phi @ theta) ** 2
        weights = np.full(y.shape[1], 1.0 if proven else reversals.UNPROVEN)
        for o in range(len(weights) if proven else 0):
            turned, straight = seen[:, o] & (y[:, o] != 0.0), ~seen[:, o] & (y[:, o] != 0.0)
            weights[o] = reversals.weight(
                float(squares[straight, o].sum()), float(np.count_nonzero(straight)),
                float(squares[turned, o].sum()), float(np.count_nonzero(turned)),
            )  # fmt: skip
        if (weights < 1.0).any():
            phi, y = self.raw()
            factor = np.where(seen, weights, 1.0)
            self._phi, self._y, self._finite = Pieces(phi * factor[:, :, None]), Pieces(y * factor), None
        return weights

    def solution(self, noise: Floats, scale: Floats, least: float, which: NDArray[np.bool_] | None = None) -> Floats:
        """Least squares over all rows, or over which (rows, outputs): (parameters,).

        noise: (outputs,) variances; scale: (parameters,) rms of each column, whitened; the result is 0 along directions
        with less information than `least`.
        """
        phi, y = self._rows()
        weight = 1.0 / np.sqrt(noise) * np.ones_like(y)
        if which is not None:
            weight *= which
        flat = (phi * weight[:, :, None]).reshape(-1, phi.shape[2]) / scale
        known, directions = np.linalg.eigh(flat.T @ flat)
        identifiable = known > max(least, SINGULAR * known[-1])
        directions = directions[:, identifiable]
        return np.asarray(directions @ (directions.T @ (flat.T @ (y * weight).ravel()) / known[identifiable]) / scale)

    def cycle(self) -> int:
        """Rows in one motion period, 0 when there is none."""
        return motion_period(self._rows()[1][:, 0])

    def squared(self, rls: RecursiveLeastSquares) -> Floats:
        """Squared residual of each row, whitened, mean over its outputs: (rows,)."""
        phi, y = self._rows()
        return np.asarray(np.mean((y - phi @ rls.theta) ** 2 / rls.noise, axis=1))

    def deviation_factors(self, rls: RecursiveLeastSquares) -> Floats:
        """Factor of each deviation for the residual's structure: (parameters,)."""
        phi, y = self._rows()
        weight = 1.0 / np.sqrt(rls.noise)
        phi, y = phi * weight[:, None], y * weight
        block = max(1, len(y) // (BLOCKS * rls.p))
        rows, outputs = len(y) // block * block, y.shape[1]
        residual = (y - phi @ rls.theta)[:rows].ravel()
        return deviation_factors(
            phi[:rows].reshape(-1, rls.p), residual, rls.covariance(), rls.variance(), block * outputs
        )

    def change(self, noise: Floats, length: int, overlap: float) -> float:
        """Share of the torque (rms) before or after an instant that values of its own explain beyond those of all rows,
        and beyond chance: the largest. Nothing where values of every part explain far more: then they differ by pose or
        speed, as where the model is wrong, and not by time.

        noise: (outputs,) variances; length: rows from one instant that is tried to the next; overlap: rows that say the
        same. Rows with a reversal are left out.
        """
        phi, y = self._rows()
        weight, most = ~self._seen.all() / np.sqrt(noise), 0.0
        flat = np.concatenate([phi * weight[:, :, None], (y * weight)[:, :, None]], axis=2)
        parts = [slice(max(end - length, 0), end) for end in range(len(y), length // 2, -length)]
        products = np.array([np.einsum("roi,rok->ik", flat[part], flat[part]) for part in parts])
        rows = np.array([float(np.count_nonzero(weight[part])) for part in parts])
        theta = Directions.of(products.sum(axis=0)[:-1, :-1]).inverse @ products.sum(axis=0)[:-1, -1]
        gains = sum(gain_of(one, theta, count, overlap) for one, count in zip(products, rows, strict=True))
        for at in range(1, len(parts)):
            sides = [(products[one].sum(axis=0), float(rows[one].sum())) for one in (slice(at), slice(at, None))]
            gain = [gain_of(one, theta, count, overlap) for one, count in sides]
            if sum(gain) > MOSTLY * gains:
                most = max(
                    most, *(own / max(one[-1, -1], LEAST_DIVISOR) for (one, _), own in zip(sides, gain, strict=True))
                )
        return float(np.sqrt(most))

    def prediction(self, noise: Floats) -> float:
        """Deviation of what least squares predict of usual rows, whitened; noise: (outputs,) variances.

        √(p·v·h²/rows), with their residual variance v, and h the geometric mean of its deviation factors. Rows with a
        reversal are left out, and others beyond OUTLIER count less (Huber's weights): both will weigh by their own
        variance.
        """
        phi, y = self._rows()
        usual = ~self._seen.all().any(axis=1)
        if np.count_nonzero(usual) < BLOCKS * phi.shape[2]:
            usual = np.ones_like(usual)
        weight = 1.0 / np.sqrt(noise)
        flat, wanted = (phi[usual] * weight[:, None]).reshape(-1, phi.shape[2]), (y[usual] * weight).ravel()
        p, factor = phi.shape[2], np.ones(len(wanted))
        for _ in range(ROUNDS):
            found = Directions.of((flat * factor[:, None]).T @ flat)
            residual = wanted - flat @ (found.inverse @ (flat.T @ (factor * wanted)))
            most = OUTLIER * max(float(np.median(np.abs(residual))) / MEDIAN, LEAST_DIVISOR)
            factor = np.minimum(1.0, most / np.maximum(np.abs(residual), most))
        block = max(1, np.count_nonzero(usual) // (BLOCKS * p)) * y.shape[1]
        residual, variance = factor * residual, float(np.mean((factor * residual) ** 2))
        factors = deviation_factors(flat, residual, found.inverse, variance, block)
        known = np.diag(found.inverse) > 0.0
        return float(np.sqrt(p * variance / np.count_nonzero(usual)) * np.exp(np.mean(np.log(factors[known]))))

    def _rows(self) -> tuple[Floats, Floats]:
        """phi (rows, outputs, parameters), y (rows, outputs), zeros where an output is not finite."""
        if self._finite is None:
            phi, y = self.raw()
            usable = np.isfinite(y) & np.isfinite(phi).all(axis=2)
            self._finite = np.where(usable[:, :, None], phi, 0.0), np.where(usable, y, 0.0)
        return self._finite
