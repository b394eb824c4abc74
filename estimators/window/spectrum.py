"""How well a window distinguishes the parameters: singular values of its columns, whitened and each of length one.

With C = diag(gram)^-½ gram diag(gram)^-½ = V diag(σ²) Vᵀ the σ are those of the scaled regressor [Φ T]; σ₁/σₚ is its
condition number, the last column of V the direction that the rows tell least about. From products they are good down to
ROUNDING of the largest; what is below is given as 0. Reference: Golub & Van Loan, Matrix
Computations, 4th ed., §2.4.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.base import UNKNOWN, Spectrum
from estimators.quantities import Floats

#: 1, derived: Share of the largest singular value below which one is rounding.
ROUNDING: Final = 1e-7
#: 1, argued: Share of the largest entry of the weakest direction from which a parameter is named.
SHARE: Final = 0.5
#: parameters, argued: Parameters of the weakest direction that are named, at most.
NAMED: Final = 3


def spectrum(gram: Floats, names: Sequence[str]) -> Spectrum:
    """Spectrum of the columns with these products (parameters, parameters); names: of the columns."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    if len(lengths) == 0 or not np.isfinite(gram).all():
        return UNKNOWN
    scale = np.where(lengths > 0.0, lengths, 1.0)
    squares, directions = np.linalg.eigh(gram / scale / scale[:, np.newaxis])
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    values[values <= ROUNDING * values[0]] = 0.0
    return Spectrum(tuple(values.tolist()), _words(np.abs(directions[:, 0]), names))


def _words(weights: Floats, names: Sequence[str]) -> str:
    """A direction by its largest entries."""
    order = np.argsort(-weights, kind="stable")
    large = int(np.count_nonzero(weights >= SHARE * weights.max()))
    first, *others = [str(names[i]) for i in order[: min(max(large, 2), NAMED)]]
    if not others or weights[order[1]] == 0.0:
        return first
    return f"{first} against {' and '.join(others)}"
