"""Friction beyond its law, against least squares with and without it."""

import numpy as np
import pytest

from estimators.online.robot.findings.friction_discrepancy import FrictionDiscrepancy
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded

REACH = np.array([2.0, 0.5])
KNOTS = np.array([0.05, 0.1, 0.2, 0.5, 1.0])  # shares of the speed seen, decision 021
KNOT = len(KNOTS)


def hats(dq: Floats) -> Floats:
    """Written out: (rows, 2, knots)."""
    found = np.zeros((*dq.shape, KNOT))
    for row, j in np.ndindex(*dq.shape):
        share = abs(dq[row, j]) / REACH[j]
        after = int(np.searchsorted(KNOTS, share))
        if after == 0 or after == KNOT:
            found[row, j, min(after, KNOT - 1)] = 1.0
        else:
            part = (share - KNOTS[after - 1]) / (KNOTS[after] - KNOTS[after - 1])
            found[row, j, after - 1 : after + 1] = 1.0 - part, part
        found[row, j] *= np.sign(dq[row, j])
    return found


def motion(seed: int, rows: int = 50) -> tuple[Floats, Floats]:
    """Speeds (rows, 2) and columns (rows, 2, 4): Coulomb and viscous friction of either joint."""
    dq = REACH * np.random.default_rng(seed).uniform(-1.0, 1.0, (rows, 2))
    X = np.zeros((rows, 2, 4))
    for j in range(2):
        X[:, j, 2 * j], X[:, j, 2 * j + 1] = np.sign(dq[:, j]), dq[:, j]
    return dq, X


def test_what_theta_is_off_by_is_that_of_least_squares_with_the_bend_in_its_torque() -> None:
    weights, fade = np.array([3.0, 0.7]), np.array([1.0, 0.9, 0.99, 0.95])
    discrepancy = FrictionDiscrepancy(REACH, 4, np.array([0.2, 0.1]))
    off = [PriorBounded(np.zeros(4), 25.0 * np.eye(4), fade) for _ in range(2 * KNOT)]
    for seed in range(6):
        dq, X = motion(seed)
        B = hats(dq)
        for number, one in enumerate(off):
            j, k = divmod(number, KNOT)
            y = np.zeros((50, 2))
            y[:, j] = B[:, j, k]
            assert one.absorb(X, y, weights)
        discrepancy.absorb(off[0], X, dq, weights)
    wanted = np.array([one.theta for one in off]).T.reshape(4, 2, KNOT)
    np.testing.assert_allclose(discrepancy.moved, wanted, atol=1e-9)
    np.testing.assert_allclose(discrepancy.variance, (wanted**2 * np.array([[[0.04], [0.01]]])).sum(axis=(1, 2)))
    speeds = REACH[:, None] * np.array([0.1, 0.35])
    friction = [(np.array([2 * j, 2 * j + 1]), np.stack([np.ones(2), speeds[j]], axis=1)) for j in range(2)]
    for j, (place, columns) in enumerate(friction):
        error = np.tensordot(columns, wanted[place], 1)
        error[:, j] -= hats(speeds.T)[:, j]
        variance = (error**2 * np.array([[[0.04], [0.01]]])).sum(axis=(1, 2))
        np.testing.assert_allclose(discrepancy.of_friction(speeds, friction)[j], variance)
    discrepancy.forget(np.array([1]))
    assert not discrepancy.moved[1].any()
    assert discrepancy.moved[0].any()


