"""Effect on θ of a torque that the model may lack: considered in its covariance, not learnt (Schmidt).

A torque of the angle, the torque of an elastic drive, one that is measured out of proportion near zero or at high load,
and friction that grows with the load are considered one by one; below is the first.

Columns w: sin nq, cos nq of one joint, n = 1 … HARMONICS; along an arc cos q is nearly an offset, so no residual shows
it, and it moves θ by hundreds of deviations. Each amplitude is δ ~ N(0, D²) before, D = GOOD of the torque's rms unless
a person says less: as much as a misfit that is allowed. With products A of [φ w y], G = A_φφ:

    C = G⁻¹A_φw     Z = A_ww − A_wφ C     r = A_wy − A_wφ θ     V: covariance of r, of the scores, floored
    D Z V⁻¹ Z D = E h Eᵀ     m = Eᵀ D Z V⁻¹ r     t² = m²/h
    h ≥ LEVEL²: an effect of D would be seen.  x = sign(m) √(max(t² − 4, 0)/h), and nothing is left over
    h < LEVEL²: it would not.                  x = m/(1 + h), of which 1/(1 + h) of its prior variance is left over
    δ = D E x     Σ_B = C(δδᵀ + D² E diag(left) Eᵀ)Cᵀ

D follows from δ where that is larger, REPEATS times; neither is more than all of the torque, rms. The 4 in t² − 4 is
two deviations, so noise alone (t² ~ 1) counts as nothing. This Σ_B decides which values are known.

What the reported σ of a known value holds follows by one formula from all data, so it does not jump where evidence
passes a limit. Amplitudes are alike in size, so combinations that would be seen and are not tell of those that would
not be. With t ~ N(0, 1 + h), L is the largest D whose likelihood is within DOUBT of the best, and e the log-likelihood
of the best above that of no such torque. With h of D and x, left of L by the second line:

    s = (e − CHANCE)/(DOUBT − CHANCE), between 0 and 1      share = s² + (1 − s²)·SHARE·N(LEVEL − √h)
    Σ_seen = C(δδᵀ + L² E diag(share·left)Eᵀ)Cᵀ            δ = L E (√share · x)

N(LEVEL − √h) is the probability that an effect of D is not seen at LEVEL. So σ holds all where there surely is such a
torque, half a deviation of what would not be seen, and nothing of what would be seen and is not. θ itself is not
changed. A column that is one of the model's, as far as these rows show, is left out.
Reference: Schmidt 1966, Application of state-space methods to navigation problems (the consider covariance).
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.regressors import ANGLE, CAUSES, SPEED
from estimators.misfit.scores import LEVEL, OWN
from estimators.numerics.jit import inline
from estimators.numerics.symmetric import eigen, product
from estimators.quantities import Floats

#: 1, argued: Harmonics of the angle that are considered: tilt, balancer and cable act once a turn, most ripple that is
#: not gearing up to three times.
HARMONICS: Final = 3
#: 1, derived: Share of a column's square that no column of the model explains, below which it is that column: the
#: columns of a row are means under its kernel, which differ by 1e-8 from those of the mean angle.
SAME: Final = 1e-7
#: 1, derived: Share of a combination's square below which rounding of the sums decides; it is then not seen.
UNSEEN: Final = 1e-10
#: deviations, argued: Part of an effect that is taken for noise.
NOISE: Final = 2.0
#: deviations, argued: An effect beyond it is surely one: by chance it is passed in one look of a hundred, and makes σ
#: wider only.
SHOWN: Final = 3.0
#: 1, argued: Share of the variance of what may be unseen that the reported σ of a known value holds in any case: half a
#: deviation, so that what two deviations of the prior do to it is within four of σ.
SHARE: Final = 0.25
#: nats, derived: Log-likelihood below the best at which a size of such torques, nothing among them, is excluded: SHOWN
#: normal deviations.
DOUBT: Final = SHOWN**2 / 2.0
#: nats, derived: Log-likelihood of the best size over nothing that noise alone reaches with one combination NOISE
#: deviations off.
CHANCE: Final = 0.5 * (NOISE**2 - 1.0 - math.log(NOISE**2))
#: 1, argued: Ratio of the sizes that are compared: the likelihood changes by less than a tenth of DOUBT between two.
FINER: Final = 1.1
#: 1, argued: The least size that is compared, over D: its square is far below the variance that any row resolves.
SMALLEST: Final = 1e-4
#: times, argued: Rounds in which the prior follows what is seen; a fourth changes it by less than a tenth.
REPEATS: Final = 3


class Floor(NamedTuple):
    """How covariances of scores are mixed with white noise, and where they end, in units of white noise."""

    share: float  # weight of the scores
    white: float  # factor of white noise that the others have
    lowest: float  # factor that none is below


@inline
def mixed(floor: Floor, relative: Floats, found: Floats) -> None:
    """Write a covariance (n, n) in units of white noise, mixed and floored along its own directions."""
    n = len(relative)
    both = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            found[i, j], both[i, j] = 0.0, floor.share * relative[i, j]
        both[i, i] += (1.0 - floor.share) * floor.white
    own, ways = eigen(both)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                found[i, j] += ways[i, k] * max(own[k], floor.lowest) * ways[j, k]


def columns_of(cause: int) -> tuple[int, int]:
    """Number of the first of a cause's misfit columns that are considered, and how many; cause: of regressors.py."""
    if cause == SPEED:  # what grows with the square of the speed; a peak at low speed is in part Coulomb friction
        return CAUSES.index(cause), 1
    return CAUSES.index(cause), 2 * HARMONICS if cause == ANGLE else CAUSES.count(cause)


