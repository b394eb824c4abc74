"""When values may be trusted."""

import numpy as np
import pytest

from estimators.online.judgement.parameter_state import DOUBTFUL
from estimators.online.judgement.validity import Validity, reason_to_restart
from estimators.quantities import Parameter
from estimators.reasons import Reason
from estimators.recursive.estimator import LARGEST
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner

pytestmark = pytest.mark.interpreted

INERTIA = {"unit": "kg·m²", "needs": "stronger accelerations"}
PARAMETERS = (
    Parameter("inertia", "kg·m²", 0.0, np.inf, "", needs="stronger accelerations"),
    Parameter("offset", "N·m", -np.inf, np.inf, ""),
)


def test_validity_has_hysteresis_and_names_what_is_missing() -> None:
    validity = Validity(PARAMETERS)
    values, leverage = np.array([1.0, 0.001]), np.array([10.0, 1.0])
    validity.weigh(values, np.array([0.2, 0.05]), leverage, 10.0)
    assert validity.state.valid.tolist() == [False, True]  # the offset is small, but so is what it does to the torque
    assert validity.reasons == (Reason("uncertain", "inertia", {"value": 1.0, "deviation": 0.2}, INERTIA),)
    [said] = map(str, validity.reasons)
    assert said == "inertia is not certain enough yet: 1 ± 0.2 kg·m²; it needs stronger accelerations"
    validity.weigh(values, np.array([0.04, 0.05]), leverage, 10.0)
    assert validity.state.valid.all()
    assert validity.reasons == ()
    validity.weigh(values, np.array([0.09, 0.15]), leverage, 10.0)
    assert validity.state.valid.all()
    validity.weigh(values, np.array([0.11, 0.25]), leverage, 10.0)
    assert not validity.state.valid.any()


def test_an_implausible_value_is_not_valid() -> None:
    validity = Validity(PARAMETERS)
    validity.weigh(np.array([-1.0, 1.0]), np.array([0.01, 0.01]), np.ones(2), 10.0)
    assert validity.state.valid.tolist() == [False, True]
    assert validity.reasons[0].code == "implausible_value"
    assert "outside its plausible range [0, inf]" in str(validity.reasons[0])


def test_readiness_is_how_near_the_deviations_are_on_average() -> None:
    validity = Validity(PARAMETERS)
    validity.weigh(np.array([1.0, 1.0]), np.array([0.2, 0.01]), np.array([10.0, 10.0]), 10.0)
    assert validity.readiness == pytest.approx(0.5 * (0.05 / 0.2 + 1.0))


def judged() -> tuple[Learner, Validity]:
    """A learner of 3 and −0.7 from 400 rows, and its judgement."""
    learner, validity = Learner(2, 1, 0.01, Alarm()), Validity(PARAMETERS)
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(400, 1, 2))
    y = phi @ np.array([3.0, -0.7]) + 0.01 * rng.normal(size=(400, 1))
    learner.learn(phi, y, np.array([1e-4]), np.array([100.0, 100.0]), 300.0, np.zeros(2))
    validity.judge(learner)
    return learner, validity


def test_what_a_learner_knows_is_judged() -> None:
    learner, validity = judged()
    np.testing.assert_array_equal(validity.state.values, learner.rls.theta)
    np.testing.assert_allclose(learner.rls.theta, [3.0, -0.7], atol=0.01)
    assert validity.state.valid.all()


@pytest.mark.parametrize(
    ("theta", "low", "moved"),
    [
        ((0.0, 0.0, 1.0), 0.0, False),  # of what a joint takes to move nothing is there, and it has a weight
        ((0.0, 0.1, 1.0), 0.0, True),
        ((0.1, 0.0, 1.0), 0.0, True),
        ((0.0, 0.0, 1.0), -np.inf, True),  # one alone may be so small
    ],
)
def test_a_torque_without_inertia_and_friction_does_not_move_the_joint(
    theta: tuple[float, ...], low: float, moved: bool
) -> None:
    """As while somebody leads it by hand: the drive only carries its weight."""
    parameters = (
        Parameter("inertia", "kg·m²", 0.0, np.inf, ""),
        Parameter("coulomb", "N·m", low, np.inf, ""),
        Parameter("gravity_sin", "N·m", -np.inf, np.inf, ""),
    )
    learner, validity, rng = Learner(3, 1, 0.01, Alarm()), Validity(parameters), np.random.default_rng(1)
    phi = rng.normal(size=(400, 1, 3))
    y = phi @ np.array(theta) + 0.01 * rng.normal(size=(400, 1))
    learner.learn(phi, y, np.array([1e-4]), np.full(3, 100.0), 100.0, np.zeros(3))
    validity.judge(learner)
    assert validity.state.valid.all()
    assert validity.good is moved
    expected = [] if moved else ["torque_moves_nothing"]
    assert [one.code for one in validity.reasons] == expected
    assert [one.code for one in validity.reasons_with_causes(lambda *_: (), lambda: ())] == expected


