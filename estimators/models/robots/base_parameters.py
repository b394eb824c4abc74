"""Base parameters: the combinations of standard parameters that a robot's torque identifies, and what each means.

Stack Y over random motions; un-pivoted QR in column order; a column is independent where |R_kk| exceeds the rounding of
the largest. With Y = [Y1 Y2], Y2 = Y1 β:  τ = Y1 (π1 + β π2), so that the base regressor is a subset of columns and the
base parameters are G π with G = [I β]. Reference: Gautier 1991.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS, Tree
from estimators.quantities import Floats

ROWS: Final = 400  # random motions
DEPENDENT: Final = 10.0  # times the rounding of the largest |R_kk|, below which a column depends on the others
NOTHING: Final = 1e-10  # entry of β below which it is none
NAMES: Final = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
# within a link inertia comes before mass: a column that could mean either then means the inertia
ORDER: Final = (4, 5, 7, 6, 8, 9, 1, 2, 3, 0)


class BaseProjection(NamedTuple):
    """Columns of Y that are kept, and G: base = G @ standard."""

    columns: NDArray[np.int64]  # (p,) of Y's 10 n, ascending within the order of columns
    G: Floats  # (p, 10 n)


def base_projection(tree: Tree) -> BaseProjection:
    """Projection on base parameters, found from random motions; always the same for a tree."""
    n = tree.size()
    random = np.random.default_rng(0)
    q, dq, ddq = (random.uniform(-np.pi, np.pi, (ROWS, n)) for _ in range(3))
    Y = np.empty((ROWS, n, PARAMETERS * n))
    regressor(*tree, q, dq, ddq, Y)
    order = np.array([PARAMETERS * link + k for link in range(n) for k in ORDER])
    return project(Y.reshape(ROWS * n, -1), order)


def project(Y: Floats, order: NDArray[np.int64]) -> BaseProjection:
    """Independent columns of Y (rows, columns), the first in `order` first."""
    R = np.asarray(np.linalg.qr(Y[:, order], mode="r"))
    size = np.abs(np.diag(R))
    independent = size > size.max() * max(Y.shape) * np.finfo(float).eps * DEPENDENT
    G = np.zeros((int(independent.sum()), Y.shape[1]))
    G[:, order[independent]] = np.eye(len(G))
    if not independent.all():
        beta = np.linalg.lstsq(R[:, independent], R[:, ~independent], rcond=None)[0]
        G[:, order[~independent]] = np.where(np.abs(beta) < NOTHING, 0.0, beta)
    return BaseProjection(order[independent], G)


def meaning(projection: BaseProjection, links: tuple[str, ...]) -> tuple[str, ...]:
    """Each base parameter in words: "Izz.forearm + 0.31·mx.wrist − …"."""
    words = []
    for column, row in zip(projection.columns, projection.G, strict=True):
        text = standard_name(int(column), links)
        for other in np.flatnonzero(row):
            if other != column:
                factor = float(row[other])
                size = "" if abs(abs(factor) - 1.0) < 1e-9 else f"{abs(factor):.4g}·"
                text += f" {'−' if factor < 0 else '+'} {size}{standard_name(int(other), links)}"
        words.append(text)
    return tuple(words)


def standard_name(column: int, links: tuple[str, ...]) -> str:
    """Name of a column of Y."""
    return f"{NAMES[column % PARAMETERS]}.{links[column // PARAMETERS]}"
