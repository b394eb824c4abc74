"""An estimator that is kept and resumed goes on as if nothing had happened; what is of another one is refused."""

import msgpack
import numpy as np
import pytest

from estimators.base import Phase, Status
from estimators.online.checkpoint import NotTheSameError
from estimators.online.joint import JointEstimator
from estimators.online.settings import Identification

MODEL = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
TRUTH = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}


def build(model: dict[str, object] = MODEL) -> JointEstimator:
    return JointEstimator(Identification.model_validate({"model": model}), 1e-3)


def absorb(joint: JointEstimator, begin: float, seconds: float, friction: float = 1.0, rest: bool = False) -> None:
    t = begin + np.arange(round(seconds * 1000)) * 1e-3
    amplitude, omega = np.array([[0.5], [0.3]]) * (not rest), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    torque = 2.0 * a + friction * (3.0 * v + 1.5 * np.sign(v)) + 0.4 + 5.0 * np.sin(q) - np.cos(q)
    torque += np.random.default_rng(int(begin)).normal(0, 0.02, len(t))
    joint.absorb(np.round(t * 1e9).astype(np.int64), np.column_stack([q, torque]))


def resumed(joint: JointEstimator) -> JointEstimator:
    """Through what is written to a disk."""
    kept = joint.keep()
    assert kept is not None
    fresh = build()
    fresh.resume(msgpack.unpackb(msgpack.packb(kept), strict_map_key=False))
    return fresh


@pytest.fixture(scope="module")
def running() -> JointEstimator:
    joint = build()
    absorb(joint, 0.0, 16.0)
    assert joint.estimate().phase is Phase.NORMAL
    return joint


def test_it_is_what_it_was(running: JointEstimator) -> None:
    again, before = resumed(running), running.estimate()
    after = again.estimate()
    assert np.array_equal(after.values, before.values)
    assert np.array_equal(after.deviations, before.deviations)
    assert (after.phase, after.status, after.error) == (before.phase, before.status, before.error)
    assert after.spectrum == before.spectrum
    assert after.spectrum.condition > 1.0
    assert [event.kind for event in again.events()] == ["resumed"]
    assert again.counters()["learnt"] == running.counters()["learnt"]


def test_it_is_valid_within_a_second_of_motion_and_learns_on(running: JointEstimator) -> None:
    again = resumed(running)
    absorb(again, 30.0, 1.0)
    estimate = again.estimate()
    assert (estimate.phase, estimate.status) == (Phase.NORMAL, Status.VALID)
    absorb(again, 31.0, 9.0)
    found = dict(zip(again.estimate().names, again.estimate().values, strict=True))
    for name, value in TRUTH.items():
        assert found[name] == pytest.approx(value, abs=0.02 * abs(value) + 0.01), name
    assert again.counters()["learnt"] > running.counters()["learnt"] + 700
    assert [event.kind for event in again.events() if event.kind == "alarm"] == []


def test_a_change_while_it_was_away_is_an_alarm_and_then_learnt(running: JointEstimator) -> None:
    again = resumed(running)
    absorb(again, 30.0, 12.0, friction=1.5)
    assert "alarm" in [event.kind for event in again.events()]
    found = dict(zip(again.estimate().names, again.estimate().values, strict=True))
    assert found["viscous"] == pytest.approx(4.5, rel=0.03)


def test_nothing_is_kept_of_what_is_not_settled() -> None:
    joint = build()
    assert joint.keep() is None
    absorb(joint, 0.0, 5.0)
    assert joint.estimate().phase is Phase.STARTING
    assert joint.keep() is None


def test_what_is_of_another_model_is_refused(running: JointEstimator) -> None:
    kept = running.keep()
    assert kept is not None
    with pytest.raises(NotTheSameError, match="expected"):
        build({"kind": "rigid"}).resume(kept)


def test_what_is_damaged_is_refused(running: JointEstimator) -> None:
    kept = running.keep()
    assert kept is not None
    kind, shape, data = kept["rls"]["state"]["array"]
    for array in ([kind, [shape[0] - 1], data[8:]], ["<f4", shape, data[: len(data) // 2]]):
        with pytest.raises(NotTheSameError, match="state"):
            build().resume(kept | {"rls": {"state": {"array": array}}})
    with pytest.raises(NotTheSameError, match="nobody"):
        build().resume(kept | {"nobody": 1})