def test_the_deviation_that_is_reported_does_not_jump_where_a_parameter_is_no_longer_known() -> None:
    """Σ* of the first grows from nothing to three times its limit, and falls again."""
    learner, validity = judged()
    own, told, states = float(validity.state.deviations[0]), [], set[int]()
    way = np.concatenate([np.linspace(0.0, 0.45, 451), np.linspace(0.45, 0.0, 451)])  # the limit is 5 % of 3
    for deviation in way:
        learner.state.unmodelled[0, 0] = deviation**2
        validity.judge(learner)
        told.append(float(validity.state.deviations[0]))
        states.add(int(validity.state.states[0]))
    assert len(states) > 1, "else it stayed known"
    assert np.abs(np.diff(told)).max() < 0.01
    assert told[0] == pytest.approx(own, rel=1e-3)
    assert told[450] == pytest.approx(np.hypot(own, 0.45), rel=1e-6)
    assert max(told[:150]) == pytest.approx(own, rel=1e-3), "up to the limit it is of what is seen"


@pytest.mark.parametrize(
    ("theta", "d", "cause"),
    [
        ([1.0, 1.0], [1.0, 1.0], ""),
        ([np.nan, 1.0], [1.0, 1.0], "not finite"),
        ([1.0, 1.0], [1.0, np.inf], "not finite"),
        ([1.0, 1.0], [1.0, -1e-9], "positive"),
        ([1e7, 1.0], [1.0, 1.0], "ran away"),
    ],
)
def test_a_sick_estimate_is_called_so(theta: list[float], d: list[float], cause: str) -> None:
    learner = Learner(2, 1, 0.01, Alarm())
    learner.rls.theta[:], learner.rls.d[:], learner.rls.bound[:], learner.state.signal = theta, d, 100.0, 10.0
    found = reason_to_restart(learner)
    assert cause in found
    assert bool(found) == bool(cause)


@pytest.mark.parametrize(("value", "valid"), [(-0.029, True), (-0.031, False), (2.029, True), (2.031, False)])
def test_a_range_is_left_by_more_than_three_deviations(value: float, valid: bool) -> None:
    validity = Validity((Parameter("band", "rad", 0.0, 2.0, ""),))
    validity.weigh(np.array([value]), np.array([0.01]), np.array([1.0]), 100.0)
    assert validity.state.valid.tolist() == [valid]
    assert bool(validity.reasons) is not valid


def test_a_deviation_is_small_by_either_measure_and_infinite_by_none() -> None:
    """5 % of the value, or what moves the torque by 1 % of its rms."""
    validity = Validity(PARAMETERS)
    for deviation, leverage, small in (
        (0.049, 100.0, True),
        (0.051, 100.0, False),
        (0.99, 0.1, True),
        (1.1, 0.1, False),
    ):
        validity.state.states[:] = DOUBTFUL
        validity.weigh(np.array([1.0, 1.0]), np.full(2, deviation), np.full(2, leverage), 10.0)
        assert validity.state.valid.tolist() == [small] * 2
    validity.weigh(np.array([1.0, 1.0]), np.array([np.inf, 0.01]), np.ones(2), 10.0)
    assert validity.state.valid.tolist() == [False, True]
    assert validity.reasons == (Reason("not_identifiable", "inertia", {}, {"needs": INERTIA["needs"]}),)
    assert validity.readiness == pytest.approx(0.5)


def test_without_a_torque_only_the_value_itself_counts() -> None:
    validity = Validity(PARAMETERS)
    validity.weigh(np.array([1.0, 1.0]), np.array([0.04, 0.06]), np.zeros(2), 0.0)
    assert validity.state.valid.tolist() == [True, False]


