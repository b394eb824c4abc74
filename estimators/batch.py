"""All rows of a run at once, for comparison: θ by least squares, η by the search that the start has."""

import numpy as np

from estimators.base import Floats, Nanoseconds
from estimators.explanation import nothing
from estimators.integrated import Identification, Integrated
from estimators.refit_job import job, run
from estimators.searching import Searching
from estimators.shape import Shape
from estimators.signals import Conditioner
from estimators.spikes import Spikes


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
