"""The state of a recursive least-squares estimator: what a row changes, and the constants that it is learnt with."""

from typing import Annotated

from jointwatch_numba.layout import Layout, Matrix, Scratch, Vector


class RecursiveState(Layout, version=2):
    """θ, P = U D Uᵀ in units of the residual variance, the noise, counts, and the forgetting law."""

    parameters: int  # p
    outputs: int  # m
    theta: Annotated[Vector, "parameters"]
    d: Annotated[Vector, "parameters"]
    u: Annotated[Matrix, "parameters", "parameters"]  # u[j]: column j of U above its diagonal
    bound: Annotated[Vector, "parameters"]  # P∞ of each parameter
    visited: Annotated[Vector, "parameters"]  # `forgotten` at the last pseudo-observation of each axis
    gain: Scratch[Annotated[Vector, "parameters"]]
    noise: Annotated[Vector, "outputs"]  # r, relative variances
    long: Annotated[Vector, "outputs"]  # running mean of e²/(r + z), over seconds
    short: Annotated[Vector, "outputs"]  # over the last tenth of a second
    # counts and running means
    rows: int = 0  # learnt from
    refused: int = 0  # rows without a finite output, which never entered
    masked: int = 0  # single outputs left out of a row because they were not finite
    clipped: int = 0  # innovations
    weight: float = 0.0  # Σ of the weights of all rows: how many rows the estimate rests on
    squared_weight: float = 0.0  # Σ of their squares
    error: float = 0.0  # running mean of Σ e²/r
    signal: float = 0.0  # running mean of Σ y²/r
    rate_long: float = 0.0  # gains of the running means
    rate_short: float = 0.0
    rate_error: float = 0.0
    least: float = 0.0  # residual variance below which the clip does not go
    opened: float = 0.0  # rows after an alarm in which the short variance may widen the clip
    # forgetting, see forgetting.py
    forgetting: float = 1.0  # λ of the next row
    starting: bool = False  # λ = 1 whatever the law says
    forgotten: float = 0.0  # Σ(1 − λ) since the beginning
    axis: int = 0  # coordinate axis whose pseudo-observation is next
    law: int = 0
    least_forgetting: float = 0.0  # λ at least; of a fixed memory λ itself
    # the alarm law
    alarm_noise: float = 0.0  # v₀: residual variance over the start-up, set by arm()
    allowance: float = 0.0  # k of the CUSUM, in units of v₀
    limit: float = 0.0  # h of the CUSUM
    worst: float = 0.0  # v₀, largest squared error of a row over the start-up; 0: not known
    cusum: float = 0.0
    sudden: bool = False  # whether a row since the CUSUM was last zero was far worse than that
    excursion: float = 0.0  # the largest CUSUM
    climbing: int = 0  # rows since the CUSUM was last zero
    onset: int = 0  # `climbing` at the last alarm: how far back the change lies
    alarms: int = 0
    since: int = 0  # rows since the last alarm
    memory: float = 0.0  # rows
    resting: float = 0.0  # rows, memory at rest
    growth: float = 0.0  # rows of memory gained with each row after an alarm
    restart: float = 0.0  # rows, memory right after an alarm
    # the other laws
    ratio: float = 0.0  # variance_ratio: limit of short/long residual variance
    sharpness: float = 0.0  # variance_ratio: g
    information: float = 0.0  # fortescue: 1/N₀, 1/rows
    rate_power: float = 0.0  # paleologu: gain of the means of e² and z²
    rate_noise: float = 0.0  # paleologu: gain of the mean that is the noise
    excess: float = 0.0  # paleologu: γ
    power: float = 0.0  # paleologu: running mean of e², σ_e²
    regressor_power: float = 0.0  # paleologu: running mean of z², σ_z²
    noise_power: float = 0.0  # paleologu: σ_v²
    walk: float = 0.0  # random_walk: variance that a row adds, of the bound
