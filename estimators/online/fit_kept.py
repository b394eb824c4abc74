"""What a Fit keeps: flat arrays, which a checkpoint copies as they lie."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from estimators.online import reread
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive import misfit, witnesses


@dataclass(slots=True)
class FitKept:
    """What a Fit keeps; n: columns of an output, its own, witnesses and y; N: of all outputs, y left out."""

    VERSION: ClassVar[int] = 5

    fresh: Floats  # (outputs, n + p − 1, the same) products of the current block
    gram: Floats  # the same of all, faded
    turned: Floats  # (2 outputs, p + 1, p + 1) of rows with a reversal, then of those behind one, φ and y, faded
    turns: Floats  # (outputs,) of these rows, faded
    before: Floats  # (outputs, p) φ of the last row
    joints: Floats  # (joints, JOINT_STATE)
    outputs: Floats  # (outputs, OUTPUT_STATE)
    spread: Floats  # (N, N)
    sums: Floats  # (N,)
    last: Floats  # (N,)
    figures: Floats  # (FIGURES,)
    theta: Floats  # (parameters,) least squares over the same rows
    rows: Floats  # (outputs,) of them, faded
    steps: Floats  # (parameters,) what an encoder's steps have moved θ by, as told
    forth: Floats  # (outputs,) of rows, those in which the joint moves forth, faded
    rough: Floats  # (outputs,) rows by the noise of an encoder's steps in them, 1: that of white rounding, faded
    owed: Floats  # (outputs,) the same of all that taught and are not corrected for it yet, faded
    trail: Floats  # (parameters + 1,) Σ of θ at the ends of blocks, faded, and of their weights
    behind: Floats  # (parameters,) by which θ is behind a truth that moves on, as told
    late: Floats  # (parameters,) what a lag that nobody knows may have done to θ, squared, as told
    gains: Floats  # (witnesses,) share of y² that each explains, as told
    found: Floats  # (witnesses,) their weights
    times: Nanoseconds  # (rows,) of those that are not read again yet, see reread.py
    unread: Floats  # (rows, COLUMNS + p) the same
    reread: Floats  # (PLACES + 1, p, p + 1) what encoders that lie elsewhere add to the products, faded
    lattice: Floats  # (parameters,) what an encoder's place may have moved θ by, squared, as told
    share: float = 0.0  # of the torque, rms, that witnesses explain, as told
    left: float = 0.0  # … and that the model leaves
    spoiled: bool = False  # whether it is too much for anything to be valid
    due: int = 0  # number of the row that ends the block
    forgotten: float = 0.0  # of the learner, when the last block ended


def nothing(p: int, m: int, own: int, joints: int, unread: int = 0) -> FitKept:
    """Before any row; p: parameters, m: outputs, own: witnesses of each, joints: that move; unread: rows that wait."""
    size, n = p + m * own, 2 * p + own
    kept = FitKept(
        fresh=np.zeros((m, n, n)),
        gram=np.zeros((m, n, n)),
        turned=np.zeros((2 * m, p + 1, p + 1)),
        turns=np.zeros(m),
        before=np.zeros((m, p)),
        joints=np.full((joints, witnesses.JOINT_STATE), np.nan),
        outputs=np.full((m, witnesses.OUTPUT_STATE), -math.inf),
        spread=np.zeros((size, size)),
        sums=np.zeros(size),
        last=np.zeros(size),
        figures=np.zeros(misfit.FIGURES),
        theta=np.zeros(p),
        rows=np.zeros(m),
        steps=np.zeros(p),
        forth=np.zeros(m),
        rough=np.zeros(m),
        owed=np.zeros(m),
        trail=np.zeros(p + 1),
        behind=np.zeros(p),
        late=np.zeros(p),
        gains=np.zeros(m * own),
        found=np.zeros(m * own),
        times=np.zeros(unread, np.int64),
        unread=np.zeros((unread, reread.COLUMNS + p)),
        reread=np.zeros((reread.PLACES + 1, p, p + 1)),
        lattice=np.zeros(p),
    )
    kept.joints[:, : witnesses.PLACE] = 0.0
    kept.outputs[:, witnesses.COUNT :] = 0.0
    return kept
