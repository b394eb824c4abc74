"""What the steps of an encoder do to θ, wherever they lie: the motion as found, read again by others.

What steps add to the products of rows is N where they are white noise (steps.py). Where a joint turns round it stands
on a step, and in a motion that repeats to the sample it stands there the same way each time: then what rounding does is
one draw, however long the motion lasts. So the smoothed motion between the rows is read by PLACES encoders that lie
elsewhere by shares of a step Δ, and what they would read too much passes the rows' kernel:

    ε_j = Δ(round(q/Δ + j/PLACES) − j/PLACES) − q      A_j = Σ f (φ + δφ_j) δφ_jᵀ,   a_j = Σ f (φ + δφ_j) δy_j
    d_j = (G − A_j)⁻¹ ((A_j − N)θ − (a_j − n))                       θ of (G − N)θ = b − n, which holds N and n alone

A motion that never repeats draws anew each time, and its sums average out by themselves. The mean of d_j² is owed.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.reversals import turns
from estimators.rows import PLACE, ROUNDING, SPEED, WEIGHT, Rows

PLACES: Final = 8  # of the lattice against the motion, evenly over one step
HALF: Final = 0.5  # of what tells a direction, that must be left of it
SINGULAR: Final = 1e-12  # of a gram of unit columns: directions that no row tells
PART: Final = (
    0.05  # of the largest share in a direction, from which a parameter is lost with it: as is asked of a value
)
LATER: Final = 1.5  # rows, from which a joint stood still between two
AT, FAST, LEFT, SHARE, DONE, COLUMNS = range(6)  # of a row: place, speed, ρ, weight, whether it is summed; then φ


class Reading(NamedTuple):
    """How rows are made of what an encoder reads."""

    kernels: Floats  # (3, n) of value, rate and second derivative, as rows are smoothed
    slopes: Floats  # (3, parameters) ∂φ by these
    own: Floats  # (3,) ∂y
    period: float  # s between samples


class Reread:
    """Of one joint and one output; what it keeps lies in arrays that are given to it."""

    def __init__(self, times: Nanoseconds, unread: Floats, sums: Floats, row: float) -> None:
        """times (rows,), unread (rows, COLUMNS + p): rows that are not read yet; sums (PLACES + 1, p, p + 1): A_j and
        a_j, then the sum of ρ, and how many rows are kept; row: s between rows."""
        self._times, self._unread, self._sums, self._row = times, unread, sums, 1e9 * row
        self.reading: Reading | None = None
        self._step = 0.0

    def coarse(self, step: float, reading: Reading) -> None:
        """The encoder has steps (rad, m)."""
        self._step, self.reading = step, reading

    def begin(self) -> None:
        """Rows of before are of other columns."""
        self._sums[:] = 0.0

    def keep(self, rows: Rows, slow: float, reversal: float) -> None:
        """Rows that taught; slow: rad/s (m/s) at rest; reversal: what those weigh that see one."""
        if self.reading is None:
            return
        for r in range(len(rows.time)):
            count = int(self._sums[PLACES, 1, 0])
            if count == len(self._times):
                self.read()
                count = int(self._sums[PLACES, 1, 0])
            motion, one = rows.motion[r, 0], self._unread[count]
            factor = reversal if turns(motion[SPEED], rows.speed[r, 0], slow) else 1.0
            self._times[count] = rows.time[r]
            one[:COLUMNS] = motion[PLACE], motion[SPEED], motion[ROUNDING] * factor**2, motion[WEIGHT] * factor, 0.0
            one[COLUMNS:] = rows.phi[r, 0] * factor
            self._sums[PLACES, 1, 0] = count + 1

    def read(self) -> None:
        """Sum the rows behind which the motion is known."""
        count = int(self._sums[PLACES, 1, 0])
        if self.reading is not None and count:
            kernels, slopes, own, period = self.reading
            left = _read(
                self._times, self._unread, count, self._row, 1e9 * period, self._step, kernels, slopes, own, self._sums
            )
            self._sums[PLACES, 1, 0] = left

    def fade(self, factor: float) -> None:
        """What was before counts less."""
        self._sums[:PLACES] *= factor
        self._sums[PLACES, 0, 0] *= factor

    def owed(self, theta: Floats, information: Floats, noise: Floats, own: Floats) -> Floats:
        """Mean d² (p,) of the sums so far; information: G; noise, own: N and n of a row of ρ = 1.

        Infinite for what has noise, where steps may be most of what tells a direction.
        """
        p, rho = len(theta), self._sums[PLACES, 0, 0]
        scale = np.sqrt(np.where(np.diag(information) > 0.0, np.diag(information), 1.0))
        unit, parts = information / np.outer(scale, scale), self._sums[:PLACES, :, :p] / np.outer(scale, scale)
        unit = 0.5 * (unit + unit.T)
        if np.linalg.eigvalsh(unit)[0] <= SINGULAR:
            return np.where(np.diag(noise) > 0.0, np.inf, 0.0)
        root = np.linalg.inv(np.linalg.cholesky(unit))
        if np.linalg.eigvalsh(root @ (0.5 * (parts + parts.transpose(0, 2, 1))) @ root.T).max() > HALF:
            lost = [untold(unit, 0.5 * (part + part.T)) for part in parts]
            return np.where(np.any(lost, axis=0), np.inf, 0.0)
        extra = (self._sums[:PLACES, :, :p] - rho * noise) @ theta - (self._sums[:PLACES, :, p] - rho * own)
        moved = np.linalg.solve(unit - parts, (extra / scale)[:, :, None])[:, :, 0] / scale
        return np.asarray(np.mean(moved**2, axis=0))


def untold(gram: Floats, noise: Floats) -> NDArray[np.bool_]:
    """Of which parameters (p,) noise may be most of what tells them; gram, noise: G + N and N (p, p).

    N over G + N along each direction: where its largest is beyond HALF, whatever has a share in that direction.
    """
    scale = np.sqrt(np.where(np.diag(gram) > 0.0, np.diag(gram), 1.0))
    unit, part = gram / np.outer(scale, scale), noise / np.outer(scale, scale)
    if np.linalg.eigvalsh(unit - part)[0] <= SINGULAR:
        return np.asarray(np.diag(noise) > 0.0)
    root = np.linalg.cholesky(unit + SINGULAR * np.eye(len(unit)))
    shares, ways = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, part).T))
    if not shares[-1] > HALF:
        return np.zeros(len(unit), np.bool_)
    way = np.abs(np.linalg.solve(root.T, ways[:, -1]))
    return np.asarray(way >= PART * way.max())


@kernel(
    "i8(i8[::1], f8[:, ::1], i8, f8, f8, f8, f8[:, ::1], f8[:, ::1], f8[::1], f8[:, :, ::1])",
)
def _read(
    times: Nanoseconds,
    unread: Floats,
    count: int,
    row: float,
    period: float,
    step: float,
    kernels: Floats,
    slopes: Floats,
    own: Floats,
    sums: Floats,
) -> int:
    """Sum rows behind which others follow, or a rest; returns how many are left at the front.

    times, unread: of which `count` are filled; row, period: ns; step: rad (m); sums: (PLACES + 1, p, p + 1).
    """
    p, reach = slopes.shape[1], kernels.shape[1] // 2 + 1
    first = 0
    while first < count:
        last = first
        while last + 1 < count and times[last + 1] - times[last] <= LATER * row:
            last += 1
        length = round((times[last] - times[first]) / period) + 1 + 2 * reach
        place, off, error = np.empty(length), np.empty(length), np.empty(3)
        at = first
        for k in range(length):
            now = times[first] + (k - reach) * period
            while at < last and now > times[at + 1]:
                at += 1
            if now <= times[first] or at == last:
                place[k] = unread[first if now <= times[first] else last, AT]
                continue
            span = float(times[at + 1] - times[at])
            s, way = (now - times[at]) / span, unread[at + 1, AT] - unread[at, AT]
            low, high = 1e-9 * span * unread[at, FAST] - way, way - 1e-9 * span * unread[at + 1, FAST]
            place[k] = unread[at, AT] + s * way + s * (1.0 - s) * ((1.0 - s) * low + s * high)
        known = times[last] if last + 1 < count else times[last] - reach * period
        for j in range(PLACES):
            share = j / PLACES
            for k in range(length):
                off[k] = (np.round(place[k] / step + share) - share) * step - place[k]
            for r in range(first, last + 1):
                if unread[r, DONE] > 0.0 or times[r] > known:
                    continue
                middle = round((times[r] - times[first]) / period) + reach
                for kind in range(3):
                    error[kind] = 0.0
                    for k in range(kernels.shape[1]):
                        error[kind] += kernels[kind, k] * off[middle - kernels.shape[1] // 2 + k]
                for a in range(p):
                    mine = unread[r, COLUMNS + a]
                    for kind in range(3):
                        mine += unread[r, SHARE] * slopes[kind, a] * error[kind]
                    for kind in range(3):
                        moved = unread[r, SHARE] * error[kind]
                        sums[j, a, p] += mine * own[kind] * moved
                        for b in range(p):
                            sums[j, a, b] += mine * slopes[kind, b] * moved
        for r in range(first, last + 1):
            if unread[r, DONE] == 0.0 and times[r] <= known:
                unread[r, DONE] = 1.0
                sums[PLACES, 0, 0] += unread[r, LEFT]
        first = last + 1
    kept = 0
    for r in range(count):
        if times[r] > times[count - 1] - 2 * (reach + 1) * period - row:
            times[kept] = times[r]
            for c in range(unread.shape[1]):
                unread[kept, c] = unread[r, c]
            kept += 1
    return kept