def test_another_cause_than_a_want_of_motion_is_reported_with_value_and_deviation() -> None:
    validity, asked = Validity(PARAMETERS), list[tuple[int, float]]()

    def cause(which: int, deviation: float) -> tuple[Reason, ...]:
        asked.append((which, deviation))
        return (Reason("friction_shape"), Reason("torque_lag", None, {}, {"lag": "2 ms late"})) if which == 0 else ()

    validity.weigh(np.array([1.5, 0.2]), np.array([0.25, 1.0]), np.array([10.0, 10.0]), 10.0)
    assert tuple(map(str, validity.reasons_with_causes(cause, lambda: ()))) == (
        "inertia = 1.5 ± 0.25 kg·m²: friction has another shape over speed than the law's",
        "inertia = 1.5 ± 0.25 kg·m²: the torque is 2 ms late against the position",
        "offset is not certain enough yet: 0.2 ± 1 N·m; it needs a more varied motion",
    )
    assert asked == [(0, 0.25), (1, 1.0)]
    validity.weigh(np.array([1.5, 0.2]), np.array([0.01, 0.01]), np.ones(2), 10.0)
    assert validity.reasons_with_causes(cause, lambda: ()) == ()
    assert len(asked) == 2


def test_an_elastic_gear_is_told_the_torque_it_needs() -> None:
    """Eight times too uncertain in the cube of the torque: twice the peak."""
    validity = Validity((PARAMETERS[0], Parameter("stiffness_cubic", "", 0.0, np.inf, "", needs="load")), cubic=1)
    validity.state.peak = 30.0
    validity.weigh(np.array([1.0, 1.0]), np.array([0.01, 0.4]), np.array([1.0, 100.0]), 10.0)
    [reason] = validity.reasons
    assert (reason.code, reason.parameter) == ("torque_peaks_low", "stiffness_cubic")
    assert str(reason) == (
        "stiffness_cubic is not certain enough yet: 1 ± 0.4; it needs torque peaks above 60 N·m, there were 30"
    )
    assert reason.todo == "Let it make torque peaks above 60 N·m."


@pytest.mark.parametrize(("share", "sick_of_it"), [(0.9, False), (1.1, True)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_runs_away_beyond_ten_thousand_times_what_explains_the_torque(
    share: float, sick_of_it: bool, sign: float
) -> None:
    learner = Learner(2, 1, 0.01, Alarm())
    learner.rls.theta[:] = 1.0, sign * share * 1e4 * 10.0 * np.sqrt(4.0 / LARGEST)
    learner.rls.d[:], learner.rls.bound[:], learner.state.signal = 1.0, 4.0, 10.0
    assert (reason_to_restart(learner) == "a parameter ran away") is sick_of_it


def test_the_prediction_may_be_good_where_two_parameters_are_not_distinguished() -> None:
    """Only the sum of the two is known: each is, from the other, not identifiable."""
    learner, validity = Learner(2, 1, 0.01, Alarm()), Validity(PARAMETERS)
    phi = np.repeat(np.random.default_rng(1).normal(size=(400, 1, 1)) + 2.0, 2, axis=2)
    y = phi @ np.array([3.0, 1.0]) + 0.01
    learner.learn(phi, y, np.array([1e-4]), np.array([220.0, 220.0]), 900.0, np.array([2.0, 2.0]))
    learner.state.misfit[:] = 4.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    validity.judge(learner)
    assert validity.good
    assert validity.state.prediction < 0.005
    assert [(one.knowledge.value, one.others) for one in validity.states] == [
        ("not_identifiable", ("offset",)), ("not_identifiable", ("inertia",))
    ]  # fmt: skip
    assert not validity.state.valid.any()
    assert (validity.state.deviations > 1.9).all()


def test_a_prediction_that_is_uncertain_by_all_of_theta_together_says_so() -> None:
    learner, validity = Learner(2, 1, 0.01, Alarm()), Validity(PARAMETERS)
    phi = np.random.default_rng(1).normal(size=(400, 1, 2))
    learner.learn(phi, phi @ np.array([3.0, 3.0]), np.ones(1), np.ones(2), 4.2, np.array([3.0, 3.0]))
    learner.state.misfit[:] = np.diag([0.1**2, 0.1**2])  # each 3 % of its value, both together 3.3 % of the torque
    validity.judge(learner)
    assert validity.state.valid.all()
    assert not validity.good
    [reason] = validity.reasons_with_causes(lambda _which, _deviation: (), lambda: ())
    assert (reason.code, reason.parameter) == ("prediction_uncertain", None)
    assert 2.5 < reason.numbers["percent"] < 4.5
