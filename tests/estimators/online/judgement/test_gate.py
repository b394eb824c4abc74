"""When rows may teach: each joint's standstill."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.online.judgement.gate import Gate, GateState, may_teach
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted


@kernel((GateState, "f8[::1]", "f8", "b1[::1]"))
def _run(gate: GateState, speed: Floats, least: float, teaches: NDArray[np.bool_]) -> None:
    for row in range(len(speed)):
        teaches[row] = may_teach(gate, least, speed[row])


def moving(gate: Gate, speed: Floats, least: float = 0.0) -> NDArray[np.bool_]:
    """Which rows may teach; speed (rows,) rad/s."""
    teaches = np.empty(len(speed), np.bool_)
    _run(gate.state, np.asarray(speed, np.float64), least, teaches)
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


def test_where_only_faster_rows_teach_a_slow_one_of_a_moving_joint_does_not() -> None:
    gate = Gate(0.02, 0.01)
    found = moving(gate, np.array([0.05, 0.015, 0.03, 0.02]), least=0.02)
    assert found.tolist() == [True, False, True, True]
