"""What the products of a block of rows say of the model: scores, what is significant, and what that did to θ.

With X = [Φ W], W the witnesses of all outputs, whitened, blocks b of rows and weights f that fade as the learner's (of
[Φ Φ̇ …], of which Φ̇θ is the lag's column under the θ of now):

    G = Σ f XᵀX, θ from its Φ                 u_b = Xᵀ(y − Φθ) of a block, under the θ of that time and its lag behind
    J = Σ f² (u_b u_bᵀ + ½(u_b u_b−1ᵀ + u_b−1 u_bᵀ))                        covariance of Σ f u_b (Newey & West, lag 1)
    deviations of θ: √diag(G_ΦΦ⁻¹ J_ΦΦ G_ΦΦ⁻¹)                              (what 1 + 2Σρ is for each of them)
    witness k given S (Φ, and what was taken in): z = x_k − X_S β,  t = z′y / √(z-part of J, less the mean's share)


t² is the score (Lagrange multiplier) statistic with that covariance: it holds for a residual that is correlated over up
to a block. A witness is taken in while one is beyond LEVEL, that which explains most first; what the taking in moves θ
by is its bias. That torque and position are of the same instant is known to ±LAG_SPREAD before any motion: with
z of the lag, c what one second of it moves θ by, δ its estimate with that prior and σ_δ what is left uncertain of it,
θ owes c²(δ² + σ_δ²) to it from the first row on (Schmidt's consider parameter). References: Rao 1948; Newey & West,
Econometrica 55:703–708, 1987; Dempster 1969 (sweep).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.regressors import LAG
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.thresholds import LAG_SPREAD, OWN_SHARE

#: deviations, derived: Two-sided 1e-5 of a normal: some twenty columns, looked at anew in a memory of a minute, pass it
#: by chance once in five thousand minutes of motion (decision 012, point 3).
LEVEL: Final = 4.42
#: 1, argued: Share of a misfit column's square that the model's columns must leave, from which the column is tried.
OWN: Final = 1e-3
#: 1, derived: Share of the unexplained square that a column must explain; less moves no θ by more than
#: √(0.01 · 1200) = 3.5 of its deviations, in a memory of 6000 rows, five of which say the same.
WORTH: Final = 0.01
#: columns, argued: Misfit columns that are taken in at most; more explain noise.
MOST: Final = 6
#: blocks, argued: Blocks before which θ is not known well enough for scores.
YOUNG: Final = 4

BLOCKS, WEIGHT, WEIGHT_2, LEFT, SHARE, FIGURES = range(6)
# blocks so far; Σf and Σf² of those with scores; rms over that of y: what Φ leaves, and of it what witnesses explain


@inline
def _assemble(parts: Floats, weight: Floats, p: int, whole: Floats) -> None:
    """Products of all outputs in one: parts (outputs, n, n), lower triangles; whole (N, N)."""
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
    """[φ y]ᵀ[φ y] (p + 1, p + 1) of all outputs, by weight: parts (outputs, n, n), of [φ … y], lower triangles."""
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
    """Take column k in: a (N, N) symmetric; then a[i, k] is its coefficient in column i, a[i, j] what is left."""
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
    """|t| for LEVEL where the variance is known from this many blocks (Student's t, expanded about the normal)."""
    free, z = max(blocks - 1.0, 1.0), LEVEL
    return float(z + (z**3 + z) / (4.0 * free) + (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / (96.0 * free**2))


@inline
def _compress(raw: Floats, theta: Floats, whole: Floats) -> None:
    """Products of [φ φ̇ w y] (n + p − 1,)² into those of [φ φ̇θ w y] (n, n), lower triangles of all outputs."""
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
def _least_squares(raw: Floats, weight: Floats, theta: Floats) -> None:
    """θ (p,) from the products of all outputs; 0 where they tell nothing."""
    p = len(theta)
    a, scale = products(raw, weight, p), np.ones(p + 1)
    for i in range(p + 1):
        scale[i] = np.sqrt(a[i, i]) if a[i, i] > 0.0 else 1.0
    for i in range(p + 1):
        for j in range(i + 1):
            a[i, j] /= scale[i] * scale[j]
            a[j, i] = a[i, j]
    for i in range(p):
        if a[i, i] > OWN_SHARE:
            sweep(a, i)
    for i in range(p):
        theta[i] = a[i, p] * scale[p] / scale[i] if a[i, i] < 0.0 else 0.0


@inline
def _variance(
    a: Floats, k: int, taken: NDArray[np.bool_], spread: Floats, sums: Floats, scale: Floats, figures: Floats
) -> float:
    """Of the score of column k, scaled, given those taken in."""
    variance, mean, count = 0.0, 0.0, len(taken)
    for i in range(count):
        if i != k and not taken[i]:
            continue
        first = 1.0 if i == k else -a[k, i]
        mean += first * sums[i] / scale[i]
        for j in range(count):
            if j == k or taken[j]:
                second = 1.0 if j == k else -a[k, j]
                variance += first * second * spread[i, j] / (scale[i] * scale[j])
    return float(variance - mean * mean * figures[WEIGHT_2] / figures[WEIGHT] ** 2)


@inline
def _statistic(
    a: Floats, k: int, taken: NDArray[np.bool_], spread: Floats, sums: Floats, scale: Floats, figures: Floats
) -> float:
    """|t| of column k given those taken in."""
    variance = _variance(a, k, taken, spread, sums, scale, figures)
    if not variance > 0.0:
        return 0.0
    return float(abs(a[k, len(taken)]) * scale[len(taken)] / np.sqrt(variance))


@inline
def _consider(
    a: Floats, p: int, own: int, taken: NDArray[np.bool_], spread: Floats, sums: Floats, scale: Floats, figures: Floats,
    late: Floats,
) -> None:  # fmt: skip
    """What each θ owes to a lag of each output that is not known: late (outputs, p), squared."""
    count = len(taken)
    for o in range(len(late)):
        k, told, lag = p + o * own + LAG, 0.0, 0.0
        if a[k, k] > OWN:
            size = a[k, k] * scale[k]
            variance = _variance(a, k, taken, spread, sums, scale, figures) / size**2
            told = max(1.0 - variance / (variance + LAG_SPREAD**2), 0.0)
            lag = told * a[k, count] * scale[count] / size
        square = lag**2 + (1.0 - told) * LAG_SPREAD**2
        for i in range(p):
            late[o, i] = (a[i, k] * scale[k] / scale[i]) ** 2 * square if taken[i] else 0.0


@inline
def _deviations(a: Floats, p: int, spread: Floats, scale: Floats, deviations: Floats) -> None:
    """Of θ (p,), where only the model's own columns are taken in; infinite for one that is not."""
    for i in range(p):
        variance = 0.0
        for j in range(p):
            for k in range(p):
                if a[j, j] < 0.0 and a[k, k] < 0.0:
                    variance += a[i, j] * a[i, k] * spread[j, k] / (scale[j] * scale[k])
        deviations[i] = np.sqrt(max(variance, 0.0)) / scale[i] if a[i, i] < 0.0 else np.inf


@inline
def _score(
    part: Floats, theta: Floats, fade: float, spread: Floats, sums: Floats, last: Floats, figures: Floats
) -> None:
    """Take in the score of a block; part (N, N): its products."""
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
    figures[WEIGHT] = fade * figures[WEIGHT] + 1.0
    figures[WEIGHT_2] = fade * fade * figures[WEIGHT_2] + 1.0


@inline
def _select(
    a: Floats, p: int, taken: NDArray[np.bool_], spread: Floats, sums: Floats, scale: Floats, figures: Floats,
    gains: Floats,
) -> None:  # fmt: skip
    """Take witnesses in, one after the other; gains (witnesses,): share of y² that each explained."""
    count = len(taken)
    gains[:] = 0.0
    limit = critical(figures[WEIGHT] ** 2 / figures[WEIGHT_2])
    for _ in range(MOST):
        best, gained = -1, WORTH * a[count, count]
        for k in range(p, count):
            if taken[k] or not a[k, k] > OWN:
                continue
            gain = a[k, count] ** 2 / a[k, k]
            if gain > gained and _statistic(a, k, taken, spread, sums, scale, figures) > limit:
                best, gained = k, gain
        if best < 0:
            break
        sweep(a, best)
        taken[best] = True
        gains[best - p] = gained


@kernel(
    "void(f8[:, :, ::1], f8[:, :, ::1], f8[::1], f8, f8[::1], f8[::1], f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1], "
    "f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])"
)
def close(
    fresh: Floats,
    gram: Floats,
    weight: Floats,
    fade: float,
    lags: Floats,
    behind: Floats,
    spread: Floats,
    sums: Floats,
    last: Floats,
    figures: Floats,
    theta: Floats,
    deviations: Floats,
    bias: Floats,
    gains: Floats,
    found: Floats,
    late: Floats,
) -> None:
    """End a block: fresh, its products, go into gram (outputs, n + p − 1, the same), faded; what all say is written.

    weight: (outputs,); lags (parameters,): by how much a column runs ahead where the torque is late; behind
    (parameters,): what θ is behind a truth that moves on, so that its scores are no noise; spread (N − 1, N − 1), sums,
    last (N − 1,): of scores; figures (FIGURES,); theta, deviations,
    bias, late (parameters,): late squared; gains, found (witnesses,): share of y² that each explains, 0 for those
    left out, and its weight.
    """
    p, count, outputs = len(theta), len(sums), len(gram)
    own, n = (count - p) // outputs, gram.shape[1] - p + 1
    part, a = np.empty((count + 1, count + 1)), np.empty((count + 1, count + 1))
    compressed, owed = np.empty((outputs, n, n)), np.zeros((outputs, p))
    for o in range(len(gram)):
        for i in range(gram.shape[1]):
            for j in range(i + 1):
                gram[o, i, j] = fade * gram[o, i, j] + fresh[o, i, j]
    _least_squares(gram, weight, theta)
    _compress(fresh, lags * theta, compressed)
    _assemble(compressed, weight, p, part)
    _compress(gram, lags * theta, compressed)
    _assemble(compressed, weight, p, a)
    fresh[:] = 0.0
    scale = np.empty(count + 1)
    for i in range(count + 1):
        scale[i] = np.sqrt(a[i, i]) if a[i, i] > 0.0 else 1.0
    for i in range(count + 1):
        for j in range(count + 1):
            a[i, j] /= scale[i] * scale[j]
    taken = np.zeros(count, np.bool_)
    for i in range(p):
        if a[i, i] > OWN_SHARE:
            sweep(a, i)
            taken[i] = True
    for i in range(p):
        theta[i] = a[i, count] * scale[count] / scale[i] if taken[i] else 0.0
    figures[BLOCKS] += 1.0
    if figures[BLOCKS] <= YOUNG:
        return
    _score(part, theta + behind, fade, spread, sums, last, figures)
    _deviations(a, p, spread, scale, deviations)
    _consider(a, p, own, taken, spread, sums, scale, figures, owed)
    rest = a[count, count]
    _select(a, p, taken, spread, sums, scale, figures, gains)
    figures[LEFT] = np.sqrt(max(rest, 0.0))
    figures[SHARE] = np.sqrt(max(rest - a[count, count], 0.0))
    late[:] = 0.0
    for o in range(outputs):
        if not taken[p + o * own + LAG]:
            for i in range(p):
                late[i] += owed[o, i]
    for i in range(p):
        bias[i] = theta[i] - a[i, count] * scale[count] / scale[i] if taken[i] else 0.0
    for k in range(len(found)):
        found[k] = a[p + k, count] * scale[count] / scale[p + k] if taken[p + k] else 0.0
