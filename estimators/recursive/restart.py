"""Recursive least squares begun anew from a window, with λ = 1: in the core, or in a worker beside a re-fit."""

import math
from typing import Final

import numpy as np

from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Fixed
from estimators.recursive.prior import Prior

COUNTERS: Final = [at.REFUSED, at.MASKED, at.CLIPPED, at.ALARMS]


def relearn(
    rls: RecursiveLeastSquares, leverage: Floats, before: Prior, anchor: Floats, phi: Floats, y: Floats
) -> None:
    """θ and P from rows and what was known before; anchor: θ where no data pull.

    leverage: (parameters,) rms of each column, whitened; phi (rows, outputs, parameters), y (rows, outputs).
    """
    rls.begin(rls.noise.copy(), leverage)
    rls.theta[:] = anchor
    if before.information.any():
        known = before.root()
        pseudo, told = np.zeros((len(known), rls.m, rls.p)), np.full((len(known), rls.m), np.nan)
        pseudo[:, 0] = math.sqrt(rls.noise[0]) * known
        told[:, 0] = math.sqrt(rls.noise[0]) * (known @ before.theta)
        rls.absorb(pseudo, told)
    rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))


def relearnt(state: Floats, leverage: Floats, before: Prior, anchor: Floats, phi: Floats, y: Floats) -> Floats:
    """As relearn(), from a state to a state, whose COUNTERS begin at zero."""
    rls = RecursiveLeastSquares(phi.shape[2], phi.shape[1], 1.0, Fixed())  # period and law: the state has them
    rls.state[:] = state
    rls.state[COUNTERS] = 0.0
    relearn(rls, leverage, before, anchor, phi, y)
    return rls.state
