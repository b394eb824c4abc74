"""Thresholds that several rooms share. Each is declared as `docs/thresholds.md` reads it: unit, basis, reason."""

from typing import Final

#: rad/s (m/s), argued: Below this speed static friction can hold any torque up to its size, so a row tells nothing of
#: friction.
AT_REST: Final = 0.02
#: 1, derived: Share of a column's square that the other columns do not explain; below it rounding of float64 sums over
#: a window decides.
COLLINEAR: Final = 1e-10
ENDLESS: Final = 1 << 40  # a number of rows that is never reached
#: periods, derived: A step in time that differs from the period by more belongs to another tick: half a period is the
#: nearest-tick limit.
GAP: Final = 0.5
#: 1, argued: A relative deviation up to which a value counts as known; a share of torque or of a constant beyond it
#: takes validity away.
GOOD: Final = 0.05
#: 1, tuned: R² of a column on the others, from which its parameter is not reported: a one-sided load gave a lost motion
#: of 905 ± 8 µrad without it.
IMITATED: Final = 0.9
#: s, argued: One deviation of the delay between torque and position before any motion: a bus cycle and a current
#: filter.
LAG_SPREAD: Final = 2e-3
#: deviations, argued: By which wear must be certain before it is reported: it is tested every few seconds, for years.
LASTING_CHANGE: Final = 5.0
#: 1, derived: Keeps a division by zero finite; far below every square that occurs and above the smallest normal float64
#: (2.2e-308).
LEAST_DIVISOR: Final = 1e-300
#: 1, derived: Median of the square of a Gaussian number with variance 1.
MEDIAN_SQUARE: Final = 0.455
#: 1, argued: A misfit that was reported is over below this share of its limit (hysteresis).
MISFIT_OVER: Final = 0.7
NEVER: Final = 1 << 62  # ns: an instant that is never reached
#: 1, argued: The least noise that an output is believed to have, as a share of its rms.
NOISE_FLOOR: Final = 1e-6
#: 1, derived: Share of a column's square that the other columns must leave; below it rounding of float64 decides.
OWN_SHARE: Final = 1e-9
#: 1, derived: Added to a Gram matrix of unit columns, it keeps out directions that only rounding tells.
RIDGE: Final = 1e-12
#: 1, argued: Times the rows that η rests on, from which a search over all of them sharpens it (decisions 007, 054).
SHARPENS: Final = 1.5
#: s, argued: Motion that a starting procedure takes at least: one or two periods of usual motions, and enough rows to
#: calibrate the alarm.
START: Final = 12.0
#: periods, derived: Two samples or rows at most this far apart are neighbours: one is missing between those that are
#: two periods apart.
SUCCESSIVE: Final = 1.5
#: 1, derived: A relative change below this is rounding of a float64 after a few conversions.
VALUE_ROUNDING: Final = 1e-9
