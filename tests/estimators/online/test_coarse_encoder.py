"""A joint with a coarse encoder that moves at constant speeds, and one that has moved one way only."""

import numpy as np
import pytest

from estimators.base import Estimate, Status
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification

RATE = 1000.0
TRUTH = {"inertia": 1.8, "viscous": 4.6, "coulomb": 6.0, "offset": 0.2, "gravity_sin": 4.0, "gravity_cos": 2.0}
SETTINGS = {"model": {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}}


def joint() -> JointEstimator:
    return JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE)


def moves(speeds: list[float], ramp: float = 0.3, flat: float = 0.9, rest: float = 0.0) -> np.ndarray:
    """Velocity (samples,) of moves one after the other, trapezoids of these speeds (rad/s)."""
    up, one = np.arange(round(ramp * RATE)) / (ramp * RATE), np.ones(round(flat * RATE))
    still = np.zeros(round(rest * RATE))
    return np.concatenate([np.concatenate((v * up, v * one, v * up[::-1], still)) for v in speeds])


def play(speeds: np.ndarray, bits: int, seed: int) -> tuple[Estimate, list[str]]:
    """What is told at the end, and the kinds of all events."""
    place = -0.7 + np.cumsum(speeds) / RATE
    side = np.where(speeds != 0.0, np.sign(speeds), 0.5 * np.sign(np.roll(speeds, round(0.2 * RATE))))
    torque = TRUTH["inertia"] * np.gradient(speeds, 1.0 / RATE) + TRUTH["viscous"] * speeds + TRUTH["coulomb"] * side
    torque += TRUTH["offset"] + TRUTH["gravity_sin"] * np.sin(place) + TRUTH["gravity_cos"] * np.cos(place)
    torque += 0.02 * np.random.default_rng(seed).standard_normal(len(torque))
    step = 2.0 * np.pi / 2**bits
    time = np.round(1e9 * np.arange(len(place)) / RATE).astype(np.int64)
    found, kinds = joint(), list[str]()
    for first in range(0, len(time), 100):
        part = slice(first, first + 100)
        found.absorb(time[part], np.column_stack((np.round(place[part] / step) * step, torque[part])))
        kinds += [event.kind for event in found.events()]
    return found.estimate(), kinds


@pytest.mark.parametrize("seed", [0, 1])
def test_a_beat_of_its_rounding_is_no_alarm(seed: int) -> None:
    step = 2.0 * np.pi / 2**14
    usual = np.random.default_rng(seed).uniform(0.5, 1.1, 24)
    beating = np.full(4, 2.993 * step * RATE)  # rad/s: 7 slips a second
    both = np.concatenate((usual, beating))
    estimate, kinds = play(moves((both * np.where(np.arange(28) % 2, -1.0, 1.0)).tolist()), 14, seed)
    assert "started" in kinds
    assert "alarm" not in kinds
    assert estimate.status is Status.VALID
    assert estimate.values[estimate.names.index("inertia")] == pytest.approx(TRUTH["inertia"], rel=0.005)


def test_stops_alone_do_not_tell_friction_from_offset() -> None:
    one_way = moves([0.2], ramp=0.1, flat=13.0, rest=0.6)
    estimate, kinds = play(one_way, 16, 0)
    assert "started" not in kinds
    assert estimate.status in (Status.UNESTIMATED, Status.LEARNING)
    usual = moves([-0.6, 0.3, -0.4, 0.5, -0.3, 0.6] * 3, ramp=0.4, flat=2.0, rest=0.3)
    either, kinds = play(np.concatenate((one_way, usual)), 16, 0)
    assert "started" in kinds
    truth = np.array([TRUTH[name] for name in either.names])
    assert np.abs((either.values - truth) / either.deviations).max() < 4.0
