"""How much of a motion a kernel leaves, against the frequency response of a Hann window."""

import numpy as np
import pytest

from estimators.base import Event
from estimators.conditioning.bandwidth_check import BandwidthCheck
from estimators.conditioning.conditioner import taps
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification

pytestmark = pytest.mark.compiled

PERIOD, STEP = 1e-3, 2.0 * np.pi / 2**12


def response(x: float) -> float:
    """Of a Hann window of half width H at the frequency x/H."""
    return float(np.sinc(2.0 * x) / (1.0 - 4.0 * x**2)) if x != 0.5 else 0.5


@pytest.mark.parametrize("x", [0.1, 0.35, 0.5, 0.7])
def test_the_share_is_the_frequency_response(x: float) -> None:
    width = 0.127
    time = np.arange(20_000)
    swing = BandwidthCheck("position", taps(width / PERIOD), PERIOD, STEP)
    place = 0.2 * np.sin(2.0 * np.pi * x / width * PERIOD * time)
    said = swing.absorb(1_000_000 * time, np.round(place / STEP) * STEP)
    assert swing.share == pytest.approx(response(x), abs=0.03)
    if abs(response(x) - 0.5) > 0.05:
        assert swing.lost == (response(x) < 0.5)
        assert [instant for instant, _ in said] == [3_999_000_000] * swing.lost


def test_an_encoder_that_stands_or_a_joint_that_creeps_is_not_judged() -> None:
    time = np.arange(20_000)
    swing = BandwidthCheck("position", taps(127.0), PERIOD, STEP)
    assert not swing.absorb(1_000_000 * time, STEP * np.round(np.random.default_rng(1).uniform(0.3, 0.7, len(time))))
    assert swing.share == 1.0


def joint(fast: float, size: int) -> tuple[JointEstimator, list[Event]]:
    """Of an encoder of 12 bits; from 12 s on it shakes at 5 Hz by so much, rad, for 16 s."""
    t = PERIOD * np.arange(110_000)
    shakes = (t > 12.0) & (t < 28.0)
    place = 0.8 * np.sin(1.1 * t) + fast * shakes * np.sin(10.0 * np.pi * t)
    values = np.column_stack((np.round(place / STEP) * STEP, 8.0 * np.gradient(place, t)))
    one = JointEstimator(JointIdentification.model_validate({"model": {"kind": "rigid"}}), PERIOD)
    told = []
    for first in range(0, len(t), size):
        part = slice(first, first + size)
        one.absorb(np.round(1e9 * t[part]).astype(np.int64), values[part])
        if len(t) * PERIOD > 1e-3 * first >= 26.0 > 1e-3 * (first - size):
            told = [reason for reason in one.estimate().reasons if reason.code == "kernel_too_wide"]
            assert len(told) == (fast > 0.0), told
    return one, [event for event in one.events() if event.kind == "swing"]


def test_a_joint_that_swings_faster_than_its_kernel_sees_says_so_however_samples_are_cut() -> None:
    said = [joint(0.1, size)[1] for size in (1000, 130)]
    assert said[0] == said[1]
    begins, ends = said[0]
    assert 12.0e9 < begins.time < 21.0e9
    assert "0.13 s, leaves" in begins.text
    assert "tell conditioning.half_width" in begins.text
    assert 28.0e9 < ends.time < 110.0e9
    assert "tell" not in ends.text


def test_a_slow_joint_says_nothing() -> None:
    one, said = joint(0.0, 1000)
    assert not said
    assert one.conditioner.half_width == pytest.approx(0.127, abs=0.001)
