"""Time to a limit: against an independent Monte Carlo of the same model, closed forms, and lives of known shape."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.wear import time_to_limit as module
from estimators.wear.time_to_limit import FEWEST, Remaining, days_to_limit, time_to_limit

Floats = NDArray[np.float64]
LIMIT = 0.3


def test_steady_wear_reaches_its_limit_when_arithmetic_says_so() -> None:
    use = np.arange(1.0, 121.0)
    found = time_to_limit(use, 0.001 * use + 1e-4 * np.random.default_rng(1).normal(size=120), LIMIT)
    assert found.low <= 180.0 <= found.high
    assert found.middle == pytest.approx(180.0, rel=0.03)
    assert found.exponent == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("exponent", [0.6, 2.5])
def test_the_exponent_of_wear_is_followed(exponent: float) -> None:
    use = np.arange(1.0, 161.0)
    drift = 0.15 * (use / 160) ** exponent + 1e-3 * np.random.default_rng(2).normal(size=160)
    found = time_to_limit(use, drift, LIMIT)
    left = 160.0 * (2.0 ** (1 / exponent) - 1.0)
    assert found.middle == pytest.approx(left, rel=0.1)
    grid = 0.01  # exponents are 5 % apart, which is coarser than values with so little noise tell
    assert found.low * (1.0 - grid) <= left <= found.high * (1.0 + grid)
    assert found.stepwise < 0.5


def reference(use: Floats, drift: Floats, draws: int, seed: int) -> tuple[Floats, float, float]:
    """Quantiles of the remaining use, probability of steps, and effective draws, by sampling prior and future alike."""
    random = np.random.default_rng(seed)
    n, u = len(use), use / use[-1]
    white = (np.median(np.abs(np.diff(drift))) / 0.6745) ** 2 / 2
    level = drift[-module.LAST :].mean()
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    near = np.exp(-0.5 * (np.log(module.EXPONENTS_OF_STEPS) / module.NEAR_ONE) ** 2)
    smooth = np.full(len(module.EXPONENTS), (1.0 - module.STEADY) / len(module.EXPONENTS))
    smooth[np.abs(module.EXPONENTS - 1.0).argmin()] += module.STEADY
    weights, left, steps = np.empty(draws), np.full(draws, np.inf), np.empty(draws, bool)
    for k in range(draws):
        steps[k] = random.random() < module.IN_STEPS
        onsets = module.ONSETS_OF_STEPS if steps[k] else module.ONSETS
        onset = 0.0 if random.random() < module.FROM_THE_START else random.choice(onsets[1:])
        exponent = (
            random.choice(module.EXPONENTS_OF_STEPS, p=near / near.sum())
            if steps[k]
            else random.choice(module.EXPONENTS, p=smooth)
        )
        time = module.TIME_OF_STEPS if steps[k] else random.choice(module.TIMES)
        size = LIMIT / random.choice(module.STEPS) if steps[k] else 0.0
        covariance = white * (np.eye(n) + random.choice(module.SLOW) * np.exp(-apart / time))
        f = (np.maximum(u - onset, 0.0) / (1.0 - onset)) ** exponent
        jumps = size * level * np.minimum.outer(f, f)
        c = level * random.lognormal(0.0, 0.5)  # proposal, corrected for in the weight
        proposal = -math.log(c * 0.5) - 0.5 * (math.log(c / level) / 0.5) ** 2
        prior = -0.5 * (c / (module.WIDE * level)) ** 2 - math.log(max(c, module.SLOWEST * level))
        whole = covariance + jumps
        root = np.linalg.cholesky(whole)
        standard = np.linalg.solve(root, drift - c * f)
        density = -0.5 * standard @ standard - np.log(np.diag(root)).sum()  # but for a constant
        weights[k] = density + prior - proposal
        gain = np.linalg.solve(whole, jumps[:, -1])
        wear = c + gain @ (drift - c * f) + math.sqrt(max(jumps[-1, -1] - gain @ jumps[:, -1], 0.0)) * random.normal()
        for begin in range(20):  # until the limit is passed: most draws pass it soon
            ahead = np.linspace(begin, begin + 1.0, 201)
            rise = np.diff(c * ((u[-1] + ahead - onset) / (1.0 - onset)) ** exponent)
            if size:
                rise = size * random.gamma(rise / size)
            worn = wear + np.cumsum(rise)
            if worn[-1] >= LIMIT:
                left[k] = ahead[np.argmax(worn >= LIMIT) + 1] * use[-1]
                break
            wear = worn[-1]
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    order = np.argsort(left)
    places = np.searchsorted(np.cumsum(weights[order]), (0.1, 0.5, 0.9))
    return left[order][places], float(weights[steps].sum()), float(1.0 / (weights**2).sum())


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_it_agrees_with_a_monte_carlo_of_the_same_model(seed: int) -> None:
    random = np.random.default_rng(seed)
    use = np.cumsum(random.gamma(4.0, 0.25, 24))
    drift = 0.15 * use / use[-1] + random.normal(0.0, 0.02, 24)
    expected, stepwise, draws = reference(use, drift, 12_000, seed)
    found = time_to_limit(use, drift, LIMIT)
    assert draws > 300
    assert [found.low, found.middle] == pytest.approx(expected[:2], rel=0.15)
    assert found.high == pytest.approx(expected[2], rel=0.3)
    assert found.stepwise == pytest.approx(stepwise, abs=0.08)


def staircase(random: np.random.Generator) -> tuple[Floats, Floats]:
    use = np.arange(1.0, 161.0)
    stairs = np.zeros(160)
    stairs[random.choice(np.arange(10, 160), 5, replace=False)] = 0.03
    return use, np.cumsum(stairs) + random.normal(0.0, 0.002, 160)


def test_wear_in_steps_is_distinguished_from_smooth_wear_and_is_less_certain() -> None:
    random = np.random.default_rng(6)
    use, drift = staircase(random)
    smooth = time_to_limit(use, 0.15 * use / 160 + random.normal(0.0, 0.002, 160), LIMIT)
    stepwise = time_to_limit(use, drift, LIMIT)
    assert stepwise.stepwise > 0.95 > smooth.stepwise
    assert stepwise.high / stepwise.low > 1.5 * smooth.high / smooth.low


@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_units_of_drift_and_of_use_do_not_matter(factor: float) -> None:
    random = np.random.default_rng(7)
    use = np.arange(1.0, 101.0)
    drift = 0.1 * use / 100 + random.normal(0.0, 0.005, 100)
    plain = time_to_limit(use, drift, LIMIT)
    scaled = time_to_limit(use * factor, drift * factor, LIMIT * factor)
    expected = Remaining(*(factor * one for one in plain[:3]), *plain[3:])
    assert tuple(scaled) == pytest.approx(tuple(expected), rel=1e-6)


def test_use_that_differs_from_day_to_day_makes_days_less_certain_than_use() -> None:
    random = np.random.default_rng(9)
    even, uneven = np.full(120, 2.0), random.permutation(np.repeat([0.5, 1.0, 4.5], 40))  # 2 a day, both
    spans = []
    for each in (even, uneven):
        use = np.cumsum(each)
        drift = 0.15 * use / use[-1] + random.normal(0.0, 1e-3, 120)
        pace = np.mean(each[-module.PACE :])
        left, days = time_to_limit(use, drift, LIMIT), days_to_limit(use, drift, LIMIT)
        assert days.middle == pytest.approx(left.middle / pace, rel=0.05)
        spans.append(math.log(days.high / days.low) ** 2 - math.log(left.high / left.low) ** 2)
    variation = np.std(uneven[-module.PACE :]) / np.mean(uneven[-module.PACE :])
    doubt = 2.563 * variation * math.sqrt(1 / module.PACE + 1 / days.middle)  # from 10 % to 90 % of a normal number
    assert abs(spans[0]) < 0.02
    assert math.sqrt(spans[1]) == pytest.approx(doubt, rel=0.15)


def test_a_limit_that_is_reached_is_now_and_one_that_is_far_has_no_end() -> None:
    use = np.arange(1.0, 61.0)
    drift = 0.2 * use / 60 + np.random.default_rng(8).normal(0.0, 1e-3, 60)
    assert time_to_limit(use, drift, 0.1).high == 0.0
    assert time_to_limit(use, drift, 1e4).middle == math.inf


@pytest.mark.parametrize(("count", "limit"), [(FEWEST - 1, 0.3), (50, 0.0), (50, -1.0)])
def test_what_cannot_be_determined_is_refused(count: int, limit: float) -> None:
    use = np.arange(1.0, count + 1.0)
    with pytest.raises(ValueError, match=f"expected at least {FEWEST} values and a limit above 0"):
        time_to_limit(use, use, limit)
