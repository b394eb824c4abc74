"""The clearance of a bearing from an encoder on either side of it: one on the motor, a ring with one head on the link.

A ring that turns with the pin is moved by it, e. Its head sees α + e_h/R, e_h along the head's sensitive direction, so

    s = R (link − motor) = o + R δ ω + e_h,   and while the pin touches, e_h = c cos ψ

with ψ from the load's direction to the head's, and δ between the encoders' instants. Each time the load passes from one
side of the head to the other, s moves from c to −c, whatever the load's size, friction and other joints do in between.
c is half of such swings (SWINGS of them at least). That is the lost motion of the joint, 2c/R: the rows cannot say
whether a gear's gap has part in it.

When the load is on which side, the joint's own motion says: a body with its centre at distance a asks of its pin

    L ~ −(g/a) x + ω² l − α t          (x: upright; l, t: along and across the centre)

and least squares of s on L's direction, and on the same turned by friction (± with ω), find the head's. Where weight
holds the pin, so that the load never passes the head, but its direction explains all that the ring shows (TIGHT), c is
that fit's. A twist between the encoders grows with the torque and a clearance does not: where a share TWIST of the
swings does, they are none of a clearance; a smaller share is in σ.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from estimators.models.mechanisms.pin_circle import BINS, FEWEST, NORMAL
from estimators.quantities import Floats

#: rad/s, argued: Speed at which friction turns the load fully; below it few rows lie, at which side it is does not
#: depend on them.
SLIDES: Final = 0.02
#: 1, derived: Cosine of 15°: within them of the head's direction a wrong direction of the load moves s by 3 % at most.
AT_HEAD: Final = 0.966
#: swings, argued: From so many on their median and its deviation are known.
SWINGS: Final = 6
#: 1, argued: Share of the ring's variance that the load's direction explains at least. Other joints' load is not in it,
#: nor a pin that flies; where it explains less than half, another thing is seen.
LOOSE: Final = 0.5
#: 1, argued: The same where the fit itself is the number: with one fiftieth unexplained c is off by a few per cent.
TIGHT: Final = 0.98
#: 1, argued: Share of a swing that may grow with the torque for certain; with more, a twist is a part of it.
TWIST: Final = 0.1
#: deviations, argued: By which growth with the torque must be certain.
CERTAIN: Final = 3.0
#: 1, derived: What the median's deviation is to that of the mean, of normal errors.
MEDIAN: Final = 1.2533
BLOCKS: Final = 12  # of time, for the deviation of a fit
#: 1, tuned: Share of c that swings may be off: −1.8 to +2.6 % on rigs, 20, 75, 200 µm.
SEEN: Final = 0.02
#: 1, tuned: Share of c that a fit may be off: 0 to +4 % on the rig about a horizontal axis, where the pin lags.
FITTED: Final = 0.03
#: 1, argued: Share of c that the encoders' instants may move the ring by beyond R δ ω, that is ½ R δ² α.
LATE: Final = 0.1
TAPER: Final = (
    np.array([0.25, 0.75, 1.0, 0.75, 0.25]) / 3.0
)  # Hann; of neighbouring rows: the pin swings at 25 to 80 Hz


class RingRows(NamedTuple):
    """Rows of one joint: (rows,) each, at some 100 Hz, smoothed over 50 ms."""

    angle: Floats  # rad
    speed: Floats  # rad/s
    acceleration: Floats  # rad/s²
    shift: Floats  # m, s
    torque: Floats  # N·m; zeros where it is not measured


class RingClearance(NamedTuple):
    """What rows tell."""

    clearance: float  # m; of the fit where there are too few swings
    deviation: float  # m
    skew: float  # s, δ
    late: float  # m, that δ may move the ring by beyond R δ ω; in the deviation
    arc: float  # rad, over which the load has turned
    explained: float  # R² of the ring's motion by the load's direction
    swings: int  # from side to side
    halves: tuple[float, float]  # m, of the older and the newer swings; NaN where they are few
    grows: float  # share of a swing that certainly grows with the torque: a twist

    @property
    def enough(self) -> bool:
        """Whether swings tell it, or the fit does."""
        return self.explained >= LOOSE and (self.swings >= SWINGS or self.explained >= TIGHT)


def load_direction(rows: RingRows, pull: float, upright: float) -> Floats:
    """The direction in which the load presses the pin, (rows, 2): towards the upright, and across it.

    pull: g/a, 1/s², of gravity across the axis; 0: it is vertical. upright: rad, angle at which the centre is above.
    """
    c, s = np.cos(rows.angle - upright), np.sin(rows.angle - upright)
    w, a = rows.speed**2, rows.acceleration
    load = np.stack([w * c + a * s - pull, w * s - a * c])
    return np.asarray((load / np.maximum(np.hypot(*load), 1e-9)).T)


def ring_clearance(rows: RingRows, direction: Floats, radius: float) -> RingClearance:
    """The clearance that these rows tell, all in the order of time; radius: m, of the ring.

    Raises ValueError for fewer than BINS rows.
    """
    if len(rows.angle) < BINS:
        raise ValueError(f"expected at least {BINS} rows of both encoders, found {len(rows.angle)}")
    sign = np.tanh(rows.speed / SLIDES)[:, None]
    ones = np.ones(len(direction))
    table = np.column_stack([direction, sign * direction, ones, rows.speed, rows.shift, rows.torque])
    table = np.stack([np.convolve(column, TAPER, "valid") for column in table.T], axis=1)
    phi, shift, torque = table[:, :6], table[:, 6], table[:, 7]
    theta = _solve(phi.T @ phi, phi.T @ shift)
    skew = float(theta[5]) / radius
    late = 0.5 * skew**2 * radius * float(np.abs(rows.acceleration).max())
    phi, shift = phi[:, :5], shift - theta[5] * phi[:, 5]
    theta = theta[:5]
    fitted = float(np.linalg.norm(theta[:4]))
    varies = float(np.var(shift))
    explained = 1.0 - float(np.var(shift - phi @ theta)) / varies if varies > 0.0 else 0.0
    visited = np.histogram(np.arctan2(direction[:, 1], direction[:, 0]), BINS, (-np.pi, np.pi))[0] >= FEWEST
    arc = float(visited.sum()) * 2.0 * np.pi / BINS
    half, pull = _swings(phi[:, :4] @ theta[:4] / max(fitted, 1e-300), shift, torque)
    if len(half) >= SWINGS:
        value, deviation, grows = _by_swings(half, pull)
        older, newer = (float(np.median(part)) for part in (half[: len(half) // 2], half[len(half) // 2 :]))
        deviation = math.hypot(deviation, SEEN * value, late)
        return RingClearance(value, deviation, skew, late, arc, explained, len(half), (older, newer), grows)
    deviation = math.hypot(_left_out(phi, shift), FITTED * fitted, late)
    return RingClearance(fitted, deviation, skew, late, arc, explained, len(half), (np.nan, np.nan), 0.0)


def _swings(side: Floats, shift: Floats, torque: Floats) -> tuple[Floats, Floats]:
    """Half of each swing, m, and of its torque, N·m: between what s is at most on either side, one after the other.

    side: (rows,) cos ψ by the fit.
    """
    at = np.where(np.abs(side) > AT_HEAD)[0]
    if not len(at):
        return np.empty(0), np.empty(0)
    sign = np.sign(side[at])
    runs = np.split(np.arange(len(at)), np.flatnonzero(np.diff(sign)) + 1)
    most = np.array([at[run][np.argmax(sign[run[0]] * shift[at[run]])] for run in runs])[1:]  # the first may be a part
    return np.abs(np.diff(shift[most])) / 2.0, np.abs(np.diff(torque[most])) / 2.0


def _by_swings(half: Floats, pull: Floats) -> tuple[float, float, float]:
    """Clearance, its deviation, and the share of a swing that certainly grows with the torque."""
    value = float(np.median(half))
    spread = NORMAL * float(np.median(np.abs(half - value)))
    deviation = MEDIAN * spread / np.sqrt(len(half))
    varies = pull - pull.mean()
    scatter = float(varies @ varies)
    if not scatter > 0.0:
        return value, float(deviation), 0.0
    slope = float(varies @ half) / scatter  # below 0 where the torque has the other sign than the position
    left = half - half.mean() - slope * varies
    certain = abs(slope) > CERTAIN * np.sqrt(float(left @ left) / (len(half) - 2) / scatter)
    grows = abs(slope) * float(pull.mean()) / value if certain and value > 0.0 else 0.0
    return value, float(np.hypot(deviation, min(grows, TWIST) * value)), grows


def _left_out(phi: Floats, shift: Floats) -> float:
    """Deviation of the fit's clearance by blocks of time left out."""
    parts = [
        (p.T @ p, p.T @ y) for p, y in zip(np.array_split(phi, BLOCKS), np.array_split(shift, BLOCKS), strict=True)
    ]
    whole, moments = sum(a for a, _ in parts), sum(b for _, b in parts)
    found = np.array([np.linalg.norm(_solve(whole - a, moments - b)[:4]) for a, b in parts])
    return float(np.sqrt((BLOCKS - 1) / BLOCKS * np.sum((found - found.mean()) ** 2)))


def _solve(information: Floats, moments: Floats) -> Floats:
    """Least squares, of the smallest norm where the load does not turn enough, which the arc shows."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    found = np.linalg.lstsq(information / np.outer(scale, scale), moments / scale, rcond=1e-10)[0]
    return np.asarray(found / scale)
