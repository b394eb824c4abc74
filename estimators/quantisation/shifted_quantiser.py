"""Shifted quantiser: by how much the steps of an encoder move θ, wherever they lie against the motion.

White noise of the steps adds N to the products of rows (encoder_steps.py). Where a joint turns round, it stands on a
step. In a motion that repeats to the sample it stands there the same way each time, so its rounding is one single draw,
however long the motion lasts. Therefore the smoothed motion between the rows is read by PLACES encoders whose steps Δ
are shifted by shares of a step. Their reading errors pass the kernel of the rows:

    ε_j = Δ(round(q/Δ + j/PLACES) − j/PLACES) − q      A_j = Σ f (φ + δφ_j) δφ_jᵀ,   a_j = Σ f (φ + δφ_j) δy_j
    d_j = (G − A_j)⁻¹ ((A_j − N)θ − (a_j − n))                       θ of (G − N)θ = b − n, which holds N and n alone

A motion that never repeats draws anew each time, and its sums average out. The covariance of θ is the mean of d_j d_jᵀ.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline, kernel
from estimators.numerics.symmetric import largest_share, smallest
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.weights.reversals import turns
from estimators.rows import PLACE, ROUNDING, SPEED, WEIGHT, Rows
from estimators.thresholds import GOOD, RIDGE, SUCCESSIVE
from jointwatch_numba.layout import Cube, Integers, Layout, Matrix, Scratch, Vector
from jointwatch_numba.matrix import contiguous

#: encoders, argued: Shifted encoders that read the same motion, spread evenly over one step.
PLACES: Final = 8
#: 1, argued: Share of a direction's information that steps alone may pretend, beyond which its parameters are not
#: identifiable.
HALF: Final = 0.5


class EncoderReading(NamedTuple):
    """How a row follows from the readings of an encoder."""

    kernels: Floats  # (3, n) of value, rate and second derivative, as rows are smoothed
    slopes: Floats  # (3, parameters) ∂φ by these
    own: Floats  # (3,) ∂y
    period: float  # s between samples


class QuantiserState(Layout, version=1):
    """Rows that are not read yet, the sums of those that are, and how a row follows from an encoder's readings."""

    # how a row is made
    known: Scratch[bool]  # whether there are steps
    row: Scratch[float]  # ns between rows
    between: Scratch[float]  # ns between samples
    step: Scratch[float]  # rad (m)
    kernels: Scratch[Matrix]  # (3, n), slopes (3, parameters) and own (3,) of an EncoderReading
    slopes: Scratch[Matrix]
    own: Scratch[Vector]
    # rows that wait, of which the first `count` are filled
    times: Annotated[Integers, "rows"]  # ns
    place: Annotated[Vector, "rows"]  # rad (m)
    speed: Annotated[Vector, "rows"]  # rad/s (m/s)
    noise: Annotated[Vector, "rows"]  # ρ, see rounding.py
    weight: Annotated[Vector, "rows"]
    summed: Annotated[Vector, "rows"]  # 1 once the row is in the sums
    phi: Annotated[Matrix, "rows", "parameters"]
    count: int = 0
    # sums, faded
    sums: Annotated[Cube, "places", "parameters", "p + 1"]  # A_j and a_j
    total: float = 0.0  # of ρ

    @classmethod
    def room(cls, rows: int, parameters: int, row: float) -> "QuantiserState":
        """State with room for so many rows; row: s between them."""
        return cls.zeros(
            rows=rows, parameters=parameters, row=1e9 * row, kernels=np.zeros((3, 1)), slopes=np.zeros((3, parameters)),
            own=np.zeros(3), sums=np.zeros((PLACES, parameters, parameters + 1)),
        )  # fmt: skip


