"""Misfit regressors: columns of effects that models leave out. They detect a misfit and name its cause.

    cause       columns, of a joint at q̄, v̄ (means under the row's kernel)      meaning of its coefficient
    lag         change of Φθ since the row before, 1/s                          − s by which y is late
    speed       v̄|v̄|, side·exp(−|v̄|/6v₀), side·exp(−|v̄|/30v₀)                 friction of another shape over speed
    direction   |v̄|, v̄²                                                         friction that differs by direction
    memory      stops at 1, 6 and 40 mrad (mm), each less side                  friction that remembers where it turned
    torque      Φθ, clipped at 2 and 10 % of the torque's rms                   a torque measured out of proportion near
                                                                                zero: together any odd function there
    saturation  Φθ³                                                             a torque measured out of proportion at
                                                                                high load, as where iron saturates
    elastic     (sT/(1 + sT))² of the acceleration, T = 50 ms                   an elastic drive, of its lowest order
    load        side·|what Φθ says without friction|                            friction that grows with the load
    angle       sin nq̄, cos nq̄, n = 1 … 4, where the joint turns                a torque that repeats with the angle
    eccentric   d/dt and d²/dt² of sin q̄ and cos q̄, where the joint turns       an encoder whose disc is off its axis
    place       side·sin q̄, side·cos q̄, where the joint turns                   friction that changes with the angle

side: v̄ over its rms under the kernel, between −1 and 1; v₀: standstill speed. A belt or a shaft of resonance ω passes
an acceleration on as 1 − s²/ω² at low frequency; its column is a high-pass, since two derivatives more would be an
encoder's noise. A column that the model already has
explains nothing more. The columns need only what a row says of its joint, so every model has one set for each output.
Products of [Φ Φ̇ W y] are summed row by row, where Φ̇ is the change of Φ; Φ̇θ is the column of the lag (scores.py).
Each change is multiplied by the mean of the two rows that it is between: Σ Φ̇ₜ(xₜ + xₜ₋₁)/2 is the sum with the central
difference. With xₜ alone an error of the position, which is in Φₜ and in Φ̇ₜ, would be half a row of lag.
During a start a row is predicted by θ with what that row itself has taught (learning.py): by a θ that is not known yet
a column would be another one than later, and those rows alone would tell it from the model's. The measured torque is no
better: it has the noise, which its column would then explain. The cube of a torque that hardly changes is nearly the
model's, and 3y² times the noise is what is left of it.
The sums do not depend on how rows are cut into batches. Rows that see a reversal are left out. Around a reversal a
joint sticks, and its bristles and teeth change sides. That is an error of a hundred deviations, and any column that is
large near standstill would explain it. Their products [Φ y] are summed separately; the weight of such rows follows
from them (recursive/weights/reversals.py). Rows after a reversal, up to twice the NEAR stop, are summed in both
places, which shows by how much they alone move θ; and so are rows that are clear of any stop, which say what a motion
one way tells of θ. Products with a slow acceleration show what an error of the position did (position_error.py).
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.weights.reversals import AROUND, clear, turns
from estimators.rows import ROUNDING, WEIGHT
from estimators.thresholds import SUCCESSIVE
from jointwatch_numba.layout import Cube, Integers, Layout, Matrix, Scratch, Vector

#: rad (m), argued: Lengths of the play operators that model friction with memory: from a bristle to a worn gear.
STOPS: Final = (0.001, 0.006, 0.04)
#: 1, derived: Place in STOPS of the one that must have slipped again before a row counts as away from a reversal.
NEAR: Final = 2
#: 1, argued: Half widths of a dead zone that are tried, over the torque's rms: a narrower one moves θ by less than its
#: required accuracy, a wider one is no dead zone any more, and one between the two is a combination of both.
WIDTHS: Final = (0.02, 0.1)
#: s, argued: Time constant of the high-pass for an elastic drive: longer than a row's kernel, short against a motion.
HIGH_PASS: Final = 0.05
#: 1, argued: Harmonics of the joint's angle that are tried; ripple of higher order has no column (decision 012).
HARMONICS: Final = 4
LAG: Final = 0  # causes
SPEED: Final = 1
DIRECTION: Final = 2
MEMORY: Final = 3
ANGLE: Final = 4
TORQUE: Final = 5
ELASTIC: Final = 6
ECCENTRIC: Final = 7
LOAD: Final = 8
PLACE: Final = 9
SATURATION: Final = 10
TURNS: Final = 14  # number of the first column that only rotary joints have
CAUSES: Final = (
    *(LAG, *[SPEED] * 3, *[DIRECTION] * 2, *[MEMORY] * 3, *[TORQUE] * len(WIDTHS), SATURATION, ELASTIC, LOAD),
    *([ANGLE] * (2 * HARMONICS) + [ECCENTRIC] * 4 + [PLACE] * 2),
)
#: 1, argued: Standstill speeds over which a Stribeck-like column fades.
SLOW: Final = 6.0
#: 1, argued: Standstill speeds over which the wider Stribeck-like column fades.
FAST: Final = 30.0


class BlockSums(Layout, version=8):
    """Products of the columns of the rows since the block began, and the last state of joints and outputs.

    n: columns [φ φ̇ w y] of an output; p: parameters.
    """

    owners: Scratch[Annotated[Integers, "outputs"]]  # joint of each
    period: Scratch[float]  # ns between rows
    inertia: Scratch[int]  # place of the inertia, whose column is a, of the only joint; −1: there is none
    remembers: Scratch[bool]  # whether the model has columns of memory of its own
    torque: Scratch[bool]  # whether the outputs are torques or forces
    loads: Scratch[Annotated[Vector, "parameters"]]  # 1: what this parameter adds to the torque is a load
    row: Scratch[Annotated[Vector, "n"]]
    mean: Scratch[Annotated[Vector, "n"]]  # of it and the one before
    products: Annotated[Cube, "outputs", "n", "n"]  # lower triangles of [φ φ̇ w y]
    special: Annotated[Cube, "kinds", "p + 1", "p + 1"]  # of [φ y]: rows with a reversal, after one, clear of any
    before: Annotated[Matrix, "outputs", "parameters"]  # φ of the last row
    last: Annotated[Matrix, "outputs", "n"]  # row of each that was added
    stops: Annotated[Matrix, "joints", "stops"]  # deflections
    place: Annotated[Vector, "joints"]  # last position; NaN before the first
    passed: Annotated[Matrix, "joints", "4"]  # low-pass of the speed, once and twice, its high-pass, and the speed
    rates: Scratch[Annotated[Matrix, "joints", "3"]]  # accelerations: of the high-pass, all of it, of the low-pass
    moment: Annotated[Vector, "1"]  # ns, of the last row
    theta: Annotated[Vector, "parameters"]  # by which a row's torque is predicted: that at the end of the last block
    level: Annotated[Vector, "outputs"]  # rms of y
    starting: bool  # whether θ is not known yet: then each row is predicted by what it has taught as well
    when: Annotated[Vector, "outputs"]  # ns, of the last row
    count: Annotated[Vector, "outputs"]  # rows of the block without a reversal
    turned_count: Annotated[Vector, "outputs"]  # with one
    noise: Annotated[Vector, "outputs"]  # of an encoder's steps in the former, times white rounding's
    turned_noise: Annotated[Vector, "outputs"]  # in the latter
    forth: Annotated[Vector, "outputs"]  # of the former, those in which the joint moves forth
    slow: Annotated[Matrix, "outputs", "p + 2"]  # of the former, Σ z[φ y z], see position_error.py
    steep: Annotated[Vector, "2"]  # of the former, Σ Δa² and Σ a², see sampled_motion.py

    @classmethod
    def of(
        cls,
        owners: NDArray[np.int64],
        parameters: int,
        own: int,
        period: float,
        remembers: bool,
        torque: bool = True,
        inertia: int = -1,
    ) -> "BlockSums":
        """State before any row; own: misfit regressors of an output; period: ns between rows; torque: what y is."""
        outputs, joints = len(owners), int(owners.max()) + 1
        return cls.zeros(
            owners=owners, period=period, inertia=inertia, remembers=remembers, torque=torque, starting=True,
            n=2 * parameters + own, outputs=outputs,
            parameters=parameters, joints=joints, stops=np.zeros((joints, len(STOPS))),
            special=np.zeros((3 * outputs, parameters + 1, parameters + 1)), place=np.full(joints, np.nan),
            slow=np.zeros((outputs, parameters + 2)), passed=np.zeros((joints, 4)), rates=np.zeros((joints, 3)),
            moment=np.array([-np.inf]), when=np.full(outputs, -np.inf),
        )  # fmt: skip

    def begin_block(self) -> None:
        """Count the rows of a new block from zero."""
        for one in (self.count, self.turned_count, self.noise, self.turned_noise, self.forth, self.slow):
            one[:] = 0.0


def columns(turns: bool) -> int:
    """Return how many misfit regressors an output has; turns: whether the joint's position is an angle."""
    return len(CAUSES) if turns else TURNS


