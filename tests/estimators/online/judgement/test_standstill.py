"""The speed of standstill found from motion and encoder."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.standstill import USUAL, Standstill, widen_range
from estimators.online.settings import JointIdentification
from estimators.quantisation.encoder_steps import one_step
from estimators.quantities import Axis, Floats
from estimators.rows import PLACE, Rows, moved

pytestmark = pytest.mark.interpreted
ROW = 0.01  # s
TICK = 10_000_000  # ns


def rows(place: Floats, speed: Floats) -> Rows:
    none = np.zeros((len(place), 1, 0))
    motion = moved(place[:, None], speed[:, None])
    return Rows(np.arange(len(place)) * TICK, none, np.zeros((len(place), 1)), np.abs(speed)[:, None], motion=motion)


def swinging(top: float, period: float, seconds: float) -> Rows:
    t, omega = np.arange(0.0, seconds, ROW), 2 * np.pi / period
    return rows(-top / omega * np.cos(omega * t), top * np.sin(omega * t))


def found(these: Rows, steps: tuple[tuple[int, float], ...] = ()) -> tuple[float, list[tuple[int, str]]]:
    """The limit at the end, and how many rows had passed at each event."""
    gate, log = Gate(USUAL, ROW), EventLog()
    standstill = Standstill(gate, ROW, log, Axis.ROTARY)
    for since, speed in steps:
        standstill.set_encoder_step(since, speed)
    told, motion_range = [], standstill.motion_range
    for row, (time, speed, motion) in enumerate(zip(these.time, these.speed[:, 0], these.motion[:, 0], strict=True)):
        while time >= motion_range.steps_due:
            standstill.decide()
        told += [(row, event.text) for event in log.take_events()]
        widen_range(speed, motion[PLACE], motion_range)
        motion_range.rows_left -= 1
        if motion_range.rows_left == 0:
            standstill.decide()
            told += [(row + 1, event.text) for event in log.take_events()]
    return gate.standstill, told


def test_an_ordinary_joint_keeps_the_usual_one() -> None:
    assert found(swinging(1.0, 6.0, 70.0)) == (USUAL, [])


def test_a_slow_joint_gets_one_of_its_own_and_gives_it_back() -> None:
    slow = swinging(0.01, 8.0, 41.0)
    limit, told = found(slow)
    assert limit == pytest.approx(0.15 * 0.01, rel=1e-3)
    assert told == [(2000, "at rest below 0.0015 rad/s, was 0.005: its motion")]
    fast = swinging(1.0, 8.0, 41.0)
    both = Rows(*(np.concatenate((a, b)) if len(a) else a for a, b in zip(slow, fast, strict=True)))
    both = both._replace(time=np.arange(len(both.time)) * TICK)
    assert found(both)[0] == USUAL


def test_a_drive_that_hunts_about_one_place_is_at_rest() -> None:
    assert found(swinging(0.01, 0.5, 61.0)) == (USUAL, [])
    assert found(rows(np.zeros(6100), np.zeros(6100))) == (USUAL, [])


def test_motion_that_noise_hides_is_not_motion() -> None:
    slow = swinging(0.01, 8.0, 61.0)
    noise = 0.0003 * np.ones((len(slow.time), 1))
    assert found(slow._replace(speed=np.hypot(slow.speed, noise)))[0] == USUAL


def test_an_encoder_that_is_coarse_raises_it_as_far_as_reversals_allow() -> None:
    fast = swinging(1.0, 6.0, 45.0)
    limit, told = found(fast, steps=((3_000_000_000, 0.02),))
    assert limit == pytest.approx(0.03)
    assert told == [(300, "at rest below 0.03 rad/s, was 0.005: one step of the encoder")]
    limit, told = found(fast, steps=((3_000_000_000, 0.06),))
    assert limit == pytest.approx(0.05, rel=1e-3), "a twentieth of the highest speed"
    assert [passed for passed, _ in told] == [300, 2000]
    assert found(swinging(0.01, 8.0, 41.0), steps=((0, 0.002),))[0] == USUAL, "too slow for this encoder"


def test_one_step_reads_what_is_said() -> None:
    conditioner = Conditioner(RigidSettings().build(), 1e-3, Conditioning(half_width=0.015, row_rate=1000.0))
    values = np.zeros((400, 2))
    values[200:, 0] = 3e-4
    speeds = conditioner.absorb(np.arange(400) * 1_000_000, values).speed
    assert speeds.max() == pytest.approx(one_step(conditioner.taps, 1e-3, 3e-4), rel=1e-12)


@pytest.mark.parametrize(
    ("standstill", "rests"), [(None, True), pytest.param(0.005, False, marks=pytest.mark.compiled)]
)
def test_a_joint_at_rest_on_the_edge_of_two_steps_is_at_rest(standstill: float | None, rests: bool) -> None:
    settings = {"model": {"kind": "rigid"}, "conditioning": {"half_width": 0.02}} | (
        {} if standstill is None else {"standstill": standstill}
    )
    joint = JointEstimator(JointIdentification.model_validate(settings), 1e-3)
    step, rng = 2 * np.pi / 4096, np.random.default_rng(1)
    t = np.arange(0.0, 8.0, 1e-3)
    place = np.where(t < 4.0, 1.0 - np.cos(t * np.pi), 0.0) + step * (1.0 + 0.02 * rng.standard_normal(len(t)))
    values = np.column_stack((np.floor(place / step) * step, rng.standard_normal(len(t))))
    for first in range(0, len(t), 50):
        joint.absorb(np.arange(first, first + 50) * 1_000_000, values[first : first + 50].copy())
    assert joint.phases.parts.gate.resting is rests