def test_what_the_identification_was_off_by_goes_as_least_squares_learns_without_it() -> None:
    """Each direction of it is the start of a learner whose rows are without: what is left of it is considered."""
    weights, fade, random = np.array([3.0, 0.7]), np.array([1.0, 0.9, 0.99, 0.95]), np.random.default_rng(8)
    own = random.standard_normal((3, 3))
    discrepancy = FrictionDiscrepancy(REACH, 4, None, own @ own.T)
    np.testing.assert_allclose(discrepancy.variance, [*np.diag(own @ own.T), 0.0], atol=1e-12)
    off = [PriorBounded(np.zeros(4), 25.0 * np.eye(4), fade) for _ in range(3)]
    for k, one in enumerate(off):
        one.begin(np.append(own[:, k], 0.0), 0.5 * np.eye(4))
    for seed in range(3):
        dq, X = motion(seed, 5)
        for one in off:
            assert one.absorb(X, np.zeros((5, 2)), weights)
        discrepancy.absorb(off[0], X, dq, weights)
    left = np.array([one.theta for one in off]).T
    np.testing.assert_allclose(discrepancy.variance, (left**2).sum(axis=1), rtol=1e-9)
    place, columns = np.array([0, 1]), np.array([[1.0, 0.1], [1.0, 0.4]])
    friction = discrepancy.of_friction(np.array([[0.1, 0.4]]), [(place, columns)])
    np.testing.assert_allclose(friction[0], ((columns @ left[place]) ** 2).sum(axis=1), rtol=1e-9)
    discrepancy.forget(place)
    assert not discrepancy.variance[:2].any()
    assert discrepancy.variance[2] > 0.0


def test_a_bend_of_a_joint_is_found_and_noise_is_none() -> None:
    discrepancy, random = FrictionDiscrepancy(REACH, 4, None), np.random.default_rng(5)
    for seed in range(60):
        dq, _ = motion(seed)
        dq[::7, 1] = 0.0
        r = 0.05 * random.standard_normal((50, 2)) * (dq != 0.0)
        r[:, 0] += 0.1 * np.sign(dq[:, 0]) * (np.abs(dq[:, 0]) < 0.15 * REACH[0])
        discrepancy.notice(dq, r, 10.0 * np.ones((50, 2)), np.array([0.05**2, 0.05**2]))
    assert 0.08 < discrepancy.spread[0] < 0.2
    assert discrepancy.spread[1] == 0.0
    assert not discrepancy.reasons(("a", "b"), ("N·m", "N"), anyway=True)


def test_what_the_steps_of_encoders_make_is_taken_off_a_bend() -> None:
    """By its square, as 9.5 times what the noise makes is: three quarters of it leave half of the spread."""
    dq, _ = motion(3)
    r = np.stack([0.1 * np.sign(dq[:, 0]), np.zeros(50)], axis=1)
    spreads = []
    for share in (0.0, 0.75, 1.5):
        discrepancy = FrictionDiscrepancy(REACH, 4, None)
        shifted = np.repeat(np.sqrt(share / 9.5) * r[:, None], PLACES, axis=1)
        discrepancy.notice(dq, r, 10.0 * np.ones((50, 2)), np.zeros(2), shifted)
        spreads.append(discrepancy.spread[0])
    assert spreads[1:] == pytest.approx([0.5 * spreads[0], 0.0])
    assert spreads[0] > 0.05


@pytest.mark.parametrize(("torque", "told"), [(1.0, True), (10.0, False)])
def test_a_bend_that_explains_much_of_the_torque_is_named(torque: float, told: bool) -> None:
    discrepancy = FrictionDiscrepancy(REACH, 4, None)
    for seed in range(40):
        dq, _ = motion(seed)
        discrepancy.notice(
            dq, np.stack([np.zeros(50), 0.12 * np.sign(dq[:, 1])], axis=1), np.full((50, 2), torque), np.ones(2) * 1e-3
        )
    reasons = discrepancy.reasons(("a", "b"), ("N·m", "N"), anyway=False)
    assert bool(reasons) is told
    if told:
        assert (reasons[0].code, reasons[0].parameter) == ("friction_beyond_law", "b")
        assert str(reasons[0]).startswith("b: friction differs from its law by +0.1")
        assert " N at " in str(reasons[0])
        assert " m/s, 1" in str(reasons[0])


def test_speeds_far_from_a_knot_say_little_of_it() -> None:
    discrepancy = FrictionDiscrepancy(REACH, 4, None)
    dq = np.stack([REACH[0] * np.full(50, KNOTS[2] * 1.001), np.zeros(50)], axis=1)
    r = np.where(dq != 0.0, 1.0, 0.0)
    discrepancy.notice(dq, r, r, np.full(2, 1e-6))
    # 1 at the knot itself, and 2 at the next one, whose rows count as half of what they touch: by least squares 1e3
    assert discrepancy.spread[0] == pytest.approx(np.sqrt(1.0 + 2.0**2), rel=0.01)


