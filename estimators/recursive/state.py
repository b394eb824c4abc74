"""Where everything lies in the one flat array that is the state of a recursive least-squares estimator.

One array, because a compiled call costs a fixed time per array argument, because a checkpoint is then one copy, and
because "the state did not change" is then one comparison. The header holds scalars at the indices below; behind it, for
p parameters and m outputs: θ (p), d (p), U (p × p, column j at ``j·p``), bound (p), visited (p), scratch (p),
r (m), long (m), short (m).
"""

from typing import Final

HEADER: Final = 40

LAMBDA: Final = 0  # λ of the next row
LAW: Final = 1  # which forgetting law, see forgetting.py
STARTING: Final = 2  # 1 while λ = 1 whatever the law says (the starting procedure)
FORGOTTEN: Final = 3  # Σ(1 − λ) since the beginning
AXIS: Final = 4  # the coordinate axis whose pseudo-observation is next
ROWS: Final = 5  # rows learnt from
REFUSED: Final = 6  # rows without a finite output, which never entered
MASKED: Final = 25  # single outputs left out of a row because they were not finite
CLIPPED: Final = 7  # innovations clipped
WEIGHT: Final = 8  # Σ of the weights of all rows: how many rows the estimate rests on
WEIGHT_2: Final = 9  # Σ of the squared weights
CUSUM: Final = 10
EXCURSION: Final = 11  # the largest CUSUM since it was last reset
ALARMS: Final = 12
SINCE: Final = 13  # rows since the last alarm
MEMORY: Final = 14  # rows, of the alarm law
OPEN: Final = 15  # rows after an alarm in which the short variance may widen the clip
RATE_LONG: Final = 16  # gains of the running averages
RATE_SHORT: Final = 17
RATE_ERROR: Final = 18
ERROR: Final = 19  # running mean of Σ e²/r
SIGNAL: Final = 20  # running mean of Σ y²/r
PARAMETERS: Final = 21  # p
OUTPUTS: Final = 26  # m
LEAST: Final = 27  # residual variance below which the clip does not go
AVERAGE: Final = 22  # 22…24: running averages of the law
CONSTANT: Final = 28  # 28…39: constants of the law


def size(p: int, m: int) -> int:
    """Length of the state of p parameters and m outputs."""
    return HEADER + 5 * p + p * p + 3 * m
