"""The compiled course of normal mode does what the reviews would do one by one, to the last bit."""

from typing import Any

import numpy as np
import pytest

from estimators.experiments.irj_case2 import case, estimator
from estimators.online import normal_loop as course
from estimators.online.phases import Procedure
from estimators.quantities import Parameter
from estimators.recursive import state as at
from estimators.recursive.forgetting import Alarm
from estimators.rows import Rows

PERIOD = 0.01


def disturbed(rows: Rows, seed: int) -> Rows:
    """The same motion with missing torque, a column that is not finite, two standstills and slow passages."""
    rng = np.random.default_rng(seed)
    y, phi, speed = rows.y.copy(), rows.phi.copy(), rows.speed.copy()
    y[rng.random(y.shape) < 0.01] = np.nan
    phi[rng.integers(1300, len(phi), 5), :, 1] = np.inf
    speed[1500:1650] = 0.0
    speed[2003:2011] = 0.0
    speed[2400:2460] = 0.001
    y[2700:] *= 1.4
    return rows._replace(y=y, phi=phi, speed=speed)


def outcome(joint: Any, rows: Rows, step: int) -> tuple[bytes, ...]:
    told = []
    for first in range(0, len(rows.time), step):
        joint.absorb(rows.part(slice(first, first + step)))
        told += joint.events()
    estimate = joint.estimate()
    return (
        joint.rls.state.tobytes(),
        estimate.values.tobytes(),
        estimate.deviations.tobytes(),
        str((told, estimate.reasons, estimate.phase, joint.counters())).encode(),
    )


@pytest.mark.compiled
@pytest.mark.parametrize("step", [1, 13, 100_000])
def test_a_joint_with_nonlinear_parameters(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = disturbed(case(4, 0.01, nonlinear_at=34.0, end=44.0).rows, 4)
    found = outcome(estimator(), rows, step)
    monkeypatch.setattr("estimators.monitor.Monitored._due_in", lambda _: 0)
    assert outcome(estimator(), rows, 1000) == found


@pytest.mark.parametrize("step", [1, 13, 100_000])
def test_a_joint_without(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def rigid() -> Procedure:
        parameters = tuple(Parameter(name, "1", -np.inf, np.inf, "") for name in "abcd")
        return Procedure(parameters, 1, PERIOD, Alarm(), 6.0, 0.01)

    rows = disturbed(case(5, 0.01, end=30.0).rows, 5)
    joint = rigid()
    found = outcome(joint, rows, step)
    assert joint.counters()["alarms"] > 0, "the jump is part of it"
    assert joint.counters()["refused"] > 0
    monkeypatch.setattr(Procedure, "_due_in", lambda _: 0)
    assert outcome(rigid(), rows, 1000) == found


def test_deviations_are_those_of_the_covariance() -> None:
    """Against UDUᵀ written out."""
    rng = np.random.default_rng(0)
    parameters = tuple(Parameter(name, "1", -np.inf, np.inf, "") for name in "abc")
    joint = Procedure(parameters, 2, PERIOD, Alarm(), 6.0, 0.0)
    joint.rls.begin(np.array([0.5, 2.0]), np.ones(3))
    joint.rls.absorb(rng.standard_normal((200, 2, 3)), rng.standard_normal((200, 2)))
    weights = np.stack([np.ones(3), np.array([1.0, 2.0, 3.0]), np.ones(3), np.array([0.0, 0.1, 4.0])])
    judged, valid = joint._validity.judged, joint._validity.valid
    course.judge_state(joint.rls.state, weights, 1.0, judged, valid)
    share = joint.rls.state[at.WEIGHT_2] / joint.rls.state[at.WEIGHT]
    own = joint.rls.variance() * share * np.diag(joint.rls.covariance())
    wanted = np.sqrt(own * weights[course.HONESTY] ** 2 + weights[course.UNTOLD])
    assert judged[1] == pytest.approx(wanted, rel=1e-12)
