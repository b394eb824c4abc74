"""All rows of a run at once, for comparison: θ by least squares, η by the search that the start has."""

import numpy as np

from estimators.conditioning.conditioner import Conditioner
from estimators.conditioning.spikes import Spikes
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.prior import nothing
from estimators.refit.job import job, run


def at_once(
    settings: JointIdentification, online: JointEstimator, period: float, time: Nanoseconds, values: Floats
) -> Floats:
    """(parameters + nonlinear,), with the noise and the encoders' zero that the online estimator has found.

    period: s; time: (n,) ns; values: (n, channels) SI. Raises ValueError for a joint without nonlinear parameters.
    """
    model, parts = settings.model.build(), online.phases.parts
    if parts.nonlinear is None:
        raise ValueError("expected a joint with nonlinear parameters, found none")
    conditioner = Conditioner(model, period, settings.conditioning)
    rows = conditioner.absorb(*Spikes(model.channels, period).absorb(time, values))
    rows = rows.part(np.asarray((rows.speed >= settings.rest).all(axis=1)))
    block = NonlinearBlock(model, conditioner.taps)
    parts.nonlinear.eta.recentre(rows)
    task = job(block, rows, parts.learner.rls.noise, nothing(len(model.parameters)), True, settings.monitor.refit)
    found = run(task)
    return np.concatenate([found.theta, found.eta])
