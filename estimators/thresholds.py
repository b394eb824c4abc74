"""Thresholds that several rooms share. Each is declared as `docs/thresholds.md` reads it: unit, basis, reason."""

from typing import Final

AT_REST: Final = 0.02
COLLINEAR: Final = 1e-10
ENDLESS: Final = 1 << 40  # a number of rows that is never reached
GAP: Final = 0.5
GOOD: Final = 0.05
LAG_SPREAD: Final = 2e-3
LEAST_DIVISOR: Final = 1e-300
MISFIT_OVER: Final = 0.7
NEVER: Final = 1 << 62  # ns: an instant that is never reached
NOISE_FLOOR: Final = 1e-6
OWN_SHARE: Final = 1e-9
START: Final = 12.0
SUCCESSIVE: Final = 1.5
VALUE_ROUNDING: Final = 1e-9
