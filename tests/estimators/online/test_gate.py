"""When rows may teach: each joint's standstill."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.online.gate import Gate, may_teach
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted


@kernel("void(f8[:, ::1], f8[::1], i8[::1], f8[:, ::1], f8[:, ::1], b1[::1])")
def _run(
    state: Floats, limits: Floats, owners: NDArray[np.int64], speed: Floats, y: Floats, teaches: NDArray[np.bool_]
) -> None:
    for row in range(len(speed)):
        teaches[row] = may_teach(state, limits, owners, 0.0, speed[row], y[row])


@kernel("b1(f8[:, ::1], f8[::1], i8[::1], f8, f8[::1], f8[::1])")
def _teaches(state: Floats, limits: Floats, owners: NDArray[np.int64], least: float, speed: Floats, y: Floats) -> bool:
    return may_teach(state, limits, owners, least, speed, y)


def moving(gate: Gate, speed: Floats, y: Floats | None = None) -> NDArray[np.bool_]:
    """Which rows may teach; speed (rows,) or (rows, joints)."""
    speed = speed.reshape(len(speed), -1)
    teaches, y = np.empty(len(speed), np.bool_), np.zeros((len(speed), len(gate.owners))) if y is None else y
    _run(gate.kept.state, gate.limits, gate.owners, speed, y, teaches)
    return teaches


def test_a_reversal_is_not_a_standstill() -> None:
    gate = Gate(0.01, 0.01)
    assert not moving(gate, np.full(50, 0.005)).any()
    speed = np.abs(np.sin(np.arange(200) * 0.05))  # slow for 3 rows at each reversal
    moves = moving(gate, speed)
    assert moves[5:].all()
    still = moving(gate, np.zeros(100))
    assert still[:19].all()
    assert not still[20:].any()
    assert gate.resting


def test_the_gate_has_hysteresis_and_nan_is_not_motion() -> None:
    gate = Gate(0.01, 0.01)
    assert not moving(gate, np.full(30, 0.012)).any()
    assert moving(gate, np.full(30, 0.016)).all()
    assert moving(gate, np.full(30, 0.012)).all()
    assert not moving(gate, np.full(50, np.nan))[20:].any()


def test_the_gate_does_not_depend_on_how_rows_are_cut() -> None:
    speed = np.abs(np.random.default_rng(0).normal(0.0, 0.02, 1000)).cumsum() % 0.05
    speed[300:400] = 0.0
    whole = moving(Gate(0.01, 0.01), speed)
    gate = Gate(0.01, 0.01)
    parts = np.concatenate([moving(gate, speed[i : i + 7]) for i in range(0, 1000, 7)])
    assert np.array_equal(whole, parts)
    assert whole.any()
    assert not whole.all()


def test_a_joint_at_rest_is_masked_while_another_one_moves() -> None:
    gate, y = Gate(0.01, 0.01, (0, 0, 1)), np.zeros((100, 3))
    speed = np.stack([np.zeros(100), np.full(100, 0.5)], axis=1)
    speed[60:] = 0.0
    teaches = moving(gate, speed, y)
    assert teaches[:79].all()
    assert not teaches[80:].any()
    assert np.isnan(y[:, :2]).all()
    assert not np.isnan(y[:79, 2]).any()
    assert gate.resting


def test_where_only_faster_rows_teach_a_slow_one_of_a_moving_joint_does_not() -> None:
    gate = Gate(0.02, 0.01)
    speed = np.array([[0.05], [0.015], [0.03], [0.02]])
    found = [bool(_teaches(gate.kept.state, gate.limits, gate.owners, 0.02, one, np.zeros(1))) for one in speed]
    assert found == [True, False, True, True]
