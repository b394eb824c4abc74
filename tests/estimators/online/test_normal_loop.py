"""The compiled loop of normal mode does what the reviews would do one by one, to the last bit."""

from typing import Any

import numpy as np
import pytest

from estimators.base import Phase
from estimators.online import assembly
from estimators.online.phases import Phases
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm
from estimators.rows import Rows
from hil_rig.papers.space_joint.case2 import case, estimator
from tests.support.signals.layouts import packed

PERIOD = 0.01


def disturbed(rows: Rows, seed: int) -> Rows:
    """These rows with missing torque, a column that is not finite, two standstills and slow passages.

    Towards the end the torque is larger by 40 %.
    """
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
        packed(joint.parts.learner.rls.state),
        estimate.values.tobytes(),
        estimate.deviations.tobytes(),
        str((told, estimate.reasons, estimate.phase, joint.counters())).encode(),
    )


@pytest.mark.compiled
@pytest.mark.parametrize("step", [1, 13, 100_000])
def test_a_joint_with_nonlinear_parameters(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = disturbed(case(4, 0.01, nonlinear_at=34.0, end=44.0).rows, 4)
    found = outcome(estimator(), rows, step)
    monkeypatch.setattr(Phases, "due", lambda _: None)
    assert outcome(estimator(), rows, 1000) == found


@pytest.mark.parametrize("step", [1, 13, 100_000])
def test_a_joint_without(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def rigid() -> Phases:
        parameters = tuple(Parameter(name, "1", -np.inf, np.inf, "") for name in "abcd")
        return assembly.linear(parameters, (0,), PERIOD, Alarm(), 6.0, 0.01)

    rows = disturbed(case(5, 0.01, end=30.0).rows, 5)
    joint = rigid()
    found = outcome(joint, rows, step)
    assert joint.counters()["alarms"] > 0, "the jump is part of it"
    assert joint.counters()["refused"] > 0
    monkeypatch.setattr(Phases, "due", lambda _: None)
    assert outcome(rigid(), rows, 1000) == found


def test_what_was_good_is_of_before_anything_pointed_to_an_alarm() -> None:
    rows = case(5, 0.01, end=26.0).rows
    rows = rows._replace(y=rows.y + np.where(rows.time > rows.time[0] + 20.0e9, 1.0, 0.0)[:, None])
    parameters = tuple(Parameter(name, "1", -np.inf, np.inf, "") for name in "abcd")
    joint = assembly.linear(parameters, (0,), PERIOD, Alarm(), 6.0, 0.01)
    state, good, climbed = joint.parts.learner.rls.state, np.zeros(4), 0
    for first in range(0, len(rows.time), 10):
        joint.absorb(rows.part(slice(first, first + 10)))
        if joint.phase is Phase.TRANSIENT:
            break
        climbed = climbed + 1 if state.cusum > 0.0 else 0
        good = good if climbed else joint.parts.learner.rls.theta.copy()
    assert joint.phase is Phase.TRANSIENT
    assert climbed > 0, "it did not come within one block"
    np.testing.assert_array_equal(joint.estimate().values, good)
