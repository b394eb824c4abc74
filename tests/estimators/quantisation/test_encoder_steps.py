"""An encoder's step is found, and its noise in a row is what a simulation of it says."""

import copy
import math

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.quantisation.encoder_steps import (
    CALM,
    EncoderSteps,
    UnevenTime,
    accelerates,
    half_width,
    kernels_of,
    least_acceleration,
    noise_of,
    one_step,
)

PERIOD = 1e-3


def motion(count: int) -> np.ndarray:
    """Position, rad."""
    t = np.arange(count) * PERIOD
    return 0.7 * np.sin(0.9 * t) + 0.2 * np.sin(2.3 * t + 1.0)


def times(first: int, count: int) -> np.ndarray:
    return (first + np.arange(count)) * 1_000_000


@pytest.mark.parametrize("bits", [12, 14, 17, 20])
def test_finds_the_step_however_readings_are_cut(bits: int) -> None:
    step = 2.0 * math.pi / 2**bits
    readings = np.round(motion(6000) / step) * step
    readings[100:200] = np.nan
    found = []
    for size in (1, 50, 6000):
        steps = EncoderSteps()
        for first in range(0, 6000, size):
            steps.absorb(times(first, size), readings[first : first + size])
        found.append((steps.known, steps.step, steps.since))
    assert found[0] == found[1] == found[2]
    assert found[0][1] == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("counts", [(6, 10, 15), (6, 10), (4, 6), (1, 2), (9, 12, 21)])
def test_moves_of_several_steps_tell_the_one_they_share(counts: tuple[int, ...]) -> None:
    step, each = 2.0 * math.pi / 2**14, np.resize(counts, 300)
    steps = EncoderSteps()
    steps.absorb(times(0, 300), np.cumsum(each) * step)
    assert steps.known
    assert steps.step == pytest.approx(math.gcd(*counts) * step, rel=1e-6)


def test_moves_that_share_no_step_have_none() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        steps = EncoderSteps()
        steps.absorb(times(0, 300), np.cumsum(rng.uniform(1e-3, 2e-3, 300)))
        assert steps.known
        assert steps.step == 0.0


def test_a_position_without_steps_has_none() -> None:
    steps = EncoderSteps()
    assert not steps.absorb(times(0, 3000), motion(3000))
    assert steps.known
    assert steps.step == 0.0


@pytest.mark.parametrize(("joint", "channel"), [("rigid", 0), ("two_mass", 0), ("two_mass", 1)])
def test_noise_in_a_row_is_that_of_white_steps(joint: str, channel: int) -> None:
    rigid = joint == "rigid"
    model = RigidSettings(gravity_sin=True).build() if rigid else TwoMassSettings(stick=0.0).build()
    step = 2.0 * math.pi / 2**14
    settings = Conditioning(half_width=0.03)
    rng = np.random.default_rng(5)
    count, channels = 30_000, len(model.channels)
    clean = np.zeros((count, channels))
    clean[:, : channels - 1] = motion(count)[:, None]
    noisy = clean.copy()
    noisy[:, channel] += rng.uniform(-0.5, 0.5, count) * step
    pairs = [Conditioner(model, PERIOD, settings).absorb(times(0, count), one) for one in (clean, noisy)]
    own = Conditioner(model, PERIOD, settings)
    noise, with_y = noise_of(model, own.taps, PERIOD, step, channel)
    error, error_y = pairs[1].phi - pairs[0].phi, pairs[1].y - pairs[0].y
    for output in range(len(model.outputs)):
        products = np.diag(error[:, output].T @ error[:, output]) / len(error)
        linear = np.diag(noise[output]) > 0.0
        assert linear.any() or not rigid
        np.testing.assert_allclose(products[linear], np.diag(noise[output])[linear], rtol=0.1)
        mixed = error[:, output].T @ error_y[:, output] / len(error)
        size = np.sqrt(np.diag(noise[output]) * max(np.mean(error_y[:, output] ** 2), 1e-300))
        np.testing.assert_allclose(mixed[linear], with_y[output][linear], atol=0.1 * float(size.max()) + 1e-300)


def test_the_kernel_that_is_asked_for_leaves_the_noise_that_harms_nobody() -> None:
    model, step = RigidSettings().build(), 2.0 * math.pi / 2**13
    taps = Conditioner(model, PERIOD, Conditioning(half_width=half_width(step, PERIOD))).taps
    noise, _ = noise_of(model, taps, PERIOD, step, 0)
    assert math.sqrt(noise[0, 0, 0]) == pytest.approx(CALM, rel=0.03)


