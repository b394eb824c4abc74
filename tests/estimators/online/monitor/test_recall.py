"""What was known before a push is trusted again; what has changed is not: with the real estimator, row by row."""

import numpy as np
import pytest

from estimators.base import Estimate, Phase, Status
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled

PERIOD = 1e-3
TRUTH = {"inertia": 0.5, "viscous": 2.0, "coulomb": 1.5, "offset": 0.4}
PUSHED = (30.0, 31.5)  # s
SECONDS = 50.0


def samples(coulomb: float = 0.0, push: float = 0.0) -> Floats:
    """Position and torque of two sines; coulomb: what friction gains at PUSHED[0]; push: N·m within PUSHED."""
    t = np.arange(round(SECONDS / PERIOD)) * PERIOD
    q = 0.5 * np.sin(2.1 * t) + 0.2 * np.sin(5.3 * t + 1.0)
    v, a = np.gradient(q, PERIOD), np.gradient(np.gradient(q, PERIOD), PERIOD)
    friction = TRUTH["coulomb"] + coulomb * (t >= PUSHED[0])
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + friction * np.sign(v) + TRUTH["offset"]
    torque += push * ((t >= PUSHED[0]) & (t < PUSHED[1]))
    return np.stack([q, torque + np.random.default_rng(2).normal(0.0, 0.05, len(t))], axis=1)


def learnt(values: Floats) -> tuple[JointEstimator, list[tuple[float, Estimate]], list[str]]:
    """The estimator, its estimates each second, and what its events say."""
    settings = {"model": {"kind": "rigid"}, "start": 6.0}
    joint, looks, said = JointEstimator(JointIdentification.model_validate(settings), PERIOD), [], list[str]()
    for first in range(0, len(values), 1000):
        part = values[first : first + 1000]
        joint.absorb((first + np.arange(len(part))) * 1_000_000, part)
        looks.append(((first + len(part)) * PERIOD, joint.estimate()))
        said += [f"{event.kind}: {event.text}" for event in joint.events()]
    return joint, looks, said


def test_after_a_push_the_values_from_before_it_stand_again() -> None:
    joint, looks, said = learnt(samples(push=4.0))
    assert [one for one in said if one.startswith("alarm")], "a push of the torque's own size"
    assert [one for one in said if "the values from before explain the motion again" in one]
    before = next(found for now, found in looks if now >= PUSHED[0])
    after = next(found for now, found in looks if now >= PUSHED[1] + 10.0)
    assert (after.phase, after.status) == (Phase.NORMAL, Status.VALID)
    assert np.abs((after.values - before.values) / before.deviations).max() < 4.0
    assert np.abs((after.values - list(TRUTH.values())) / after.deviations).max() < 4.0
    assert joint.counters()["alarms"] >= 1


def test_what_has_changed_is_not_recalled() -> None:
    _, looks, said = learnt(samples(coulomb=1.0))
    assert [one for one in said if one.startswith("alarm")]
    assert not [one for one in said if "the values from before explain the motion again" in one]
    last = looks[-1][1]
    assert last.status is Status.VALID
    assert last.values[2] == pytest.approx(TRUTH["coulomb"] + 1.0, rel=0.02)
