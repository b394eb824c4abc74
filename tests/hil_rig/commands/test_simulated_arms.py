"""Simulated arms of `jointwatch bench identify`: the same number is the same arm, and its torque is what it says."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from estimators.models.robots.whole_robot import WholeRobot

pytestmark = pytest.mark.compiled
BENCHES = Path(__file__).parents[2] / "benchmarks" / "robots"
NUMBERS = (1, 7, 12)  # with described links, and with guessed ones


@pytest.fixture
def arms(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    pytest.importorskip("pinocchio", reason="needs Pinocchio, which moves the arms: pip install pin")
    monkeypatch.syspath_prepend(str(BENCHES))
    from parts import simulated_arms  # found beside its benchmark

    yield simulated_arms
    for name in [one for one in sys.modules if one == "parts" or one.startswith("parts.")]:
        del sys.modules[name]


@pytest.mark.parametrize("number", NUMBERS)
def test_without_friction_the_model_with_the_true_links_gives_the_torque(arms: ModuleType, number: int) -> None:
    arm = arms.arm(number)
    nothing = {name: 0.0 * one for name, one in arm.friction.items()} | {"fading": 1.0 + 0.0 * arm.friction["fading"]}
    bare = arm._replace(friction=nothing, rotors=0.0 * arm.rotors)
    q, dq, ddq = np.random.default_rng(number).normal(size=(3, 20, arm.drawn.axes))
    robot = WholeRobot(arms.described(arm))
    expected = robot.rigid(q, dq, ddq) @ (robot.projection.G @ arm.links.ravel())
    assert arms.torque(bare, q, dq, ddq, np.sign(dq)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_number_is_an_arm_and_another_one_another(arms: ModuleType) -> None:
    first, again, other = (arms.recorded(arms.arm(number), 0) for number in (7, 7, 2))
    assert all(np.array_equal(one, same) for one, same in zip(first, again, strict=True))
    assert not np.array_equal(first[2][:100], other[2][:100])
    time, q, _ = first
    assert np.diff(time) == pytest.approx(1.0 / arms.arm(7).rate)
    assert np.ptp(q, axis=0).min() > 0.3


def test_presliding_follows_the_way(arms: ModuleType) -> None:
    """From z = 1 the other way by δ: −1 + 2/e, whatever the steps."""
    there = np.linspace(0.0, 1.0, 50)
    for steps in (2, 37):
        back = 1.0 - np.linspace(0.0, 0.01, steps)[1:]
        z = arms.held_by(np.concatenate([there, back])[:, np.newaxis], np.array([0.01]))
        assert z[len(there) - 1, 0] == pytest.approx(1.0)
        assert z[-1, 0] == pytest.approx(2.0 / np.e - 1.0)
