"""Misfit regressors: columns of effects that models leave out. They detect a misfit and name its cause.

    cause       columns, of a joint at q̄, v̄ (means under the row's kernel)      meaning of its coefficient
    lag         change of Φθ since the row before, 1/s                          − s by which y is late
    speed       v̄|v̄|, side·exp(−|v̄|/6v₀), side·exp(−|v̄|/30v₀)                 friction of another shape over speed
    direction   |v̄|, v̄²                                                         friction that differs by direction
    memory      stops at 1, 6 and 40 mrad (mm), each less side                  friction that remembers where it turned
    angle       sin nq̄, cos nq̄, n = 1 … 4, where the joint turns                a torque that repeats with the angle

side: v̄ over its rms under the kernel, between −1 and 1; v₀: standstill speed. A column that the model already has
explains nothing more. The columns need only what a row says of its joint, so every model has one set for each output.
Products of [Φ Φ̇ W y] are summed row by row, where Φ̇ is the change of Φ; Φ̇θ is the column of the lag (scores.py).
The sums do not depend on how rows are cut into batches. Rows that see a reversal are left out. Around a reversal a
joint sticks, and its bristles and teeth change sides. That is an error of a hundred deviations, and any column that is
large near standstill would explain it. Their products [Φ y] are summed separately; the weight of such rows follows
from them (recursive/weights/reversals.py). Rows behind a reversal, up to twice the NEAR stop, are summed in both
places, which shows by how much they alone move θ; and so are rows that are clear of any stop, which say what a motion
one way tells of θ.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.weights.reversals import AROUND, clear, turns
from estimators.rows import ROUNDING, WEIGHT
from estimators.thresholds import SUCCESSIVE
from jointwatch_layout import Cube, Integers, Layout, Matrix, Scratch, Vector

#: rad (m), argued: Lengths of the play operators that stand for friction with memory: from a bristle to a worn gear.
STOPS: Final = (0.001, 0.006, 0.04)
#: 1, derived: Place in STOPS of the one that must have slipped again before a row counts as away from a reversal.
NEAR: Final = 2
#: 1, argued: Harmonics of the joint's angle that are tried; ripple of higher order has no column (decision 012).
HARMONICS: Final = 4
LAG: Final = 0  # causes
SPEED: Final = 1
DIRECTION: Final = 2
MEMORY: Final = 3
ANGLE: Final = 4
TURNS: Final = 9  # the first column that only a joint that turns has
CAUSES: Final = (LAG, *[SPEED] * 3, *[DIRECTION] * 2, *[MEMORY] * 3, *[ANGLE] * (2 * HARMONICS))
#: 1, argued: Standstill speeds over which a Stribeck-like column fades.
SLOW: Final = 6.0
#: 1, argued: Standstill speeds over which the wider Stribeck-like column fades.
FAST: Final = 30.0


class BlockSums(Layout, version=2):
    """Products of the columns of the rows since the block began, and the last state of joints and outputs.

    n: columns [φ φ̇ w y] of an output; p: parameters.
    """

    owners: Scratch[Annotated[Integers, "outputs"]]  # joint of each
    period: Scratch[float]  # ns between rows
    remembers: Scratch[bool]  # whether the model has columns of memory of its own
    row: Scratch[Annotated[Vector, "n"]]
    products: Annotated[Cube, "outputs", "n", "n"]  # lower triangles of [φ φ̇ w y]
    special: Annotated[Cube, "kinds", "p + 1", "p + 1"]  # of [φ y]: rows with a reversal, behind one, clear of any
    before: Annotated[Matrix, "outputs", "parameters"]  # φ of the last row
    stops: Annotated[Matrix, "joints", "stops"]  # deflections
    place: Annotated[Vector, "joints"]  # last position; NaN before the first
    when: Annotated[Vector, "outputs"]  # ns, of the last row
    count: Annotated[Vector, "outputs"]  # rows of the block without a reversal
    turned_count: Annotated[Vector, "outputs"]  # with one
    noise: Annotated[Vector, "outputs"]  # of an encoder's steps in the former, times white rounding's
    turned_noise: Annotated[Vector, "outputs"]  # in the latter
    forth: Annotated[Vector, "outputs"]  # of the former, those in which the joint moves forth

    @classmethod
    def of(cls, owners: NDArray[np.int64], parameters: int, own: int, period: float, remembers: bool) -> "BlockSums":
        """State before any row; own: misfit regressors of an output; period: ns between rows."""
        outputs, joints = len(owners), int(owners.max()) + 1
        return cls.zeros(
            owners=owners, period=period, remembers=remembers, n=2 * parameters + own, outputs=outputs,
            parameters=parameters, joints=joints, stops=np.zeros((joints, len(STOPS))),
            special=np.zeros((3 * outputs, parameters + 1, parameters + 1)), place=np.full(joints, np.nan),
            when=np.full(outputs, -np.inf),
        )  # fmt: skip

    def begin_block(self) -> None:
        """Count the rows of a new block from zero."""
        for one in (self.count, self.turned_count, self.noise, self.turned_noise, self.forth):
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
def _fill(row: Floats, first: int, joint: Floats, q: float, v: float, rms: float, slow: float, remembers: bool) -> None:
    """Write the columns of one row without the lag's from row[first + 1] on; joint: deflections of its stops."""
    size = abs(v)
    side = v / (rms + AROUND * slow)
    row[first + 1] = v * size
    row[first + 2] = side * np.exp(-size / (SLOW * slow))
    row[first + 3] = side * np.exp(-size / (FAST * slow))
    row[first + 4] = size
    row[first + 5] = v * v
    for i in range(len(STOPS)):
        row[first + 6 + i] = 0.0 if remembers else joint[i] - side
    for n in range((len(row) - 1 - first - TURNS) // 2):
        row[first + TURNS + 2 * n] = np.sin((n + 1) * q)
        row[first + TURNS + 1 + 2 * n] = np.cos((n + 1) * q)


@inline
def _add_special(row: Floats, p: int, y: float, products: Floats) -> None:
    """Add the products of [φ y] of one row."""
    for i in range(p):
        for k in range(i + 1):
            products[i, k] += row[i] * row[k]
        products[p, i] += y * row[i]
    products[p, p] += y * y


@inline
def gather_row(time: int, phi: Floats, y: Floats, speed: Floats, motion: Floats, slow: float, sums: BlockSums) -> None:
    """Add the products of [φ φ̇ w y] of one row, output by output.

    time … motion: of Rows, multiplied by their WEIGHT; slow: rad/s (m/s).
    """
    before, products, special, row, period = sums.before, sums.products, sums.special, sums.row, sums.period
    p = before.shape[1]
    last, outputs = len(row) - 1, len(sums.owners)
    for j in range(len(sums.place)):
        _follow(sums, j, motion[j, 0])
    for o in range(outputs):
        j = sums.owners[o]
        finite, weight = np.isfinite(y[o]), motion[j, WEIGHT]
        for i in range(p):
            row[i] = phi[o, i]
            finite = finite and np.isfinite(row[i])
        if not finite:
            continue
        follows = time - sums.when[o] <= SUCCESSIVE * period
        sums.when[o] = time
        for i in range(p):
            row[p + i] = 1e9 * (row[i] - weight * before[o, i]) / period if follows else 0.0
            before[o, i] = row[i] / weight
        reverses = turns(motion[j, 1], speed[j], slow)
        if reverses or abs(sums.stops[j, NEAR]) < 1.0:
            _add_special(row, p, y[o], special[o if reverses else outputs + o])
        if clear(motion[j, 1], speed[j], slow):
            _add_special(row, p, y[o], special[2 * outputs + o])
        if reverses:
            sums.when[o] = -np.inf
            sums.turned_count[o] += 1.0
            sums.turned_noise[o] += motion[j, ROUNDING]
            continue
        _fill(row, 2 * p - 1, sums.stops[j], motion[j, 0], motion[j, 1], speed[j], slow, sums.remembers)
        for i in range(2 * p, last):
            row[i] *= weight
        row[last] = y[o]
        sums.count[o] += 1.0
        sums.forth[o] += motion[j, 1] > 0.0
        sums.noise[o] += motion[j, ROUNDING]
        for i in range(len(row)):
            for k in range(i + 1):
                products[o, i, k] += row[i] * row[k]


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", "f8", BlockSums))
def gather(
    time: NDArray[np.int64], phi: Floats, y: Floats, speed: Floats, motion: Floats, slow: float, sums: BlockSums
) -> None:
    """Add the products of rows, one after the other; arguments as of gather_row."""
    for row in range(len(time)):
        gather_row(time[row], phi[row], y[row], speed[row], motion[row], slow, sums)