@inline
def _likely(information: Floats, pull: Floats, prior: float) -> tuple[float, float]:
    """The largest size of amplitudes, D at most, that is compatible with the scores of their combinations, and the
    log-likelihood of the best size above that of none."""
    count = math.ceil(math.log(1.0 / SMALLEST) / math.log(FINER))
    sizes, likelihood, none = np.empty(count), np.empty(count), 0.0
    for at in range(count):
        sizes[at] = prior * FINER ** (-float(at))
        likelihood[at] = 0.0
        for one in range(len(information)):
            if information[one] > 0.0:
                spread, t2 = 1.0 + sizes[at] ** 2 * information[one], pull[one] ** 2 / information[one]
                likelihood[at] -= 0.5 * (math.log(spread) + t2 / spread)
    for one in range(len(information)):
        if information[one] > 0.0:
            none += 0.5 * pull[one] ** 2 / information[one]
    best, largest = likelihood[0], 0
    for at in range(count):
        best = max(best, likelihood[at])
    while likelihood[largest] < best - DOUBT:
        largest += 1
    return float(sizes[largest]), max(best + none, 0.0)


@inline
def _spread(ways: Floats, left: Floats, amplitudes: Floats) -> Floats:
    """Covariance (p, p) by combinations, ways (p, k): their amplitudes (k,), and the variances left of these (k,)."""
    p, k = ways.shape
    found, moved = np.zeros((p, p)), np.zeros(p)
    for i in range(p):
        for one in range(k):
            moved[i] += ways[i, one] * amplitudes[one]
    for i in range(p):
        for j in range(p):
            found[i, j] = moved[i] * moved[j]
            for one in range(k):
                found[i, j] += ways[i, one] * left[one] * ways[j, one]
    return found


@inline
def _seen(ways: Floats, information: Floats, pull: Floats, size: float, most: float) -> Floats:
    """What σ of a known value holds; ways: effect on θ of each combination; the others as above."""
    likely, evidence = _likely(information, pull, size)
    sure = min(max((evidence - CHANCE) / (DOUBT - CHANCE), 0.0), 1.0) ** 2  # a share of variance: σ grows with it
    k = len(information)
    left, amplitudes = np.empty(k), np.empty(k)
    for one in range(k):
        unseen = 0.5 * math.erfc((size * math.sqrt(information[one]) - LEVEL) / math.sqrt(2.0))
        share = sure + (1.0 - sure) * SHARE * unseen
        left[one] = likely**2 / (1.0 + likely**2 * information[one])
        amplitudes[one] = math.sqrt(share) * min(max(left[one] * pull[one], -most), most)
        left[one] *= share
    return _spread(ways, left, amplitudes)


@inline
def _considered(
    C: Floats, information: Floats, E: Floats, pull: Floats, prior: float, most: float
) -> tuple[Floats, Floats, Floats]:
    """Covariances (seen, whole, prior) from the information on each combination of amplitudes E.

    pull: its score; prior: D; most: rms of y, N·m (N).
    """
    k, size, before = len(information), prior, prior
    x, left, nothing = np.empty(k), np.empty(k), np.zeros(k)
    for _ in range(REPEATS):
        before, square = size, 0.0
        for one in range(k):
            h, m = size**2 * information[one], size * pull[one]
            x[one], left[one] = m / (1.0 + h), size**2 / (1.0 + h)
            if h >= LEVEL**2:
                x[one], left[one] = math.copysign(math.sqrt(max(m**2 / h - NOISE**2, 0.0) / h), m), 0.0
            x[one] = min(max(x[one], -most / size), most / size)
            square += x[one] ** 2  # of the amplitudes, too: combinations are orthogonal
        size = max(size, size * math.sqrt(square / k))
    for one in range(k):
        x[one] *= before
    ways = product(C, E)
    whole, seen = _spread(ways, left, x), _seen(ways, information, pull, size, most)
    left[:] = size**2
    return seen, whole, _spread(C, left, nothing)


@inline
def _unlike_the_model(columns: Floats, effect: Floats, same: float) -> NDArray[np.int64]:
    """Which columns w are not the model's; effect (p, k): least squares of each by those of the model; same: see SAME,
    or below 0: none is left out."""
    p, k = effect.shape
    own, count = np.empty(k, np.int64), 0
    for one in range(k):
        square = left = columns[p + one, p + one]
        for i in range(p):
            left -= columns[i, p + one] * effect[i, one]
        if square > 0.0 and left > same * square:
            own[count] = one
            count += 1
    return own[:count]


