"""What a block of rows says of the model: score tests of missing columns, and what those columns did to θ.

X = [Φ W] is whitened; W holds the misfit regressors of all outputs. Blocks b of rows have weights f that fade as the
learner's do. The products are those of [Φ Φ̇ …]; Φ̇θ, with the present θ, is the column of the lag.

    G = Σ f XᵀX, θ from its Φ                 u_b = Xᵀ(y − Φθ) of a block, under the θ and lag of that time
    J = Σ f² (u_b u_bᵀ + ½(u_b u_b−1ᵀ + u_b−1 u_bᵀ))                        covariance of Σ f u_b (Newey & West, lag 1)
    covariance of θ: G_ΦΦ⁻¹ J_ΦΦ G_ΦΦ⁻¹, by direction in directions.py      (what 1 + 2Σρ is along each of them)
    regressor k given S (Φ and the selected ones): z = x_k − X_S β,  t = z′y / √(z-part of J, less the mean's share)

t² is the score (Lagrange multiplier) statistic with that covariance. It holds for a residual that is correlated over
up to one block. What the regressor itself explains is in its J, too, and an effect that comes in bursts, as of
reversals, varies from block to block by as much as it is: t stays below √blocks however sure it is. So the first
regressor is also tried without its own effect, by the regression of s_b = z_b′(y − Φθ) on q_b = z_b′z_b over the
blocks, with coefficient c:

    t = Σ f s_b / √(Σ f² ((s_b − c q_b)² + (s_b − c q_b)(s_b−1 − c q_b−1))),   of (Σ f q_b)²/Σ f² q_b² blocks

While a regressor is beyond LEVEL, the one that explains most is selected; by how much this moves θ is
the bias of θ. Before any motion the lag between torque and position is known to ±LAG_SPREAD only. Let z belong to the
lag, let c be what one second of lag moves θ by, δ the estimate of the lag with that prior, and σ_δ what remains
uncertain. Then θ has the additional covariance c cᵀ(δ² + σ_δ²) from the first row on (Schmidt's consider parameter).
References: Rao 1948; Newey & West, Econometrica 55:703–708, 1987; Dempster 1969 (sweep).
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.regressors import CAUSES, ECCENTRIC, ELASTIC, LAG
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.thresholds import LAG_SPREAD, OWN_SHARE
from jointwatch_numba.layout import Cube, Layout, Matrix, Scratch, Vector

#: deviations, derived: Two-sided 1e-5 of a normal: some twenty columns, looked at anew in a memory of a minute, pass it
#: by chance once in five thousand minutes of motion (decision 012, point 3).
LEVEL: Final = 4.42
#: 1, argued: Share of a misfit column's square that the model's columns must leave, from which the column is tried.
OWN: Final = 1e-3
#: 1, derived: Share of the unexplained square that a column must explain; less moves no θ by more than
#: √(0.01 · 1200) = 3.5 of its deviations, in a memory of 6000 rows, five of which say the same.
WORTH: Final = 0.01
#: blocks, argued: Equally informative blocks before which a regressor is not tried without its own effect: fewer may
#: agree by chance, and Student's t does not hold for what a few of them dominate.
ENOUGH: Final = 8.0
#: columns, argued: Misfit columns that are taken in at most; more explain noise.
MOST: Final = 6
#: blocks, argued: Blocks before which θ is not known well enough for scores.
YOUNG: Final = 4


# Places of the columns of the acceleration: an encoder's steps are in them and in Φ in every block, so a regression
# over blocks is sure of what the correction of θ for steps takes off already.
_ELASTIC: Final = CAUSES.index(ELASTIC)
_ECCENTRIC: Final = CAUSES.index(ECCENTRIC)
_PLACE: Final = _ECCENTRIC + CAUSES.count(ECCENTRIC)
#: sums, argued: What is summed of s and q of each column: Σ f s, Σ f q, Σ f² q², both of the last block, and, with the
#: block before, Σ f² ss, Σ f² sq, Σ f² qq.
OWN_SUMS: Final = 8


class ScoreState(Layout, version=2):
    """Faded sums of all blocks, and what they say since the last one.

    n: columns [φ φ̇ w y] of an output; N: columns of all outputs without y; p: parameters.
    """

    gram: Annotated[Cube, "outputs", "n", "n"]  # products of [φ φ̇ w y], lower triangles
    spread: Annotated[Matrix, "N", "N"]  # J, the covariance of the summed scores
    sums: Annotated[Vector, "N"]  # Σ f u
    last: Annotated[Vector, "N"]  # u of the last block
    own: Annotated[Matrix, "N", "own_sums"]  # of each column's own regression over the blocks: see OWN_SUMS
    theta: Annotated[Vector, "p"]  # least squares over the same rows
    blocks: float = 0.0  # so far
    weight: float = 0.0  # Σf of the blocks with scores
    squared_weight: float = 0.0  # Σf² of the blocks with scores
    unexplained: float = 0.0  # rms of what Φ leaves, over that of y
    effective_blocks: Scratch[float]  # equally weighted ones that tell as much
    explained: float = 0.0  # rms of what the selected regressors explain of it, over that of y
    bias: Scratch[Annotated[Vector, "p"]]  # of θ, by the selected regressors
    lag: Scratch[Annotated[Matrix, "outputs", "p"]]  # what the unknown lag of each output may have moved θ by
    gains: Scratch[Annotated[Vector, "regressors"]]  # share of y² that each explains, 0 where it is not selected
    coefficients: Scratch[Annotated[Vector, "regressors"]]  # 0 where it is not selected

    def clear(self) -> None:
        """Forget all rows."""
        for one in (self.gram, self.spread, self.sums, self.last, self.own, self.theta):
            one[...] = 0.0
        self.blocks = self.weight = self.squared_weight = self.effective_blocks = 0.0
        self.unexplained = self.explained = 0.0


@inline
def write_covariance(state: ScoreState, covariance: Floats) -> None:
    """Write the covariance of the summed scores (N, N): J without what their mean adds."""
    sums, share = state.sums, state.squared_weight / max(state.weight, 1.0) ** 2
    for i in range(len(sums)):
        for j in range(len(sums)):
            covariance[i, j] = state.spread[i, j] - sums[i] * sums[j] * share


@inline
def _assemble(parts: Floats, weight: Floats, p: int, whole: Floats) -> None:
    """Write the products of all outputs into one matrix: parts (outputs, n, n), lower triangles; whole (N, N)."""
    n, count = parts.shape[1], len(whole)
    own = n - 1 - p
    whole[:] = 0.0
    for o in range(len(parts)):
        for i in range(n):
            to = i if i < p else (count - 1 if i == n - 1 else i + o * own)
            for j in range(i + 1):
                at = j if j < p else (count - 1 if j == n - 1 else j + o * own)
                whole[to, at] += weight[o] * parts[o, i, j]
    for i in range(count):
        for j in range(i):
            whole[j, i] = whole[i, j]


@kernel("f8[:, ::1](f8[:, :, ::1], f8[::1], i8)")
def products(parts: Floats, weight: Floats, p: int) -> Floats:
    """Sum [φ y]ᵀ[φ y] (p + 1, p + 1) over the outputs by weight; parts: (outputs, n, n) of [φ … y], lower triangles."""
    last, whole = parts.shape[1] - 1, np.zeros((p + 1, p + 1))
    for o in range(len(parts)):
        for i in range(p + 1):
            for j in range(i + 1):
                whole[i, j] += weight[o] * parts[o, i if i < p else last, j if j < p else last]
    for i in range(p + 1):
        for j in range(i):
            whole[j, i] = whole[i, j]
    return whole


@inline
def sweep(a: Floats, k: int) -> None:
    """Sweep column k of a symmetric matrix a (N, N): a[i, k] becomes its coefficient in column i, a[i, j] the rest."""
    d = a[k, k]
    for i in range(len(a)):
        if i != k:
            share = a[i, k] / d
            for j in range(len(a)):
                if j != k:
                    a[i, j] -= share * a[k, j]
    for i in range(len(a)):
        if i != k:
            a[i, k] /= d
            a[k, i] /= d
    a[k, k] = -1.0 / d


@inline
def critical(blocks: float) -> float:
    """Return |t| at LEVEL for a variance estimated from this many blocks (Student's t, expanded about the normal)."""
    free, z = max(blocks - 1.0, 1.0), LEVEL
    return float(z + (z**3 + z) / (4.0 * free) + (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / (96.0 * free**2))


@inline
def _compress(raw: Floats, theta: Floats, whole: Floats) -> None:
    """Turn products of [φ φ̇ w y] (n + p − 1,)² into those of [φ φ̇θ w y] (n, n): lower triangles of all outputs."""
    p = len(theta)
    for o in range(len(raw)):
        for i in range(whole.shape[1]):
            for j in range(i + 1):
                entry = 0.0
                if i < p:
                    entry = raw[o, i, j]
                elif i > p and j != p:
                    entry = raw[o, i + p - 1, j if j < p else j + p - 1]
                elif i > p:
                    for k in range(p):
                        entry += theta[k] * raw[o, i + p - 1, p + k]
                elif j < p:
                    for k in range(p):
                        entry += theta[k] * raw[o, p + k, j]
                else:
                    for k in range(p):
                        for n in range(p):
                            entry += theta[k] * theta[n] * raw[o, p + max(k, n), p + min(k, n)]
                whole[o, i, j] = entry


@inline
def _normalise(a: Floats, scale: Floats) -> None:
    """Divide a symmetric matrix a (N, N) by the roots of its diagonal, which go into scale (N,)."""
    for i in range(len(a)):
        scale[i] = np.sqrt(a[i, i]) if a[i, i] > 0.0 else 1.0
    for i in range(len(a)):
        for j in range(len(a)):
            a[i, j] /= scale[i] * scale[j]


@inline
def _least_squares(raw: Floats, weight: Floats, theta: Floats) -> None:
    """Solve for θ (p,) from the products of all outputs; 0 where they say nothing of it."""
    p = len(theta)
    a, scale = products(raw, weight, p), np.ones(p + 1)
    _normalise(a, scale)
    for i in range(p):
        if a[i, i] > OWN_SHARE:
            sweep(a, i)
    for i in range(p):
        theta[i] = a[i, p] * scale[p] / scale[i] if a[i, i] < 0.0 else 0.0


@inline
def _variance(a: Floats, k: int, taken: NDArray[np.bool_], scale: Floats, state: ScoreState) -> float:
    """Return the variance of the scaled score of column k, given the columns taken in."""
    variance, mean, count, spread, sums = 0.0, 0.0, len(taken), state.spread, state.sums
    for i in range(count):
        if i != k and not taken[i]:
            continue
        first = 1.0 if i == k else -a[k, i]
        mean += first * sums[i] / scale[i]
        for j in range(count):
            if j == k or taken[j]:
                second = 1.0 if j == k else -a[k, j]
                variance += first * second * spread[i, j] / (scale[i] * scale[j])
    return float(variance - mean * mean * state.squared_weight / state.weight**2)


@inline
def _statistic(a: Floats, k: int, taken: NDArray[np.bool_], scale: Floats, state: ScoreState) -> float:
    """Return |t| of column k, given the columns taken in."""
    variance = _variance(a, k, taken, scale, state)
    if not variance > 0.0:
        return 0.0
    return float(abs(a[k, len(taken)]) * scale[len(taken)] / np.sqrt(variance))


@inline
def _consider_lag(a: Floats, own: int, taken: NDArray[np.bool_], scale: Floats, state: ScoreState) -> None:
    """Write one deviation of θ along what a lag of each output that is not known moves it by."""
    count, p = len(taken), len(state.theta)
    for o in range(len(state.lag)):
        k, known, lag = p + o * own + LAG, 0.0, 0.0
        if a[k, k] > OWN:
            size = a[k, k] * scale[k]
            variance = _variance(a, k, taken, scale, state) / size**2
            known = max(1.0 - variance / (variance + LAG_SPREAD**2), 0.0)
            lag = known * a[k, count] * scale[count] / size
        late = np.sqrt(lag**2 + (1.0 - known) * LAG_SPREAD**2)
        for i in range(p):
            state.lag[o, i] = a[i, k] * scale[k] / scale[i] * late if taken[i] else 0.0


@inline
def _add_own(part: Floats, a: Floats, scale: Floats, score: Floats, fade: float, state: ScoreState) -> None:
    """Add the block to the regression of each misfit column over the blocks; part, a, scale: see _add_score."""
    count, p, own = len(score), len(state.theta), state.own
    coefficients = np.empty(p)
    for k in range(p, count):
        for i in range(p):
            coefficients[i] = a[i, k] * scale[k] / scale[i] if a[i, i] < 0.0 else 0.0
        s, q = score[k], part[k, k]
        for i in range(p):
            s -= coefficients[i] * score[i]
            q -= 2.0 * coefficients[i] * part[i, k]
            for j in range(p):
                q += coefficients[i] * coefficients[j] * part[i, j]
        before, length = own[k, 3], own[k, 4]
        own[k, 0] = fade * own[k, 0] + s
        own[k, 1] = fade * own[k, 1] + q
        own[k, 2] = fade * fade * own[k, 2] + q * q
        own[k, 5] = fade * fade * own[k, 5] + s * s + fade * s * before
        own[k, 6] = fade * fade * own[k, 6] + s * q + 0.5 * fade * (s * length + before * q)
        own[k, 7] = fade * fade * own[k, 7] + q * q + fade * q * length
        own[k, 3], own[k, 4] = s, q


@inline
def _shows_by_itself(k: int, state: ScoreState) -> bool:
    """Whether column k is beyond its limit, given Φ, without what its own effect adds to its deviation."""
    p, own = len(state.theta), state.own[k]
    column = (k - p) % ((len(state.own) - p) // len(state.lag))
    if column == _ELASTIC or _ECCENTRIC <= column < _PLACE:
        return False
    if not own[2] > 0.0 or own[1] ** 2 < ENOUGH * own[2]:
        return False
    slope = own[0] / own[1]
    variance = own[5] - 2.0 * slope * own[6] + slope * slope * own[7]
    return bool(variance > 0.0 and abs(own[0]) > critical(own[1] ** 2 / own[2]) * np.sqrt(variance))


@inline
def _add_score(part: Floats, a: Floats, scale: Floats, theta: Floats, fade: float, state: ScoreState) -> None:
    """Add the score of a block under this θ (p,).

    part (N + 1, N + 1): its products; a: those of all blocks over scale, swept by Φ.
    """
    spread, sums, last = state.spread, state.sums, state.last
    count = len(sums)
    score = np.empty(count)
    for i in range(count):
        score[i] = part[i, count]
        for j in range(len(theta)):
            score[i] -= part[i, j] * theta[j]
    for i in range(count):
        for j in range(count):
            both = score[i] * last[j] + last[i] * score[j]
            spread[i, j] = fade * fade * spread[i, j] + score[i] * score[j] + 0.5 * fade * both
    for i in range(count):
        sums[i], last[i] = fade * sums[i] + score[i], score[i]
    _add_own(part, a, scale, score, fade, state)
    state.weight = fade * state.weight + 1.0
    state.squared_weight = fade * fade * state.squared_weight + 1.0


@inline
def _select(a: Floats, taken: NDArray[np.bool_], scale: Floats, state: ScoreState) -> None:
    """Take misfit regressors in, one after the other, and write the share of y² that each explains."""
    count, p, gains = len(taken), len(state.theta), state.gains
    limit = critical(state.weight**2 / state.squared_weight)
    for number in range(MOST):
        best, gained = -1, WORTH * a[count, count]
        for k in range(p, count):
            if taken[k] or not a[k, k] > OWN:
                continue
            gain = a[k, count] ** 2 / a[k, k]
            if gain <= gained:
                continue
            if _statistic(a, k, taken, scale, state) > limit or (number == 0 and _shows_by_itself(k, state)):
                best, gained = k, gain
        if best < 0:
            break
        sweep(a, best)
        taken[best] = True
        gains[best - p] = gained


@inline
def _add_block(
    fresh: Floats, weight: Floats, fade: float, lags: Floats, state: ScoreState, part: Floats, a: Floats
) -> None:
    """Add the products of a block to the faded ones; write both, with Φ̇θ for Φ̇, into part and a (N + 1, N + 1)."""
    gram, theta = state.gram, state.theta
    p, outputs = len(theta), len(gram)
    n = gram.shape[1] - p + 1
    compressed, lag = np.empty((outputs, n, n)), np.empty(p)
    for o in range(outputs):
        for i in range(gram.shape[1]):
            for j in range(i + 1):
                gram[o, i, j] = fade * gram[o, i, j] + fresh[o, i, j]
    _least_squares(gram, weight, theta)
    for i in range(p):
        lag[i] = lags[i] * theta[i]
    _compress(fresh, lag, compressed)
    _assemble(compressed, weight, p, part)
    _compress(gram, lag, compressed)
    _assemble(compressed, weight, p, a)
    fresh[:] = 0.0


@inline
def _judge(a: Floats, taken: NDArray[np.bool_], scale: Floats, state: ScoreState) -> None:
    """Write what all blocks say: the selected regressors, and what they and the lag do to θ."""
    theta, outputs, count = state.theta, len(state.gram), len(taken)
    p = len(theta)
    own = (count - p) // outputs
    _consider_lag(a, own, taken, scale, state)
    rest = a[count, count]
    _select(a, taken, scale, state)
    state.unexplained = np.sqrt(max(rest, 0.0))
    state.explained = np.sqrt(max(rest - a[count, count], 0.0))
    for o in range(outputs):
        if taken[p + o * own + LAG]:  # then it is in the bias
            state.lag[o] = 0.0
    for i in range(p):
        state.bias[i] = theta[i] - a[i, count] * scale[count] / scale[i] if taken[i] else 0.0
    for k in range(count - p):
        state.coefficients[k] = a[p + k, count] * scale[count] / scale[p + k] if taken[p + k] else 0.0


@kernel(("f8[:, :, ::1]", "f8[::1]", "f8", "f8[::1]", "f8[::1]", ScoreState))
def close(fresh: Floats, weight: Floats, fade: float, lags: Floats, behind: Floats, state: ScoreState) -> None:
    """End a block: add its products to the faded sums, and write what all blocks say.

    fresh (outputs, n, n): products of the block, set to zero; weight: (outputs,); lags (p,): by how much a column runs
    ahead where the torque is late; behind (p,): how far θ is behind a truth that moves on, so that its scores are no
    noise. The first YOUNG blocks give no scores.
    """
    theta, count = state.theta, len(state.sums)
    p = len(theta)
    part, a, scale = np.empty((count + 1, count + 1)), np.empty((count + 1, count + 1)), np.empty(count + 1)
    _add_block(fresh, weight, fade, lags, state, part, a)
    _normalise(a, scale)
    taken = np.zeros(count, np.bool_)
    for i in range(p):
        if a[i, i] > OWN_SHARE:
            sweep(a, i)
            taken[i] = True
    for i in range(p):
        theta[i] = a[i, count] * scale[count] / scale[i] if taken[i] else 0.0
    state.bias[:] = 0.0
    state.lag[:] = 0.0
    state.gains[:] = 0.0
    state.coefficients[:] = 0.0
    state.blocks += 1.0
    if state.blocks > YOUNG:
        ahead = np.empty(p)
        for i in range(p):
            ahead[i] = theta[i] + behind[i]
        _add_score(part, a, scale, ahead, fade, state)
        _judge(a, taken, scale, state)
    state.effective_blocks = state.weight**2 / max(state.squared_weight, 1.0)
