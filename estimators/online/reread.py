"""What the steps of an encoder do to θ, wherever they lie: the motion as found, read again by others.

What steps add to the products of rows is N where they are white noise (steps.py). Where a joint turns round it stands
on a step, and in a motion that repeats to the sample it stands there the same way each time: then what rounding does is
one draw, however long the motion lasts. So the smoothed motion between the rows is read by PLACES encoders that lie
elsewhere by shares of a step Δ, and what they would read too much passes the rows' kernel:

    ε_j = Δ(round(q/Δ + j/PLACES) − j/PLACES) − q      A_j = Σ f (φ + δφ_j) δφ_jᵀ,   a_j = Σ f (φ + δφ_j) δy_j
    d_j = (G − A_j)⁻¹ ((A_j − N)θ − (a_j − n))                       θ of (G − N)θ = b − n, which holds N and n alone

A motion that never repeats draws anew each time, and its sums average out by themselves. The mean of d_j² is owed.
"""

from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, cube, integers, matrix, vector
from estimators.numerics.symmetric import largest_share, smallest
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.reversals import turns
from estimators.rows import PLACE, ROUNDING, SPEED, WEIGHT, Rows

PLACES: Final = 8  # of the lattice against the motion, evenly over one step
HALF: Final = 0.5  # of what tells a direction, that must be left of it
SINGULAR: Final = 1e-12  # of a gram of unit columns: directions that no row tells
PART: Final = 0.05  # of the largest share in a direction, from which a parameter is lost with it: as of a value
LATER: Final = 1.5  # rows, from which a joint stood still between two
# of a Reread's parcel
MEASURED, OWN = range(2)
UNREAD, KERNELS, SLOPES = range(3)
SUMS = TIMES = 0
STEPS, ROW, BETWEEN, STEP, MEASURES = range(5)  # whether there are steps; ns between rows, samples; rad (m)
AT, FAST, LEFT, SHARE, DONE, COLUMNS = range(6)  # of a row: place, speed, ρ, weight, whether it is summed; then φ


class Reading(NamedTuple):
    """How rows are made of what an encoder reads."""

    kernels: Floats  # (3, n) of value, rate and second derivative, as rows are smoothed
    slopes: Floats  # (3, parameters) ∂φ by these
    own: Floats  # (3,) ∂y
    period: float  # s between samples


class Reread:
    """Of one joint and one output; what it keeps lies in arrays that are given to it."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"parcel"})

    def __init__(self, times: Nanoseconds, unread: Floats, sums: Floats, row: float) -> None:
        """times (rows,), unread (rows, COLUMNS + p): rows that are not read yet; sums (PLACES + 1, p, p + 1): A_j and
        a_j, then the sum of ρ, and how many rows are kept; row: s between rows."""
        self._times, self._unread, self._sums, self._row = times, unread, sums, 1e9 * row
        self.reading: Reading | None = None
        self.parcel = Parcel([np.zeros(MEASURES), np.zeros(3)])
        """What `keep` walks over; another one once an encoder's steps are known."""

    def coarse(self, step: float, reading: Reading) -> None:
        """The encoder has steps (rad, m)."""
        self.reading = reading
        measures = np.array([1.0, self._row, 1e9 * reading.period, step])
        kernels, slopes, own = (np.ascontiguousarray(one) for one in (reading.kernels, reading.slopes, reading.own))
        self.parcel = Parcel([measures, own], [self._unread, kernels, slopes], [self._sums], [self._times])

    def keep(self, rows: Rows, slow: float, reversal: float) -> None:
        """Rows that taught; slow: rad/s (m/s) at rest; reversal: what those weigh that see one."""
        phi = np.ascontiguousarray(rows.phi)
        _keep(rows.time, phi, rows.speed, rows.motion, slow, reversal, self.parcel.table)

    def read(self) -> None:
        """Sum the rows behind which the motion is known."""
        if self.reading is not None:
            _read_kept(self.parcel.table)

    def fade(self, factor: float) -> None:
        """What was before counts less."""
        self._sums[:PLACES] *= factor
        self._sums[PLACES, 0, 0] *= factor

    def owed(self, theta: Floats, information: Floats, noise: Floats, own: Floats) -> Floats:
        """Mean d² (p,) of the sums so far; information: G; noise, own: N and n of a row of ρ = 1.

        Infinite for what has noise, where steps may be most of what tells a direction.
        """
        return _owed(self._sums, theta, information, noise, own)


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


