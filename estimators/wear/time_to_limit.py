"""How much use, and how many days, a drifting quantity takes to its limit, as a distribution.

The drift w(u) over use u is a trend with jumps, observed with noise. With w̄(u) = c·f(u), the expected wear,

    f(u) = ((u − u₀)₊ / (u_n − u₀))^b                                                                            (1)
    w(u) ~ gamma process: increments with mean c·Δf and variance s·c·Δf                                          (2)
    y_i = w(u_i) + white + slow,   slow: first-order autoregressive, correlation ρ = exp(−Δt/τ)                  (3)

b < 1 is wear that slows down (running in), 1 Archard's law, b > 1 wear that speeds up (fatigue, debris); u₀ is where it
began; s is the size of the steps in which wear comes, 0 for smooth wear. Given u₀, b, s and the slow noise, all is
linear and Gaussian if (2) is taken by its first two moments while learning: c has a Gaussian posterior and the marginal
likelihood in closed form. The others are summed over a grid with its prior; the future is then drawn from (2) as it is,
to the first passage of the limit. Draws of c are resampled by 1/c, the prior of a rate that knows no scale: with a flat
one the few steps so far, n of them, would be taken for n + 1.

Use becomes days by the mean use of the last ones, which is not exactly known and will not be exactly kept.

Gamma process: van Noortwijk, Reliability Engineering & System Safety 94 (2009) 2–21, doi:10.1016/j.ress.2007.03.019.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

#: 1, argued: Values at most that the likelihood is formed of; more are averaged in groups of neighbours.
MOST: Final = 60
#: 1, argued: Values below which no trend can be distinguished from the noise.
FEWEST: Final = 10
#: 1, argued: Exponents b of smooth wear, all but 1 alike before any value is seen: from running in (½) to fatigue (4).
EXPONENTS: Final = np.exp(0.05 * np.arange(-18.0, 29.0))
#: 1, tuned: Prior of b = 1 among them, Archard's law, the usual one (0.2, 0.3 and 0.5 tried on lives of seeds 4000 to
#: 4129 of `jointwatch bench wear`; decision 064).
STEADY: Final = 0.3
#: 1, argued: Exponents of wear in steps: events without a memory come at one rate, so b is near 1.
EXPONENTS_OF_STEPS: Final = np.exp(np.linspace(-0.5, 0.5, 7))
#: 1, argued: Deviation of the prior of their logarithm.
NEAR_ONE: Final = 0.2
#: 1, argued: Prior of wear that began with the first use, which most does.
FROM_THE_START: Final = 0.7
#: 1, argued: Where wear began, as a share of the use so far; what is not from the start is alike anywhere.
ONSETS: Final = np.concatenate([[0.0], np.linspace(0.03, 0.93, 31)])
#: 1, argued: The same of wear in steps, which tells less of it.
ONSETS_OF_STEPS: Final = np.concatenate([[0.0], np.linspace(0.1, 0.9, 8)])
#: 1, argued: Prior of wear that comes in steps: as likely as smooth wear before any value is seen.
IN_STEPS: Final = 0.5
#: 1, argued: Steps in which such wear reaches its limit; in more of them it passes for smooth wear.
STEPS: Final = np.array([24.0, 12.0, 6.0, 3.0])
#: 1, argued: Variance of the slow noise over that of the white one.
SLOW: Final = np.array([0.2, 1.0, 2.5, 6.0])
#: values, argued: Time constants of the slow noise: weather, some days to a month.
TIMES: Final = np.array([4.0, 10.0, 25.0])
#: 1, argued: The time constant where wear comes in steps, which hide it.
TIME_OF_STEPS: Final = 10.0
#: 1, argued: Deviation of the prior of c, in times the wear by now.
WIDE: Final = 5.0
#: 1, argued: c in times the wear by now below which its prior, 1/c, is taken for flat, or it had no end.
SLOWEST: Final = 0.1
#: 1, argued: Draws from which each draw of c is resampled.
CANDIDATES: Final = 4
#: days, argued: Last days in use whose mean is the pace by which use becomes days.
PACE: Final = 30
#: values, argued: Mean of the last ones that is the wear by now, a week.
LAST: Final = 7
#: 1, argued: Hypotheses whose covariances are in memory at once, 7 MB.
AT_ONCE: Final = 256
#: 1, argued: Draws of the future.
DRAWS: Final = 2000
#: 1, argued: Use that is looked ahead, in times the use since the wear began.
HORIZON: Final = 60.0
#: 1, argued: Instants on the way to the horizon.
INSTANTS: Final = 160
#: 1, argued: An interval of 80 %, and its middle.
QUANTILES: Final = (0.1, 0.5, 0.9)
#: 1, argued: First instant on that way, in times the use since the wear began.
NEXT: Final = 1e-3
#: 1, derived: Median of the magnitude of a normal number of deviation 1.
MEDIAN_MAGNITUDE: Final = 0.6745
#: 1, argued: Deviation of the white noise at least, in limits, so that values without noise can be learnt from.
QUIETEST: Final = 1e-4
#: 1, argued: Numbers that replace zero where one divides by it.
TINY: Final = 1e-12


class Remaining(NamedTuple):
    """The use that is left to a limit; a quantile beyond the horizon is inf."""

    low: float  # 10 %
    middle: float  # 50 %
    high: float  # 90 %
    stepwise: float  # probability that the wear comes in steps
    exponent: float  # expected b


class _Hypotheses(NamedTuple):
    """What is summed over, one hypothesis an entry, and what is learnt under each."""

    onset: Floats  # share of the use so far
    exponent: Floats
    size: Floats  # s of (2), in the unit of drift
    weight: Floats  # log of prior and evidence
    mean: Floats  # of c
    deviation: Floats  # of c
    # given c, the wear by now differs from c by place − slope·(c − mean) ± spread
    place: Floats
    slope: Floats
    spread: Floats


class _Series(NamedTuple):
    """What was measured, in groups of neighbours."""

    use: Floats
    drift: Floats
    group: int  # values in each
    white: float  # variance of the white noise of one value
    level: float  # of the wear by now, about

    def noise(self, slow: float, time: float) -> Floats:
        """Covariance of the noise (3). slow: variance over the white one; time: constant, in values."""
        n = len(self.use)
        apart = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :]) * self.group
        covariance: Floats = self.white * (np.eye(n) / self.group + slow * np.exp(-apart / time))
        return covariance

    def shape(self, onset: Floats, exponent: Floats) -> Floats:
        """f of (1), (hypotheses, values)."""
        since = np.maximum(self.use[None, :] / self.use[-1] - onset[:, None], 0.0) / (1.0 - onset[:, None])
        f: Floats = since ** exponent[:, None]
        return f


def time_to_limit(use: Floats, drift: Floats, limit: float, seed: int = 0) -> Remaining:
    """The use from the last value to the limit.

    use: (values,) accumulated use, increasing, from the beginning of this life on; drift: (values,) of the quantity
    against its baseline, towards the limit, one value a day or so; limit: > 0, in the unit of drift. Raises ValueError
    for fewer than FEWEST values, or a limit that is not positive. Only to be asked once drift has been reported.
    """
    return _remaining(*_draws(use, drift, limit, np.random.default_rng(seed)))


def days_to_limit(use: Floats, drift: Floats, limit: float, seed: int = 0) -> Remaining:
    """The days in use from the last value to the limit, at the use of the last PACE days; there is some in these.

    Arguments and errors as of `time_to_limit`, one value a day. The mean use of n days in the past and of m days to
    come both differ from the true mean, by the deviation of a day's use over √n and √m.
    """
    random = np.random.default_rng(seed)
    left, stepwise, exponent = _draws(use, drift, limit, random)
    each = np.diff(use[-PACE - 1 :])
    pace = each.mean()
    variation = each.std() / pace
    days = left / pace
    doubt = variation * np.sqrt(1.0 / len(each) + 1.0 / np.maximum(days, 1.0))
    return _remaining(days * np.exp(doubt * random.normal(size=len(days))), stepwise, exponent)


def _remaining(left: Floats, stepwise: float, exponent: float) -> Remaining:
    low, middle, high = np.quantile(left, QUANTILES, method="nearest")
    return Remaining(float(low), float(middle), float(high), stepwise, exponent)


def _draws(use: Floats, drift: Floats, limit: float, random: np.random.Generator) -> tuple[Floats, float, float]:
    """Draws of the use that is left, the probability of wear in steps, and the expected exponent."""
    if len(use) < FEWEST or limit <= 0.0:
        raise ValueError(f"expected at least {FEWEST} values and a limit above 0, found {len(use)} and {limit:g}")
    series = _series(use, drift, limit)
    known = _joined([*_smooth(series), *_stepwise(series, limit)])
    weight = np.exp(known.weight - known.weight.max())
    weight /= weight.sum()
    drawn = random.choice(len(weight), CANDIDATES * DRAWS, p=weight)
    c = _positive(known.mean[drawn], known.deviation[drawn], random)
    prior = 1.0 / np.maximum(c, SLOWEST * series.level)
    kept = random.choice(len(c), DRAWS, p=prior / prior.sum())
    c, one = c[kept], _Hypotheses(*(values[drawn[kept]] for values in known))
    stepwise, exponent = float(np.mean(one.size > 0.0)), float(one.exponent.mean())
    cell = np.where(one.size > 0.0, *(math.log(grid[1] / grid[0]) for grid in (EXPONENTS_OF_STEPS, EXPONENTS)))
    one = one._replace(
        exponent=one.exponent * np.exp(cell * random.uniform(-0.5, 0.5, DRAWS))
    )  # within the grid's cell
    wear = c + one.place - one.slope * (c - one.mean) + one.spread * random.normal(size=DRAWS)
    left = _first_passage(c, wear, one, limit, random) * series.use[-1]
    # the last group ends later than its mean
    return np.maximum(left - (use[-1] - series.use[-1]), 0.0), stepwise, exponent


def _smooth(series: _Series) -> Iterator[_Hypotheses]:
    """Smooth wear: the noise is alike for all shapes, so one factor serves all of them."""
    onset, exponent = (one.ravel() for one in np.meshgrid(ONSETS, EXPONENTS, indexing="ij"))
    f, none = series.shape(onset, exponent), np.zeros(len(onset))
    steady = STEADY * (exponent == 1.0)
    prior = np.log((1.0 - IN_STEPS) * ((1.0 - STEADY) / len(EXPONENTS) + steady) / len(SLOW) / len(TIMES))
    prior = prior + _of_onset(onset, ONSETS)
    for slow in SLOW:
        for time in TIMES:
            factor = np.linalg.cholesky(series.noise(slow, time))
            white = np.linalg.solve(factor, np.column_stack([series.drift, f.T]))
            fit = _fit(np.broadcast_to(white[:, 0], f.shape), white[:, 1:].T, series.level)
            weight = prior + fit.evidence - np.log(np.diagonal(factor)).sum()
            yield _Hypotheses(onset, exponent, none, weight, fit.mean, fit.deviation, none, none, none)


def _stepwise(series: _Series, limit: float) -> Iterator[_Hypotheses]:
    """Wear in steps: their covariance s·c·f(min(u, u′)) follows the shape, with the level for c."""
    onset, exponent, slow, steps = (
        one.ravel() for one in np.meshgrid(ONSETS_OF_STEPS, EXPONENTS_OF_STEPS, SLOW, STEPS, indexing="ij")
    )
    usual = np.exp(-0.5 * (np.log(exponent) / NEAR_ONE) ** 2)
    prior = np.log(IN_STEPS * usual / usual.sum() * len(ONSETS_OF_STEPS)) + _of_onset(onset, ONSETS_OF_STEPS)
    f, size = series.shape(onset, exponent), limit / steps
    for first in range(0, len(onset), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        jumps = (size[part] * series.level)[:, None, None] * np.minimum(f[part][:, :, None], f[part][:, None, :])
        noise = series.noise(1.0, TIME_OF_STEPS) - series.noise(0.0, TIME_OF_STEPS)
        noise = series.noise(0.0, TIME_OF_STEPS) + slow[part][:, None, None] * noise
        factor = np.linalg.cholesky(jumps + noise)
        right = np.stack([np.broadcast_to(series.drift, f[part].shape), f[part], jumps[:, :, -1]], axis=2)
        wy, wf, wj = np.moveaxis(np.linalg.solve(factor, right), 2, 0)
        fit = _fit(wy, wf, series.level)
        weight = prior[part] + fit.evidence - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(1)
        slope = (wj * wf).sum(1)
        place = (wj * wy).sum(1) - slope * fit.mean
        spread = np.sqrt(np.maximum(jumps[:, -1, -1] - (wj * wj).sum(1), 0.0))
        found = fit.mean, fit.deviation, place, slope, spread
        yield _Hypotheses(onset[part], exponent[part], size[part], weight, *found)


class _Fit(NamedTuple):
    """c by least squares with its prior N(0, (WIDE·level)²), and the log of the evidence but for the noise's volume."""

    mean: Floats
    deviation: Floats
    evidence: Floats


