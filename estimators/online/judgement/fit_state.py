"""What a Fit keeps."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from estimators.misfit import regressors, scores
from estimators.quantisation.shifted_quantiser import RereadRows
from jointwatch_layout import Cube, Layout, Matrix, Vector


class FitKept(Layout, version=6):
    """Sums of the rows since the start, faded, and what was told of them when the last block ended.

    n: columns of an output, its own, witnesses and y; N: of all outputs, y left out.
    """

    sums: regressors.BlockSums  # of the current block
    reread: RereadRows
    gram: Annotated[Cube, "outputs", "n", "n"]  # products of [φ φ̇ w y], faded
    turns: Annotated[Vector, "outputs"]  # rows with a reversal, faded
    spread: Annotated[Matrix, "N", "N"]
    scores: Annotated[Vector, "N"]
    last: Annotated[Vector, "N"]
    figures: Vector  # see scores.py
    theta: Annotated[Vector, "parameters"]  # least squares over the same rows
    rows: Annotated[Vector, "outputs"]  # of them, faded
    steps: Annotated[Vector, "parameters"]  # what an encoder's steps have moved θ by, as told
    forth: Annotated[Vector, "outputs"]  # of rows, those in which the joint moves forth, faded
    rough: Annotated[Vector, "outputs"]  # rows by the noise of an encoder's steps in them, 1: white rounding's, faded
    owed: Annotated[Vector, "outputs"]  # the same of all that taught and are not corrected for it yet, faded
    trail: Annotated[Vector, "parameters + 1"]  # Σ of θ at the ends of blocks, faded, and of their weights
    behind: Annotated[Vector, "parameters"]  # by which θ is behind a truth that moves on, as told
    late: Annotated[Vector, "parameters"]  # what a lag that nobody knows may have done to θ, squared, as told
    gains: Annotated[Vector, "witnesses"]  # share of y² that each explains, as told
    found: Annotated[Vector, "witnesses"]  # their weights
    lattice: Annotated[Vector, "parameters"]  # what an encoder's place may have moved θ by, squared, as told
    share: float = 0.0  # of the torque, rms, that witnesses explain, as told
    left: float = 0.0  # … and that the model leaves
    spoiled: bool = False  # whether it is too much for anything to be valid
    due: int = 0  # number of the row that ends the block
    forgotten: float = 0.0  # of the learner, when the last block ended


def nothing(
    p: int, owners: NDArray[np.int64], own: int, row: float, remembers: bool = False, unread: int = 0
) -> FitKept:
    """Before any row; p: parameters; owners: joint of each output; own: witnesses of each output; row: s between rows;
    remembers: whether friction has a memory of its own; unread: rows that wait to be read again."""
    m = len(owners)
    return FitKept.zeros(
        sums=regressors.BlockSums.of(owners, p, own, 1e9 * row, remembers), reread=RereadRows.room(unread, p, row),
        outputs=m, n=2 * p + own, N=p + m * own, parameters=p, trail=np.zeros(p + 1), witnesses=m * own,
        figures=np.zeros(scores.FIGURES),
    )  # fmt: skip