@kernel(f"void({TABLE})")
def _read_kept(table: Table) -> None:
    measures, kept = vector(table, MEASURED), cube(table, SUMS)
    kept[PLACES, 1, 0] = _read(
        integers(table, TIMES), matrix(table, UNREAD), int(kept[PLACES, 1, 0]), measures[ROW], measures[BETWEEN],
        measures[STEP], matrix(table, KERNELS), matrix(table, SLOPES), vector(table, OWN), kept,
    )  # fmt: skip


@inline
def keep(time: int, phi: Floats, speed: float, motion: Floats, slow: float, reversal: float, table: Table) -> None:
    """A row of one joint and one output that taught; phi (p,); motion: of the joint; table: of a Reread."""
    if vector(table, MEASURED)[STEPS] == 0.0:
        return
    times, unread, kept = integers(table, TIMES), matrix(table, UNREAD), cube(table, SUMS)
    if int(kept[PLACES, 1, 0]) == len(times):
        _read_kept(table)
    count = int(kept[PLACES, 1, 0])
    factor = reversal if turns(motion[SPEED], speed, slow) else 1.0
    times[count] = time
    unread[count, AT], unread[count, FAST] = motion[PLACE], motion[SPEED]
    unread[count, LEFT], unread[count, SHARE] = motion[ROUNDING] * factor**2, motion[WEIGHT] * factor
    unread[count, DONE] = 0.0
    for column in range(len(phi)):
        unread[count, COLUMNS + column] = phi[column] * factor
    kept[PLACES, 1, 0] = count + 1


@kernel(
    "void(Array(i8, 1, 'A', readonly=True), f8[:, :, ::1], Array(f8, 2, 'A', readonly=True), "
    f"Array(f8, 3, 'A', readonly=True), f8, f8, {TABLE})"
)
def _keep(
    time: Nanoseconds, phi: Floats, speed: Floats, motion: Floats, slow: float, reversal: float, table: Table
) -> None:
    for row in range(len(time)):
        keep(time[row], phi[row, 0], speed[row, 0], motion[row, 0], slow, reversal, table)


@inline
def untold(gram: Floats, noise: Floats, lost: NDArray[np.bool_]) -> bool:
    """Of which parameters (p,) noise may be most of what tells them, and whether of any; gram, noise: G + N, N (p, p).

    N over G + N along each direction: where its largest is beyond HALF, whatever has a share in that direction.
    """
    p = len(gram)
    scale, unit, part, way = np.ones(p), np.empty((p, p)), np.empty((p, p)), np.empty(p)
    for i in range(p):
        scale[i] = np.sqrt(gram[i, i]) if gram[i, i] > 0.0 else 1.0
    for i in range(p):
        for j in range(p):
            unit[i, j] = gram[i, j] / (scale[i] * scale[j])
            part[i, j] = noise[i, j] / (scale[i] * scale[j])
    if not smallest(unit - part) > SINGULAR:
        for i in range(p):
            lost[i] = noise[i, i] > 0.0
        return bool(lost.any())
    for i in range(p):
        unit[i, i] += SINGULAR
    share = largest_share(part, unit, way)
    most = np.abs(way).max()
    for i in range(p):
        lost[i] = share > HALF and abs(way[i]) >= PART * most
    return bool(share > HALF)


@kernel("f8[::1](f8[:, :, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[::1])")
def _owed(sums: Floats, theta: Floats, information: Floats, noise: Floats, own: Floats) -> Floats:
    p, rho = len(theta), sums[PLACES, 0, 0]
    square, scale, lost = np.zeros(p), np.ones(p), np.zeros(p, np.bool_)
    both, left, moved = np.empty((p, p)), np.empty((p, p)), np.empty((p, 1))
    for i in range(p):
        scale[i] = np.sqrt(information[i, i]) if information[i, i] > 0.0 else 1.0
    for place in range(PLACES):
        one = sums[place]
        for i in range(p):
            moved[i, 0] = rho * own[i] - one[i, p]
            for j in range(p):
                both[i, j] = 0.5 * (one[i, j] + one[j, i])
                left[i, j] = (information[i, j] - one[i, j]) / (scale[i] * scale[j])
                moved[i, 0] += (one[i, j] - rho * noise[i, j]) * theta[j]
            moved[i, 0] /= scale[i]
        too_much = untold(information, both, lost) or not eliminate(left, moved, p, 1)
        for i in range(p):
            if lost[i]:
                square[i] = np.inf
            elif not too_much:
                square[i] += (moved[i, 0] / scale[i]) ** 2 / PLACES
    return square
