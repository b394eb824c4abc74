"""The conditioner against an independent NumPy reference, and the properties that everything after it relies on."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat

from estimators.conditioning.conditioner import Conditioner, Conditioning, straight, taps
from estimators.models.base import NonlinearPlace, SpringPlace
from estimators.models.filler import FILL
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import (
    MOST,
    PLACE,
    RATE,
    ROUNDING,
    SECOND,
    SLOPE,
    SMOOTH,
    SMOOTH_RATE,
    SPEED,
    VALUE,
    WEIGHT,
    Rows,
)
from jointwatch_numba.layout import Layout, Own, own_as

pytestmark = pytest.mark.interpreted

PERIOD = 1e-3
EMPS = Path(__file__).parents[4] / "shared/data/emps/nlid_emps_sim_data_training.mat"


class Masks(Layout):
    """What the kernel of a Mirror is given."""

    mask: float
    both: bool


as_masks = own_as(Masks)


@kernel(FILL)
def mirror(signals: Floats, _eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    masks = as_masks(own)
    for row in range(len(signals)):
        for output in range(2):
            phi[row, output] = signals[row, output]
            y[row, output] = signals[row, output, VALUE]
        if signals[row, 0, SMOOTH] > masks.mask:
            y[row, 1] = np.nan
            if masks.both:
                y[row, 0] = np.nan


class Mirror:
    """A model that hands its signals on: one output per channel, columns = the five signals; masks on request."""

    nonlinear: tuple[Parameter, ...] = ()
    start = np.zeros(0)
    springs: tuple[SpringPlace, ...] = ()
    straight: bool = False
    kernel = staticmethod(mirror)
    blocks: tuple[NonlinearPlace, ...] = ()
    joints, owners = (0,), (0, 0)
    parameters = tuple(Parameter(name, "", 0, 1, "") for name in ("value", "rate", "second", "smooth", "smooth_rate"))
    channels = ("position", "torque")
    outputs = ("N·m", "N·m")

    def __init__(self, mask: float = np.inf, both: bool = False) -> None:
        self.terms = Masks(mask=mask, both=both)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        mirror(signals, eta, self.terms, phi, y)


def motion(rows: int = 400, seed: int = 1) -> tuple[Floats, Floats]:
    t = np.arange(rows) * PERIOD
    noise = np.random.default_rng(seed).normal(size=(rows, 2))
    values = np.stack([0.4 * np.sin(7 * t) + 1e-5 * noise[:, 0], 3 * np.cos(5 * t) + 0.1 * noise[:, 1]], 1)
    return (np.arange(rows) * 1_000_000).astype(np.int64), values


def same(one: Rows, other: Rows) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def join(parts: list[Rows]) -> Rows:
    return Rows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def test_rows_equal_a_plain_numpy_reference() -> None:
    time, values = motion()
    rows = Conditioner(Mirror(), PERIOD).absorb(time, values)
    g = np.hanning(41)[1:-1] / np.hanning(41)[1:-1].sum()  # ±20 ms at 1 kHz
    expected = {}
    for channel in range(2):
        x = values[:, channel]
        smooth = np.convolve(x, g, "valid")  # from instant 19 on
        full = np.zeros((len(x), 5))
        full[:, VALUE] = x
        full[1:-1, RATE] = (x[2:] - x[:-2]) / (2 * PERIOD)
        full[1:-1, SECOND] = np.diff(x, 2) / PERIOD**2
        full[19:-19, SMOOTH] = smooth
        full[20:-20, SMOOTH_RATE] = (smooth[2:] - smooth[:-2]) / (2 * PERIOD)
        expected[channel] = np.stack([np.convolve(full[20:-20, k], g, "valid")[::10] for k in range(5)], 1)
    assert len(rows.time) == len(expected[0]) == 33
    for channel in range(2):
        scale = np.abs(expected[channel]).max(axis=0)
        np.testing.assert_allclose(rows.phi[:, channel] / scale, expected[channel] / scale, atol=1e-12)
    np.testing.assert_allclose(rows.y, rows.phi[:, :, VALUE], rtol=1e-14)


def means(x: Floats, size: int) -> Floats:
    """What a kernel that reaches `size` samples either way makes of columns (rows, columns), every tenth."""
    g = np.hanning(2 * size + 1)[1:-1] / np.hanning(2 * size + 1)[1:-1].sum()
    return np.stack([np.convolve(column, g, "valid")[::10] for column in x.T], 1)


def gradient(size: int) -> Floats:
    """Weights of the slope under such a kernel: its own central difference, without what would stick out of it."""
    g = np.hanning(2 * size + 1)
    g /= g.sum()
    weights: Floats = (g[:-2] - g[2:]) / (2.0 * PERIOD)
    return weights


def test_the_motion_of_a_row_is_that_of_the_rows_under_it() -> None:
    """Place, speed and the rms speed are means of what every sample shows, smoothed; the slope that of the outputs."""
    time, values = motion()
    rows = Conditioner(Mirror(), PERIOD).absorb(time, values)
    place = np.convolve(values[:, 0], np.hanning(41)[1:-1] / np.hanning(41)[1:-1].sum(), "valid")
    speed = (place[2:] - place[:-2]) / (2.0 * PERIOD)
    np.testing.assert_allclose(rows.motion[:, 0, PLACE], means(place[1:-1, None], 20)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(rows.motion[:, 0, SPEED], means(speed[:, None], 20)[:, 0], rtol=1e-9)
    np.testing.assert_allclose(rows.speed[:, 0], np.sqrt(means(speed[:, None] ** 2, 20)[:, 0]), rtol=1e-9)
    assert (rows.motion[:, 0, [WEIGHT, ROUNDING, MOST]] == 1.0).all()
    slopes = np.stack([gradient(20) @ values[20 + 10 * row : 59 + 10 * row] for row in range(len(rows.time))])
    np.testing.assert_allclose(rows.motion[:, 0, SLOPE], np.sum(slopes**2, axis=1), rtol=1e-9)


def test_an_output_adds_to_the_slope_of_the_joint_that_owns_it_and_a_masked_one_nothing() -> None:
    class Two(Mirror):
        joints, owners = (0, 1), (1, 0)

    time, _ = motion()
    t = time * 1e-9
    values = np.column_stack([3.0 * t, -7.0 * t])
    rows = Conditioner(Two(), PERIOD).absorb(time, values)
    of_one = (gradient(20) @ (PERIOD * np.arange(39))) ** 2
    np.testing.assert_allclose(rows.motion[:, :, SLOPE], of_one * np.tile([49.0, 9.0], (len(rows.time), 1)), rtol=1e-9)
    np.testing.assert_allclose(rows.motion[:, :, SPEED], np.tile([3.0, -7.0], (len(rows.time), 1)), rtol=1e-9)
    masked = Conditioner(Two(mask=-1.0), PERIOD).absorb(time, values)
    assert np.isnan(masked.y[:, 1]).all()
    np.testing.assert_allclose(masked.motion[:, :, SLOPE], of_one * np.tile([0.0, 9.0], (len(rows.time), 1)), rtol=1e-9)


def test_a_law_with_nonlinear_terms_is_given_every_smoothed_sample_under_a_row() -> None:
    class Nonlinear(Mirror):
        start = np.array([0.1])
        blocks = (
            NonlinearPlace(TanhStribeckSettings(), Axis.PRISMATIC, 0, 1, (2.0, -3.0), 0, (0,), 1.0),
            NonlinearPlace(TanhStribeckSettings(), Axis.PRISMATIC, 1, 0, (-0.5, 4.0), 1, (1,), 1.0),
        )

    time, values = motion()
    rows = Conditioner(Nonlinear(), PERIOD).absorb(time, values)
    g = np.hanning(41)[1:-1] / np.hanning(41)[1:-1].sum()
    smooth = np.stack([np.convolve(column, g, "valid") for column in values.T], 1)
    rate, place = (smooth[2:] - smooth[:-2]) / (2.0 * PERIOD), smooth[1:-1]
    assert rows.samples.shape == (33, 2, 3, 39)
    for row in range(33):
        under = slice(10 * row, 10 * row + 39)
        for block, (own, load, (scale, load_scale)) in enumerate(((0, 1, (2.0, -3.0)), (1, 0, (-0.5, 4.0)))):
            wanted = scale * rate[under, own], scale * place[under, own], load_scale * place[under, load]
            np.testing.assert_allclose(rows.samples[row, block], wanted, rtol=1e-9, atol=1e-9)
    assert Conditioner(Mirror(), PERIOD).absorb(time, values).samples.shape[3] == 0


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("settings", "wide", "half_width", "apart", "is_straight"),
    [
        (Conditioning(), None, 0.020, 10, False),
        (Conditioning(), 0.05, 0.05, 12, True),  # four rows a half width, 80 Hz
        (Conditioning(), 0.01, 0.01, 10, True),  # 100 Hz at most
        (Conditioning(), 0.1, 0.1, 25, True),
        (Conditioning(half_width=0.03), 0.1, 0.03, 10, False),  # who says a width has it
        (Conditioning(row_rate=200.0), 0.1, 0.1, 5, True),
        (Conditioning(half_width=0.0), 0.1, 0.0, 10, False),
    ],
)
def test_the_kernel_is_as_wide_as_told_or_as_an_encoder_asks_for(
    settings: Conditioning, wide: float | None, half_width: float, apart: int, is_straight: bool
) -> None:
    """And the arguments of laws see cubics as they are where an encoder made it so wide."""
    one = Conditioner(Mirror(), PERIOD, settings, wide)
    assert one.half_width == half_width
    assert one.decimation == apart
    assert len(one.taps) == max(1, 2 * round(half_width / PERIOD) - 1)
    time = np.arange(2000) * 1_000_000
    t = 1e-9 * time - 1.0
    rows = one.absorb(time, np.column_stack([t**3, t]))
    assert (np.diff(rows.time) == apart * 1_000_000).all()
    # a cubic under g: t³ + 3 t Σ g k² T²; the smoothed value passes g once, or as well as not at all
    spread = 3.0 * float(one.taps @ (np.arange(len(one.taps)) - len(one.taps) // 2.0) ** 2) * PERIOD**2
    at = 1e-9 * rows.time - 1.0
    np.testing.assert_allclose(rows.phi[:, 0, VALUE], at**3 + spread * at, atol=1e-12)
    times = 1.0 if is_straight else 2.0
    np.testing.assert_allclose(rows.phi[:, 0, SMOOTH], at**3 + times * spread * at, atol=1e-12)


def test_a_row_speaks_of_the_instant_it_says() -> None:
    time = np.arange(200) * 1_000_000 + 5_000_000_000
    ramp = time * 1e-9
    conditioner = Conditioner(Mirror(), PERIOD)
    rows = conditioner.absorb(time, np.stack([ramp, ramp], 1))
    np.testing.assert_allclose(rows.y[:, 0], rows.time * 1e-9, rtol=1e-13)
    np.testing.assert_allclose(rows.speed, 1.0, rtol=1e-9)
    assert conditioner.delay == pytest.approx(0.039)
    assert rows.time[0] == time[0] + round(conditioner.delay * 1e9)
    assert np.all(np.diff(rows.time) == round(conditioner.row_period * 1e9))


def test_noise_on_the_position_biases_nothing_when_the_torque_follows_it() -> None:
    """Response-matched: y built from the raw differences is explained exactly, whatever the noise."""
    time, values = motion(2000)
    x = values[:, 0]
    values[1:-1, 1] = 5 * np.diff(x, 2) / PERIOD**2 + 7 * (x[2:] - x[:-2]) / (2 * PERIOD)
    rows = Conditioner(Mirror(), PERIOD).absorb(time, values)
    theta = np.linalg.lstsq(rows.phi[1:-1, 0][:, [SECOND, RATE]], rows.y[1:-1, 1], rcond=None)[0]
    np.testing.assert_allclose(theta, [5, 7], rtol=1e-8)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 60), max_size=20), st.lists(st.integers(0, 399), max_size=3))
def test_results_do_not_depend_on_the_batches(cuts: list[int], missing: list[int]) -> None:
    time, values = motion()
    values[missing, 0] = np.nan
    model = RigidSettings(gravity_sin=True).build()
    whole = Conditioner(model, PERIOD).absorb(time, values)
    edges = np.unique(np.minimum(np.cumsum([0, *cuts, 400]), 400))
    pieces = Conditioner(model, PERIOD)
    parts = [pieces.absorb(time[a:b], values[a:b]) for a, b in itertools.pairwise(edges)]
    assert same(join(parts), whole)


def test_of_a_window_that_overlaps_the_last_one_only_the_new_instants_are_formed() -> None:
    time, values = motion()
    one = Conditioner(Mirror(), PERIOD)
    one.absorb(time[:200], values[:200])
    former, untouched = one.former, 5.0
    former.phi[: former.instants] = untouched
    due = len(one.absorb(time[200:220], values[200:220]).time)
    left = (former.phi[: former.instants] == untouched).all(axis=(1, 2))
    assert due == 2
    assert left.sum() == former.instants - due * one.decimation == len(one.taps) - one.decimation


@pytest.mark.compiled
def test_results_do_not_depend_on_the_batches_over_many_chunks() -> None:
    time, values = motion(20_000)
    model = RigidSettings(gravity_cos=True).build()
    whole = Conditioner(model, PERIOD).absorb(time, values)
    for size in (1, 7, 1000, 1024, 1025):
        pieces = Conditioner(model, PERIOD)
        parts = [pieces.absorb(time[a : a + size], values[a : a + size]) for a in range(0, len(time), size)]
        assert same(join(parts), whole), size


def test_as_many_rows_as_one_pass_can_take_say_what_they_say_one_by_one() -> None:
    """1024 of them, of which the first and the last complete a window: no pass needs more room."""
    time, values = motion(2200)
    one, other = (Conditioner(Mirror(), PERIOD, Conditioning(row_rate=30.3)) for _ in range(2))
    begin = one.support - 1
    assert (one.decimation, one.most) == (33, 1024)
    parts = [one.absorb(time[:begin], values[:begin]), one.absorb(time[begin : begin + 1024], values[begin:][:1024])]
    assert len(parts[0].time) == 0
    assert len(parts[1].time) == 32
    few = [other.absorb(time[i : i + 20], values[i : i + 20]) for i in range(0, begin + 1024, 20)]
    assert same(parts[1], Rows(*(column[:32] for column in join(few))))


@pytest.mark.compiled
@pytest.mark.parametrize("size", [64, 512, 1024])
def test_rows_at_the_very_end_of_the_room_for_raw_ones_are_as_all_others(size: int) -> None:
    """With a window due every 32 rows, the last of those that there is room for completes one."""
    one, other = (Conditioner(Mirror(), PERIOD, Conditioning(row_rate=31.25)) for _ in range(2))
    room = len(one.former.raw)
    assert ((room - one.support) % one.decimation, one.most) == (0, 1024)
    time, values = motion(room + 2 * size)
    first = room - size * (room // size) or size
    edges = [0, *range(first, len(time), size), len(time)]
    parts = [one.absorb(time[a:b], values[a:b]) for a, b in itertools.pairwise(edges)]
    assert same(
        join(parts), join([other.absorb(time[i : i + 20], values[i : i + 20]) for i in range(0, len(time), 20)])
    )


def test_few_rows_are_reported_once_gaps_take_more_than_half_of_them() -> None:
    """The share of whole windows runs over a hundred: after n that are not whole it is 0.99ⁿ."""
    time, values = motion(2000)
    conditioner = Conditioner(Mirror(), PERIOD, Conditioning(half_width=0.0))
    conditioner.absorb(time[:1000], values[:1000])
    assert conditioner.few is None
    values[1000:] = np.nan
    conditioner.absorb(time[1000:1680], values[1000:1680])
    assert conditioner.few is None, "0.99⁶⁸ = 0.505"
    conditioner.absorb(time[1680:1700], values[1680:1700])
    few = conditioner.few
    assert few is not None
    assert few.numbers == {"percent": pytest.approx(100.0 * 0.99**70), "samples": conditioner.support}
    values[1700:] = 1.0
    conditioner.absorb(time[1700:1740], values[1700:1740])
    assert conditioner.few is None


def test_a_missing_value_drops_exactly_the_rows_that_depend_on_it() -> None:
    time, values = motion()
    whole = Conditioner(Mirror(), PERIOD).absorb(time, values)
    holed = values.copy()
    holed[200, 1] = np.nan
    conditioner = Conditioner(Mirror(), PERIOD)
    rows = conditioner.absorb(time, holed)
    keep = np.abs(whole.time - time[200]) > round(conditioner.delay * 1e9)
    assert same(rows, Rows(*(column[keep] for column in whole)))
    assert conditioner.counters() == {"rows": len(rows.time), "dropped": np.sum(~keep), "masked": 0, "gaps": 0}
    assert np.isfinite(rows.phi).all()


@pytest.mark.parametrize("jump", [-5, 0.6, 1, 3, 10_000])
def test_no_row_spans_a_gap_in_time(jump: float) -> None:
    time, values = motion()
    whole = Conditioner(Mirror(), PERIOD).absorb(time, values)
    shift = round(jump * 1_000_000)
    conditioner = Conditioner(Mirror(), PERIOD)
    rows = conditioner.absorb(time + (np.arange(400) >= 150) * shift, values)
    half = round(conditioner.delay * 1e9)
    after = whole.time - half >= time[150]
    keep = after | (whole.time + half < time[150])
    expected = whole._replace(time=whole.time + after * shift)
    assert same(rows, Rows(*(column[keep] for column in expected)))
    assert conditioner.counters() == {"rows": keep.sum(), "dropped": (~keep).sum(), "masked": 0, "gaps": 1}


def test_small_corrections_of_the_clock_are_no_gap() -> None:
    time, values = motion()
    time = time + np.random.default_rng(2).integers(-200_000, 200_000, 400)
    conditioner = Conditioner(Mirror(), PERIOD)
    assert len(conditioner.absorb(time, values).time) == 33
    assert conditioner.counters()["gaps"] == 0


def test_a_masked_output_is_nan_and_a_row_without_outputs_is_left_out() -> None:
    time, values = motion()
    whole = Conditioner(Mirror(), PERIOD).absorb(time, values)
    one = Conditioner(Mirror(mask=0.3), PERIOD).absorb(time, values)
    masked = np.isnan(one.y[:, 1])
    assert 0 < masked.sum() < len(masked)
    assert np.isnan(one.phi[masked, 1]).all()
    assert np.array_equal(one.phi[:, 0], whole.phi[:, 0])
    assert np.array_equal(one.phi[~masked, 1], whole.phi[~masked, 1])
    conditioner = Conditioner(Mirror(mask=0.3, both=True), PERIOD)
    assert same(conditioner.absorb(time, values), Rows(*(column[~masked] for column in whole)))
    assert conditioner.counters()["masked"] == masked.sum()


@settings(deadline=None)
@given(st.floats(0, 60))
def test_the_kernel_is_symmetric_and_sums_to_one(half_width: float) -> None:
    g = taps(half_width)
    assert len(g) % 2 == 1
    assert np.array_equal(g, g[::-1])
    assert abs(sum(g) - 1) <= 1e-15
    assert (g > 0).all()


@settings(deadline=None)
@given(st.floats(0, 60))
def test_the_straight_kernel_leaves_a_cubic_as_it_is(half_width: float) -> None:
    g = taps(half_width)
    f, k = straight(g), np.arange(len(g)) - len(g) // 2
    assert np.array_equal(f, f[::-1])
    assert sum(f) == pytest.approx(1, abs=1e-12)
    assert abs(f @ k**2) <= (1e-9 * len(g) ** 2 if len(g) > 3 else g @ k**2)


@pytest.mark.parametrize(("asked", "apart"), [(270.0, 4), (350.0, 3), (1000.0, 1), (3000.0, 1), (61.0, 16), (20.0, 50)])
def test_rows_leave_at_the_rate_nearest_to_the_one_asked_for(asked: float, apart: int) -> None:
    """Every so many samples of 1 ms: of all whole numbers that whose period is nearest, but never less than one."""
    conditioner = Conditioner(Mirror(), PERIOD, Conditioning(row_rate=asked))
    rows = conditioner.absorb(*motion())
    assert (np.diff(rows.time) == apart * 1_000_000).all()
    assert len(rows.time) > 4
    assert conditioner.row_period == pytest.approx(apart * PERIOD, rel=1e-12)


def test_the_kernel_of_a_slow_recording_is_two_rows_wide_where_none_is_told() -> None:
    time, values = motion()
    conditioner = Conditioner(Mirror(), 0.02)
    rows = conditioner.absorb(time * 20, values)
    assert conditioner.half_width == 0.04
    assert conditioner.row_period == 0.02
    np.testing.assert_allclose(rows.y, 0.25 * values[2:-4] + 0.5 * values[3:-3] + 0.25 * values[4:-2], rtol=1e-13)
    told = Conditioner(Mirror(), 0.02, Conditioning(half_width=0.02))
    assert np.array_equal(told.absorb(time * 20, values).y, values[1:-1])


@pytest.mark.parametrize(("rate", "exact"), [(20.0, True), (50.0, True), (100.0, True), (400.0, True), (600.0, False)])
def test_speed_and_acceleration_of_a_quartic_are_exact_at_slow_rates(rate: float, exact: bool) -> None:
    """Differences over three rows are off by T²/6 of the third and T²/12 of the fourth derivative, over five by none.

    What they say of t⁴ is compared with its derivatives under the same kernel, by NumPy.
    """
    conditioner = Conditioner(Mirror(), 1.0 / rate)
    ticks = np.arange(60)
    t = (ticks - 30) / rate
    rows = conditioner.absorb((ticks / rate * 1e9).round().astype(np.int64), np.column_stack([t**4, t]))
    at, k = 1e-9 * rows.time - 30 / rate, (np.arange(len(conditioner.taps)) - len(conditioner.taps) // 2) / rate
    speed = (conditioner.taps * 4.0 * (at[:, None] + k) ** 3).sum(1)
    acceleration = (conditioner.taps * 12.0 * (at[:, None] + k) ** 2).sum(1)
    assert np.allclose(rows.phi[:, 0, RATE], speed, rtol=1e-7, atol=1e-7 * abs(speed).max()) is exact
    assert np.allclose(rows.phi[:, 0, SECOND], acceleration, rtol=1e-5, atol=1e-7 * acceleration.max()) is exact


def test_read_only_views_and_empty_batches_are_taken() -> None:
    time, values = motion()
    time.setflags(write=False)
    values.setflags(write=False)
    conditioner = Conditioner(Mirror(), PERIOD)
    assert len(conditioner.absorb(time[:0], values[:0]).time) == 0
    assert len(conditioner.absorb(time, values).time) == 33


def test_bad_input_is_said_clearly() -> None:
    time, values = motion()
    with pytest.raises(ValueError, match=r"expected values of shape \(400, 2\), found \(400, 1\)"):
        Conditioner(Mirror(), PERIOD).absorb(time, values[:, :1])
    for period in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="positive period"):
            Conditioner(Mirror(), period)


@pytest.mark.parametrize(
    ("half_width", "window"),
    [
        (0.0, [1.0]),
        (0.7, [1.0]),
        (1.0, [1.0]),
        (1.5, [0.5, 2.0, 0.5]),  # 1 + cos(2π/3)
        (2.0, [1.0, 2.0, 1.0]),
        (2.5, [0.190983, 1.309017, 2.0, 1.309017, 0.190983]),  # 1 + cos(4π/5), 1 + cos(2π/5)
    ],
)
def test_the_kernel_is_a_hann_window_that_is_zero_at_its_half_width(half_width: float, window: list[float]) -> None:
    assert taps(half_width) == pytest.approx(np.array(window) / np.sum(window), abs=1e-6)


def test_a_straight_kernel_of_three_taps_is_the_middle_one_and_of_five_has_no_second_moment() -> None:
    assert straight(taps(2.0)) == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    f = straight(taps(3.0))
    assert f @ [4.0, 1.0, 0.0, 1.0, 4.0] == pytest.approx(0.0, abs=1e-15)
    assert f[0] < 0.0 < f[1] < f[2]


def test_raw_rows_are_kept_as_long_as_they_are_needed_however_many_there_are() -> None:
    """More rows than the store has room for give the same result in pieces and at once."""
    time, values = motion(2600)
    whole, pieces = Conditioner(Mirror(), PERIOD), Conditioner(Mirror(), PERIOD)
    rows = whole.absorb(time, values)
    parts = [pieces.absorb(time[first : first + 199], values[first : first + 199]) for first in range(0, 2600, 199)]
    assert same(join(parts), rows)
    g = np.hanning(41)[1:-1] / np.hanning(41)[1:-1].sum()
    assert len(rows.time) == (2600 - 79) // 10 + 1
    np.testing.assert_allclose(rows.y[:, 1], np.convolve(values[20:-20, 1], g, "valid")[::10], rtol=1e-12)
    assert (rows.time == time[39] + 1_000_000 * 10 * np.arange(len(rows.time))).all()


def test_a_gap_behind_the_very_first_row_is_one() -> None:
    time, values = motion(200)
    conditioner = Conditioner(Mirror(), PERIOD)
    rows = conditioner.absorb(time + 3_000_000 * (np.arange(200) > 0), values)
    assert conditioner.counters() == {"rows": 12, "dropped": 1, "masked": 0, "gaps": 1}
    assert rows.time[0] == time[49] + 3_000_000


def test_a_gap_is_a_step_that_is_off_by_more_than_half_a_period() -> None:
    time, values = motion(200)
    for more, gaps in ((500_000, 0), (-500_000, 0), (500_001, 1), (-500_001, 1)):
        conditioner = Conditioner(Mirror(), PERIOD)
        conditioner.absorb(time + more * (np.arange(200) >= 100), values)
        assert conditioner.counters()["gaps"] == gaps


def test_a_channel_of_coarse_readings_is_the_only_one_that_is() -> None:
    """A motion of a fraction of a step a sample: its rows are said to be less white than those of the other joint."""

    class Two(Mirror):
        joints, owners = (0, 1), (0, 1)

    time, _ = motion(400)
    values = np.column_stack([1e-3 * np.arange(400), 1e-3 * np.arange(400)])
    for channel in range(2):
        conditioner = Conditioner(Two(), PERIOD)
        conditioner.set_encoder_step(channel, 4e-3)
        rows = conditioner.absorb(time, values)
        assert (rows.motion[:, 1 - channel, [ROUNDING, MOST]] == 1.0).all()
        assert (rows.motion[:, channel, [ROUNDING, MOST]] != 1.0).any()


@pytest.mark.parametrize(("half_width", "mass"), [(0.010, 0.001), (0.020, 0.0025)])
def test_emps_gives_the_published_parameters_by_least_squares(half_width: float, mass: float) -> None:
    if not EMPS.exists():
        pytest.skip(f"needs the EMPS recording in {EMPS}")
    data = loadmat(EMPS)
    values = np.stack([data["qm"].ravel(), data["vir"].ravel() * data["gtau"].item()], 1)
    time = np.arange(len(values), dtype=np.int64) * 1_000_000
    model = RigidSettings(axis=Axis.PRISMATIC).build()
    rows = Conditioner(model, PERIOD, Conditioning(half_width=half_width)).absorb(time, values)
    theta = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0], rcond=None)[0]
    published = np.array([95.1089, 203.5034, 20.3935, -3.1648])  # kg, N·s/m, N, N
    assert (np.abs(theta / published - 1) <= [mass, 0.014, 0.010, 0.025]).all(), theta
