"""Search of η in a worker: θ and η of a window, and their covariance by the encoders' steps.

All that evaluates a window many times is done here, and not in the core, which takes the result.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import distinct
from estimators.quantisation.effect import Lattice, steps_effect
from estimators.quantities import Floats
from estimators.refit import job as refit
from estimators.refit.outcome import RefitOutcome
from estimators.rows import ARGUMENTS, Rows


class ShiftedWindow(NamedTuple):
    """Declares what the shifted encoders need to read the last rows of a window."""

    seen: Floats  # (ARGUMENTS, instants) what the law sees of these rows, each instant once
    first: NDArray[np.int64]  # (rows,) where each row's instants begin
    law: Lattice  # of the encoder that the law's speed comes from
    far: Lattice | None  # of that behind the spring


class EtaSearch(NamedTuple):
    """Declares a search: a copy of a window as the core has it."""

    job: refit.Job
    block: NonlinearBlock  # in force
    shifted_window: ShiftedWindow | None  # None while no steps are known


def shifted_window(block: NonlinearBlock, rows: Rows, law: Lattice, far: Lattice | None) -> ShiftedWindow:
    """Prepare the last rows of a window for shifted encoders."""
    return ShiftedWindow(*distinct(rows.samples[:, block.index], ARGUMENTS), law, far)


def run(search: EtaSearch) -> RefitOutcome:
    """Search η; raises ValueError with the reason where the window cannot be fitted."""
    outcome, job, block = refit.run(search.job), search.job, search.block
    if outcome.law is not None:
        block = block.with_law(outcome.law)
    outcome = replace(outcome, slopes=block.slopes_along(job.stretch, job.first, outcome.eta))
    return outcome if search.shifted_window is None else _weighed(outcome, job, block, search.shifted_window)


def _weighed(
    outcome: RefitOutcome, job: refit.Job, block: NonlinearBlock, shifted_window: ShiftedWindow
) -> RefitOutcome:
    """Return an outcome with the covariance by shifted encoders."""
    seen, first, law, far = shifted_window
    count = len(first)
    phi, y = job.phi[len(job.phi) - count :].copy(), job.y[len(job.y) - count :]
    phi[:, job.place, job.moving] = outcome.columns[len(job.phi) - count :]
    samples = np.zeros((count, block.index + 1, ARGUMENTS, len(job.taps)))
    samples[:, block.index] = seen[:, first[:, np.newaxis] + np.arange(len(job.taps))].transpose(1, 0, 2)
    rows = Rows(np.zeros(count, np.int64), phi, y, np.zeros((count, 1)), samples)
    window = block, rows, outcome.eta, outcome.theta, outcome.noise if job.again else job.noise, law, far
    steps, imitated = steps_effect(*window)
    return replace(outcome, steps=steps, imitated=imitated)
