"""Effect on θ of a torque that the model may lack: considered in its covariance, not learnt (Schmidt).

A torque of the angle, the torque of an elastic drive and one that is measured out of proportion near zero are
considered one by one; below is the first.

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

What σ told of a known value holds follows by one formula from all data, so it does not jump where evidence passes a
limit. Amplitudes are alike in size, so combinations that would be seen and are not tell of those that would not be.
With t ~ N(0, 1 + h), L is the largest D whose likelihood is within DOUBT of the best, and e the log-likelihood of the
best above that of no such torque. With h of D and x, left of L by the second line:

    s = (e − CHANCE)/(DOUBT − CHANCE), between 0 and 1      share = s² + (1 − s²)·SHARE·N(LEVEL − √h)
    Σ_seen = C(δδᵀ + L² E diag(share·left)Eᵀ)Cᵀ            δ = L E (√share · x)

N(LEVEL − √h) is the probability that an effect of D is not seen at LEVEL. So σ holds all where there surely is such a
torque, half a deviation of what would not be seen, and nothing of what would be seen and is not. θ itself is not
changed. A column that is one of the model's, as far as these rows tell, is left out.
Reference: Schmidt 1966, Application of state-space methods to navigation problems (the consider covariance).
"""

import math
from typing import Final, NamedTuple

import numpy as np

from estimators.misfit.regressors import ANGLE, CAUSES
from estimators.misfit.scores import LEVEL
from estimators.numerics.directions import Directions
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
#: 1, argued: Share of the variance of what may be unseen that σ told of a known value holds in any case: half a
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

    def mixed(self, relative: Floats) -> Floats:
        """Covariance (n, n) in units of white noise, mixed and floored along its own directions."""
        own, ways = np.linalg.eigh((1.0 - self.share) * self.white * np.eye(len(relative)) + self.share * relative)
        return np.asarray((ways * np.maximum(own, self.lowest)) @ ways.T)


class UnmodelledTorque(NamedTuple):
    """Covariances (p, p) that θ owes to such a torque."""

    seen: Floats  # what σ of a known value holds of it: all, where the rows surely show that there is one
    whole: Floats  # all that it may have done
    prior: Floats  # the same if no row showed any of it


def places(parameters: int, own: int, output: int, cause: int = ANGLE) -> tuple[slice, slice]:
    """Where the columns of one output are: in its products [φ φ̇ w y], and among the scores of all outputs.

    own: misfit regressors of an output, the lag among them; cause: of regressors.py, whose columns are considered.
    """
    first, count = CAUSES.index(cause), 2 * HARMONICS if cause == ANGLE else CAUSES.count(cause)
    raw, all_of_them = 2 * parameters - 1 + first, parameters + output * own + first
    return slice(raw, raw + count), slice(all_of_them, all_of_them + count)


def unmodelled_torque(
    told: Directions,
    columns: Floats,
    scores: Floats,
    theta: Floats,
    variance: float,
    floor: Floor,
    prior: float,
    most: float = math.inf,
) -> UnmodelledTorque | None:
    """What these columns may have done; None where all of them are the model's.

    columns: (p + k + 1,)² products of [φ w y]; scores: (p + k, p + k), their covariance; theta: (p,) of least squares;
    variance: of a row's noise; prior: D, N·m (N); most: rms of y, N·m (N).
    """
    p, k = len(theta), len(columns) - len(theta) - 1
    C = told.inverse @ columns[:p, p : p + k]
    Z = columns[p : p + k, p : p + k] - columns[p : p + k, :p] @ C
    size = np.diag(columns)[p : p + k]
    other = np.flatnonzero((size > 0.0) & (np.diag(Z) > SAME * size))
    if not len(other):
        return None
    C, Z, size = C[:, other], Z[np.ix_(other, other)], np.sqrt(size[other])
    r = (columns[p : p + k, -1] - columns[p : p + k, :p] @ theta)[other]
    own = np.concatenate([np.arange(p), p + other])
    way = np.hstack([-C.T, np.eye(len(other))])
    V = way @ scores[np.ix_(own, own)] @ way.T
    left, ways = np.linalg.eigh(Z / np.outer(size, size))
    seen = left > UNSEEN
    root = size[:, None] * ways[:, seen] * np.sqrt(variance * left[seen])  # of variance · Z
    back = (ways[:, seen] / np.sqrt(variance * left[seen])).T / size
    inverse = np.linalg.inv(floor.mixed(back @ V @ back.T))
    information, E = np.linalg.eigh(root @ inverse @ root.T / variance**2)
    pull = E.T @ (root @ (inverse @ (back @ r))) / variance
    return _considered(C, np.maximum(information, 0.0), E, pull, (prior, most))


def _considered(
    C: Floats, information: Floats, E: Floats, pull: Floats, sizes: tuple[float, float]
) -> UnmodelledTorque:
    """Covariances from the information on each combination of amplitudes E; pull: its score; sizes: D, and most."""
    prior, most = sizes
    size = prior
    for _ in range(REPEATS):
        h, m = size**2 * information, size * pull
        shows = h >= LEVEL**2
        t2 = np.divide(m**2, h, out=np.zeros_like(h), where=h > 0.0)
        x = m / (1.0 + h)
        x[shows] = (np.sign(m) * np.sqrt(np.maximum(t2 - NOISE**2, 0.0) / np.where(shows, h, 1.0)))[shows]
        x = np.clip(x, -most / size, most / size)
        amplitude, left = size * (E @ x), size**2 * np.where(shows, 0.0, 1.0 / (1.0 + h))
        size = max(size, float(np.sqrt(np.mean(amplitude**2))))
    moved, ways = C @ amplitude, C @ E
    whole = np.outer(moved, moved) + (ways * left) @ ways.T
    return UnmodelledTorque(_seen(ways, information, pull, (size, most)), whole, size**2 * C @ C.T)


def _seen(ways: Floats, information: Floats, pull: Floats, sizes: tuple[float, float]) -> Floats:
    """What σ of a known value holds; ways: effect on θ of each combination; the others as above."""
    size, most = sizes
    likely, evidence = _likely(information, pull, size)
    sure = min(max((evidence - CHANCE) / (DOUBT - CHANCE), 0.0), 1.0) ** 2  # a share of variance: σ grows with it
    unseen = [0.5 * math.erfc((one - LEVEL) / math.sqrt(2.0)) for one in size * np.sqrt(information)]
    share = sure + (1.0 - sure) * SHARE * np.array(unseen)
    left = likely**2 / (1.0 + likely**2 * information)
    moved = ways @ (np.sqrt(share) * np.clip(left * pull, -most, most))
    return np.asarray(np.outer(moved, moved) + (ways * (share * left)) @ ways.T)


def _likely(information: Floats, pull: Floats, prior: float) -> tuple[float, float]:
    """The largest size of amplitudes, D at most, that is compatible with the scores of their combinations, and the
    log-likelihood of the best size above that of none."""
    told = information > 0.0
    t2 = pull[told] ** 2 / information[told]
    sizes = prior * FINER ** np.arange(0.0, math.log(SMALLEST) / math.log(FINER), -1.0)
    spread = 1.0 + sizes[:, None] ** 2 * information[told]
    likelihood = -0.5 * (np.log(spread) + t2 / spread).sum(axis=1)
    best = float(likelihood.max())
    return float(sizes[np.argmax(likelihood >= best - DOUBT)]), max(best + 0.5 * float(t2.sum()), 0.0)
