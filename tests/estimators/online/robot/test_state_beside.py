"""The state of a robot while a cause is applied to its model: by its reason, from the instant at which it is found."""

import copy

import numpy as np
import pytest

from estimators.base import Status
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.reported_findings import BESIDE
from estimators.online.robot.residual_attribution import BESIDE_MODEL
from estimators.quantities import Floats
from estimators.reasons import Reason
from tests.support.signals.three_joints import RATE, arm, measured, motion, taught, torque

pytestmark = pytest.mark.compiled

SEED, SECONDS, CHANGED = 4, 20.0, 12.0
SCALE, SLIP, TILT, RIPPLE = 1.15, 0.05, 0.06, 4.0  # 1, rad, rad, N·m
STIFFNESS, AT_REST = 25.0, 0.3  # N·m/rad, rad


def played(q: Floats, tau: Floats) -> RobotEstimator:
    """The robot at the end of its motion."""
    estimator = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    ticks = np.round(motion(SEED, SECONDS)[0] * 1e9).astype(np.int64)
    for first in range(0, len(ticks), 10):
        part = slice(first, first + 10)
        estimator.absorb(ticks[part], q[part], tau[part])
    return estimator


def tilted() -> Floats:
    """What a base turned by TILT about its x adds to the torque: that of gravity which is turned the other way."""
    _, q, dq, ddq = motion(SEED, SECONDS)
    turned = -9.81 * np.array([0.0, np.sin(TILT), np.cos(TILT)])
    return torque(arm().parameters, q, dq, ddq, turned) - torque(arm().parameters, q, dq, ddq)


@pytest.mark.parametrize("cause", sorted(BESIDE))
def test_what_holds_beside_the_model_is_the_reason_for_which_the_robot_is_not_valid(cause: str) -> None:
    t, q, tau, _ = measured(SEED, SECONDS)
    if cause == "torque_constant":
        tau[t >= CHANGED, 1] *= SCALE
    elif cause == "encoder_slip":
        q = q.copy()
        q[t >= CHANGED, 1] += SLIP
    elif cause == "spring":
        tau[t >= CHANGED, 1] += STIFFNESS * (q[t >= CHANGED, 1] - AT_REST)
    else:
        tau += tilted()
    estimator = played(q, tau)
    (finding,) = estimator.findings()
    assert finding.cause == cause
    if cause == "base_tilt":
        assert f"by {np.degrees(TILT):+.2g}° about its x" in finding.text
    if cause == "spring":
        (held,) = estimator.held()["joint2"].values()
        assert held.value == pytest.approx(STIFFNESS, abs=4.0 * held.deviation)
        assert 0.0 < held.deviation < 0.05 * STIFFNESS
    residual = np.abs(estimator.estimate().measured - estimator.estimate().predicted)
    assert (residual < estimator.estimate().thresholds).all()
    assert estimator.keep() is None, "it is not of the model"
    states = {
        "torque_constant": Reason("robot_torque_constant", "joint2"),
        "encoder_slip": Reason("robot_encoder_slip", "joint2"),
        "base_tilt": Reason("robot_base_tilt", None),
        "spring": Reason("robot_spring", "joint2"),
    }
    state = estimator.estimate()
    assert state.status is Status.LEARNING
    assert state.reasons == (states[cause],)


def test_a_torque_constant_that_holds_is_refined_to_what_it_is() -> None:
    t, q, tau, _ = measured(SEED, SECONDS)
    tau[t >= CHANGED, 1] *= SCALE
    ((_, fitted),) = played(q, tau)._watch.attribution.explanation.holding.items()
    assert fitted.values[0] == pytest.approx(SCALE - 1.0, abs=0.002)  # 0.13 where its own torque is part of its column


def test_a_spring_that_comes_loose_is_over_and_the_robot_is_valid_again() -> None:
    t, q, tau, _ = measured(SEED, SECONDS)
    pulls = (t >= 7.0) & (t < 12.0)
    tau[pulls, 1] += STIFFNESS * (q[pulls, 1] - AT_REST)
    estimator = played(q, tau)
    first, *rest = estimator.findings()
    assert (first.cause, first.over, rest) == ("spring", True, [])
    events = [one.text for one in estimator.events() if one.kind == "spring"]
    assert len(events) == 2
    assert events[1].startswith("no longer: a spring acts on joint2")
    assert estimator.held() == {}
    assert estimator.estimate().status is Status.VALID


def test_every_cause_that_is_held_has_a_reason() -> None:
    assert set(BESIDE) | {"payload"} == BESIDE_MODEL


def test_a_robot_whose_torque_nothing_explains_is_not_valid_and_says_how_much_of_it() -> None:
    t, q, tau, _ = measured(SEED, SECONDS)
    clean = tau.copy()
    tau += RIPPLE * np.sin(2.0 * np.pi * 3.1 * t)[:, None]
    state = played(q, tau).estimate()
    (reason,) = state.reasons
    assert (state.status, reason.code) == (Status.LEARNING, "robot_unexplained")
    last = t > SECONDS - 8.0
    share = 100.0 * RIPPLE / np.sqrt(2.0) * np.sqrt(3.0 / (clean[last] ** 2).sum(axis=1).mean())
    assert reason.numbers["percent"] == pytest.approx(share, rel=0.15)
    assert played(q, clean).estimate().status is Status.VALID


def test_a_copy_of_a_robot_goes_on_by_itself_as_the_robot_does() -> None:
    t, q, tau, _ = measured(SEED, SECONDS)
    step = 2.0 * np.pi / 2**14
    q = np.round(q / step) * step
    ticks = np.round(t * 1e9).astype(np.int64)
    one = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    one.absorb(ticks[:500], q[:500], tau[:500])  # its encoders' steps are not known yet
    other = copy.deepcopy(one)
    pushed = tau.copy()
    pushed[t >= CHANGED, 0] += 30.0
    other.absorb(ticks[500:], q[500:], pushed[500:])
    one.absorb(ticks[500:], q[500:], tau[500:])
    assert [event.kind for event in one.events()] == ["started"]
    assert "contact" in [event.kind for event in other.events()]
    whole = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    whole.absorb(ticks, q, tau)
    for mine, wanted in zip(one.parameters(), whole.parameters(), strict=True):
        np.testing.assert_array_equal(mine, wanted)