@inline
def _follow(sums: BlockSums, joint: int, q: float) -> None:
    """Move the stops of a joint to its next position."""
    stops, place = sums.stops, sums.place[joint]
    if np.isfinite(place):
        for i in range(len(STOPS)):
            stops[joint, i] = min(max(stops[joint, i] + (q - place) / STOPS[i], -1.0), 1.0)
    sums.place[joint] = q


@inline
def _accelerate(sums: BlockSums, joint: int, v: float, follows: bool) -> None:
    """Move the filters of a joint to its next speed, and write its accelerations.

    After a gap the filters begin with a steady speed, and the row says nothing of an acceleration.
    """
    passed, rates, rate = sums.passed, sums.rates, 1e9 / sums.period
    if not follows:
        passed[joint, 0] = passed[joint, 1] = passed[joint, 3] = v
        passed[joint, 2] = rates[joint, 0] = rates[joint, 1] = rates[joint, 2] = 0.0
        return
    share = 1.0 - np.exp(-1.0 / (rate * HIGH_PASS))
    passed[joint, 0] += share * (v - passed[joint, 0])
    rates[joint, 2] = rate * share * (passed[joint, 0] - passed[joint, 1])
    passed[joint, 1] += share * (passed[joint, 0] - passed[joint, 1])
    high = v - 2.0 * passed[joint, 0] + passed[joint, 1]
    rates[joint, 0], rates[joint, 1] = rate * (high - passed[joint, 2]), rate * (v - passed[joint, 3])
    passed[joint, 2], passed[joint, 3] = high, v


