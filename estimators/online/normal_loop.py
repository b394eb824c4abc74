"""The dull part of normal mode, compiled: rows are learnt and judged, block by block, until something is to be decided.

A row is a few dozen multiplications, and Python's decisions around it would cost a hundred times as much; there is
nothing to decide until an alarm comes, the joint comes to rest or moves again, a test of the monitor is due, or
something is sick. Then the block ends before its review, which is Python's (procedure.py).
"""

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.online.gate import may_teach
from estimators.online.validity import DEVIATIONS, VALUES, healthy, judge
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.kernel import learn

LEVERAGE, HONESTY, INFLATION, UNTOLD, WEIGHTS = range(5)  # rows of what a deviation is made with, or judged against
FILLED, BLOCK, TAUGHT, KEPT, DUE, SEEN, ALARMS, HELD, REVIEW, COUNTS = range(10)
# FILLED rows of the current block of BLOCK rows; rows TAUGHT; of them KEPT, with a finite output; KEPT from which a
# test is DUE; KEPT when the state was last copied (SEEN); ALARMS that have been looked at; whether the joint is known
# to be at rest (HELD); whether a REVIEW is to follow


@inline
def _judge(state: Floats, weights: Floats, signal: float, judged: Floats, valid: NDArray[np.bool_]) -> None:
    """θ's deviations √(v·share·P_ii·honesty² + untold), and what they allow; P = U D U′ in the state."""
    m, p = int(state[at.OUTPUTS]), int(state[at.PARAMETERS])
    long = at.HEADER + 5 * p + p * p + m
    variance = 0.0
    for j in range(m):
        variance += state[long + j] / m
    if state[at.WEIGHT] > 0.0:
        variance *= state[at.WEIGHT_2] / state[at.WEIGHT]
    d, u = at.HEADER + p, at.HEADER + 2 * p
    for i in range(p):
        own = state[d + i]
        for j in range(i + 1, p):
            entry = state[u + j * p + i]
            own += state[d + j] * entry * entry
        judged[VALUES, i] = state[at.HEADER + i]
        judged[DEVIATIONS, i] = np.sqrt(variance * own * weights[HONESTY, i] ** 2 + weights[UNTOLD, i])
    judge(judged, weights[LEVERAGE], signal, valid)


@kernel("void(f8[::1], f8[:, ::1], f8, f8[:, ::1], b1[::1])")
def judge_state(state: Floats, weights: Floats, signal: float, judged: Floats, valid: NDArray[np.bool_]) -> None:
    """Judge what a state has learnt.

    state: see rls_state.py; weights: (WEIGHTS, parameters); signal: rms of y; judged, valid: of health.Validity.
    """
    _judge(state, weights, signal, judged, valid)


@inline
def _finite(phi: Floats, y: Floats) -> bool:
    """Whether any output of a row is finite: phi (outputs, parameters), y (outputs,)."""
    for output in range(len(y)):
        if np.isfinite(y[output]):
            finite = True
            for column in range(phi.shape[1]):
                finite = finite and np.isfinite(phi[output, column])
            if finite:
                return True
    return False


@kernel(
    "i8(f8[::1], f8[::1], f8[::1], f8[:, :, ::1], f8[:, ::1], f8[::1], f8, b1[::1], i8[::1], "
    "f8[:, ::1], f8, f8[:, ::1], b1[::1], f8[:, ::1], f8[::1])"
)
def course(
    state: Floats,
    gate: Floats,
    limits: Floats,
    phi: Floats,
    y: Floats,
    speed: Floats,
    least: float,
    kept: NDArray[np.bool_],
    counts: NDArray[np.int64],
    weights: Floats,
    signal: float,
    judged: Floats,
    valid: NDArray[np.bool_],
    good: Floats,
    snapshot: Floats,
) -> int:
    """Learn from rows until a review is due; returns how many were taken.

    state: see rls_state.py; gate, limits: of health.Gate; least: rad/s (m/s) below which a row teaches nothing at once;
    kept (rows,): which rows taught and have a finite output; counts: (COUNTS,) as above; good (2, parameters): values
    and deviations while nothing pointed to an alarm; snapshot: the state then, or of length 0.
    """
    rows, m, p = phi.shape
    flat, flat_y = phi.reshape(-1), y.reshape(-1)
    theta, d = state[at.HEADER : at.HEADER + p], state[at.HEADER + p : at.HEADER + 2 * p]
    bound = state[at.HEADER + 2 * p + p * p : at.HEADER + 3 * p + p * p]
    counts[REVIEW] = 0
    row = 0
    while row < rows:
        last = min(rows, row + counts[BLOCK] - counts[FILLED])
        counts[FILLED] += last - row
        first = row  # of a run of rows that teach
        while row < last:
            teaches = may_teach(gate, limits, speed[row]) and (least <= 0.0 or speed[row] >= least)
            kept[row] = teaches and _finite(phi[row], y[row])
            if teaches:
                counts[TAUGHT] += 1
                counts[KEPT] += kept[row]
            row += 1
            if row == last or not teaches:
                end = row if teaches else row - 1
                if end > first:
                    learn(state, flat[first * m * p : end * m * p], flat_y[first * m : end * m], end - first, m, p)
                first = row
        if counts[FILLED] < counts[BLOCK]:
            break
        counts[FILLED] = 0
        told = state[at.ALARMS] == counts[ALARMS] and gate[0] == counts[HELD]
        due = counts[KEPT] >= counts[DUE] and gate[0] == 0.0
        if due or not told or not healthy(theta, d, bound, signal):
            counts[REVIEW] = 1
            break
        _judge(state, weights, signal, judged, valid)
        if state[at.CUSUM] == 0.0:
            for i in range(p):
                good[0, i], good[1, i] = theta[i], judged[DEVIATIONS, i] * weights[INFLATION, i]
            if len(snapshot) > 0 and gate[0] == 0.0:
                for i in range(len(snapshot)):
                    snapshot[i] = state[i]
                counts[SEEN] = counts[KEPT]
    return row
