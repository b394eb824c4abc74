"""Whether what a search found may count: how much residual is explained, and what speaks against an outcome."""

import math
from typing import Final

import numpy as np

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.refit.outcome import RefitOutcome

#: 1, tuned: Deviation of ln η up to which a window is covered and a refit accepted; Case 2 (decision 006, points 2 and
#: 5).
CERTAIN: Final = 0.08
#: 1, argued: Times the usual residual, rms, up to which a window is explained.
NOISE: Final = 1.2
#: 1, argued: Share of the torque's rms up to which a window is explained as well.
SHARE: Final = 0.004
#: 1, argued: Change of ln η between two refits that is plausible: a factor of two.
PLAUSIBLE: Final = math.log(2.0)
#: χ², tuned: Gain that another η or another law must promise to replace the one in force; Case 2, 40 seeds (decision
#: 006, points 3 and 8).
BETTER: Final = 20.0
#: 1, argued: Times the window of a rejected refit, before the next one is tried.
GROWTH: Final = 1.2


def delta(usual: float, signal: float) -> float:
    """δ²: the residual variance up to which a window is explained.

    usual: residual variance of the start; signal: mean square of y; both whitened.
    """
    return max(NOISE**2 * usual, SHARE**2 * signal)


def doubts(shape: NonlinearBlock, outcome: RefitOutcome, sigma: Floats) -> tuple[Reason, ...]:
    """What speaks against an outcome by itself; sigma: (nonlinear,) deviations of s."""
    found = tuple(
        Reason("nonlinear_uncertain", one.name, {"value": value, "percent": 100.0 * s}, {"unit": one.unit})
        for one, value, s in zip(shape.nonlinear, outcome.eta.tolist(), sigma.tolist(), strict=True)
        if not s <= CERTAIN
    )
    found += tuple(Reason("nonlinear_at_range_end", name) for name in outcome.edge)
    found += tuple(Reason("coefficient_negative", name) for name in outcome.held)
    return found + ((Reason("second_minimum", words={"cause": outcome.ambiguous}),) if outcome.ambiguous else ())


def implausible(
    shape: NonlinearBlock, outcome: RefitOutcome, sigma: Floats, eta: Floats, limit: float, usual: float
) -> str:
    """Why an outcome is not accepted in place of eta, in words; "" when it is. limit: δ² of its window."""
    against = tuple(map(str, doubts(shape, outcome, sigma)))
    if outcome.residual > limit:
        against = (f"the residual is {math.sqrt(outcome.residual / usual):.2f} times the usual one", *against)
    far = np.abs(shape.distance(eta, outcome.eta)) > PLAUSIBLE
    names = [parameter.name for parameter, is_far in zip(shape.nonlinear, far, strict=True) if is_far]
    if names:
        against = (*against, f"{', '.join(names)} more than twice, or less than half, of the value before")
    return "; ".join(against)