@inline
def _fill(
    row: Floats, first: int, joint: int, sums: BlockSums, motion: Floats, rms: float, slow: float, torque: float,
    load: float, level: float,
) -> None:  # fmt: skip
    """Write the columns of one row without the lag's from row[first + 1] on.

    motion: of the joint; torque: predicted; load: its part without friction; level: rms of the torque.
    """
    q, v, stops, rates = motion[0], motion[1], sums.stops, sums.rates
    size = abs(v)
    side = v / (rms + AROUND * slow)
    row[first + 1] = v * size
    row[first + 2] = side * np.exp(-size / (SLOW * slow))
    row[first + 3] = side * np.exp(-size / (FAST * slow))
    row[first + 4] = size
    row[first + 5] = v * v
    for i in range(len(STOPS)):
        row[first + 6 + i] = 0.0 if sums.remembers else stops[joint, i] - side
    for i in range(len(WIDTHS)):
        most = WIDTHS[i] * level
        row[first + 9 + i] = min(max(torque / most, -1.0), 1.0) if sums.torque and most > 0.0 else 0.0
    row[first + 11] = torque**3 if sums.torque else 0.0
    row[first + 12] = rates[joint, 0]
    row[first + 13] = side * abs(load)
    if len(row) - 1 - first <= TURNS:
        return
    for n in range(HARMONICS):
        row[first + TURNS + 2 * n] = np.sin((n + 1) * q)
        row[first + TURNS + 1 + 2 * n] = np.cos((n + 1) * q)
    sine, cosine, last = np.sin(q), np.cos(q), first + TURNS + 2 * HARMONICS
    row[last], row[last + 1] = cosine * v, -sine * v
    row[last + 2] = cosine * rates[joint, 1] - sine * v * v
    row[last + 3] = -sine * rates[joint, 1] - cosine * v * v
    row[last + 4], row[last + 5] = side * sine, side * cosine


@inline
def _add_special(row: Floats, p: int, y: float, products: Floats) -> None:
    """Add the products of [φ y] of one row."""
    for i in range(p):
        for k in range(i + 1):
            products[i, k] += row[i] * row[k]
        products[p, i] += y * row[i]
    products[p, p] += y * y


