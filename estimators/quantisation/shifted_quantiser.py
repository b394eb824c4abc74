"""What the steps of an encoder do to θ, wherever they lie: the motion as found, read again by others.

What steps add to the products of rows is N where they are white noise (steps.py). Where a joint turns round it stands
on a step, and in a motion that repeats to the sample it stands there the same way each time: then what rounding does is
one draw, however long the motion lasts. So the smoothed motion between the rows is read by PLACES encoders that lie
elsewhere by shares of a step Δ, and what they would read too much passes the rows' kernel:

    ε_j = Δ(round(q/Δ + j/PLACES) − j/PLACES) − q      A_j = Σ f (φ + δφ_j) δφ_jᵀ,   a_j = Σ f (φ + δφ_j) δy_j
    d_j = (G − A_j)⁻¹ ((A_j − N)θ − (a_j − n))                       θ of (G − N)θ = b − n, which holds N and n alone

A motion that never repeats draws anew each time, and its sums average out by themselves. The mean of d_j² is owed.
"""

from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline, kernel
from estimators.numerics.symmetric import largest_share, smallest
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.reversals import turns
from estimators.rows import PLACE, ROUNDING, SPEED, WEIGHT, Rows
from estimators.thresholds import GOOD, RIDGE, SUCCESSIVE
from jointwatch_layout import Cube, Integers, Layout, Matrix, Scratch, Vector

#: encoders, argued: Shifted encoders that read the same motion, spread evenly over one step.
PLACES: Final = 8
#: 1, argued: Share of a direction's information that steps alone may pretend, beyond which its parameters are not
#: identifiable.
HALF: Final = 0.5


class EncoderReading(NamedTuple):
    """How rows are made of what an encoder reads."""

    kernels: Floats  # (3, n) of value, rate and second derivative, as rows are smoothed
    slopes: Floats  # (3, parameters) ∂φ by these
    own: Floats  # (3,) ∂y
    period: float  # s between samples


class RereadRows(Layout, version=1):
    """Rows that are not read again yet, what others add up to, and how a row is made of what an encoder reads."""

    # how a row is made
    known: Scratch[bool]  # whether there are steps
    row: Scratch[float]  # ns between rows
    between: Scratch[float]  # ns between samples
    step: Scratch[float]  # rad (m)
    kernels: Scratch[Matrix]  # (3, n), slopes (3, parameters) and own (3,): of a Reading
    slopes: Scratch[Matrix]
    own: Scratch[Vector]
    # rows that wait, of which the first `count` are filled
    times: Annotated[Integers, "rows"]  # ns
    place: Annotated[Vector, "rows"]  # rad (m)
    speed: Annotated[Vector, "rows"]  # rad/s (m/s)
    noise: Annotated[Vector, "rows"]  # ρ, see rounding.py
    weight: Annotated[Vector, "rows"]
    summed: Annotated[Vector, "rows"]  # 1: it is
    phi: Annotated[Matrix, "rows", "parameters"]
    count: int = 0
    # sums, faded
    sums: Annotated[Cube, "places", "parameters", "p + 1"]  # A_j and a_j
    total: float = 0.0  # of ρ

    @classmethod
    def room(cls, rows: int, parameters: int, row: float) -> "RereadRows":
        """For so many rows; row: s between them."""
        return cls.zeros(
            rows=rows, parameters=parameters, row=1e9 * row, kernels=np.zeros((3, 1)), slopes=np.zeros((3, parameters)),
            own=np.zeros(3), sums=np.zeros((PLACES, parameters, parameters + 1)),
        )  # fmt: skip


