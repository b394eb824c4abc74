"""What is followed of a change that goes on, step by step: which parameters, how fast, and how uncertain."""

import numpy as np
import pytest

from estimators.online.monitor.gradual import SOON, GradualChange
from estimators.quantities import Floats
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner

pytestmark = pytest.mark.compiled

ROWS, SIGMA = 400, 0.1
TRUTH = np.array([2.0, -1.0, 0.5])
RNG = np.random.default_rng(9)
PHI = RNG.standard_normal((ROWS, 3)) * (1.0, 2.0, 0.5)
NOISE = SIGMA * RNG.standard_normal((2, ROWS))


def learnt(theta: Floats = TRUTH) -> Learner:
    """A learner that knows these, of 400 rows."""
    learner = Learner(3, 1, 0.01, Alarm())
    y = PHI @ theta + NOISE[0]
    leverage = np.sqrt(np.mean(PHI**2, axis=0)) / SIGMA
    learner.learn(PHI[:, None], y[:, None], np.array([SIGMA**2]), leverage, 10.0, np.zeros(3))
    learner.state.gram[:] = PHI.T @ PHI / ROWS
    return learner


def behind_an_alarm(change: Floats, slow: bool = True, way: Floats | None = None) -> tuple[GradualChange, bool]:
    """What is followed 200 rows after the beginning of an alarm, and whether it goes on with the way of before."""
    before, learner = learnt(), learnt(TRUTH + change)
    one = GradualChange(learner)
    one.state.slow, one.state.alarm = slow, 1000
    one.state.way[:] = 0.0 if way is None else way
    return one, one.recovered(before.rls.state, 1200, own=False)


@pytest.mark.parametrize(("onset", "slow"), [(20, True), (10, False)])
def test_an_alarm_is_slow_where_its_rows_were_hardly_worse_than_it_allows(onset: int, slow: bool) -> None:
    """60 in units of the noise, of which three a row are allowed: in 20 rows three more each."""
    learner = learnt()
    learner.rls.state.limit, learner.rls.state.allowance = 60.0, 3.0
    learner.rls.state.onset, learner.rls.state.since = onset, 7
    one = GradualChange(learner)
    one.state.going, one.state.way[:] = True, 1.0
    one.alarmed(500, 123, anew=True)
    assert (one.state.slow, one.state.going, one.state.began) == (slow, False, 123)
    assert one.state.alarm == 500 - 7 - onset, "its first row"
    assert not one.state.way.any()


def test_an_alarm_soon_after_another_is_of_the_same_change_and_one_of_what_was_told_too() -> None:
    for anew, told in ((False, False), (True, True)):
        learner = learnt()
        learner.rls.state.limit, learner.rls.state.allowance, learner.rls.state.onset = 60.0, 3.0, 20
        one = GradualChange(learner)
        one.state.began, one.state.alarm, one.state.reported, one.state.way[:] = 77, 88, told, 1.0
        one.alarmed(500, 123, anew)
        assert one.state.began == 77
        assert one.state.way.all()
        assert (one.state.alarm == 88) is not anew


@pytest.mark.parametrize(("place", "size"), [(0, 0.6), (1, -0.4), (2, 0.9)])
def test_the_parameter_that_has_changed_is_followed_at_its_rate_and_the_others_are_what_they_were(
    place: int, size: float
) -> None:
    one, alike = behind_an_alarm(size * np.eye(3)[place])
    kept, rls = one.state, one._learner.rls
    assert not alike
    assert kept.going
    assert np.flatnonzero(kept.way).tolist() == [place]
    assert kept.way[place] == pytest.approx(size, rel=0.1)
    np.testing.assert_allclose(kept.rate, kept.way / 200.0, rtol=1e-12)
    assert kept.row == 1200
    np.testing.assert_array_equal(kept.values, rls.theta)
    np.testing.assert_allclose(rls.theta, TRUTH + size * np.eye(3)[place], atol=0.05)


def test_what_was_known_before_counts_again_but_along_the_way() -> None:
    """By the information of both, where the earlier one has gained twice the way as a deviation."""
    change = np.array([0.6, 0.0, 0.0])
    before, now = learnt(), learnt(TRUTH + change)
    P = now.rls.covariance().copy()
    theta = now.rls.theta.copy()
    one, _ = behind_an_alarm(change)
    rls = one._learner.rls
    old = before.rls.covariance() + SOON**2 * np.outer(one.state.way, one.state.way) / rls.variance()
    joint = np.linalg.inv(np.linalg.inv(P) + np.linalg.inv(old))
    expected = joint @ (np.linalg.solve(P, theta) + np.linalg.solve(old, before.rls.theta))
    np.testing.assert_allclose(rls.theta, expected, rtol=1e-6)
    np.testing.assert_allclose(rls.covariance(), joint, rtol=1e-6, atol=1e-12 * np.abs(joint).max())


