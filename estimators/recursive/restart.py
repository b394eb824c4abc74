"""Recursive least squares that starts again from a window, with λ = 1: in the core, or in a worker after a re-fit."""

import math
from typing import Any, Final

import numpy as np

from estimators.quantities import Floats
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Fixed
from estimators.recursive.prior import Prior
from estimators.recursive.state import RecursiveState
from jointwatch_numba.layout import copy

COUNTERS: Final = ("refused", "masked", "clipped", "alarms")


def relearn(
    rls: RecursiveLeastSquares, leverage: Floats, before: Prior, anchor: Floats, phi: Floats, y: Floats
) -> None:
    """Learn θ and P from rows and what was known before; anchor: θ where no data pull.

    leverage: (parameters,) rms of each column, whitened; phi (rows, outputs, parameters), y (rows, outputs).
    """
    rls.begin(rls.noise.copy(), leverage)
    rls.theta[:] = anchor
    if before.information.any():
        known = before.root()
        pseudo, values = np.zeros((len(known), rls.m, rls.p)), np.full((len(known), rls.m), np.nan)
        pseudo[:, 0] = math.sqrt(rls.noise[0]) * known
        values[:, 0] = math.sqrt(rls.noise[0]) * (known @ before.theta)
        rls.absorb(pseudo, values)
    rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))


def relearnt(
    state: dict[str, Any], leverage: Floats, before: Prior, anchor: Floats, phi: Floats, y: Floats
) -> dict[str, Any]:
    """Relearn from the values of a state, as its as_dict() gives them, to those of another, with COUNTERS from zero."""
    rls = RecursiveLeastSquares(phi.shape[2], phi.shape[1], 1.0, Fixed())  # period and law: the state has them
    copy(RecursiveState(**state | dict.fromkeys(COUNTERS, 0)), rls.state)
    relearn(rls, leverage, before, anchor, phi, y)
    return rls.state.as_dict()
