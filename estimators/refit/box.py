"""In which ranges nonlinear parameters are searched: the law's own, moved with the speeds that the window has.

A law's ranges are those of joints that move at about 1 rad/s. A speed over which friction bends scales with the motion:
of a spindle that passes 20 rad/s it may be 5, of a slide at 0.05 m/s it is surely not 0.5, and 0.5 mm/s may matter.
Where the window's highest speed is between SLOW and FAST the ranges are the law's.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from estimators.quantities import Floats, Parameter

#: rad/s (m/s), argued: Highest speed of a window below which the ranges of speeds shrink with it.
SLOW: Final = 0.5
#: rad/s (m/s), argued: Highest speed of a window above which the ranges of speeds grow with it.
FAST: Final = 2.0
#: 1, argued: Quantile of the speeds that counts as the highest: single wild samples move no range.
HIGHEST: Final = 0.99
POWERS: Final = {"rad/s": 1, "m/s": 1, "s/rad": -1, "s/m": -1}  # of speed, by unit


def box(
    parameters: Sequence[Parameter], velocity: Floats, wished: Mapping[str, tuple[float, float]]
) -> tuple[Floats, Floats]:
    """Lower and upper ends, (nonlinear,) each; velocity: (samples,); wished: by name, as they are."""
    speed = float(np.quantile(np.abs(velocity), HIGHEST)) if len(velocity) else 0.0
    ends = [wished.get(one.name, _scaled(one, speed)) for one in parameters]
    low, high = np.array(ends, np.float64).reshape(-1, 2).T
    return low, high


def _scaled(parameter: Parameter, speed: float) -> tuple[float, float]:
    """Wider towards slow or fast motion, never narrower than the law's."""
    power = POWERS.get(parameter.unit, 0)
    if power == 0 or not speed > 0.0:
        return parameter.low, parameter.high
    less, more = min(1.0, speed / SLOW), max(1.0, speed / FAST)
    if power < 0:
        less, more = 1.0 / more, 1.0 / less
    return less * parameter.low, more * parameter.high
