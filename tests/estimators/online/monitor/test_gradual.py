"""Friction that grows for a minute is one alarm and one event, and its values hold; a jump is none: real estimator."""

import numpy as np
import pytest

from estimators.base import Estimate, Event, Status
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled

PERIOD = 2e-3
COULOMB = 1.5
BEGIN, END, SECONDS = 40.0, 100.0, 130.0  # s
Looks = list[tuple[float, Estimate]]


def samples(growth: Floats, seed: int) -> Floats:
    """Position and torque of a joint on four sines; growth: of its Coulomb friction, at each sample."""
    rng = np.random.default_rng([seed, 71])
    t = np.arange(round(SECONDS / PERIOD)) * PERIOD
    q, v, a = 0.0 * t, 0.0 * t, 0.0 * t
    for w in rng.uniform(0.5, 4.0, 4):
        x, size = w * t + rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.2, 0.6) / max(w, 1.0)
        q, v, a = q + size * np.sin(x), v + size * w * np.cos(x), a - size * w * w * np.sin(x)
    torque = 0.5 * a + 2.0 * v + COULOMB * growth * np.sign(v) + 0.4 + 3.0 * np.sin(q)
    return np.stack([q, torque + rng.normal(0.0, 0.05, len(t))], axis=1)


def ramp() -> Floats:
    """Growth by 60 % from BEGIN to END."""
    t = np.arange(round(SECONDS / PERIOD)) * PERIOD
    return np.asarray(1.0 + 0.6 * np.clip((t - BEGIN) / (END - BEGIN), 0.0, 1.0))


def learnt(values: Floats) -> tuple[Looks, list[Event]]:
    """Estimates ten times a second, and all events."""
    settings = {"model": {"kind": "rigid", "gravity_sin": True}}
    joint, looks, said = JointEstimator(JointIdentification.model_validate(settings), PERIOD), Looks(), list[Event]()
    for first in range(0, len(values), 50):
        part = values[first : first + 50]
        joint.absorb(np.round((first + np.arange(len(part))) * PERIOD * 1e9).astype(np.int64), part)
        looks.append(((first + len(part)) * PERIOD, joint.estimate()))
        said += joint.events()
    return looks, said


@pytest.mark.parametrize("seed", [31, 32])
def test_friction_that_grows_for_a_minute_is_reported_once_and_followed(seed: int) -> None:
    growth = ramp()
    looks, said = learnt(samples(growth, seed))
    kinds = [event.kind for event in said if event.kind != "standstill"]
    assert kinds == ["started", "alarm", "recovered", "gradual", "recovered"]
    (told,) = (event for event in said if event.kind == "gradual")
    assert "coulomb by +" in told.text
    assert told.window is not None
    assert 1e-9 * told.window[0] == pytest.approx(BEGIN, abs=5.0), "since the first alarm"
    followed = [(now, one) for now, one in looks if now > 1e-9 * told.time and now < END]
    assert np.mean([one.status is Status.VALID for _, one in followed]) > 0.95
    errors = np.array([one.values[2] - COULOMB * growth[round(now / PERIOD) - 1] for now, one in followed])
    z = errors / [one.deviations[2] for _, one in followed]
    assert np.abs(z).max() < 4.0
    assert np.abs(errors).max() < 0.03 * COULOMB, "a memory of a minute would be a third of the way behind"
    last = looks[-1][1]
    assert last.status is Status.VALID
    assert last.values[2] == pytest.approx(1.6 * COULOMB, abs=4.0 * last.deviations[2])


def test_a_jump_is_no_gradual_change() -> None:
    jump = np.where(np.arange(round(SECONDS / PERIOD)) * PERIOD < BEGIN, 1.0, 1.6)
    looks, said = learnt(samples(jump, 33))
    kinds = [event.kind for event in said if event.kind != "standstill"]
    assert kinds[:3] == ["started", "alarm", "recovered"]
    assert "gradual" not in kinds
    last = looks[-1][1]
    assert last.values[2] == pytest.approx(1.6 * COULOMB, abs=4.0 * last.deviations[2])
