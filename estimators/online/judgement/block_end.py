"""End of a block: counts and sums fade as the learner forgets, and the fit of the model to all rows is reported."""

import math
from typing import Final

import numpy as np

from estimators.misfit.recent_values import MEMORY, recent_gain
from estimators.misfit.regressors import CAUSES, SATURATION, TORQUE
from estimators.misfit.scores import YOUNG, products
from estimators.numerics.jit import inline, kernel
from estimators.online.judgement.fit_state import FitState
from estimators.online.judgement.validity import SMALL
from estimators.recursive.learner import Learnt
from estimators.thresholds import GOOD, MISFIT_OVER

#: blocks, argued: Blocks before which no misfit is reported.
LEAST: Final = 8.0
#: blocks, argued: Memory in which changes of the values are counted, that of θ.
MINUTE: Final = 60.0
NOW: Final = 1  # codes of FitState.varies: the last seconds have other values …
OFTEN: Final = 2  # … and so it was again and again
# misfit regressors of an output that are not proportional to its torque, from the first to before the last
NOT_LINEAR: Final = (CAUSES.index(TORQUE), CAUSES.index(SATURATION) + CAUSES.count(SATURATION))


@inline
def _keep_recent(fit: FitState, learnt: Learnt) -> None:
    """Add the block to the products of the last seconds."""
    fade, rows, p = math.exp(-1.0 / MEMORY), 0.0, len(fit.steps)
    for o in range(len(fit.rows)):
        rows += fit.sums.count[o]
    block = products(fit.sums.products, learnt.state.noise[0] / learnt.state.noise, p)
    fit.recent_rows = fade * fit.recent_rows + rows
    for i in range(p + 1):
        for j in range(p + 1):
            fit.recent[i, j] = fade * fit.recent[i, j] + block[i, j]


@kernel((FitState, Learnt))
def fade(fit: FitState, learnt: Learnt) -> float:
    """Add the counts of a block to the faded ones, and begin with the next; returns the factor of what was before."""
    sums, special, quantiser, forgotten = fit.sums, fit.sums.special, fit.quantiser, learnt.state.forgotten
    factor, outputs = math.exp(fit.forgotten - forgotten) if forgotten >= fit.forgotten else 0.0, len(fit.rows)
    # rows clear of any stop still identify what an alarm of another cause makes the sums forget
    for kind in range(len(special) if fit.forgotten > 0.0 else 2 * outputs):
        for i in range(special.shape[1]):
            for j in range(special.shape[2]):
                special[kind, i, j] *= factor
    fit.forgotten = forgotten
    _keep_recent(fit, learnt)
    for o in range(outputs):
        fit.rows[o] = factor * fit.rows[o] + sums.count[o]
        fit.turns[o] = factor * (fit.turns[o] + sums.turned_count[o])
        fit.forth[o] = factor * fit.forth[o] + sums.forth[o]
        fit.rough[o] = factor * fit.rough[o] + sums.noise[o]
        fit.owed[o] = factor * fit.owed[o] + sums.noise[o] + learnt.reversal[o] ** 2 * sums.turned_noise[o]
        sums.count[o] = sums.turned_count[o] = sums.noise[o] = sums.turned_noise[o] = sums.forth[o] = 0.0
        for i in range(fit.slow.shape[1]):
            fit.slow[o, i] = factor * fit.slow[o, i] + sums.slow[o, i]
            sums.slow[o, i] = 0.0
    for i in range(len(fit.steep)):
        fit.steep[i] = factor * fit.steep[i] + sums.steep[i]
        sums.steep[i] = 0.0
    for place in range(len(quantiser.sums)):
        for i in range(quantiser.sums.shape[1]):
            for j in range(quantiser.sums.shape[2]):
                quantiser.sums[place, i, j] *= factor
    quantiser.total *= factor
    return factor


@inline
def _disproportion(fit: FitState) -> float:
    """Share of the torque (rms) that a measurement out of proportion explains; 0 where another cause explains more.

    Such a measurement is wrong in every row, so its limit is that of the prediction.
    """
    most, largest, total = 0.0, 0.0, 0.0
    for k in range(len(fit.gains)):
        largest = max(largest, fit.gains[k])
        if NOT_LINEAR[0] <= k % fit.settings.own < NOT_LINEAR[1]:
            most, total = max(most, fit.gains[k]), total + fit.gains[k]
    return np.sqrt(total) if most >= largest else 0.0


@inline
def _compare_recent(fit: FitState, alarming: bool) -> None:
    """Write whether the last seconds have other values than θ, now or again and again within a minute.

    What an alarm is about to answer happens now; it is counted among the changes only if no alarm comes.
    """
    p, fade = len(fit.steps), math.exp(-1.0 / MINUTE)
    gain = recent_gain(fit.recent, fit.scores.theta + fit.behind, fit.recent_rows, fit.settings.overlap)
    if not alarming:
        fit.differing, fit.compared = fade * fit.differing + gain, fade * fit.compared + fit.recent[p, p]
    limit = ((MISFIT_OVER if fit.varies else 1.0) * SMALL) ** 2
    fit.varies = NOW if gain > limit * fit.recent[p, p] else 0
    if fit.differing > limit * fit.compared:
        fit.varies = OFTEN


@kernel((FitState, Learnt))
def report(fit: FitState, learnt: Learnt) -> bool:
    """Write what misfit regressors and values of the last seconds explain, and whether it is too much for anything to
    be valid.

    While there are too few blocks, for example after an alarm, the last report is kept; returns whether there are
    enough.
    """
    judged = fit.scores
    if fit.sums.torque and judged.blocks > YOUNG:
        _compare_recent(fit, learnt.state.cusum > 0.0)
    if judged.effective_blocks < LEAST or learnt.state.cusum > 0.0:
        return False
    for k in range(len(fit.gains)):
        fit.gains[k], fit.found[k] = judged.gains[k], judged.coefficients[k]
    for output in range(len(fit.late)):
        for i in range(len(fit.steps)):
            fit.late[output, i] = judged.lag[output, i]
    fit.share, fit.left = judged.explained, judged.unexplained
    over = MISFIT_OVER if fit.spoiled else 1.0
    fit.spoiled = fit.share > over * GOOD or _disproportion(fit) > over * SMALL
    return True
