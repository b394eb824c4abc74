"""What explains a residual, and after how many looks it is told: rows of a payload, of friction, and of pushes."""

import numpy as np
import pytest

from estimators.models.robots.description import Joint, Robot, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.causes import GONE, PAYLOAD, Causes, Verdict
from estimators.quantities import Axis, Floats

N, ROWS, NOISE = 3, 25, 0.2  # joints; rows of a look; N·m
LOAD = standard(2.0, np.array([0.05, 0.0, 0.1]), 0.01 * np.eye(3))
NOTHING: Floats = np.zeros(PARAMETERS)


def model() -> WholeRobot:
    z, body = np.array([0.0, 0.0, 1.0]), standard(5.0, np.array([0.2, 0.0, 0.0]), 0.1 * np.eye(3))
    joints = (Joint(f"j{i}", Axis.ROTARY, i - 1, pose((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)), z) for i in range(N))
    return WholeRobot(Robot("arm", tuple(joints), np.array([body] * N)))


MODEL = model()


class Looks:
    """Half seconds of rows, one after the other, and what is told at the end of each."""

    def __init__(self, motor_side: bool = False) -> None:
        self.causes = Causes(MODEL, np.full(MODEL.size, 5.0), np.ones(N), motor_side)
        self.rng = np.random.default_rng(5)

    def look(self, load: Floats = NOTHING, joint: int = 0, rubs: float = 0.0, oneway: bool = False) -> Verdict | None:
        """load: what the last link carries; rubs: Coulomb friction of a joint beyond the model's; oneway: only where
        it moves forth."""
        Y, X = self.rng.standard_normal((ROWS, N, PARAMETERS)), np.zeros((ROWS, N, MODEL.size))
        dq = self.rng.uniform(0.1, 1.0, (ROWS, N)) * np.resize([1.0, -1.0], (ROWS, 1))
        for j, terms in enumerate(self.causes.terms):
            viscous, coulomb, offset = MODEL.base + terms[:3]
            X[:, j, viscous], X[:, j, coulomb], X[:, j, offset] = dq[:, j], np.sign(dq[:, j]), 1.0
        r = Y @ load + NOISE * self.rng.standard_normal((ROWS, N))
        r[:, joint] += rubs * (np.maximum if oneway else np.add)(np.sign(dq[:, joint]), 0.0)
        u = r - Y @ self.causes.carried
        self.causes.look(X, Y, r, u, dq, np.full(N, NOISE**-2))
        return self.causes.verdict()


def test_a_payload_is_told_when_two_looks_say_so_and_weighed() -> None:
    looks = Looks()
    assert [looks.look() for _ in range(6)] == [None] * 6
    assert looks.look(LOAD) is None
    told = looks.look(LOAD)
    assert told is not None
    assert told.cause == PAYLOAD
    np.testing.assert_allclose(told.change, LOAD, atol=0.2)
    payload = looks.causes.payload
    assert payload.carried
    assert payload.mass == pytest.approx(2.0, abs=4.0 * payload.mass_deviation)
    assert payload.mass_deviation < 0.05
    assert payload.centre == pytest.approx([0.05, 0.0, 0.1], abs=0.1)
    assert looks.look(LOAD) is None


def test_motor_current_weighs_it_to_a_tenth() -> None:
    looks = Looks(motor_side=True)
    assert [looks.look(LOAD) is None for _ in range(2)] == [True, False]
    assert looks.causes.payload.mass_deviation == pytest.approx(0.2, rel=0.1)


def test_what_lasts_one_look_is_a_push() -> None:
    looks = Looks()
    looks.look()
    assert looks.look(LOAD) is None
    assert looks.look(0.3 * LOAD) is None, "it lets go"
    assert [looks.look() for _ in range(8)] == [None] * 8
    assert not looks.causes.payload.carried
    assert looks.look(LOAD) is None
    told = looks.look(0.6 * LOAD)
    assert told is not None, "it is much the same"
    assert told.cause == PAYLOAD


def test_it_is_gone_after_two_looks_without_it() -> None:
    looks = Looks()
    for _ in range(6):
        looks.look(LOAD)
    assert looks.causes.payload.carried
    told = [looks.look() for _ in range(4)]
    causes = [None if one is None else one.cause for one in told]
    assert causes.index(GONE) in (1, 2), "two looks have to say so; the one in which it went is half of each"
    assert not looks.causes.payload.carried
    assert not looks.causes.carried.any()


@pytest.mark.parametrize("joint", range(N))
def test_friction_of_one_joint_is_told_after_four_looks(joint: int) -> None:
    looks = Looks()
    told = [looks.look(joint=joint, rubs=1.0) for _ in range(4)]
    assert told[:3] == [None] * 3
    assert told[3] is not None
    assert told[3].cause == joint
    viscous, coulomb, offset = told[3].change[:3]
    assert coulomb == pytest.approx(1.0, abs=0.3)
    assert [viscous, offset] == pytest.approx([0.0, 0.0], abs=0.5)


def test_what_is_seen_one_way_only_may_be_a_push() -> None:
    looks = Looks()
    assert [looks.look(rubs=1.0, oneway=True) for _ in range(12)] == [None] * 12