@pytest.mark.parametrize(
    ("slow", "way", "alike", "going"),
    [
        (True, None, False, True),
        (False, None, False, False),
        (False, [0.5, 0.0, 0.0], True, True),  # as the alarm before has moved it
        (False, [-0.5, 0.0, 0.0], False, False),
        (True, [-0.5, 0.0, 0.0], False, True),
    ],
)
def test_a_change_goes_on_behind_a_slow_alarm_or_one_that_moves_as_the_one_before(
    slow: bool, way: list[float] | None, alike: bool, going: bool
) -> None:
    one, found = behind_an_alarm(np.array([0.6, 0.0, 0.0]), slow, None if way is None else np.array(way))
    assert (found, one.state.going) == (alike, going)


def test_a_change_of_all_parameters_is_not_followed() -> None:
    one, alike = behind_an_alarm(np.array([0.9, 0.45, -1.8]))
    assert not alike
    assert not one.state.going


def test_block_by_block_the_parameter_goes_on_by_its_rate_and_is_as_much_less_certain() -> None:
    one, _ = behind_an_alarm(np.array([0.6, 0.0, 0.0]))
    rls = one._learner.rls
    theta, P, way = rls.theta.copy(), rls.covariance().copy(), 10 * one.state.rate
    assert not one.follow(1210, 10, needed=500.0)
    np.testing.assert_allclose(rls.theta, theta + way, rtol=1e-12)
    np.testing.assert_allclose(rls.covariance(), P + np.outer(way, way) / rls.variance(), rtol=1e-9, atol=1e-15)
    misfit = one._learner.misfit.copy()
    one.widen(10)
    np.testing.assert_allclose(one._learner.misfit - misfit, np.outer(way, way), rtol=1e-9)
    one.state.going = False
    one.widen(10)
    np.testing.assert_allclose(one._learner.misfit - misfit, np.outer(way, way), rtol=1e-9)


@pytest.mark.parametrize(("told", "moved", "going", "news"), [
    (False, 0.55, True, True),  # half of the alarm's way again
    (False, 0.45, False, False),
    (True, 0.55, False, False),  # of what its rate says over these 500 rows, 2.5 times as much
    (True, 1.3, True, False),
    (False, -0.6, False, False),
])  # fmt: skip
def test_a_change_is_reported_once_it_has_gone_on_and_is_over_where_it_has_not(
    told: bool, moved: float, going: bool, news: bool
) -> None:
    one, _ = behind_an_alarm(np.array([0.6, 0.0, 0.0]))
    kept, rls = one.state, one._learner.rls
    way, rate = kept.way.copy(), kept.rate.copy()
    kept.reported = told
    rls.theta[:] = rls.theta + moved * way
    at = rls.theta.copy()
    assert one.follow(1699, 0, needed=500.0) is False, "a start takes a row more"
    assert one.follow(1700, 0, needed=500.0) is news
    assert kept.going is going
    assert kept.row == 1700
    np.testing.assert_allclose(kept.rate, moved * way / 500.0, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(kept.values, at)
    assert rate[0] > 0.0


def test_of_a_change_that_goes_on_only_its_own_parameters_have_a_rate() -> None:
    one, _ = behind_an_alarm(np.array([0.6, 0.0, 0.0]))
    one._learner.rls.theta[:] += (0.55 * one.state.way[0], 0.3, -0.4)
    assert one.follow(1700, 0, needed=500.0)
    np.testing.assert_allclose(one.state.rate, [0.55 * one.state.way[0] / 500.0, 0.0, 0.0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("left", "taken"), [(4.0, [0]), (9.0, [0]), (12.0, [0, 1])])
def test_what_chance_leaves_of_a_change_needs_no_other_parameter(left: float, taken: list[int]) -> None:
    """χ² of three parameters is 3 ± √6 by chance, three deviations of it 10.3; a fifth of all of it is less here."""
    before, learner = learnt(), learnt()
    one = GradualChange(learner)
    noise = 2.0 * learner.rls.variance() * learner.rls.share() * learner.rls.covariance()
    weight = np.linalg.inv(noise)
    beside = np.array([-weight[0, 1] / weight[0, 0], 1.0, 0.0])  # what no change of the first parameter accounts for
    beside *= np.sqrt(left / (beside @ weight @ beside))
    learner.rls.theta[:] = before.rls.theta + [np.sqrt(30.0 / weight[0, 0]), 0.0, 0.0] + beside
    assert np.flatnonzero(one._way(before.rls.state)).tolist() == taken


def test_what_has_jumped_is_over_as_soon_as_it_surely_stands_still() -> None:
    """Once a tenth of its rate would have moved it by more than its deviation can hide."""
    for rows, going in ((20, True), (400, False)):
        one, _ = behind_an_alarm(np.array([0.6, 0.0, 0.0]))
        one.follow(1200 + rows, 0, needed=1e9)
        assert one.state.going is going
