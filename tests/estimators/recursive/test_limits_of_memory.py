"""The constants that hold a learner's memory, clip and bound, each by what it is there for."""

import numpy as np
import pytest

from estimators.numerics.robust import deviation_factors
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Alarm, Fixed, Threshold, is_suspicious

pytestmark = pytest.mark.interpreted
PERIOD = 0.1


def learner(law: Alarm | Fixed, p: int = 2, period: float = PERIOD) -> RecursiveLeastSquares:
    """Settled on noise of one."""
    rls = RecursiveLeastSquares(p, 1, period, law)
    rls.begin(np.ones(1), np.ones(p))
    rng = np.random.default_rng(0)
    rls.absorb(rng.choice([-1.0, 1.0], (300, 1, p)), rng.normal(0.0, 1.0, (300, 1)))
    rls.settle(Threshold(1.0, 3.0, 60.0))
    return rls


def quiet(rls: RecursiveLeastSquares, rows: int) -> None:
    """Rows that fit exactly."""
    phi = np.random.default_rng(1).choice([-1.0, 1.0], (rows, 1, rls.p))
    rls.absorb(phi, np.ascontiguousarray(phi @ rls.theta.copy()))


def jump(rls: RecursiveLeastSquares, rows: int) -> None:
    """Rows that do not."""
    phi = np.ones((rows, 1, rls.p))
    rls.absorb(phi, np.full((rows, 1), 1e3))


def test_memory_grows_to_sixty_seconds_and_not_beyond() -> None:
    rls = learner(Alarm())
    quiet(rls, 1)
    assert 1.0 / (1.0 - rls.state.forgetting) - 1.0 == pytest.approx(60.0 / PERIOD, abs=1.0)
    jump(rls, 12)
    assert rls.state.alarms >= 1.0
    quiet(rls, 400)  # 40 s after it: half of that
    assert 1.0 / (1.0 - rls.state.forgetting) - 1.0 == pytest.approx(200.0, rel=0.1)
    quiet(rls, 3000)
    assert 1.0 / (1.0 - rls.state.forgetting) - 1.0 == pytest.approx(600.0, abs=1.0)


def test_an_alarm_knows_how_long_ago_its_cause_began() -> None:
    rls = learner(Alarm())
    quiet(rls, 50)
    assert rls.state.cusum == 0.0
    rows = 0
    while rls.state.alarms == 0.0:
        jump(rls, 1)
        rows += 1
        assert rows < 30
    assert rls.state.onset == rows  # every one since climbed
    assert rls.state.since == 0.0


def test_one_wild_row_moves_the_long_variance_by_nine_times_itself_at_most() -> None:
    rls = learner(Alarm())
    before = rls.variance()
    rate = max(rls.state.rate_long, 1.0 / (rls.state.rows + 1.0))
    jump(rls, 1)
    assert rls.variance() == pytest.approx(before * (1.0 + 8.0 * rate), rel=1e-9)


@pytest.mark.parametrize(("memory", "visited"), [(10.0, 1), (3.0, 4)])
def test_axes_that_have_lost_a_quarter_do_not_wait_for_their_turn(memory: float, visited: int) -> None:
    rls = learner(Fixed(memory=memory * PERIOD), p=4)
    quiet(rls, 1)
    lost = rls.state.forgotten
    quiet(rls, 1)
    assert rls.state.forgotten > lost
    assert np.count_nonzero(rls.state.visited == rls.state.forgotten) == visited


def test_the_deviation_factor_divides_by_what_is_free() -> None:
    rng = np.random.default_rng(2)
    phi, e, block = rng.normal(size=(60, 3)), rng.normal(size=60), 5
    covariance = np.linalg.inv(phi.T @ phi)
    spread = np.zeros(3)
    for first in range(0, 60, block):
        score = sum(phi[i] * e[i] for i in range(first, first + block))
        spread += (covariance @ score) ** 2
    expected = np.sqrt(np.maximum(spread * (12 / (12 - 3)) / (0.04 * np.diag(covariance)), 1.0))
    assert (expected > 1.0).all()
    np.testing.assert_allclose(deviation_factors(phi, e, covariance, 0.04, block), expected, rtol=1e-12)
    np.testing.assert_array_equal(
        deviation_factors(phi[:15], e[:15], covariance, 0.04, block), 1.0
    )  # three blocks tell nothing


@pytest.mark.parametrize(("worst", "size", "sudden"), [(40.0, 40.0, True), (40.0, 25.0, False), (0.0, 40.0, False)])
def test_one_row_far_beyond_the_start_is_suspicious_until_the_sum_is_zero_again(
    worst: float, size: float, sudden: bool
) -> None:
    """25 times a square of 40 is one of 31.6 deviations."""
    rls = learner(Alarm())
    rls.settle(Threshold(1.0, 3.0, 200.0, worst))
    quiet(rls, 2)
    phi = np.ones((1, 1, rls.p))
    rls.absorb(phi, np.ascontiguousarray(phi @ rls.theta.copy() + size))
    assert is_suspicious(rls.state) is sudden
    assert rls.state.cusum == 9.0, "one row of any size"
    quiet(rls, 2)
    assert is_suspicious(rls.state) is sudden
    quiet(rls, 1)
    assert not is_suspicious(rls.state)
    assert rls.state.cusum == 0.0
    rls.absorb(phi, np.ascontiguousarray(phi @ rls.theta.copy() + 3.0))
    assert rls.state.cusum > 0.0
    assert not is_suspicious(rls.state), "what was is over"
