"""What explains a residual, and after how many looks it is told: rows of a payload, of friction, and of pushes."""

from typing import Any

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.residual_attribution import GONE, PAYLOAD, Attribution, ResidualAttribution, in_words
from estimators.quantities import Axis, Floats

N, ROWS, NOISE = 3, 25, 0.2  # joints; rows of a look; N·m
LOAD = standard(2.0, np.array([0.05, 0.0, 0.1]), 0.01 * np.eye(3))
NOTHING: Floats = np.zeros(PARAMETERS)


def model() -> WholeRobot:
    z, body = np.array([0.0, 0.0, 1.0]), standard(5.0, np.array([0.2, 0.0, 0.0]), 0.1 * np.eye(3))
    joints = (RobotJoint(f"j{i}", Axis.ROTARY, i - 1, pose((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)), z) for i in range(N))
    return WholeRobot(RobotDescription("arm", tuple(joints), np.array([body] * N)))


MODEL = model()


class Looks:
    """Half seconds of rows, one after the other, and what is told at the end of each."""

    def __init__(self, motor_side: bool = False, alike: float = 1.0) -> None:
        """alike: rows that say the same."""
        self.causes = ResidualAttribution(MODEL, np.full(MODEL.size, 5.0), np.full(N, alike), motor_side)
        self.rng, self.weights = np.random.default_rng(5), np.full(N, 1.0 / (alike * NOISE**2))

    def look(
        self, load: Floats = NOTHING, joint: int = 0, rubs: float = 0.0, oneway: bool = False, drags: float = 0.0,
        back: float = 1.0, during: slice = slice(None), noise: float = NOISE,
    ) -> Attribution | None:  # fmt: skip
        """load: what the last link carries; rubs, drags: Coulomb and viscous friction of a joint beyond the model's;
        oneway: only where it moves forth; back: share of it where the joint moves back; during: rows loaded."""
        Y, X = self.rng.standard_normal((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
        dq = self.rng.uniform(0.1, 1.0, (ROWS, N)) * np.resize([1.0, -1.0], (ROWS, 1))
        for j, terms in enumerate(self.causes.terms):
            viscous, coulomb, offset = MODEL.base + terms[:3]
            X[:, j, viscous], X[:, j, coulomb], X[:, j, offset] = dq[:, j], np.sign(dq[:, j]), 1.0
        r = noise * self.rng.standard_normal((ROWS, N))
        r[during] += (Y @ load)[during]
        extra = rubs * (np.maximum if oneway else np.add)(np.sign(dq[:, joint]), 0.0) + drags * dq[:, joint]
        r[:, joint] += np.where(dq[:, joint] < 0.0, back, 1.0) * extra
        return self.told(X, Y, r, dq)

    def told(
        self, X: Floats, Y: Floats, r: Floats, dq: Floats, pulls: list[Floats] | None = None
    ) -> Attribution | None:
        self.causes.absorb(X, Y, r, r - Y @ self.causes.carried, dq, self.weights, pulls)
        return self.causes.verdict()

    def causes_of(self, looks: int, *args: Any, **kwargs: Any) -> list[int | None]:
        told = [self.look(*args, **kwargs) for _ in range(looks)]
        return [None if one is None else one.cause for one in told]


def test_a_payload_is_told_when_two_looks_say_so_and_weighed() -> None:
    looks = Looks()
    assert [looks.look() for _ in range(6)] == [None] * 6
    assert looks.look(LOAD) is None
    told = looks.look(LOAD)
    assert told is not None
    assert told.cause == PAYLOAD
    np.testing.assert_allclose(told.change, LOAD, atol=0.2)
    payload = looks.causes.payload
    assert payload.carried
    assert payload.mass == pytest.approx(2.0, abs=4.0 * payload.mass_deviation)
    assert payload.mass_deviation < 0.05
    assert payload.centre == pytest.approx([0.05, 0.0, 0.1], abs=0.1)
    assert looks.look(LOAD) is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_motor_current_weighs_it_to_a_tenth(sign: float) -> None:
    looks = Looks(motor_side=True)
    assert [looks.look(sign * LOAD) is None for _ in range(2)] == [True, False]
    assert looks.causes.payload.mass_deviation == pytest.approx(0.2, rel=0.1)


def test_what_lasts_one_look_is_a_push() -> None:
    looks = Looks()
    looks.look()
    assert looks.look(LOAD) is None
    assert looks.look(0.3 * LOAD) is None, "it lets go"
    assert [looks.look() for _ in range(8)] == [None] * 8
    assert not looks.causes.payload.carried
    assert looks.look(LOAD) is None
    told = looks.look(0.6 * LOAD)
    assert told is not None, "it is much the same"
    assert told.cause == PAYLOAD


def test_it_is_gone_after_two_looks_without_it() -> None:
    looks = Looks()
    for _ in range(6):
        looks.look(LOAD)
    assert looks.causes.payload.carried
    told = [looks.look() for _ in range(4)]
    causes = [None if one is None else one.cause for one in told]
    assert causes.index(GONE) in (1, 2), "two looks have to say so; the one in which it went is half of each"
    assert not looks.causes.payload.carried
    assert not looks.causes.carried.any()


@pytest.mark.parametrize("joint", range(N))
def test_friction_of_one_joint_is_told_after_four_looks(joint: int) -> None:
    looks = Looks()
    told = [looks.look(joint=joint, rubs=1.0) for _ in range(4)]
    assert told[:3] == [None] * 3
    assert told[3] is not None
    assert told[3].cause == joint
    assert joint not in (PAYLOAD, GONE)
    viscous, coulomb, offset = told[3].change[:3]
    assert coulomb == pytest.approx(1.0, abs=0.3)
    assert [viscous, offset] == pytest.approx([0.0, 0.0], abs=0.5)


def test_what_is_seen_one_way_only_may_be_a_push() -> None:
    looks = Looks()
    assert [looks.look(rubs=1.0, oneway=True) for _ in range(12)] == [None] * 12


@pytest.mark.parametrize(("share", "gone"), [(0.5, False), (0.4, False), (0.2, True), (0.0, True), (-1.0, False)])
def test_a_payload_of_which_much_is_left_is_not_gone(share: float, gone: bool) -> None:
    """Looks in a row that say less than 0.3 of it are its end; half of it is another payload, not told as none."""
    looks = Looks()
    assert PAYLOAD in looks.causes_of(20, LOAD)
    assert (GONE in looks.causes_of(4, share * LOAD)) is gone
    assert looks.causes.payload.carried is not gone


def test_a_look_without_motion_does_not_say_that_a_payload_is_gone() -> None:
    looks, nothing = Looks(), np.zeros((ROWS, N))
    looks.causes_of(8, LOAD)
    X, Y = np.zeros((ROWS, N, MODEL.size)), np.zeros((ROWS, N, PARAMETERS))
    assert [looks.told(X, Y, nothing, nothing) for _ in range(6)] == [None] * 6
    assert looks.causes.payload.carried


def test_what_is_gone_is_told_anew_only_when_two_looks_say_so() -> None:
    looks = Looks()
    assert PAYLOAD in looks.causes_of(2, LOAD)
    assert GONE in looks.causes_of(4)
    assert np.isinf(looks.causes.payload.mass_deviation) or abs(looks.causes.payload.mass) < 0.1
    assert looks.causes_of(2, LOAD) == [None, PAYLOAD]


def test_a_tool_that_was_taken_off_is_a_payload_of_less_than_nothing() -> None:
    looks = Looks()
    assert looks.causes_of(2, -LOAD) == [None, PAYLOAD]
    assert looks.causes.payload.mass == pytest.approx(-2.0, abs=0.1)
    assert looks.causes.payload.centre == pytest.approx([0.05, 0.0, 0.1], abs=0.1)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_taken_up_or_off_after_long_motion_is_told_by_the_last_two_looks(sign: float) -> None:
    """Over all looks its mass is within the limit still."""
    looks = Looks()
    assert looks.causes_of(60) == [None] * 60
    assert looks.causes_of(2, 0.3 * sign * LOAD) == [None, PAYLOAD]


def test_before_the_first_look_there_is_no_cause() -> None:
    assert Looks().causes.verdict() is None


def test_two_looks_that_say_the_opposite_are_no_payload() -> None:
    looks = Looks()
    assert [looks.causes_of(1, sign * LOAD) for sign in (1.0, -1.0, 1.0, -1.0)] == [[None]] * 4


@pytest.mark.parametrize(("mass", "told"), [(0.2, False), (0.3, True)])
def test_a_quarter_of_a_kilogram_is_the_least_that_is_told(mass: float, told: bool) -> None:
    """However well it is weighed: to 0.02 kg."""
    looks = Looks()
    assert (PAYLOAD in looks.causes_of(8, mass / 2.0 * LOAD)) is told
    assert looks.causes.payload.mass_deviation < 0.02


@pytest.mark.parametrize(("deviations", "told"), [(3.0, False), (6.0, True)])
def test_a_mass_is_certain_beyond_four_deviations(deviations: float, told: bool) -> None:
    """A hundred rows say what one says: two looks weigh it to 0.2 · 10 / √150 = 0.16 kg. The residual has no noise."""
    looks, load = Looks(alike=100.0), np.zeros(PARAMETERS)
    load[0] = deviations * NOISE * 10.0 / np.sqrt(2.0 * ROWS * N)
    assert looks.causes_of(4, load, noise=0.0) == ([None, PAYLOAD, None, None] if told else [None] * 4)


@pytest.mark.parametrize(("during", "told"), [(slice(0, 14), False), (slice(9, None), True)])
def test_what_is_over_by_the_end_of_the_second_look_is_no_payload(during: slice, told: bool) -> None:
    looks = Looks()
    assert looks.look(LOAD) is None
    assert (looks.look(LOAD, during=during, noise=0.0) is not None) is told


def test_where_it_lies_is_as_uncertain_as_mass_and_moments_make_it() -> None:
    """Differences of moment over mass, by the covariance that is told."""
    looks = Looks(alike=30.0)
    told = next(one for one in (looks.look(LOAD) for _ in range(6)) if one is not None)
    payload, h = looks.causes.payload, 1e-6
    assert payload.centre == pytest.approx(told.change[1:4] / told.change[0])
    assert payload.mass_deviation == pytest.approx(np.sqrt(told.covariance[0, 0]))
    slopes = np.empty((3, 4))
    for k in range(4):
        ahead, behind = told.change[:4].copy(), told.change[:4].copy()
        ahead[k], behind[k] = ahead[k] + h, behind[k] - h
        slopes[:, k] = (ahead[1:] / ahead[0] - behind[1:] / behind[0]) / (2.0 * h)
    variance = np.diag(slopes @ told.covariance[:4, :4] @ slopes.T)
    assert payload.centre_deviation == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_where_a_mass_within_its_deviation_lies_is_not_told() -> None:
    looks = Looks()
    looks.look()
    payload = looks.causes.payload
    assert abs(payload.mass) < 0.2
    if abs(payload.mass) < payload.mass_deviation:
        assert np.isnan(payload.centre).all()
        assert np.isinf(payload.centre_deviation).all()
    assert not payload.carried


def test_a_payload_is_carried_while_friction_is_told_beside_it() -> None:
    looks = Looks()
    assert PAYLOAD in looks.causes_of(3, LOAD)
    found = looks.causes_of(8, LOAD, joint=1, rubs=1.0)
    assert found.index(1) in (3, 4)
    assert {*found} == {None, 1}
    assert looks.causes.payload.carried
    assert looks.causes.payload.mass == pytest.approx(2.0, abs=0.1)


def test_friction_that_is_told_leaves_no_payload_suspected() -> None:
    looks = Looks()
    assert looks.causes_of(4, joint=2, rubs=1.0) == [None, None, None, 2]
    assert looks.causes.payload.mass == 0.0
    assert np.isinf(looks.causes.payload.mass_deviation)
    assert looks.causes_of(3, joint=2, rubs=1.0) == [None] * 3, "it is told anew after four more"


def test_by_how_much_viscous_friction_is_off_is_told() -> None:
    looks = Looks()
    told = [looks.look(joint=1, drags=1.5, rubs=-0.4) for _ in range(4)][-1]
    assert told is not None
    assert told.cause == 1
    assert told.change[:2] == pytest.approx([1.5, -0.4], abs=0.5)
    assert told.change[:2] @ [0.55, 1.0] == pytest.approx(1.5 * 0.55 - 0.4, abs=0.1), "at the mean speed"
    deviations = np.sqrt(np.diag(told.covariance))
    assert (np.abs(told.change - [1.5, -0.4, 0.0]) < 4.0 * deviations).all()


@pytest.mark.parametrize(("back", "told"), [(1.0, True), (0.3, True), (0.2, False), (0.0, False), (-1.0, False)])
def test_friction_is_a_quarter_at_least_in_the_other_direction(back: float, told: bool) -> None:
    assert (0 in Looks().causes_of(8, rubs=1.0, back=back)) is told
    assert (0 in Looks().causes_of(8, rubs=-1.0, back=back)) is told


@pytest.mark.parametrize(("joint", "others"), [(0, 0.0), (1, 0.6)])
def test_friction_of_a_joint_is_told_where_it_explains_half_of_what_is_unexplained(joint: int, others: float) -> None:
    looks = Looks()
    found: list[int | None] = []
    for _ in range(6):
        Y, X = looks.rng.standard_normal((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
        dq = looks.rng.uniform(0.1, 1.0, (ROWS, N)) * np.resize([1.0, -1.0], (ROWS, 1))
        for j, terms in enumerate(looks.causes.terms):
            X[:, j, MODEL.base + terms[1]] = np.sign(dq[:, j])
        size = np.full(N, others)
        size[joint] = 1.0
        told = looks.told(X, Y, np.sign(dq) * size + NOISE * looks.rng.standard_normal((ROWS, N)), dq)
        found.append(None if told is None else told.cause)
    assert found == [None, None, None, joint, None, None]


def test_friction_of_all_joints_at_once_is_told_of_none() -> None:
    looks = Looks()
    for _ in range(8):
        Y, X = looks.rng.standard_normal((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
        dq = looks.rng.uniform(0.1, 1.0, (ROWS, N)) * np.resize([1.0, -1.0], (ROWS, 1))
        for j, terms in enumerate(looks.causes.terms):
            X[:, j, MODEL.base + terms[1]] = np.sign(dq[:, j])
        assert looks.told(X, Y, np.sign(dq) + NOISE * looks.rng.standard_normal((ROWS, N)), dq) is None


@pytest.mark.parametrize(("deviation", "told"), [(0.1, True), (0.14, True), (0.2, False)])
def test_friction_that_is_not_known_better_has_not_changed(deviation: float, told: bool) -> None:
    """A Coulomb friction of 1 beyond the model's: six deviations of what was known are 0.6, 0.84 or 1.2."""
    looks = Looks()
    looks.causes.covariance = deviation**2 * np.eye(MODEL.size)
    assert (0 in looks.causes_of(8, rubs=1.0)) is told


@pytest.mark.parametrize(("bend", "told"), [(0.2, True), (0.3, False)])
def test_friction_within_four_times_what_its_law_leaves_has_not_changed(bend: float, told: bool) -> None:
    looks = Looks()
    looks.causes.discrepancy = np.array([bend, 0.0, 0.0])
    assert (0 in looks.causes_of(8, rubs=1.0)) is told


def test_what_came_behind_the_first_sign_of_a_change_says_how_large_it_is() -> None:
    """All four looks behind a mark, else the last two: half the variance."""
    told = []
    for marked in (True, False):
        looks = Looks()
        looks.causes_of(10)
        if marked:
            looks.causes.mark()
            looks.look(rubs=0.3)
        told.append(next(one for one in (looks.look(rubs=1.0) for _ in range(9)) if one is not None))
    variances = [np.diag(one.covariance) for one in told]
    assert (variances[0] < 0.7 * variances[1]).all()
    assert [one.change[1] for one in told] == pytest.approx([1.0, 1.0], abs=0.3)


def test_what_noise_shared_with_the_columns_explains_is_no_payload_and_no_friction() -> None:
    """Pulls as large as the products themselves leave nothing to be explained; turned round they would double it."""
    for load, rubs in ((LOAD, 0.0), (NOTHING, 1.0)):
        looks = Looks()
        for _ in range(8):
            Y, X = looks.rng.standard_normal((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
            dq = looks.rng.uniform(0.1, 1.0, (ROWS, N)) * np.resize([1.0, -1.0], (ROWS, 1))
            X[:, 1, MODEL.base + looks.causes.terms[1][1]] = np.sign(dq[:, 1])
            r = Y @ load
            r[:, 1] += rubs * np.sign(dq[:, 1])
            own, weighted = np.einsum("tjp,j,tj->jp", X, looks.weights, r), r * looks.weights
            assert looks.told(X, Y, r, dq, [own, np.einsum("tjk,tj->k", Y, weighted)]) is None


def test_another_friction_in_words() -> None:
    words = in_words(MODEL.law_of(0), np.array([2.0, 5.0]), np.array([3.0126, 4.5]))
    assert words == "viscous 2 → about 3.01 N·m·s/rad, coulomb 5 → about 4.5 N·m"


def test_columns_of_friction_at_a_speed_leave_the_offset_out() -> None:
    causes = Looks().causes
    speeds = np.array([[0.5, -2.0], [1.0, 0.1], [0.0004, 0.0]])
    for j, (place, columns) in enumerate(causes.friction_columns(speeds)):
        assert [MODEL.names[k] for k in place] == [f"viscous.j{j}", f"coulomb.j{j}"]
        np.testing.assert_allclose(columns, np.stack([speeds[j], np.tanh(speeds[j] / 0.001)], axis=1), atol=1e-12)
    assert [MODEL.terms[k].name for k in causes.terms[1]] == ["viscous.j1", "coulomb.j1", "offset.j1"]


def test_a_payload_is_weighed_better_with_every_look() -> None:
    looks = Looks()
    looks.causes_of(2, LOAD)
    first = looks.causes.payload.mass_deviation
    looks.causes_of(10, LOAD)
    assert looks.causes.payload.mass_deviation < 0.7 * first, "of faded looks there are seven instead of two"
    assert looks.causes.payload.mass == pytest.approx(2.0, abs=4.0 * looks.causes.payload.mass_deviation)
    np.testing.assert_allclose(looks.causes.carried, LOAD, atol=0.1)


def test_rows_in_which_a_joint_says_nothing_are_in_neither_direction() -> None:
    """It moves in five of 25 rows of a look."""
    looks, found = Looks(), list[int | None]()
    for _ in range(8):
        Y, X = np.zeros((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
        dq = np.zeros((ROWS, N))
        dq[:5, 0] = [0.3, -0.4, 0.5, -0.6, 0.7]
        X[:, 0, MODEL.base + looks.causes.terms[0][1]] = np.sign(dq[:, 0])
        told = looks.told(X, Y, 2.0 * np.sign(dq), dq)
        found.append(None if told is None else told.cause)
    assert 0 in found


@pytest.mark.parametrize("seed", range(4))
def test_two_looks_agree_by_their_mass_wherever_it_lies(seed: int) -> None:
    looks = Looks()
    looks.rng = np.random.default_rng(seed)
    assert looks.causes_of(2, standard(2.0, np.zeros(3), 0.01 * np.eye(3))) == [None, PAYLOAD]


def test_friction_that_can_hardly_be_another_one_is_not() -> None:
    """By its prior it is known to a thousandth of what the residual has."""
    looks = Looks()
    looks.causes = ResidualAttribution(MODEL, np.full(MODEL.size, 1e-3), np.ones(N), False)
    assert looks.causes_of(8, rubs=1.0) == [None] * 8


@pytest.mark.parametrize(("own", "told"), [(True, False), (False, True)])
def test_friction_has_not_changed_where_its_own_parameters_are_not_known_whatever_the_others_are(
    own: bool, told: bool
) -> None:
    """Viscous and Coulomb friction of joint 1, or all other parameters, may be anything."""
    looks = Looks()
    unknown = np.full(MODEL.size, not own)
    unknown[MODEL.base + looks.causes.terms[1][:2]] = own
    looks.causes.covariance = np.diag(np.where(unknown, 1e4, 0.0))
    assert (1 in looks.causes_of(8, joint=1, rubs=1.0)) is told