@inline
def _gathered(
    inverse: Floats, columns: Floats, scores: Floats, theta: Floats, variances: Floats, same: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """C of the columns that are not the model's; Z, r, V of these over the roots of their squares; those roots."""
    p, last = len(theta), len(columns) - 1
    effect = product(inverse, columns[:p, p:last])
    own = _unlike_the_model(columns, effect, same)
    n = len(own)
    C, Z, V = np.empty((p, n)), np.empty((n, n)), np.empty((n, n))
    size, r, half = np.empty(n), np.empty(n), np.empty((n, last))
    for a in range(n):
        for i in range(p):
            C[i, a] = effect[i, own[a]]
    for a in range(n):
        row = p + own[a]
        size[a], r[a] = np.sqrt(columns[row, row]), columns[row, last]
        for i in range(p):
            r[a] -= columns[row, i] * theta[i]
        r[a] /= size[a]
        for j in range(last):  # scores of these columns without the model's
            half[a, j] = scores[row, j]
            for i in range(p):
                half[a, j] -= C[i, a] * scores[i, j]
    limit = np.ones(n)
    for a in range(n):
        for b in range(n):
            Z[a, b], V[a, b] = columns[p + own[a], p + own[b]], half[a, p + own[b]]
            for i in range(p):
                Z[a, b] -= columns[p + own[a], i] * C[i, b]
                V[a, b] -= half[a, i] * C[i, b]
            Z[a, b] /= size[a] * size[b]
        if V[a, a] > variances[own[a]]:
            limit[a] = np.sqrt(variances[own[a]] / V[a, a])
    for a in range(n):
        for b in range(n):
            V[a, b] *= limit[a] * limit[b] / (size[a] * size[b])
    return C, Z, r, V, size


@inline
def _seen_combinations(Z: Floats, variance: float, unseen: float) -> tuple[Floats, Floats]:
    """Combinations of the columns (n, k) that rows tell, and the root of the square of each times variance.

    unseen: share of a column's square up to which they do not.
    """
    left, ways = eigen(Z)
    n, k = len(left), 0
    kept, length = np.empty((n, n)), np.empty(n)
    for one in range(n):
        if left[one] > unseen:
            length[k] = np.sqrt(variance * left[one])
            for a in range(n):
                kept[a, k] = ways[a, one]
            k += 1
    return kept[:, :k], length[:k]


@inline
def unmodelled_torque(
    inverse: Floats,
    columns: Floats,
    scores: Floats,
    theta: Floats,
    variance: float,
    share: float,
    white: float,
    lowest: float,
    prior: float,
    most: float,
    variances: Floats,
    shape: bool,
) -> tuple[bool, Floats, Floats, Floats]:
    """What these columns may have done: whether any is not the model's, and covariances (p, p) that θ owes to it: what
    σ of a known value holds (all, where the rows surely show that there is such a torque), all that it may have done,
    and the same if no row showed any of it.

    inverse: of the products of φ (p, p); columns: (p + k + 1,)² products of [φ w y]; scores: (p + k, p + k), their
    covariance; theta: (p,) of least squares; variance: of a row's noise; share, white, lowest: see Floor; prior: D, N·m
    (N); most: rms of y, N·m (N); variances: (k,) most that the score of each column varies by, without what the column
    itself explains; shape: whether only the shape of the columns is given, roughly. Then one that is the model's is
    not left out: there it matters most; and what of it is not the model's tells its size only where it would be tried
    (OWN).
    """
    C, Z, r, V, size = _gathered(inverse, columns, scores, theta, variances, -1.0 if shape else SAME)
    n, none = len(size), np.zeros((0, 0))
    if n == 0:
        return False, none, none, none
    ways, length = _seen_combinations(Z, variance, OWN if shape else UNSEEN)
    k = len(length)
    root, back, pull = np.empty((n, k)), np.empty((k, n)), np.zeros(n)  # root rootᵀ = variance · Z; its inverse
    for a in range(n):
        for one in range(k):
            root[a, one], back[one, a] = size[a] * ways[a, one] * length[one], ways[a, one] / length[one]
    moment = np.empty((n, 1))
    for a in range(n):
        moment[a, 0] = r[a]
    both, score = product(product(back, V), back.T), product(back, moment)
    for one in range(k):
        for other in range(k):
            both[one, other] *= share
        both[one, one] += (1.0 - share) * white
    spread, turned = eigen(both) if k > 0 else (np.empty(0), both)
    middle, score = product(root, turned), product(turned.T, score)
    scaled = middle.copy()
    for one in range(k):
        for a in range(n):
            scaled[a, one] /= max(spread[one], lowest)
    known, drawn = product(scaled, middle.T), product(scaled, score)
    for a in range(n):
        for b in range(n):
            known[a, b] /= variance**2
    information, E = eigen(known)
    for one in range(n):
        information[one] = max(information[one], 0.0)
        for a in range(n):
            pull[one] += E[a, one] * drawn[a, 0] / variance
    seen, whole, unseen = _considered(C, information, E, pull, prior, most)
    return True, seen, whole, unseen
