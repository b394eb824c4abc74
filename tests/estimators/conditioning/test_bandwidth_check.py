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
    """Response of a Hann window of half width H at the frequency x/H."""
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
    """A joint's estimator after a motion, and its events about bandwidth.

    Its encoder has 12 bits. From 12 s on it shakes at 5 Hz for 16 s; fast: by how much, rad; size: samples at a time.
    """
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
    return one, [event for event in one.events() if event.kind == "bandwidth"]


def test_a_joint_that_swings_faster_than_its_kernel_sees_says_so_however_samples_are_cut() -> None:
    said = [joint(0.1, size)[1] for size in (1000, 130)]
    assert said[0] == said[1]
    begins, ends = said[0]
    assert 12.0e9 < begins.time < 21.0e9
    assert "0.13 s, passes only" in begins.text
    assert "set conditioning.half_width" in begins.text
    assert 28.0e9 < ends.time < 110.0e9
    assert "tell" not in ends.text


def test_a_slow_joint_says_nothing() -> None:
    one, said = joint(0.0, 1000)
    assert not said
    assert one.conditioner.half_width == pytest.approx(0.127, abs=0.001)


def swung(
    swing: BandwidthCheck, shake: float, size: float = 0.2, blocks: int = 1, since: int = 0
) -> list[tuple[int, str]]:
    """Blocks of 4 s in which a joint swings at so many cycles a half width (127 ms)."""
    time = since + np.arange(4000 * blocks)
    return swing.absorb(1_000_000 * time, size * np.sin(2.0 * np.pi * shake / 0.127 * PERIOD * time))


def wide(width: float = 127.0, step: float = 0.0) -> BandwidthCheck:
    return BandwidthCheck("position", taps(width), PERIOD, step)


def test_the_past_counts_by_four_fifths_for_each_block() -> None:
    """Mean squares of speed of both blocks, under the kernel over without it."""
    swing, blocks = wide(), ((0.2, 0.3), (0.6, 0.2), (0.3, 0.1))
    powers, left = np.zeros(3), np.zeros(3)
    for k, (shake, size) in enumerate(blocks):
        swung(swing, shake, size, since=4000 * k)
        powers[: k + 1] *= 0.8
        powers[k] = (shake * size) ** 2
        left[: k + 1] = powers[: k + 1] * np.array([response(one) ** 2 for one, _ in blocks[: k + 1]])
        # differences over 20 ms see 1 − (π f 20 ms)²/6 of a speed: 2.5 % less at 6 Hz at most
        assert swing.share == pytest.approx(np.sqrt(left.sum() / powers.sum()), abs=0.02)


def test_too_little_is_less_than_half_and_enough_again_is_seven_tenths() -> None:
    """The kernel leaves 0.64, 0.40, 0.64 and 0.88 of four frequencies: the second is too little, the last enough."""
    swing, words = wide(), []
    for k, shake in enumerate((0.4, 0.57, 0.4, 0.22)):
        assert response(shake) == pytest.approx((0.64, 0.40, 0.64, 0.88)[k], abs=0.01)
        told = swung(swing, shake, blocks=12, since=48_000 * k)  # the past is forgotten
        words += [text for _, text in told]
        assert swing.lost is (k in (1, 2))
        assert len(told) == (k in (1, 3))
    assert "0.13 s, passes only" in words[0]
    assert words[1].startswith("position: the kernel that its steps need, 0.13 s, lets ")
    assert 70.0 <= float(words[1].split("lets ")[1].split(" %")[0]) <= 88.5


@pytest.mark.parametrize(("times", "judged"), [(3.7, False), (4.3, True)])
def test_a_motion_is_judged_from_four_times_what_the_steps_alone_give(times: float, judged: bool) -> None:
    """Steps Δ add Δ²/6 over (20 ms)² to a mean square of speed; a swing of the size A has (2π f A)²/2."""
    shake, step = 0.6, 1e-3
    sine = np.sinc(shake / 0.127 * 0.02)  # of a speed, by differences over 20 ms
    noise = step**2 / (6.0 * 0.02**2)
    size = np.sqrt(2.0 * (times + 1.0) * noise) / (2.0 * np.pi * shake / 0.127 * sine)
    swing = wide(step=step)
    swung(swing, shake, size)  # without its steps, so that nothing is random: they are taken off all the same
    assert (swing.share < 1.0) is judged


def test_a_block_in_which_a_sample_is_missing_is_not_judged() -> None:
    swing, time = wide(), np.arange(8000)
    place = 0.2 * np.sin(2.0 * np.pi * 0.7 / 0.127 * PERIOD * time)
    place[1234] = np.nan
    assert [instant for instant, _ in swing.absorb(1_000_000 * time, place)] == [7_999_000_000]


@pytest.mark.parametrize(("width", "rows"), [(127.0, 4000), (600.0, 4796), (2000.0, 15_996)])
def test_a_block_is_four_seconds_and_four_kernels_at_least(width: float, rows: int) -> None:
    swing, time = wide(width), np.arange(20_000)
    told = swing.absorb(1_000_000 * time, 0.2 * np.sin(2.0 * np.pi * 1.2 * time / width))
    assert [instant for instant, _ in told] == [1_000_000 * (rows - 1)]


def test_a_sampling_slower_than_20_ms_is_differenced_from_one_sample_to_the_next() -> None:
    swing, time = BandwidthCheck("position", taps(4.0), 0.05, 0.0), np.arange(80)
    swing.absorb(50_000_000 * time, 0.1 * np.sin(0.3 * time))
    assert swing.share == pytest.approx(response(4.0 * 0.3 / (2.0 * np.pi)), abs=0.05)