class ShiftedQuantiser:
    """Of one joint and one output; what it keeps lies in a layout that is given to it."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"state"})

    def __init__(self, state: RereadRows) -> None:
        self.state = state
        self.reading: EncoderReading | None = None

    def coarse(self, step: float, reading: EncoderReading) -> None:
        """The encoder has steps (rad, m)."""
        self.reading, state = reading, self.state
        state.known, state.between, state.step = True, 1e9 * reading.period, step
        state.kernels, state.slopes, state.own = map(
            np.ascontiguousarray, (reading.kernels, reading.slopes, reading.own)
        )

    def keep(self, rows: Rows, slow: float, reversal: float) -> None:
        """Rows that taught; slow: rad/s (m/s) at rest; reversal: what those weigh that see one."""
        phi = np.ascontiguousarray(rows.phi)
        _keep(rows.time, phi, rows.speed, rows.motion, slow, reversal, self.state)

    def read(self) -> None:
        """Sum the rows behind which the motion is known."""
        if self.reading is not None:
            _read_kept(self.state)

    def fade(self, factor: float) -> None:
        """What was before counts less."""
        self.state.sums *= factor
        self.state.total *= factor

    def owed(self, theta: Floats, information: Floats, noise: Floats, own: Floats) -> Floats:
        """Mean d² (p,) of the sums so far; information: G; noise, own: N and n of a row of ρ = 1.

        Infinite for what has noise, where steps may be most of what tells a direction.
        """
        return _owed(self.state.sums, self.state.total, theta, information, noise, own)


@inline
def _read(state: RereadRows) -> int:
    """Sum rows behind which others follow, or a rest; returns how many are left at the front."""
    times, places, speeds, weights = state.times, state.place, state.speed, state.weight
    kernels, slopes, own, sums = state.kernels, state.slopes, state.own, state.sums
    count, row, period, step = state.count, state.row, state.between, state.step
    p, reach = slopes.shape[1], kernels.shape[1] // 2 + 1
    first = 0
    while first < count:
        last = first
        while last + 1 < count and times[last + 1] - times[last] <= SUCCESSIVE * row:
            last += 1
        length = round((times[last] - times[first]) / period) + 1 + 2 * reach
        place, off, error = np.empty(length), np.empty(length), np.empty(3)
        at = first
        for k in range(length):
            now = times[first] + (k - reach) * period
            while at < last and now > times[at + 1]:
                at += 1
            if now <= times[first] or at == last:
                place[k] = places[first if now <= times[first] else last]
                continue
            span = float(times[at + 1] - times[at])
            s, way = (now - times[at]) / span, places[at + 1] - places[at]
            low, high = 1e-9 * span * speeds[at] - way, way - 1e-9 * span * speeds[at + 1]
            place[k] = places[at] + s * way + s * (1.0 - s) * ((1.0 - s) * low + s * high)
        known = times[last] if last + 1 < count else times[last] - reach * period
        for j in range(PLACES):
            share = j / PLACES
            for k in range(length):
                off[k] = (np.round(place[k] / step + share) - share) * step - place[k]
            for r in range(first, last + 1):
                if state.summed[r] > 0.0 or times[r] > known:
                    continue
                middle = round((times[r] - times[first]) / period) + reach
                for kind in range(3):
                    error[kind] = 0.0
                    for k in range(kernels.shape[1]):
                        error[kind] += kernels[kind, k] * off[middle - kernels.shape[1] // 2 + k]
                for a in range(p):
                    mine = state.phi[r, a]
                    for kind in range(3):
                        mine += weights[r] * slopes[kind, a] * error[kind]
                    for kind in range(3):
                        moved = weights[r] * error[kind]
                        sums[j, a, p] += mine * own[kind] * moved
                        for b in range(p):
                            sums[j, a, b] += mine * slopes[kind, b] * moved
        for r in range(first, last + 1):
            if state.summed[r] == 0.0 and times[r] <= known:
                state.summed[r] = 1.0
                state.total += state.noise[r]
        first = last + 1
    kept = 0
    for r in range(count):
        if times[r] > times[count - 1] - 2 * (reach + 1) * period - row:
            times[kept], places[kept], speeds[kept] = times[r], places[r], speeds[r]
            state.noise[kept], weights[kept], state.summed[kept] = state.noise[r], weights[r], state.summed[r]
            for c in range(p):
                state.phi[kept, c] = state.phi[r, c]
            kept += 1
    return kept


@kernel((RereadRows,))
def _read_kept(state: RereadRows) -> None:
    state.count = _read(state)


@inline
def keep(time: int, phi: Floats, speed: float, motion: Floats, slow: float, reversal: float, state: RereadRows) -> None:
    """A row of one joint and one output that taught; phi (p,); motion: of the joint."""
    if not state.known:
        return
    if state.count == len(state.times):
        _read_kept(state)
    count = state.count
    factor = reversal if turns(motion[SPEED], speed, slow) else 1.0
    state.times[count] = time
    state.place[count], state.speed[count] = motion[PLACE], motion[SPEED]
    state.noise[count], state.weight[count] = motion[ROUNDING] * factor**2, motion[WEIGHT] * factor
    state.summed[count] = 0.0
    for column in range(len(phi)):
        state.phi[count, column] = phi[column] * factor
    state.count = count + 1


@kernel(
    (
        *("Array(i8, 1, 'A', readonly=True)", "f8[:, :, ::1]", "Array(f8, 2, 'A', readonly=True)"),
        *("Array(f8, 3, 'A', readonly=True)", "f8", "f8", RereadRows),
    )
)
def _keep(
    time: Nanoseconds, phi: Floats, speed: Floats, motion: Floats, slow: float, reversal: float, state: RereadRows
) -> None:
    for row in range(len(time)):
        keep(time[row], phi[row, 0], speed[row, 0], motion[row, 0], slow, reversal, state)


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
    if not smallest(unit - part) > RIDGE:
        for i in range(p):
            lost[i] = noise[i, i] > 0.0
        return bool(lost.any())
    for i in range(p):
        unit[i, i] += RIDGE
    share = largest_share(part, unit, way)
    most = np.abs(way).max()
    for i in range(p):
        lost[i] = share > HALF and abs(way[i]) >= GOOD * most
    return bool(share > HALF)


@kernel("f8[::1](f8[:, :, ::1], f8, f8[::1], f8[:, ::1], f8[:, ::1], f8[::1])")
def _owed(sums: Floats, rho: float, theta: Floats, information: Floats, noise: Floats, own: Floats) -> Floats:
    p = len(theta)
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
