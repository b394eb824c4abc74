"""The long-run variance of residuals against what their process has."""

import numpy as np
import pytest

from estimators.misfit.long_run import LongRun
from estimators.quantities import Floats

ROWS, LONGEST, FADE = 50, 100, 0.98
FAR: Floats = np.full(2, np.inf)


def _of(residual: Floats, blocks: int, correlation: float = 7.0, unknown: float = 0.0) -> Floats:
    long_run = LongRun(np.full(2, correlation), unknown, LONGEST, FADE)
    for number in range(1, blocks + 1):
        part = residual[(number - 1) * ROWS : number * ROWS]
        long_run.absorb(number, part, part, FAR)
    return long_run.of(np.full(2, 3.0))


def _memory(rho: float, rows: int) -> Floats:
    """Two series of variance 1, each correlated by rho from row to row."""
    draws = np.random.default_rng(5).standard_normal((rows, 2)) * np.sqrt(1.0 - rho**2)
    for row in range(1, rows):
        draws[row] += rho * draws[row - 1]
    return draws


@pytest.mark.parametrize("rho", [0.0, 0.8, 0.95])
def test_it_is_that_of_the_process(rho: float) -> None:
    found = np.array([_of(_memory(rho, 20_000)[first:], 200) for first in range(0, 10_000, 2_500)])
    # fifty blocks of 50 rows tell S to √(2 · 2 · 20 / 2500) at worst; the sum ends at a twentieth, which takes that off
    assert found.mean() == pytest.approx((1.0 + rho) / (1.0 - rho), rel=0.25)


def test_what_was_known_stands_while_there_are_few_blocks_or_much_to_learn() -> None:
    white = _memory(0.0, 2_000)
    assert _of(white, 9) == pytest.approx(21.0)
    assert _of(white, 10) == pytest.approx(1.0, rel=0.3)
    assert _of(white, 40, unknown=30.0) == pytest.approx(21.0)  # 40 · 50 · 2/7 rows < 30 · 30
    assert _of(white, 40, unknown=10.0) == pytest.approx(1.0, rel=0.3)


def test_what_theta_was_off_by_and_what_it_has_taken_of_the_noise_cancel() -> None:
    """y = θ + e, learnt with the gain of a block against an equal prior: e⁻ and e⁺ are each far off, not their
    product."""
    rng, long_run = np.random.default_rng(8), LongRun(np.ones(1), 0.0, LONGEST, 1.0)
    for number in range(1, 2 * 800, 2):  # no block follows another
        e = rng.standard_normal((ROWS, 1))
        off = rng.standard_normal() / np.sqrt(ROWS)
        before = e - off
        long_run.absorb(number, before, before - 0.5 * before.mean(), FAR[:1])
    lag0 = long_run.of(np.ones(1))[0]
    assert lag0 == pytest.approx(1.0, abs=0.05)


def test_blocks_that_do_not_follow_each_other_are_not_correlated() -> None:
    slow = np.ones((ROWS, 2))
    apart, after = (LongRun(np.ones(2), 0.0, LONGEST, 1.0) for _ in range(2))
    for number in range(1, 30):
        apart.absorb(2 * number, slow, slow, FAR)
        after.absorb(number, slow, slow, FAR)
    assert apart.of(np.ones(2))[0] < 0.7 * after.of(np.ones(2))[0]


def test_wild_rows_count_no_more_than_they_may() -> None:
    white = _memory(0.0, 2_000)
    white[::50] = 1e6
    long_run = LongRun(np.ones(2), 0.0, LONGEST, FADE)
    for number in range(1, 41):
        part = white[(number - 1) * ROWS : number * ROWS]
        long_run.absorb(number, part, part, np.full(2, 3.0))
    assert (long_run.of(np.ones(2)) < 2.0).all()


def test_at_first_later_blocks_count_more() -> None:
    """Block n by n(n + 1)/2; of residuals whose sign changes from row to row nothing but their variance is left."""
    blocks, long_run = np.arange(1.0, 13.0), LongRun(np.ones(1), 0.0, LONGEST, FADE)
    for number, variance in enumerate(blocks, 1):
        part = np.sqrt(variance) * np.resize([[1.0], [-1.0]], (ROWS, 1))
        long_run.absorb(number, part, part, FAR[:1])
    assert long_run.of(np.ones(1))[0] == pytest.approx(np.average(blocks, weights=blocks * (blocks + 1.0)))


def test_of_a_residual_that_says_nothing_what_was_known_stands() -> None:
    rows = _memory(0.0, 2_000)
    rows[:, 1] = 0.0
    assert _of(rows, 40) == pytest.approx([1.0, 21.0], rel=0.3)
