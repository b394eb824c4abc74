"""Columns of what models leave out, a few a row: by them a misfit shows, and by them it has a name.

    cause       columns, of a joint at q̄, v̄ (means under the row's kernel)      what its weight would be
    lag         change of Φθ since the row before, 1/s                          − s by which y is late
    speed       v̄|v̄|, side·exp(−|v̄|/6v₀), side·exp(−|v̄|/30v₀)                 friction of another shape over speed
    direction   |v̄|, v̄²                                                         friction that differs by direction
    memory      stops at 1, 6 and 40 mrad (mm), each less side                  friction that remembers where it turned
    angle       sin nq̄, cos nq̄, n = 1 … 4, where the joint turns                a torque that repeats with the angle

side: v̄ over its rms under the kernel, between −1 and 1; v₀: standstill speed. A column that the model has already
explains nothing. They need nothing but what a row says of its joint, so every model has them, one set an output.
Products of [Φ Φ̇ W y] are summed row by row, Φ̇ the change of Φ: with θ at hand Φ̇θ is the lag's column (misfit.py). How
rows are cut into batches does not matter. Rows that see a reversal are
left out: around it a joint sticks, its bristles and teeth change sides, and at a row's noise that is an error of a
hundred deviations, which any column would be taken for that is large near standstill. Their products [Φ y] are summed
apart: what they weigh follows from it (recursive/reversals.py). So are those of the rows up to twice the largest stop
behind a reversal: they stay among the others, and what they alone pull θ by is seen.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.reversals import turns
from estimators.rows import ROUNDING, WEIGHT

STOPS: Final = (0.001, 0.006, 0.04)  # rad (m)
NEAR: Final = 2  # the stop that has slipped again where a reversal lies behind
HARMONICS: Final = 4
LAG, SPEED, DIRECTION, MEMORY, ANGLE = range(5)  # causes
TURNS: Final = 9  # the first column that only a joint that turns has
CAUSES: Final = (LAG, *[SPEED] * 3, *[DIRECTION] * 2, *[MEMORY] * 3, *[ANGLE] * (2 * HARMONICS))
SLOW: Final = 6.0  # times standstill
FAST: Final = 30.0
LATER: Final = 1.5  # row periods, up to which a row comes right after the one before

PLACE: Final = len(STOPS)  # in the state of a joint, behind its stops: last position
JOINT_STATE: Final = PLACE + 1
# of an output: ns; rows of the block, and rows that see a reversal; of either kind, how much noise of steps is in them;
# of the former, those in which the joint moves forth
WHEN, COUNT, TURNED, ROUND, ROUND_TURNED, FORTH, OUTPUT_STATE = range(7)


def columns(turns: bool) -> int:
    """How many an output has; turns: whether the joint's position is an angle."""
    return len(CAUSES) if turns else TURNS


@inline
def _follow(state: Floats, q: float) -> None:
    """Stops of a joint (JOINT_STATE,) up to its next position."""
    if np.isfinite(state[PLACE]):
        for i in range(len(STOPS)):
            state[i] = min(max(state[i] + (q - state[PLACE]) / STOPS[i], -1.0), 1.0)
    state[PLACE] = q


@inline
def _fill(row: Floats, first: int, joint: Floats, q: float, v: float, rms: float, slow: float, remembers: bool) -> None:
    """The columns of one row but the lag's, from row[first + 1] on, as long as they, and y; joint: its state."""
    size = abs(v)
    side = v / (rms + 0.1 * slow)
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


@kernel(
    "void(i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], f8, i8[::1], f8, f8[:, ::1], f8[:, ::1], "
    "f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1], f8[::1], b1)"
)
def gather(
    time: NDArray[np.int64],
    phi: Floats,
    y: Floats,
    speed: Floats,
    motion: Floats,
    slow: float,
    owners: NDArray[np.int64],
    period: float,
    before: Floats,
    joints: Floats,
    outputs: Floats,
    products: Floats,
    turned: Floats,
    row: Floats,
    remembers: bool,
) -> None:
    """Add the products of [φ φ̇ w y] of each output to the lower triangles of products (outputs, n, n).

    time … motion: of Rows, multiplied by their WEIGHT; slow: rad/s (m/s); owners: the joint of each output; period: ns
    between rows; before (outputs, p): φ of the last row, as it was; joints (joints, JOINT_STATE), outputs (outputs,
    OUTPUT_STATE); turned (2 outputs, p + 1, p + 1): of [φ y] where a reversal is seen, then of the rows behind one;
    row (n,): scratch; remembers: whether the model has such columns of its own.
    """
    p = before.shape[1]
    last = len(row) - 1
    for r in range(len(time)):
        for j in range(len(joints)):
            _follow(joints[j], motion[r, j, 0])
        for o in range(len(owners)):
            j = owners[o]
            finite, weight = np.isfinite(y[r, o]), motion[r, j, WEIGHT]
            for i in range(p):
                row[i] = phi[r, o, i]
                finite = finite and np.isfinite(row[i])
            if not finite:
                continue
            follows = time[r] - outputs[o, WHEN] <= LATER * period
            outputs[o, WHEN] = time[r]
            for i in range(p):
                row[p + i] = 1e9 * (row[i] - weight * before[o, i]) / period if follows else 0.0
                before[o, i] = row[i] / weight
            reverses = turns(motion[r, j, 1], speed[r, j], slow)
            if reverses or abs(joints[j, NEAR]) < 1.0:
                to = o if reverses else len(owners) + o
                row[p], passed = y[r, o], row[p]
                for i in range(p + 1):
                    for k in range(i + 1):
                        turned[to, i, k] += row[i] * row[k]
                row[p] = passed
            if reverses:
                outputs[o, WHEN] = -np.inf
                outputs[o, TURNED] += 1.0
                outputs[o, ROUND_TURNED] += motion[r, j, ROUNDING]
                continue
            _fill(row, 2 * p - 1, joints[j], motion[r, j, 0], motion[r, j, 1], speed[r, j], slow, remembers)
            for i in range(2 * p, last):
                row[i] *= weight
            row[last] = y[r, o]
            outputs[o, COUNT] += 1.0
            outputs[o, FORTH] += motion[r, j, 1] > 0.0
            outputs[o, ROUND] += motion[r, j, ROUNDING]
            for i in range(len(row)):
                for k in range(i + 1):
                    products[o, i, k] += row[i] * row[k]