class ShiftedQuantiser:
    """The shifted quantiser of a joint with one output; its state is a layout that it is given."""

    def __init__(self, state: QuantiserState) -> None:
        self.state = state
        self.reading: EncoderReading | None = None

    def set_encoder_step(self, step: float, reading: EncoderReading) -> None:
        """Tell it that the encoder has steps (rad, m)."""
        self.reading, state = reading, self.state
        state.known, state.between, state.step = True, 1e9 * reading.period, step
        state.kernels, state.slopes, state.own = map(
            np.ascontiguousarray, (reading.kernels, reading.slopes, reading.own)
        )

    def keep(self, rows: Rows, slow: float, reversal: float) -> None:
        """Take rows that taught; slow: speed of rest, rad/s (m/s); reversal: weight of rows that see a reversal."""
        time, phi, speed, motion = map(contiguous, (rows.time, rows.phi, rows.speed, rows.motion))
        _keep(time, phi, speed, motion, slow, reversal, self.state)

    def read(self) -> None:
        """Sum the rows after which the motion is known already."""
        if self.reading is not None:
            _read(self.state)

    def fade(self, factor: float) -> None:
        """Multiply all sums by a factor."""
        self.state.sums *= factor
        self.state.total *= factor

    def clear(self) -> None:
        """Forget all rows and sums."""
        self.state.sums[:] = 0.0
        self.state.total, self.state.count = 0.0, 0


@inline
def _interpolate(first: int, last: int, reach: int, state: QuantiserState, place: Floats) -> None:
    """Write the motion at the samples under rows first … last into place: cubic between rows, at rest around them."""
    times, places, speeds, period = state.times, state.place, state.speed, state.between
    at = first
    for k in range(len(place)):
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


@inline
def _add_row(row: int, error: Floats, state: QuantiserState, sums: Floats) -> None:
    """Add a row to sums (p, p + 1) of one place; error (3,): of value, rate and second derivative under its kernel."""
    slopes, own, weight = state.slopes, state.own, state.weight[row]
    p = slopes.shape[1]
    for a in range(p):
        mine = state.phi[row, a]
        for kind in range(3):
            mine += weight * slopes[kind, a] * error[kind]
        for kind in range(3):
            moved = weight * error[kind]
            sums[a, p] += mine * own[kind] * moved
            for b in range(p):
                sums[a, b] += mine * slopes[kind, b] * moved


@inline
def _sum(first: int, last: int, reach: int, known: float, state: QuantiserState, place: Floats) -> None:
    """Sum rows first … last up to the instant until which their motion, place, is known (ns)."""
    times, kernels, step = state.times, state.kernels, state.step
    off, error, half = np.empty(len(place)), np.empty(3), kernels.shape[1] // 2
    for j in range(PLACES):
        share = j / PLACES
        for k in range(len(place)):
            off[k] = (np.round(place[k] / step + share) - share) * step - place[k]
        for r in range(first, last + 1):
            if state.summed[r] > 0.0 or times[r] > known:
                continue
            middle = round((times[r] - times[first]) / state.between) + reach
            value = rate = second = 0.0  # side by side: a sum waits for its last addition
            for k in range(kernels.shape[1]):
                one = off[middle - half + k]
                value += kernels[0, k] * one
                rate += kernels[1, k] * one
                second += kernels[2, k] * one
            error[0], error[1], error[2] = value, rate, second
            _add_row(r, error, state, state.sums[j])
    for r in range(first, last + 1):
        if state.summed[r] == 0.0 and times[r] <= known:
            state.summed[r] = 1.0
            state.total += state.noise[r]


@inline
def _drop(reach: int, state: QuantiserState) -> int:
    """Move the rows that may still lie under a kernel to the front; returns how many."""
    times, left = state.times, 0
    for r in range(state.count):
        if times[r] > times[state.count - 1] - 2 * (reach + 1) * state.between - state.row:
            times[left], state.place[left], state.speed[left] = times[r], state.place[r], state.speed[r]
            state.noise[left], state.weight[left], state.summed[left] = state.noise[r], state.weight[r], state.summed[r]
            for c in range(state.phi.shape[1]):
                state.phi[left, c] = state.phi[r, c]
            left += 1
    return left