@inline
def _add_slow(row: Floats, p: int, slow: float, sums: Floats) -> None:
    """Add the products of a slow acceleration with [φ y] of one row, and its square."""
    for i in range(p):
        sums[i] += slow * row[i]
    sums[p] += slow * row[len(row) - 1]
    sums[p + 1] += slow * slow


@inline
def _add_products(row: Floats, p: int, follows: bool, before: Floats, mean: Floats, products: Floats) -> None:
    """Add the products of [φ φ̇ w y] of one row, those of φ̇ by the mean of it and the row before, which it replaces."""
    for i in range(len(row)):
        mean[i] = 0.5 * (row[i] + before[i]) if follows else 0.5 * row[i]
        before[i] = row[i]
    for i in range(len(row)):
        others = mean if p <= i < 2 * p else row
        for k in range(i + 1):
            products[i, k] += (mean[i] if p <= k < 2 * p else row[i]) * others[k]


@inline
def _level_so_far(y: float, squares: float, count: float) -> float:
    """Rms of y over the rows of the first block, up to this one."""
    return float(np.sqrt((squares + y * y) / (count + 1.0)))


@inline
def gather_row(time: int, phi: Floats, y: Floats, speed: Floats, motion: Floats, slow: float, sums: BlockSums) -> None:
    """Add the products of [φ φ̇ w y] of one row, output by output.

    time … motion: of Rows, multiplied by their WEIGHT; slow: rad/s (m/s).
    """
    before, products, special, row, period = sums.before, sums.products, sums.special, sums.row, sums.period
    p = before.shape[1]
    last, outputs = len(row) - 1, len(sums.owners)
    successive = time - sums.moment[0] <= SUCCESSIVE * period
    for j in range(len(sums.place)):
        _follow(sums, j, motion[j, 0])
        _accelerate(sums, j, motion[j, 1], successive)
    sums.moment[0] = time
    for o in range(outputs):
        j = sums.owners[o]
        finite, weight, torque, load = np.isfinite(y[o]), motion[j, WEIGHT], 0.0, 0.0
        for i in range(p):
            row[i] = phi[o, i]
            share = row[i] * sums.theta[i] / weight
            torque += share
            load += share * sums.loads[i]
            finite = finite and np.isfinite(row[i])
        if not finite:
            continue
        follows = time - sums.when[o] <= SUCCESSIVE * period
        sums.when[o] = time
        reverses = turns(motion[j, 1], speed[j], slow)
        if successive and sums.inertia >= 0 and not reverses:  # whatever they weigh
            sums.steep[0] += (row[sums.inertia] / weight - before[o, sums.inertia]) ** 2
            sums.steep[1] += (row[sums.inertia] / weight) ** 2
        for i in range(p):
            row[p + i] = 1e9 * (row[i] - weight * before[o, i]) / period if follows else 0.0
            before[o, i] = row[i] / weight
        if reverses or abs(sums.stops[j, NEAR]) < 1.0:
            _add_special(row, p, y[o], special[o if reverses else outputs + o])
        if clear(motion[j, 1], speed[j], slow):
            _add_special(row, p, y[o], special[2 * outputs + o])
        if reverses:
            sums.when[o] = -np.inf
            sums.turned_count[o] += 1.0
            sums.turned_noise[o] += motion[j, ROUNDING]
            continue
        level = sums.level[o]
        if sums.starting and not level > 0.0:
            level = _level_so_far(y[o], products[o, last, last], sums.count[o])
        _fill(row, 2 * p - 1, j, sums, motion[j], speed[j], slow, torque, load, level)
        for i in range(2 * p, last):
            row[i] *= weight
        row[last] = y[o]
        _add_slow(row, p, weight * sums.rates[j, 2], sums.slow[o])
        _add_products(row, p, follows, sums.last[o], sums.mean, products[o])
        sums.count[o] += 1.0
        sums.forth[o] += motion[j, 1] > 0.0
        sums.noise[o] += motion[j, ROUNDING]


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", "f8", BlockSums))
def gather(
    time: NDArray[np.int64], phi: Floats, y: Floats, speed: Floats, motion: Floats, slow: float, sums: BlockSums
) -> None:
    """Add the products of rows, one after the other; arguments as of gather_row."""
    for row in range(len(time)):
        gather_row(time[row], phi[row], y[row], speed[row], motion[row], slow, sums)
