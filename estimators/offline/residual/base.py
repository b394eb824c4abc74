"""What a learnt model of the residual is, what it sees, and the watch that switches it off when it does worse.

The column |θ_m − θ_l| tanh(q̇/ε) — friction that grows with the torque the gear carries — needs no learning and
generalises; a learnt model is taken only when asked for, and only as long as it helps: no gate by cross-validation was
found that held on fresh runs (double-encoder-robot.md §5).
"""

from collections import deque
from typing import Final, Protocol

import numpy as np

from estimators.quantities import Floats

TRANSITION: Final = 0.01  # ε, rad/s, of the column
DIRECTION: Final = 0.05  # rad/s, of the third input
WORSE: Final = 1.0  # RMSE with / without, from which a learnt model is switched off
BETTER: Final = 0.95  # and below which it is taken again


class Predictor(Protocol):
    """A fitted model of one joint's residual."""

    def predict(self, inputs: Floats) -> Floats:
        """(rows,) N·m (N) for inputs (rows, d)."""
        ...


def inputs(twist: Floats, rate: Floats, dq: Floats | None = None) -> Floats:
    """(rows, 2) as published: twist (rad) and its rate (rad/s); with the speed dq of the joint (rows, 3)."""
    columns = [twist, rate] if dq is None else [twist, rate, np.tanh(dq / DIRECTION)]
    return np.ascontiguousarray(np.column_stack(columns))


def structural(twist: Floats, dq: Floats) -> Floats:
    """|θ_m − θ_l| tanh(q̇/ε): a column of the regression, as the friction's are."""
    return np.asarray(np.abs(twist) * np.tanh(dq / TRANSITION))


class Watch:
    """Compares the residual with and without a learnt compensation over the last seconds."""

    def __init__(self, rows: int) -> None:
        """rows: as many as the comparison looks back on; until then the compensation is off."""
        self._squares: deque[tuple[float, float]] = deque(maxlen=rows)
        self.on = False

    def absorb(self, residual: Floats, learnt: Floats) -> Floats:
        """Residual and what was learnt of it (rows,), in order: what is left, compensated only while that helps."""
        left = np.empty(len(residual))
        for row, (plain, known) in enumerate(zip(residual.tolist(), learnt.tolist(), strict=True)):
            left[row] = plain - known if self.on else plain  # decided before this row is seen
            self._squares.append((plain**2, (plain - known) ** 2))
            if len(self._squares) == self._squares.maxlen:
                without, compensated = np.sum(self._squares, axis=0)
                limit = WORSE if self.on else BETTER
                self.on = bool(compensated < limit**2 * without)
        return left