@pytest.mark.parametrize(("bits", "width"), [(14, 0.02), (15, 0.014), (16, 0.01)])
def test_the_inertia_that_is_lost_is_what_errors_in_variables_say(bits: int, width: float) -> None:
    step, count = 2.0 * math.pi / 2**bits, 40_000
    position, t = motion(count), np.arange(count) * PERIOD
    acceleration = -0.7 * 0.9**2 * np.sin(0.9 * t) - 0.2 * 2.3**2 * np.sin(2.3 * t + 1.0)
    values = np.column_stack([np.round(position / step) * step, 2.0 * acceleration])
    rows = Conditioner(RigidSettings().build(), PERIOD, Conditioning(half_width=width)).absorb(times(0, count), values)
    column = rows.phi[:, 0, 0]
    square, noise = np.mean(acceleration**2), least_acceleration(step, PERIOD, width, share=0.5) ** 2
    assert column @ rows.y[:, 0] / (column @ column) / 2.0 == pytest.approx(square / (square + noise), abs=0.03)
    assert square / (square + noise) < 0.92, "else it tests nothing"


def test_uneven_sampling_is_found_however_rows_are_cut() -> None:
    rng, count = np.random.default_rng(6), 6000
    off = rng.uniform(-2e-4, 2e-4, count)
    t = np.arange(count) * PERIOD
    values = 0.7 * np.sin(0.9 * (t + off)) + 0.2 * np.sin(2.3 * (t + off) + 1.0)
    speed = np.gradient(motion(count), PERIOD)
    found = []
    for size in (7, 500, 6000):
        uneven = UnevenTime(PERIOD)
        assert uneven.step == 0.0, "while unknown"
        for first in range(0, count, size):
            part = slice(first, first + size)
            uneven.absorb(np.round((t + off)[part] * 1e9).astype(np.int64), values[part])
        found.append((uneven.known, uneven.state.count, uneven.step))
    assert found[0][:2] == found[1][:2] == found[2][:2]
    assert found[0][2] == pytest.approx(found[2][2], rel=1e-12)
    wanted = math.sqrt(12.0 * np.mean(speed[:2000] ** 2) * (2e-4) ** 2 / 3.0)
    assert found[0][2] == pytest.approx(wanted, rel=0.08)  # four deviations of the mean of 2000 squares


def test_it_is_known_by_the_240th_move_and_no_reading_before() -> None:
    steps, step = EncoderSteps(), 1e-4
    readings = step * np.repeat(np.arange(300), 2)  # it moves every other millisecond
    assert not steps.absorb(times(5000, 480), readings[:480])
    assert (steps.known, steps.step) == (False, 0.0)
    assert steps.absorb(times(5000, 500), readings[:500]), "readings that were looked at already count once"
    assert (steps.known, steps.since) == (True, (5000 + 480) * 1_000_000)
    assert steps.step == pytest.approx(step, rel=1e-9)
    assert not steps.absorb(times(5500, 100), readings[500:]), "it is said once"


@pytest.mark.parametrize("moves", [[2, 3], [7, 8, 12], [-5, 3, 2], [9, 4, 5]])
def test_a_joint_that_never_moves_by_one_step_shows_it_in_what_its_moves_differ_by(moves: list[int]) -> None:
    steps, step = EncoderSteps(), 2.0 * math.pi / 2**14
    assert steps.absorb(times(0, 400), step * np.cumsum(np.resize(moves, 400)))
    assert steps.step == pytest.approx(step, rel=1e-6)


def test_a_copy_finds_the_step_by_itself() -> None:
    one, step = EncoderSteps(), 1e-4
    one.absorb(times(0, 200), step * np.arange(200))
    other = copy.deepcopy(one)
    assert other.absorb(times(200, 100), step * np.arange(200, 300))
    assert (one.known, one.state.count) == (False, 199)
    one.absorb(times(200, 100), 3.0 * step * np.arange(200, 300))
    assert other.step == pytest.approx(step, rel=1e-9)


def test_rounding_of_the_numbers_themselves_is_no_move() -> None:
    steps = EncoderSteps()
    assert not steps.absorb(times(0, 2000), 1.0 + 4e-10 * (np.arange(2000) % 3))
    assert not steps.known