def _fit(y: Floats, f: Floats, level: float) -> _Fit:
    """The fit of each hypothesis. y, f: whitened, (hypotheses, values)."""
    prior = 1.0 / (WIDE * level) ** 2
    information = (f * f).sum(1) + prior
    mean = (f * y).sum(1) / information
    evidence = 0.5 * (information * mean**2 - (y * y).sum(1) + np.log(prior / information))
    return _Fit(mean, 1.0 / np.sqrt(information), evidence)


def _of_onset(onset: Floats, grid: Floats) -> Floats:
    """Log of the prior of each onset of a grid."""
    return np.where(onset == 0.0, math.log(FROM_THE_START), math.log((1.0 - FROM_THE_START) / (len(grid) - 1)))


def _joined(parts: Sequence[_Hypotheses]) -> _Hypotheses:
    return _Hypotheses(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def _first_passage(c: Floats, wear: Floats, one: _Hypotheses, limit: float, random: np.random.Generator) -> Floats:
    """Use from now to the limit, in times the use so far, of each draw; wear: by now. See (1) and (2)."""
    begun, exponent, size = 1.0 - one.onset, one.exponent, one.size
    ahead = np.concatenate([[0.0], np.geomspace(NEXT, HORIZON, INSTANTS)])
    f = (1.0 + ahead[None, :]) ** exponent[:, None]
    rise = c[:, None] * np.diff(f, axis=1)
    stepwise = size > 0.0
    rise[stepwise] = random.gamma(rise[stepwise] / size[stepwise, None]) * size[stepwise, None]
    path = wear[:, None] + np.concatenate([np.zeros((len(c), 1)), np.cumsum(rise, axis=1)], axis=1)
    beyond = path >= limit
    first = np.argmax(beyond, axis=1)
    reached = beyond.any(axis=1)
    rows = np.arange(len(c))
    before = np.maximum(first - 1, 0)
    low, high = path[rows, before], path[rows, first]
    share = np.where(first > 0, (limit - low) / np.maximum(high - low, TINY * limit), 0.0)
    at = ahead[before] + np.clip(share, 0.0, 1.0) * (ahead[first] - ahead[before])
    return np.where(reached, at * begun, math.inf)


def _series(use: Floats, drift: Floats, limit: float) -> _Series:
    """Means of groups of neighbours, the last group complete, so that there are MOST at most.

    The white noise is that of the differences of neighbours, by their median, which steps and trend leave alone.
    """
    group = -(-len(use) // MOST)
    rest = len(use) % group
    u, y = (one[rest:].reshape(-1, group).mean(1) for one in (use, drift))
    differences = float(np.median(np.abs(np.diff(drift)))) / MEDIAN_MAGNITUDE
    white = max(differences**2 / 2.0, (QUIETEST * limit) ** 2)
    level = max(float(drift[-LAST:].mean()), limit / 20)
    return _Series(u, y, group, white, level)


def _positive(mean: Floats, deviation: Floats, random: np.random.Generator) -> Floats:
    """Draws of normal numbers that are not below 0, by their distribution function."""
    from scipy.special import ndtr, ndtri

    least = ndtr(-mean / deviation)
    drawn = ndtri(least + random.uniform(size=len(mean)) * (1.0 - least))
    return np.maximum(mean + deviation * np.where(np.isfinite(drawn), drawn, 0.0), TINY)
