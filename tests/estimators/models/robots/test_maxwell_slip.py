"""Friction with memory: its columns against a loop over the path, its memory from chunk to chunk, its prior."""

import math

import numpy as np
import pytest

from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.maxwell_slip import DEGREE, HOLDING, LADDER, LOST, MaxwellSlipSettings
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Axis, Floats

LAW = MaxwellSlipSettings(load=True, directional=0.8, position=(0.1, 0.5), spread=0.7)


def path(rows: int = 400) -> tuple[Floats, Floats, Floats]:
    """Position, speed and load of a path that turns round often, by more and by less than the stops reach."""
    time = np.arange(rows) * 0.01
    q = 0.3 * np.sin(2.0 * time) + 0.004 * np.sin(17.0 * time)
    return q, np.gradient(q, time), 5.0 * np.cos(3.0 * time)


def by_hand(q: Floats, dq: Floats, load: Floats) -> Floats:
    """The columns as the module's docstring says them."""
    found = []
    springs = dict.fromkeys((HOLDING, *LADDER), 0.0)
    before = q[0]
    for place, speed, torque in zip(q, dq, load, strict=True):
        for reach in springs:
            springs[reach] = max(-1.0, min(1.0, springs[reach] + (place - before) / reach))
        before = place
        sign, *stops = springs.values()
        u = max(-1.0, min(1.0, (place - 0.1) / 0.5))
        powers = [sign * u**k for k in range(1, DEGREE + 1)]
        found.append([speed, sign, abs(torque) * sign, abs(speed) / 0.8, *stops, *powers])
    return np.array(found)


def test_columns_are_those_of_the_equation() -> None:
    law = LAW.law(Axis.ROTARY)
    assert law.loaded()
    assert len(law.parameters) == len(law.spreads) == 4 + len(LADDER) + DEGREE
    np.testing.assert_allclose(law.columns(*path(), law.start), by_hand(*path()), atol=1e-12)


def test_memory_goes_on_from_chunk_to_chunk() -> None:
    law = LAW.law(Axis.ROTARY)
    whole, memory = law.columns(*path(), law.start), np.full((len(law.stops), 2), np.nan)
    parts = [law.columns(*(one[part] for one in path()), law.start, memory) for part in (slice(150), slice(150, None))]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-12)


def test_the_direction_of_the_last_motion_holds_at_rest() -> None:
    law = MaxwellSlipSettings(thresholds=()).law(Axis.ROTARY)
    noise = 1e-8 * np.random.default_rng(0).standard_normal(50)
    q = np.concatenate([np.linspace(0.0, 0.1, 50), 0.1 + noise])
    held = law.columns(q, np.gradient(q), np.zeros(100), law.start)[50:, 1]
    assert (held > 0.99).all()


def arm(law: MaxwellSlipSettings) -> WholeRobot:
    joints = {"a": {"d": 0.3}, "b": {"a": 0.4, "alpha": 90.0}}
    table = {"name": "two", "convention": "modified", "angles": "deg", "total_mass": 10.0, "joints": joints}
    return WholeRobot(DhTable.model_validate(table).robot(), (law, law))


def test_weights_are_known_to_be_small_before_any_motion() -> None:
    model = arm(LAW)
    torque, seen = np.array([20.0, 5.0]), np.full(len(model.terms), 0.01)
    _, covariance = model.prior(torque, seen)
    deviation = dict(zip(model.names, np.sqrt(np.diag(covariance)), strict=True))
    for name in ("stop1.b", "stop8.b", "position5.b", "directional.b"):
        assert deviation[name] == pytest.approx(0.7)
    assert deviation["load.b"] == LOST
    assert deviation["coulomb.b"] == pytest.approx(5.0)  # not more, however little of it was seen
    assert deviation["viscous.b"] == pytest.approx(5.0 / 0.01)
    assert all(math.isfinite(one) for one in deviation.values())


def test_a_settings_document_comes_back() -> None:
    assert MaxwellSlipSettings.model_validate(LAW.model_dump(mode="json")) == LAW
    with pytest.raises(ValueError, match="greater than 0"):
        MaxwellSlipSettings(position=(0.0, 0.0))


def test_one_table_of_all_joints_is_that_of_each() -> None:
    model = arm(LAW)
    q, dq, load = (np.column_stack([one, one[::-1]]) for one in path())
    reach = np.array([0.3, 0.2])
    memory = model.memory()
    parts = [
        model.table(q[part], dq[part], dq[part], load[part], reach, None, memory)
        for part in (slice(99), slice(99, None))
    ]
    each = [column for _, _, column in model.others(q, dq, dq, load, reach, None, list(model.memory()))]
    np.testing.assert_allclose(np.concatenate(parts), np.array(each).T, atol=1e-12)


def test_every_parameter_has_a_range_and_friction_by_place_and_by_direction_may_have_either_sign() -> None:
    ranges = {one.name: (one.low, one.high) for one in LAW.law(Axis.ROTARY).parameters}
    assert all(low < high for low, high in ranges.values())
    either = {name for name, (low, high) in ranges.items() if (low, high) == (-math.inf, math.inf)}
    assert either == {"directional", *(f"position{k}" for k in range(1, DEGREE + 1))}
