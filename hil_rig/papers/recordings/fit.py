"""Fits of a joint model to rows of a recording, and its errors on other rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.models.base import Model
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.recursive.prior import Prior
from estimators.refit.job import job, run
from estimators.refit.settings import RefitSettings
from estimators.rows import Rows


class FittedModel(NamedTuple):
    """A model's parameters, and how to predict with them."""

    model: Model
    taps: Floats
    theta: Floats  # (parameters,)
    eta: Floats  # (nonlinear,)

    def predict(self, rows: Rows) -> Floats:
        """Predict the first output: (rows,), in its unit."""
        if not len(self.eta):
            return np.asarray(rows.phi[:, 0] @ self.theta)
        rows = rows._replace(phi=rows.phi.copy())
        NonlinearBlock(self.model, self.taps).refill(rows, self.eta)
        return np.asarray(rows.phi[:, 0] @ self.theta)

    def rmse(self, rows: Rows) -> float:
        """Root mean square of y − Φθ, in the output's unit."""
        return float(np.sqrt(np.mean((rows.y[:, 0] - self.predict(rows)) ** 2)))

    def relative(self, rows: Rows) -> float:
        """‖y − Φθ‖ / ‖y‖."""
        return self.rmse(rows) / float(np.sqrt(np.mean(rows.y[:, 0] ** 2)))


def condition(model: Model, period: float, conditioning: Conditioning, values: Floats) -> tuple[Rows, Floats]:
    """Return the regression rows of a recording, and the filter taps that smoothed them.

    period: s; values: (samples, channels) equidistant, SI.
    """
    conditioner = Conditioner(model, period, conditioning)
    time: NDArray[np.int64] = np.round(np.arange(1, len(values) + 1) * period * 1e9).astype(np.int64)
    return conditioner.absorb(time, values), conditioner.taps


def fit(model: Model, taps: Floats, rows: Rows) -> FittedModel:
    """Fit θ by least squares within the parameters' bounds, and η, if the model has any, by variable projection."""
    parameters = model.parameters
    if model.nonlinear:
        none = Prior(np.zeros(len(parameters)), np.zeros((len(parameters),) * 2))
        found = run(job(NonlinearBlock(model, taps), rows, np.ones(1), none, False, RefitSettings()))
        return FittedModel(model, taps, found.theta, found.eta)
    scale = np.sqrt(np.mean(rows.phi[:, 0] ** 2, axis=0))
    bounds = (np.array([p.low for p in parameters]), np.array([p.high for p in parameters]))
    solution = lsq_linear(rows.phi[:, 0] / scale, rows.y[:, 0], bounds, method="bvls")
    return FittedModel(model, taps, solution.x / scale, np.zeros(0))