@kernel((QuantiserState,))
def _read(state: QuantiserState) -> None:
    """Sum the rows after which others follow, or a rest; then make room."""
    times, count, period, reach = state.times, state.count, state.between, state.kernels.shape[1] // 2 + 1
    first = 0
    while first < count:
        last = first
        while last + 1 < count and times[last + 1] - times[last] <= SUCCESSIVE * state.row:
            last += 1
        place = np.empty(round((times[last] - times[first]) / period) + 1 + 2 * reach)
        _interpolate(first, last, reach, state, place)
        _sum(first, last, reach, times[last] if last + 1 < count else times[last] - reach * period, state, place)
        first = last + 1
    state.count = _drop(reach, state)


@inline
def keep(
    time: int, phi: Floats, speed: float, motion: Floats, slow: float, reversal: float, state: QuantiserState
) -> None:
    """Take a row that taught; phi (p,): of the only output; motion: of the joint, see Rows."""
    if not state.known:
        return
    if state.count == len(state.times):
        _read(state)
    count = state.count
    factor = reversal if turns(motion[SPEED], speed, slow) else 1.0
    state.times[count] = time
    state.place[count], state.speed[count] = motion[PLACE], motion[SPEED]
    state.noise[count], state.weight[count] = motion[ROUNDING] * factor**2, motion[WEIGHT] * factor
    state.summed[count] = 0.0
    for column in range(len(phi)):
        state.phi[count, column] = phi[column] * factor
    state.count = count + 1


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", "f8", "f8", QuantiserState))
def _keep(
    time: Nanoseconds, phi: Floats, speed: Floats, motion: Floats, slow: float, reversal: float, state: QuantiserState
) -> None:
    for row in range(len(time)):
        keep(time[row], phi[row, 0], speed[row, 0], motion[row, 0], slow, reversal, state)


@inline
def unidentifiable(gram: Floats, noise: Floats, lost: NDArray[np.bool_]) -> bool:
    """Write which parameters (p,) noise may leave unidentifiable; returns whether any. gram: G + N, noise: N, (p, p).

    N is compared with G + N along each direction. Where the largest share is beyond HALF, all parameters that have a
    part in that direction are unidentifiable.
    """
    p = len(gram)
    scale, unit, part, way = np.ones(p), np.empty((p, p)), np.empty((p, p)), np.empty(p)
    left = np.empty((p, p))
    for i in range(p):
        scale[i] = np.sqrt(gram[i, i]) if gram[i, i] > 0.0 else 1.0
    for i in range(p):
        for j in range(p):
            unit[i, j] = gram[i, j] / (scale[i] * scale[j])
            part[i, j] = noise[i, j] / (scale[i] * scale[j])
            left[i, j] = unit[i, j] - part[i, j]
    if not smallest(left) > RIDGE:
        any_lost = False
        for i in range(p):
            lost[i] = noise[i, i] > 0.0
            any_lost = any_lost or lost[i]
        return any_lost
    for i in range(p):
        unit[i, i] += RIDGE
    share = largest_share(part, unit, way)
    most = 0.0
    for i in range(p):
        most = max(most, abs(way[i]))
    for i in range(p):
        lost[i] = share > HALF and abs(way[i]) >= GOOD * most
    return bool(share > HALF)


@inline
def covariance_by_place(
    sums: Floats, rho: float, theta: Floats, information: Floats, noise: Floats, own: Floats
) -> Floats:
    """Covariance of θ (p, p), the mean d dᵀ of the sums so far; rho: Σ of ρ; information: G; noise, own: N and n of a
    row of ρ = 1. Infinite variances for parameters with noise, where steps may be most of the information in a
    direction.
    """
    p = len(theta)
    square, scale, lost, any_lost = np.zeros((p, p)), np.ones(p), np.zeros(p, np.bool_), np.zeros(p, np.bool_)
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
        too_much = unidentifiable(information, both, lost) or not eliminate(left, moved, p, 1)
        for i in range(p):
            any_lost[i] = any_lost[i] or lost[i]
            for j in range(p if not too_much else 0):
                square[i, j] += moved[i, 0] * moved[j, 0] / (scale[i] * scale[j] * PLACES)
    for i in range(p):
        if any_lost[i]:
            for j in range(p):
                square[i, j] = square[j, i] = 0.0
            square[i, i] = np.inf
    return square
