"""The state of ModelFit: the sums of the rows since the start, and what they said at the end of a block."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.regressors import BlockSums
from estimators.misfit.scores import OWN_SUMS, ScoreState
from estimators.numerics.directions import Directions
from estimators.quantisation.errors_in_variables import StepNoise
from estimators.quantisation.shifted_quantiser import QuantiserState
from jointwatch_numba.layout import Layout, Matrix, Scratch, Vector


class FitSettings(Layout):
    """Facts about the rows of one estimator that are known in advance."""

    own: int  # misfit regressors of an output
    overlap: float  # rows with the same information
    corrects: bool  # whether θ is corrected for an encoder's steps; not where there is η
    prior: float  # of a torque of the angle that the model lacks, as a share of the torque's rms; 0: there is none
    inertia: int  # which parameter it is, of the only joint; −1: there is none
    instant: float  # s², variance of the instant at which a torque was read
    hidden: float  # share of an acceleration that differences over samples hide, see misfit/sampled_motion.py


class FitState(Layout, version=17):
    """Faded sums of the rows since the start, and the results reported from them when the last block ended.

    n: columns of an output with its misfit regressors and y; N: columns of all outputs without y.
    """

    settings: Scratch[FitSettings]
    step_noise: Scratch[StepNoise]  # of the encoders known by now
    only_noise: Scratch[Annotated[Matrix, "parameters", "parameters"]]  # N of the encoder that the quantiser shifts …
    only_own: Scratch[Annotated[Vector, "parameters"]]  # … and n
    half_step: Scratch[Annotated[Vector, "outputs"]]  # N·m (N), of a measured torque; 0: none is known
    directions: Scratch[Directions]  # of all rows, when the last block ended …
    others: Scratch[Directions]  # … and of some of them
    sums: BlockSums  # of the current block
    quantiser: QuantiserState
    scores: ScoreState
    turns: Annotated[Vector, "outputs"]  # rows with a reversal, faded
    rows: Annotated[Vector, "outputs"]  # rows without one, faded
    steps: Annotated[Vector, "parameters"]  # by how much an encoder's steps have moved θ, as reported
    forth: Annotated[Vector, "outputs"]  # rows in which the joint moves forth, faded
    rough: Annotated[Vector, "outputs"]  # rows, each times its noise of encoder steps (1: white rounding), faded
    owed: Annotated[Vector, "outputs"]  # the same of all rows that taught and are not corrected for it yet, faded
    slow: Annotated[Matrix, "outputs", "p + 2"]  # BlockSums.slow, faded
    steep: Annotated[Vector, "2"]  # BlockSums.steep, faded
    trail: Annotated[Vector, "parameters + 1"]  # Σ of θ at the ends of blocks, faded, and of their weights
    behind: Annotated[Vector, "parameters"]  # lag of θ behind a truth that moves on, as reported
    late: Annotated[Matrix, "outputs", "parameters"]  # deviation of θ because the lag is not known, as reported
    gains: Annotated[Vector, "regressors"]  # share of y² that each misfit regressor explains, as reported
    found: Annotated[Vector, "regressors"]  # their coefficients
    places: Annotated[Matrix, "parameters", "parameters"]  # covariance of θ by the place of an encoder's steps
    steps_left: Scratch[Annotated[Matrix, "parameters", "parameters"]]  # covariance of θ that the steps leave
    lost: Annotated[
        Matrix, "parameters", "parameters"
    ]  # covariance of θ that moves the torque by 1, where steps hide it
    effects: Annotated[Matrix, "parameters", "parameters"]  # Learnt.misfit without directions that are not identifiable
    prior: Annotated[Matrix, "parameters", "parameters"]  # covariance of θ by torques of the angle that no row shows
    last_block: Annotated[Matrix, "p + 1", "p + 1"]  # products of [φ y] of the block before
    recent: Annotated[Matrix, "p + 1", "p + 1"]  # products of [φ y] of the last seconds, see misfit/recent_values.py
    usual: Annotated[Vector, "parameters"]  # variance of a score of each column over its information; 0: not known yet
    changed: Annotated[Vector, "parameters"]  # variances of θ because a value is changing now
    answered: Annotated[Vector, "parameters"]  # … at the last alarm, after which the value is learnt anew
    cut: Annotated[Matrix, "parameters", "parameters"]  # … by a torque that is cut; `seen` and `unmodelled` have it
    share: float = 0.0  # of the torque, rms, that misfit regressors explain, as reported
    left: float = 0.0  # … and that the model leaves
    spoiled: bool = False  # whether it is too much for anything to be valid
    recent_rows: float = 0.0  # rows of `recent`
    differing: float = 0.0  # sum over blocks, faded, of the square of the torque that values of then explain better …
    compared: float = 0.0  # … and of the torque
    varies: int = 0  # whether other values than θ explain too much more for anything to be valid: codes of block_end.py
    stands: bool = False  # whether what was reported is of rows that are forgotten, as after an alarm
    due: int = 0  # number of the row that ends the block
    forgotten: float = 0.0  # of the learner, when the last block ended

    @classmethod
    def of(
        cls, p: int, owners: NDArray[np.int64], settings: FitSettings, row: float, remembers: bool, torque: bool,
        unread: int,
    ) -> "FitState":  # fmt: skip
        """State before any row.

        p: parameters; owners: joint of each output; row: s between rows; remembers: whether friction has a memory of
        its own; torque: whether outputs are torques; unread: room for rows of the shifted quantiser.
        """
        m, own = len(owners), settings.own
        sums, quantiser = (
            BlockSums.of(
                owners, p, own, 1e9 * row, remembers, torque, settings.inertia if settings.hidden > 0.0 else -1
            ),
            QuantiserState.room(unread, p, row),
        )
        scores = ScoreState.zeros(outputs=m, n=2 * p + own, N=p + m * own, p=p, regressors=m * own, own_sums=OWN_SUMS)
        return cls.zeros(
            settings=settings, step_noise=StepNoise.zeros(outputs=m, parameters=p), directions=Directions.zeros(p=p),
            others=Directions.zeros(p=p), sums=sums, quantiser=quantiser, scores=scores, outputs=m, parameters=p,
            regressors=m * own, trail=np.zeros(p + 1), slow=np.zeros((m, p + 2)),
            last_block=np.zeros((p + 1, p + 1)), recent=np.zeros((p + 1, p + 1)),
        )  # fmt: skip
