"""Columns of a joint model that no motion tells apart: a mistake in the configuration, found before any data."""

from typing import Final

import numpy as np

from estimators.models.base import Model
from estimators.models.memory import thresholds
from estimators.rows import RATE, SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

ROWS: Final = 400
ALIKE: Final = 1e-9  # a column's own part, squared, over the column's, below which it is a mixture of the others
SHARE: Final = 0.1  # of the largest weight, from which a column belongs to the mixture


def collinear(model: Model) -> tuple[str, ...]:
    """Names of the first parameters found whose columns are a mixture of each other; () when there are none."""
    rng = np.random.default_rng(7)
    channels = len(model.channels) + len(thresholds(model))
    signals = np.empty((ROWS, channels, SIGNALS))
    signals[:, :, VALUE] = signals[:, :, SMOOTH] = rng.uniform(-3.0, 3.0, (ROWS, channels))
    signals[:, :, RATE] = signals[:, :, SMOOTH_RATE] = (
        rng.choice([-1, 1], (ROWS, 1)) * np.geomspace(1e-3, 3.0, ROWS)[:, np.newaxis]
    )
    signals[:, :, SECOND] = rng.uniform(-5.0, 5.0, (ROWS, channels))
    signals[:, len(model.channels) :, RATE] = rng.uniform(-5.0, 5.0, (ROWS, channels - len(model.channels)))
    names = [parameter.name for parameter in model.parameters]
    phi, y = np.zeros((ROWS, len(model.outputs), len(names))), np.zeros((ROWS, len(model.outputs)))
    model.fill(signals, model.start, phi, y)
    columns = np.nan_to_num(phi).reshape(-1, len(names))
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(lengths > 0.0, lengths, 1.0)
    for j in range(len(names)):
        if lengths[j] == 0.0:
            return (names[j],)
        weights = np.linalg.lstsq(columns[:, :j], columns[:, j])[0] if j else np.zeros(0)
        own = columns[:, j] - columns[:, :j] @ weights
        if float(own @ own) <= ALIKE:
            parts = np.flatnonzero(np.abs(weights) > SHARE * np.abs(weights).max())
            return (*(names[i] for i in parts), names[j])
    return ()
