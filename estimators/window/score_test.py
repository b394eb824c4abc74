"""Score test of a window: its information about θ and η.

With η frozen, y = Φθ + e is explained by least squares; the tangents T_k = ∂(Φθ)/∂s_k (models/nonlinear_block.py) tell
whether another η would explain more: the first Gauss–Newton step δs of [Φ T] and its standard deviation.
Reference: Golub & Pereyra 1973 (variable projection); irj-joint design, section 3.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.numerics.cholesky import inverse_of
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.prior import Prior
from estimators.rows import Rows


class Score(NamedTuple):
    """A window explained with η frozen."""

    theta: Floats  # (parameters,)
    variance: float  # residual, whitened, per degree of freedom
    unchanged: float  # by how much χ² of the prior's own θ is worse than that of theta, in units of `variance` = 1
    signal: float  # mean square of y, whitened
    step: Floats  # (nonlinear,) of s
    sigma: Floats  # (nonlinear,) of that step, for a residual variance of 1
    spread: Floats  # (parameters,) standard deviations of θ with η free, for a residual variance of 1
    gram: Floats  # [ΦᵀΦ ΦᵀT; TᵀΦ TᵀT] + prior
    inverse: Floats  # gram⁻¹
    mean: Floats  # the same products, without prior, a row
    rows: int


def explain(rows: Rows, slopes: Floats, first: int, block: NonlinearBlock, noise: Floats, before: Prior) -> Score:
    """Least squares over rows with η frozen; before: what else is known.

    slopes: ring of RowHistory.slopes, in which the rows stand from number `first` on; noise: (outputs,) variances,
    whitened units come out.
    """
    p, q, place = len(before.theta), slopes.shape[2], block.place
    weight = 1.0 / np.sqrt(noise)
    gram, cross = np.zeros((p, p)), np.zeros(p)
    count = int(_normal(rows.phi, rows.y, weight, gram, cross))
    solution = inverse_of(gram + before.information) @ (cross + before.information @ before.theta)
    products, right = np.zeros((p + q, p + q)), np.zeros(p + q)
    residual, old, signal = _score(
        rows.phi, rows.y, weight, slopes, first, place.output, place.sign, block.moving, solution, before.theta,
        products, right,
    )  # fmt: skip
    known = int(np.count_nonzero(np.diag(before.information)))
    right[:p] -= before.information @ (solution - before.theta)
    whole = products.copy()
    whole[:p, :p] += before.information
    inverse = inverse_of(whole)
    spread = np.sqrt(np.maximum(np.diag(inverse), 0.0))
    return Score(
        solution,
        residual / max(1, count - p + known),
        old - residual,
        signal / max(1, count),
        (inverse @ right)[p:],
        spread[p:],
        spread[:p],
        whole,
        inverse,
        products / max(1, count),
        count,
    )


@inline
def _rank_one(row: Floats, gram: Floats) -> None:
    """Add row·rowᵀ to the lower triangle of gram."""
    for i in range(len(row)):
        for j in range(i + 1):
            gram[i, j] += row[i] * row[j]


@inline
def _mirror(gram: Floats) -> None:
    for i in range(len(gram)):
        for j in range(i):
            gram[j, i] = gram[i, j]


@kernel("i8(f8[:, :, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1])")
def _normal(phi: Floats, y: Floats, weight: Floats, gram: Floats, cross: Floats) -> int:
    """ΦᵀΦ and Φᵀy of the outputs that are finite, whitened; returns how many."""
    count, row = 0, np.empty(phi.shape[2])
    for r in range(len(y)):
        for o in range(y.shape[1]):
            if not np.isfinite(y[r, o]):
                continue
            target = y[r, o] * weight[o]
            for i in range(len(row)):
                row[i] = phi[r, o, i] * weight[o]
                cross[i] += row[i] * target
            _rank_one(row, gram)
            count += 1
    _mirror(gram)
    return count


@kernel(
    "UniTuple(f8, 3)(f8[:, :, ::1], f8[:, ::1], f8[::1], f8[:, :, ::1], i8, i8, f8, i8[::1], f8[::1], f8[::1], "
    "f8[:, ::1], f8[::1])"
)
def _score(
    phi: Floats,
    y: Floats,
    weight: Floats,
    slopes: Floats,
    first: int,
    output: int,
    sign: float,
    moving: NDArray[np.int64],
    theta: Floats,
    before: Floats,
    products: Floats,
    right: Floats,
) -> tuple[float, float, float]:
    """Fill products, [Φ T]ᵀ[Φ T], and right, [Φ T]ᵀ(y − Φθ), of the outputs that are finite, whitened.

    Returns the sums of squares of y − Φθ, of y − Φ·(before) and of y.
    """
    residuals = olds = signals = 0.0
    p, q = len(theta), slopes.shape[2]
    row = np.empty(p + q)
    for r in range(len(y)):
        own = (first + r) % len(slopes)
        for o in range(y.shape[1]):
            if not np.isfinite(y[r, o]):
                continue
            w = weight[o]
            residual = old = target = y[r, o] * w
            for i in range(p):
                row[i] = phi[r, o, i] * w
                residual -= row[i] * theta[i]
                old -= row[i] * before[i]
            for k in range(q):
                row[p + k] = 0.0
                if o == output:
                    for c in range(len(moving)):
                        row[p + k] += sign * w * slopes[own, c, k] * theta[moving[c]]
            for i in range(p + q):
                right[i] += row[i] * residual
            _rank_one(row, products)
            residuals += residual * residual
            olds += old * old
            signals += target * target
    _mirror(products)
    return residuals, olds, signals