def test_what_was_identified_is_the_least() -> None:
    discrepancy = FrictionDiscrepancy(REACH, 4, np.array([0.3, 0.0]))
    dq, _ = motion(1)
    discrepancy.notice(dq, np.zeros((50, 2)), np.zeros((50, 2)), np.ones(2))
    assert discrepancy.share == 0.0, "of no torque"
    discrepancy.notice(dq, np.zeros((50, 2)), np.ones((50, 2)), np.ones(2))
    np.testing.assert_array_equal(discrepancy.spread, [0.3, 0.0])


def test_the_share_of_the_torque_is_that_of_all_rows_in_motion_however_near_to_a_knot_they_are() -> None:
    """Half of the rows lie at a knot and are 1 N·m off, half between two others and are as the law says."""
    discrepancy, dq = FrictionDiscrepancy(REACH, 4, None), np.zeros((100, 2))
    dq[:50, 0], dq[50:, 0] = KNOTS[3] * REACH[0], 0.5 * (KNOTS[0] + KNOTS[1]) * REACH[0]
    r = np.zeros((100, 2))
    r[:50, 0] = 1.0
    discrepancy.notice(dq, r, np.where(dq != 0.0, 4.0, 0.0), np.full(2, 1e-9))
    assert discrepancy.spread == pytest.approx([1.0, 0.0])
    assert discrepancy.share == pytest.approx(np.sqrt(0.5) / 4.0)
    (reason,) = discrepancy.reasons(("a", "b"), ("N·m", "N"), anyway=False)
    assert reason.numbers["percent"] == pytest.approx(100.0 * np.sqrt(0.5) / 4.0)
    assert (reason.numbers["torque"], reason.numbers["speed"]) == pytest.approx((1.0, KNOTS[3] * REACH[0]))
    discrepancy.notice(0.0 * dq, 0.0 * r, 0.0 * r, np.full(2, 1e-9))
    assert discrepancy.share == pytest.approx(np.sqrt(0.5) / 4.0), "rows at rest say nothing"


def off_by(discrepancy: FrictionDiscrepancy, percent: float, beside: float = 0.0) -> bool:
    """Whether the first joint's friction is told, when it differs from its law by so much of its torque of 0.1 N·m.

    beside: N·m of the other joint's torque, which its law explains.
    """
    dq = np.tile(KNOTS[3] * REACH, (100, 1))
    for _ in range(700):  # what was before is forgotten
        r = np.tile([0.1 * 0.01 * percent, 0.0], (100, 1))
        discrepancy.notice(dq, r, np.tile([0.1, beside], (100, 1)), np.full(2, 1e-12))
    return bool(discrepancy.reasons(("a", "b"), ("N·m", "N"), anyway=beside == 0.0))


def test_a_bend_is_reported_from_a_twentieth_of_the_torque_on_and_until_it_is_seven_tenths_of_that() -> None:
    discrepancy = FrictionDiscrepancy(REACH, 4, None)
    assert [off_by(discrepancy, percent) for percent in (4.9, 5.1, 3.6, 3.4, 4.9)] == [False, True, True, False, False]


def test_a_bend_of_a_joint_matters_where_it_is_a_twentieth_of_the_torque_of_all_joints() -> None:
    """8 % of a torque of 0.1 N·m beside another one: together 4.5 % of it, then 5.6, 4.5 and 3.4 %."""
    discrepancy, beside = (
        FrictionDiscrepancy(REACH, 4, None),
        [0.1 * np.sqrt((8.0 / part) ** 2 - 1.0) for part in (4.5, 5.6)],
    )
    more = 0.1 * np.sqrt((8.0 / 3.4) ** 2 - 1.0)
    told = [off_by(discrepancy, 8.0, one) for one in (beside[0], beside[1], beside[0], more)]
    assert told == [False, True, True, False]
