"""Whether to accept the result of a search: how much residual it explains, and the reasons to reject it."""

import math
from typing import Final

import numpy as np

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.refit.outcome import RefitOutcome
from estimators.refit.settings import AcceptanceSettings

#: 1, argued: Times the window of a rejected refit, before the next one is tried.
GROWTH: Final = 1.2
DEFAULT: Final = AcceptanceSettings()


def delta(usual: float, signal: float, accept: AcceptanceSettings = DEFAULT) -> float:
    """δ²: the residual variance up to which a window is explained.

    usual: residual variance of the start; signal: mean square of y; both whitened.
    """
    return max(accept.noise**2 * usual, accept.share**2 * signal)


def doubts(
    shape: NonlinearBlock, outcome: RefitOutcome, sigma: Floats, accept: AcceptanceSettings = DEFAULT
) -> tuple[Reason, ...]:
    """The reasons to reject an outcome by itself; sigma: (nonlinear,) deviations of s."""
    found = tuple(
        Reason("nonlinear_uncertain", one.name, {"value": value, "percent": 100.0 * s}, {"unit": one.unit})
        for one, value, s in zip(shape.nonlinear, outcome.eta.tolist(), sigma.tolist(), strict=True)
        if not s <= accept.certain
    )
    found += tuple(Reason("nonlinear_at_range_end", name) for name in outcome.edge)
    found += tuple(Reason("coefficient_negative", name) for name in outcome.at_zero)
    return found + ((Reason("second_minimum", words={"cause": outcome.ambiguous}),) if outcome.ambiguous else ())


def implausible(
    shape: NonlinearBlock,
    outcome: RefitOutcome,
    sigma: Floats,
    eta: Floats,
    limit: float,
    usual: float,
    accept: AcceptanceSettings = DEFAULT,
    long: bool = False,
) -> str:
    """Why an outcome is not accepted in place of eta, in words; "" when it is. limit: δ² of its window.

    long: whether the window has the motion of a start, by which any η counts.
    """
    against = tuple(map(str, doubts(shape, outcome, sigma, accept)))
    if outcome.residual > limit:
        against = (f"the residual is {math.sqrt(outcome.residual / usual):.2f} times the usual one", *against)
    distant = np.abs(shape.distance(eta, outcome.eta)) > math.log(accept.plausible)
    names = [parameter.name for parameter, is_far in zip(shape.nonlinear, distant, strict=True) if is_far]
    if names and not long:
        far = f"{', '.join(names)} changed by more than a factor of {accept.plausible:g}"
        against = (*against, f"{far}, which a window as long as a start must show")
    return "; ".join(against)
