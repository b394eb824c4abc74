"""An estimator that is kept and resumed goes on as if nothing had happened; what is of another one is refused."""

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import Any

import msgpack
import numpy as np
import pytest

from estimators.base import Phase, Status
from estimators.online.checkpoint import NotTheSameError, names
from estimators.online.joint import JointEstimator
from estimators.online.monitor import DESIGNS
from estimators.online.settings import JointIdentification
from estimators.quantities import Settings
from hil_rig.papers.space_joint.case2 import case, estimator
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig
from jointwatch_numba.layout import Layout

pytestmark = pytest.mark.compiled

DEEP = 6  # parts of parts that are looked into

MODEL = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
TRUTH = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}


def build(model: dict[str, object] = MODEL) -> JointEstimator:
    return JointEstimator(JointIdentification.model_validate({"model": model}), 1e-3)


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
    learner = kept["learner"]
    kind, shape, data = learner["state"]["theta"]["array"]
    damages = ([kind, [shape[0] - 1], data[8:]], ["<f4", shape, data[: len(data) // 2]], [kind, shape, data[8:]])
    for array in damages:
        damaged = learner | {"state": learner["state"] | {"theta": {"array": array}}}
        with pytest.raises(NotTheSameError, match=r"learner\.state\.theta"):
            build().resume(kept | {"learner": damaged})
    with pytest.raises(NotTheSameError, match="nobody"):
        build().resume(kept | {"nobody": {}})
    with pytest.raises(NotTheSameError, match="gate"):
        build().resume({name: one for name, one in kept.items() if name != "gate"})
    with pytest.raises(NotTheSameError, match="one of the two has not: slope"):
        build().resume(kept | {"motion": kept["motion"] | {"slope": 1}})
    with pytest.raises(NotTheSameError, match="expected int, found str"):
        build().resume(kept | {"motion": kept["motion"] | {"count": "many"}})


def test_what_another_version_of_a_part_has_kept_is_refused_in_words(running: JointEstimator) -> None:
    kept = running.keep()
    assert kept is not None
    with pytest.raises(NotTheSameError, match="validity: expected version 4 of what is kept, found another one"):
        build().resume(kept | {"validity": kept["validity"] | {"version": 0}})


def test_what_0_1_has_kept_is_refused_in_words(running: JointEstimator) -> None:
    with pytest.raises(NotTheSameError, match="parts: expected"):
        build().resume({"phase": "normal", "rls": {"p": 6, "m": 1}, "_motion": 1200})


def test_a_checkpoint_is_the_sum_of_what_its_parts_declare(running: JointEstimator) -> None:
    kept, parts = running.keep(), running.phases.keeping()
    assert kept is not None
    assert set(kept) == {*parts, "kernel"}
    for name, part in parts.items():
        declared = set(names(part.state))
        assert set(kept[name]) == declared | {"version"}, name
        with pytest.raises(AttributeError):
            part.state.undeclared = 1


# attributes that work while the program runs and follow from what is kept, or begin anew after a restart
WORKING: dict[str, set[str]] = {
    "ChangeInquiry": {"attempt", "confirm", "newest", "onset"},
    "DriftWatch": {"drifts", "due"},
    "EtaInForce": {"block", "encoder_grids", "limits", "other_law"},
    "EtaRefits": {"pending"},
    "EventLog": {"_events"},
    "Gathering": {"anchor", "rows"},
    "GradualChange": {"_learner"},
    "LinearStart": {"_try", "spectrum"},
    "Lookback": {"before"},
    "ModelFit": {"_gate", "_steps", "active", "earlier"},
    "Phases": {"changes", "learner", "report"},
    "Recall": {"_fit", "_learner"},
    "RecursiveLeastSquares": {"_covariance", "_factors"},
    "RowHistory": {"_refill", "_rows", "_slopes", "_stale", "instants", "store"},
    "SearchedStart": {"_before", "_changes", "_first", "_recentrings", "_residual", "_try", "spectrum", "unsure"},
    "ShiftedQuantiser": {"state"},
    "Validity": {"_states"},
}


def moved(fresh: Any, used: Any, name: str = "phases") -> set[str]:
    """Attributes in which two estimators built alike differ, and that are not declared: kept or WORKING."""
    kept = [one.state for one in used_parts(used) if hasattr(one, "state")]
    arrays = [getattr(one, field) for one in kept for field in names(one)]
    return set(_moved(fresh, used, name, [array for array in arrays if isinstance(array, np.ndarray)]))


def used_parts(phases: Any) -> list[Any]:
    return [phases, *phases.keeping().values()]


def _moved(fresh: Any, used: Any, name: str, kept: list[Any]) -> Iterator[str]:
    places = vars(used) if hasattr(used, "__dict__") else {one.name: getattr(used, one.name) for one in fields(used)}
    layouts = [value for value in places.values() if isinstance(value, Layout)]
    declared = [getattr(one, field.name) for one in layouts for field in one.fields() if field.array is not None]
    kept = kept + declared
    for attribute, value in places.items():
        declared_state = attribute == "state" and hasattr(value, "VERSION")
        if declared_state or attribute in WORKING.get(type(used).__name__, ()):
            continue
        known, place = getattr(fresh, attribute, None), f"{name}.{attribute}"
        if isinstance(value, np.ndarray):
            if not any(np.shares_memory(value, array) for array in kept) and repr(value) != repr(known):
                yield place
        elif isinstance(value, Layout):  # every field is declared, as kept or not
            continue
        elif type(value).__module__.startswith("estimators.") and not isinstance(value, (tuple, Settings, Enum)):
            if type(known) is not type(value):
                yield place
            elif place.count(".") < DEEP:
                yield from _moved(known, value, place, kept)
        elif not callable(value) and repr(value) != repr(known):
            yield place


def test_every_attribute_that_changes_is_declared_kept_or_working() -> None:
    """Through start, alarm, refit, rest and fault, with every monitor."""
    rows = case(1, 0.01, linear_at=20.0, nonlinear_at=30.0, end=45.0).rows
    rows.speed[4200:] = 0.0
    for design in DESIGNS:
        joint = estimator(design=design)
        joint.absorb(rows)
        assert moved(estimator(design=design), joint) == set(), design
        joint.parts.learner.rls.theta[0] = np.nan
        joint.absorb(rows.part(slice(1000, 1300)))
        assert joint.state.restarts == 1
        assert moved(estimator(design=design), joint) == set(), design


def test_every_attribute_of_a_linear_joint_that_changes_is_declared(running: JointEstimator) -> None:
    assert moved(build().phases, running.phases) == set()


def test_one_that_is_not_declared_is_found(running: JointEstimator) -> None:
    other = build()
    other.phases.parts.motion.pause = 3  # type: ignore[attr-defined]
    assert {place.split(".")[-1] for place in moved(build().phases, other.phases)} == {"pause"}


class Elastic:
    """The rig's joint and the estimator that its configuration asks for."""

    def __init__(self) -> None:
        self.plant = Rig.model_validate({"identify": "friction"}).build(1, 1, [])
        self.estimator = self.build()
        self._told = 0
        columns = [f"{message.name}.{field.name}" for message in self.plant.messages for field in message.fields]
        roles = [self.plant.roles[role] for role in self.estimator.channels]
        self._places = [(columns.index(role.signal), role.scale) for role in roles]

    def build(self) -> JointEstimator:
        settings = {"model": self.plant.model, "start": 8.0, "standstill": 0.01}
        return JointEstimator(JointIdentification.model_validate(settings), 1e-3)

    def run(self, seconds: float) -> None:
        rows = self.plant.rows(round(seconds * 1000))
        values = np.column_stack([rows[:, place] * scale for place, scale in self._places])
        self.estimator.absorb((self._told + np.arange(len(values))) * 1_000_000, values)
        self._told += len(values)


def test_a_joint_with_eta_goes_on_and_the_rows_that_were_not_kept_are_not_missed() -> None:
    joint = Elastic()
    joint.run(5.0)
    assert joint.estimator.keep() is None, "still starting"
    joint.run(6.0)
    kept, before = joint.estimator.keep(), joint.estimator.estimate()
    assert before.phase is Phase.NORMAL
    assert kept is not None
    joint.estimator = joint.build()
    joint.estimator.resume(msgpack.unpackb(msgpack.packb(kept)))
    after = joint.estimator.estimate()
    assert np.array_equal(after.values, before.values)
    assert np.array_equal(after.deviations, before.deviations)
    joint.run(0.5)  # what moved in the meantime
    joint.run(12.0)
    estimate = joint.estimator.estimate()
    assert (estimate.phase, estimate.status) == (Phase.NORMAL, Status.VALID)
    found = dict(zip(estimate.names, estimate.values, strict=True))
    for name, value in joint.plant.truth().items():
        assert found[name] == pytest.approx(value, rel=0.03), name
    kinds = [event.kind for event in joint.estimator.events()]
    assert kinds[0] == "resumed"
    assert not {"alarm", "refit_started", "fault"} & set(kinds)
    with pytest.raises(NotTheSameError, match="another friction law"):
        joint.build().resume(kept | {"eta": kept["eta"] | {"law": {}}})