class Signals:
    """A model whose columns and output are what it sees of its one channel: value, rate, second derivative."""

    channels, outputs, parameters = ("position",), ("N·m",), (0, 1, 2)
    blocks = RigidSettings().build().blocks
    start = np.zeros(0)

    def fill(self, signals: np.ndarray, eta: np.ndarray, phi: np.ndarray, y: np.ndarray) -> None:
        phi[:, 0] = signals[:, 0, :3]
        y[:, 0] = 10.0 * signals[:, 0, 2] - signals[:, 0, 0]


def test_the_noise_of_a_row_is_what_each_reading_makes_of_it() -> None:
    """From the response of rows, one each millisecond, to a single reading that is off by one."""
    model, step, off = Signals(), 1e-3, np.zeros((400, 2))
    off[200, 0] = 1.0
    width = Conditioning(half_width=0.015, row_rate=1000.0)
    own = Conditioner(RigidSettings().build(), PERIOD, width)
    rows = own.absorb(times(0, 400), off)
    kernels = kernels_of(own.taps, PERIOD)
    middle = int(np.searchsorted(rows.time, times(200, 1)[0]))
    reach = len(own.taps) // 2 + 1
    around = slice(middle - reach, middle + reach + 1)
    np.testing.assert_allclose(rows.phi[around, 0, 0][::-1], kernels[2], rtol=1e-9, atol=1e-9 / PERIOD**2)
    np.testing.assert_allclose(rows.phi[around, 0, 1][::-1], kernels[1], rtol=1e-9, atol=1e-9 / PERIOD)
    value = np.convolve(own.taps, [0.0, 1.0, 0.0])
    np.testing.assert_allclose(kernels[0], value, atol=1e-15)
    noise, with_y = noise_of(model, own.taps, PERIOD, step, 0)  # type: ignore[arg-type]
    wanted = sum((step**2 / 12.0 * np.outer(one, one) for one in kernels.T), np.zeros((3, 3)))
    scale = np.sqrt(np.outer(*[step**2 / 12.0 * np.sum(kernels**2, axis=1)] * 2))
    np.testing.assert_allclose(noise[0] / scale, wanted / scale, atol=1e-12)
    scale_y = np.abs(wanted @ [-1.0, 0.0, 10.0]).max() + 1e-300
    np.testing.assert_allclose(with_y[0] / scale_y, wanted @ [-1.0, 0.0, 10.0] / scale_y, atol=1e-9)


def test_one_step_of_the_position_is_no_faster_than_that() -> None:
    step, settings = 2.0 * math.pi / 2**12, Conditioning(half_width=0.02, row_rate=1000.0)
    conditioner = Conditioner(RigidSettings().build(), PERIOD, settings)
    values = np.zeros((400, 2))
    values[200:, 0] = step
    rows = conditioner.absorb(times(0, 400), values)
    assert one_step(conditioner.taps, PERIOD, step) == pytest.approx(rows.speed.max(), rel=1e-9)


def test_a_kernel_is_never_wider_than_half_a_second() -> None:
    assert half_width(0.5, PERIOD) == 0.5
    assert half_width(1e-3, PERIOD) == pytest.approx(0.5 * (1e-3 / 0.0165) ** 0.4, rel=0.5)
    assert half_width(4e-3, PERIOD) == pytest.approx(4.0**0.4 * half_width(1e-3, PERIOD), rel=1e-9)
    assert half_width(1e-3, 2e-3) == pytest.approx(2.0**0.2 * half_width(1e-3, 1e-3), rel=1e-9)


def test_one_percent_is_lost_where_the_motion_is_ten_times_the_noise() -> None:
    step = 2.0 * math.pi / 2**13
    noise = least_acceleration(step, PERIOD, 0.03, share=0.5)
    assert least_acceleration(step, PERIOD, 0.03) == pytest.approx(math.sqrt(99.0) * noise, rel=1e-12)
    second = kernels_of(Conditioner(RigidSettings().build(), PERIOD, Conditioning(half_width=0.03)).taps, PERIOD)[2]
    assert noise == pytest.approx(step * math.sqrt(np.sum(second**2) / 12.0), rel=0.01)  # of a window of 59 samples
    assert least_acceleration(step, PERIOD, 0.0) == math.inf


def test_which_channels_are_differentiated_twice() -> None:
    assert accelerates(RigidSettings().build(), 0)
    assert not accelerates(RigidSettings().build(), 1)
    assert [accelerates(TwoMassSettings(stick=0.0).build(), channel) for channel in range(2)] == [True, True]
    assert not accelerates(FrictionOnlySettings().build(), 0)
