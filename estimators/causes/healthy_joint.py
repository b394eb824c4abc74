"""What the rows of a healthy joint say: torque over motion, and the gear's twist over torque, by ridge regression.

    y = Φψ + e     Φ: a, v, dry friction over speed, load, direction and angle, torque over angle
    δ = Ψχ + e     Ψ: gear torque, its sign, speed, angle                          (joints with two encoders only)
    r = y − Φψ of later rows is what a fault adds. It has the covariance σ²c(I + Φ(G + λ)⁻¹Φᵀ)

c: rows that count as one, because errors of the columns repeat along a motion; by sums of blocks (Newey & West's idea).
ψ is what is compared with: nothing else of the reference is kept, so a state is a few hundred numbers.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.causes.sample_rows import ROW, SMOOTH, TAIL, SignatureRows
from estimators.quantities import Floats

#: 1, argued: Hats over the angle: with seven, a cable's or a body's place is known to a seventh of the range.
HATS: Final = 7
#: 1, argued: Hats over which dry friction may change with the angle.
DRY_HATS: Final = 5
#: 1, argued: Speeds over which the Stribeck part fades, shares of the top speed: from a tenth of usual ones to all.
FADES: Final = (0.025, 0.08)
#: 1, argued: Share of the top speed below which a joint sticks or turns, and a row shows no sliding friction.
STILL: Final = 0.02
#: 1, argued: Ridge, share of a column's square: no coefficient moves by more than a millionth where rows tell it.
RIDGE: Final = 1e-6
#: 1, argued: Share of the largest gear torque over which the gear has changed its flank.
FLANK: Final = 0.03
#: rows, derived: On either side, that the kernel of a row reaches: 30 ms, in rows of 20 ms.
KERNEL: Final = math.ceil(TAIL * SMOOTH / ROW)
#: s, argued: Length of the blocks whose sums tell how far errors repeat: a move from point to point.
BLOCK: Final = 2.0
#: rows, argued: A fifth of a second, over which a collision is as strong as nothing that the reference has seen.
BURST: Final = 10
#: 1, derived: One deviation of the share of the viscous torque that is ordinary: e^(0.6/21) − 1, for 0.6 K. More than
#: some such is a hotter or colder joint, and reported as that.
WARMER: Final = 0.03
#: 1, argued: Share of the signal's rms by which any column may be off from day to day.
DAY: Final = 0.006
#: per cent, argued: What is beyond these percentiles counts as the end of a range.
ENDS: Final = (1.0, 99.0)


class Scales(NamedTuple):
    """Sizes of the motion that the reference has seen."""

    low: float  # of the range of positions
    high: float
    speed: float  # top speed
    torque: float  # rms


class Fit(NamedTuple):
    """A regression: coefficients, and how far it can be trusted."""

    coefficients: Floats  # (p,)
    inverse: Floats  # (p, p) of the regularised Gram matrix
    variance: float  # of a row's error
    alike: float  # rows that count as one
    rms: float  # of what was fitted
    worst: float  # largest mean square of errors over BURST
    ordinary: float = 0.0  # mean square of errors along shapes of causes, on any day

    @classmethod
    def of(cls, columns: Floats, y: Floats, block: int) -> "Fit":
        """Fit by ridge regression of y (n,) on columns (n, p); block: rows over which errors may repeat."""
        size = np.sqrt((columns**2).mean(axis=0))
        scale = np.where(size > 0.0, size, 1.0)
        scaled = columns / scale
        gram = scaled.T @ scaled + RIDGE * len(y) * np.eye(columns.shape[1])
        inverse = np.linalg.inv(gram)
        coefficients = inverse @ (scaled.T @ y)
        left = y - scaled @ coefficients
        variance = float(left @ left) / max(len(y) - columns.shape[1], 1)
        sums = np.add.reduceat(scaled * left[:, None], np.arange(0, len(y), block), axis=0)
        alike = max(1.0, float((sums**2).sum() / max((scaled**2 * left[:, None] ** 2).sum(), 1e-300)))
        deviation = float(np.sqrt((y**2).mean()))
        worst = float(rolling(left**2).max())
        return cls(coefficients / scale, inverse / np.outer(scale, scale), variance, alike, deviation, worst)


class HealthyJoint:
    """The reference of one joint."""

    def __init__(self, scales: Scales, torque: Fit | None = None, twist: Fit | None = None) -> None:
        """torque, twist: None before they are fitted, or where there is no second encoder."""
        self.scales = scales
        self._torque, self.twist = torque, twist

    @classmethod
    def of(cls, rows: SignatureRows) -> "HealthyJoint":
        """Fitted to rows of motion."""
        top = float(np.percentile(np.abs(rows.v), ENDS[1]))
        low, high = (float(one) for one in np.percentile(rows.q, ENDS))
        found = cls(Scales(low, high, top, float(np.sqrt((rows.y**2).mean()))))
        rows, block = found.sliding(rows), round(BLOCK / ROW)
        found._torque = Fit.of(found.columns(rows), rows.y, block)
        if np.isfinite(rows.twist).all():
            found.twist = Fit.of(found.twist_columns(rows), rows.twist, block)
        return found

    def with_ordinary_twist(self, ordinary: float) -> "HealthyJoint":
        """The joint where this mean square of the twist, along shapes of causes, counts as ordinary."""
        assert self.twist is not None
        return HealthyJoint(self.scales, self._torque, self.twist._replace(ordinary=ordinary))

    def keep(self) -> dict[str, Any]:
        """The joint as plain data."""
        fits = {"torque": self._torque, "twist": self.twist}
        return {"scales": list(self.scales)} | {
            name: None if fit is None else [one.tolist() if isinstance(one, np.ndarray) else one for one in fit]
            for name, fit in fits.items()
        }

    @classmethod
    def resumed(cls, saved: Mapping[str, Any]) -> "HealthyJoint":
        """The joint restored from plain data. Raises TypeError, KeyError or ValueError where it is of another kind."""
        fits = [
            None if one is None else Fit(np.array(one[0]), np.array(one[1]), *(float(each) for each in one[2:]))
            for one in (saved["torque"], saved["twist"])
        ]
        return cls(Scales(*(float(one) for one in saved["scales"])), *fits)

    def unchanged(self, rows: SignatureRows, larger: float) -> bool:
        """Whether the residuals of these rows, in which the joint slides, are as small as ever."""
        if not len(rows.q):
            return True
        left = float(((rows.y - self.predicted(rows)) ** 2).mean())
        if left > larger * self.torque.variance:
            return False
        if self.twist is None:
            return True
        twist = rows.twist - self.twist_columns(rows) @ self.twist.coefficients
        return float((twist**2).mean()) <= larger * self.twist.variance

    @property
    def torque(self) -> Fit:
        """The regression of torque."""
        assert self._torque is not None
        return self._torque

    def sliding(self, rows: SignatureRows) -> SignatureRows:
        """The rows in which the joint slides, and does not turn under the kernel."""
        return rows.part(self.slides(rows))

    def slides(self, rows: SignatureRows) -> NDArray[np.bool_]:
        """Which rows those are: (n,). Under the kernel of such a row the joint moves the same way all the time.

        Where it stands or turns, friction jumps and winds the gear, which no column holds where there is one encoder.
        """
        turning = np.abs(rows.a) * TAIL * SMOOTH
        way = np.where(np.abs(rows.v) > STILL * self.scales.speed, np.sign(rows.v), 0.0)
        slides = np.abs(rows.v) > np.maximum(STILL * self.scales.speed, turning)
        for away in range(1, KERNEL + 1):
            near = rows.time[away:] - rows.time[:-away] < (away + 0.5) * ROW
            turned = near & (way[away:] != way[:-away])
            slides[away:] &= ~turned
            slides[:-away] &= ~turned
        return np.asarray(slides)

    def side(self, rows: SignatureRows) -> Floats:
        """Direction of the motion, between −1 and 1."""
        return np.asarray(rows.v / np.hypot(rows.v, 0.5 * STILL * self.scales.speed))

    def place(self, rows: SignatureRows) -> Floats:
        """Position as a share of the range, 0 to 1 within it."""
        return np.asarray((rows.q - self.scales.low) / (self.scales.high - self.scales.low))

    def dry_columns(self, rows: SignatureRows) -> Floats:
        """Dry friction over speed, load and angle: (n, …)."""
        side, fast = self.side(rows), np.abs(rows.v) / self.scales.speed
        fading = [side * np.exp(-fast / one) for one in FADES]
        local = side[:, None] * _hats(self.place(rows), DRY_HATS)
        return np.column_stack([*fading, side * np.abs(rows.y) / self.scales.torque, local])

    def columns(self, rows: SignatureRows) -> Floats:
        """Φ (n, p): inertia, viscous friction and its shape, dry friction, torque of the angle."""
        own = [rows.a, rows.bend, rows.v, rows.v * np.abs(rows.v) / self.scales.speed, np.abs(rows.v)]
        angle = [np.sin(rows.q), np.cos(rows.q)]
        return np.column_stack([*own, self.dry_columns(rows), *angle, _hats(self.place(rows), HATS)])

    def predicted(self, rows: SignatureRows) -> Floats:
        """Torque (n,) that the healthy joint needs for this motion."""
        return np.asarray(self.columns(rows) @ self.torque.coefficients)

    def parts(self, rows: SignatureRows) -> tuple[Floats, Floats, Floats, Floats]:
        """This torque as of inertia, viscous friction, dry friction and angle, each (n,)."""
        terms = self.columns(rows) * self.torque.coefficients
        dry = 5 + len(FADES) + 1 + DRY_HATS
        return (
            terms[:, :2].sum(axis=1),
            terms[:, 2:5].sum(axis=1),
            terms[:, 5:dry].sum(axis=1),
            terms[:, dry:].sum(axis=1),
        )

    def needed(self, rows: SignatureRows) -> Floats:
        """Torque (n,) that the motion needs besides friction: that of inertia, and what depends on the angle."""
        inertia, _, _, angle = self.parts(rows)
        return np.asarray(inertia + angle)

    def gear_torque(self, rows: SignatureRows) -> Floats:
        """Torque (n,) in the gear: what moves the link, or with one encoder what the motor gives, less friction."""
        _, viscous, dry, angle = self.parts(rows)
        if not np.isfinite(rows.twist).all():
            return np.asarray(rows.y - viscous - dry)
        return np.asarray(angle - self.torque.coefficients[1] * (rows.a - rows.bend))

    def twist_columns(self, rows: SignatureRows) -> Floats:
        """Ψ (n, p)."""
        torque = self.gear_torque(rows)
        flank = torque / np.hypot(torque, FLANK * self.scales.torque)
        angle = [np.sin(rows.q), np.cos(rows.q)]
        return np.column_stack([np.ones(len(torque)), torque, torque * np.abs(torque), flank, rows.v, rows.a, *angle])


def rolling(values: Floats) -> Floats:
    """Means over BURST successive values."""
    return np.convolve(values, np.full(BURST, 1.0 / BURST), "valid")


def _hats(share: Floats, count: int) -> Floats:
    """Piecewise linear functions (n, count) of a share between 0 and 1."""
    at = np.clip(share, 0.0, 1.0) * (count - 1)
    return np.asarray(np.maximum(1.0 - np.abs(at[:, None] - np.arange(count)), 0.0))
