"""What is known of θ before a window, as further rows of it."""

from typing import NamedTuple

import numpy as np

from estimators.quantities import Floats


class Prior(NamedTuple):
    """What is known of θ before a window, in units of the whitened residual variance."""

    theta: Floats  # (parameters,)
    information: Floats  # (parameters, parameters)

    def root(self) -> Floats:
        """R with RᵀR = information: (known, parameters), a row per direction that is known."""
        scale = np.sqrt(np.diag(self.information))
        known = np.flatnonzero(scale > 0.0)
        part = self.information[np.ix_(known, known)] / np.outer(scale[known], scale[known])
        values, vectors = np.linalg.eigh(part)
        rows = np.zeros((len(known), len(scale)))
        rows[:, known] = (vectors * np.sqrt(np.maximum(values, 0.0))).T * scale[known]
        return rows


def nothing(parameters: int) -> Prior:
    """No prior."""
    return Prior(np.zeros(parameters), np.zeros((parameters, parameters)))
