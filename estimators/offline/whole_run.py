"""All rows of a run at once, for comparison: θ by least squares, η by the search that the start has."""

import numpy as np

from estimators.conditioning.conditioner import Conditioner
from estimators.conditioning.spikes import Spikes
from estimators.models.nonlinear_block import Shape
from estimators.online.joint import Integrated
from estimators.online.monitor.refits import Searching
from estimators.online.settings import Identification
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.prior import nothing
from estimators.refit.job import job, run


def at_once(settings: Identification, online: Integrated, period: float, time: Nanoseconds, values: Floats) -> Floats:
    """(parameters + nonlinear,), with the noise and the encoders' zero that the online estimator has found.

    period: s; time: (n,) ns; values: (n, channels) SI. Raises ValueError for a joint without nonlinear parameters.
    """
    model, procedure = settings.model.build(), online.procedure
    if not isinstance(procedure, Searching):
        raise ValueError("expected a joint with nonlinear parameters, found none")
    conditioner = Conditioner(model, period, settings.conditioning)
    rows = conditioner.absorb(*Spikes(model.channels, period).absorb(time, values))
    rows = rows.part(rows.speed >= settings.standstill)
    shape = Shape(model, conditioner.taps)
    shape.recentre(rows, procedure.zero)
    task = job(shape, rows, procedure.rls.noise, nothing(len(model.parameters)), True, settings.monitor.refit)
    found = run(task)
    return np.concatenate([found.theta, found.eta])
