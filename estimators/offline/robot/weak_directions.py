"""Weak directions: combinations of parameters of which the data say less than the prior does."""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

LEAST_INFORMATION: Final = 1.0  # information of the data, relative to the prior's, below which a direction is weak
PART: Final = 0.35  # of a direction's largest component, from which a parameter is named


class WeakDirection(NamedTuple):
    """One direction, in words."""

    information: float  # of the data, the prior's is 1
    parts: tuple[tuple[str, float], ...]  # parameter, share of the direction (largest ±1)

    @property
    def words(self) -> str:
        """ "Izz.elbow − 0.5·Ixx.wrist"."""
        text = ""
        for name, share in self.parts:
            size = "" if abs(share) > 0.995 else f"{abs(share):.2g}·"
            text += f"{' − ' if share < 0 else ' + ' if text else ''}{size}{name}"
        return text.strip()


def weak_directions(covariance: Floats, prior: Floats, names: tuple[str, ...]) -> list[WeakDirection]:
    """The least known first. covariance, prior: (p, p) of θ after and before; names: (p,)."""
    scale = np.sqrt(np.diag(prior))
    S = np.linalg.cholesky(prior / scale / scale[:, None] + 1e-12 * np.eye(len(scale)))
    after = np.linalg.solve(S, np.linalg.solve(S, covariance / scale / scale[:, None]).T)
    values, vectors = np.linalg.eigh(0.5 * (after + after.T))
    found = []
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        information = 1.0 / max(float(value), 1e-12) - 1.0
        if information > LEAST_INFORMATION:
            break
        direction = S @ vector
        direction = direction / direction[np.argmax(np.abs(direction))]
        order = np.argsort(-np.abs(direction))
        parts = tuple((names[i], float(direction[i])) for i in order if abs(direction[i]) >= PART)
        found.append(WeakDirection(max(information, 0.0), parts))
    return found
