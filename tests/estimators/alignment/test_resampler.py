"""Alignment against a simulated device whose sampling instants are known."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.io import loadmat

from estimators.alignment.clock_state import (
    LONGEST_LOSS,
)
from estimators.alignment.resampler import Resampler
from estimators.conditioning.conditioner import Conditioner
from estimators.models.joints.rigid import RigidSettings
from estimators.quantities import Axis

pytestmark = pytest.mark.interpreted

P = 1e-3
EMPS = Path(__file__).parents[4] / "shared/data/emps/nlid_emps_sim_data_training.mat"
BOOT = 10**15  # ns: the host's clock is not near zero
Readings = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]


def arrivals(instants: NDArray[np.float64], jitter: str, seed: int = 3) -> NDArray[np.float64]:
    """When frames sampled at these instants arrive: late, never early, in order."""
    rng = np.random.default_rng(seed)
    if jitter == "flushed in bursts of 1 to 30 ms":
        flushes = np.cumsum(rng.uniform(1e-3, 30e-3, 10 * len(instants)))
        return flushes[np.searchsorted(flushes, instants)]
    spread = {"none": 0.0, "0.2 ms": 2e-4, "3 ms": 3e-3}[jitter]
    return np.maximum.accumulate(instants + rng.uniform(0, spread, len(instants)))


JITTERS = ("none", "0.2 ms", "3 ms", "flushed in bursts of 1 to 30 ms")


def frames(arrival: NDArray[np.float64], *signals: NDArray[np.float64]) -> Readings:
    """One frame per arrival that carries all signals, as columns 0, 1, …"""
    times = (arrival * 1e9).round().astype(np.int64) + BOOT
    columns = np.tile(np.arange(len(signals), dtype=np.int32), len(times))
    return np.repeat(times, len(signals)), np.stack(signals, 1).ravel(), columns


def merge(*parts: Readings) -> Readings:
    order = np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")
    times, values, columns = (np.concatenate([part[i] for part in parts])[order] for i in range(3))
    return times, values, columns


def seconds(ticks: NDArray[np.int64]) -> NDArray[np.float64]:
    return (ticks - BOOT) * 1e-9


def together(channels: int, **options: object) -> Resampler:
    return Resampler(P, channels, frames=[0] * channels, **options)  # type: ignore[arg-type]


def test_undisturbed_frames_come_out_as_they_went_in() -> None:
    t = np.arange(1000) * P
    resampler = together(2)
    ticks, rows = resampler.absorb(*frames(t, np.sin(t), np.cos(t)))
    np.testing.assert_allclose(seconds(ticks), t, atol=1e-9)
    assert np.array_equal(rows, np.stack([np.sin(t), np.cos(t)], 1))
    assert set(resampler.counters().values()) == {0}


@pytest.mark.compiled
@pytest.mark.parametrize("modulo", [0, 256])
@pytest.mark.parametrize("jitter", JITTERS)
@pytest.mark.parametrize("drift", [0.0, 50e-6, -50e-6])
def test_consecutive_samples_stay_equidistant_whatever_their_arrival(jitter: str, modulo: int, drift: float) -> None:
    n = np.arange(8000)
    t = n * P * (1 + drift)
    signals = [n * 1.0, -n * 1.0] + ([n % modulo * 1.0] if modulo else [])
    resampler = together(2, counter_modulo=modulo)
    ticks, rows = resampler.absorb(*frames(arrivals(t, jitter), *signals))
    assert set(resampler.counters().values()) == {0}
    assert len(ticks) >= 7900  # the last ones may still wait for proof that none was lost
    assert np.array_equal(rows[:, 0], np.arange(len(ticks)))
    assert np.array_equal(rows[:, 1], -rows[:, 0])
    settled = seconds(ticks)[2000:]
    late = settled - t[2000 : len(ticks)]
    assert np.abs(late).max() < {"none": 4e-6, "0.2 ms": 2e-5}.get(jitter, 3e-4)
    assert np.abs(np.diff(settled) / P - 1).max() < 2e-3


@pytest.mark.compiled
@pytest.mark.parametrize("jitter", JITTERS)
@pytest.mark.parametrize("modulo", [16, 256, 65536])
def test_with_a_counter_losses_are_exact(jitter: str, modulo: int) -> None:
    n = np.arange(6000)
    kept = np.random.default_rng(1).random(6000) > 0.02
    kept[[0, 5999]] = True
    readings = frames(arrivals(n * P, jitter)[kept], n[kept] * 1.0, n[kept] % modulo * 1.0)
    resampler = Resampler(P, 1, counter_modulo=modulo)
    ticks, rows = resampler.absorb(*readings)
    lost = np.isnan(rows[:, 0])
    assert np.array_equal(lost, ~kept[: len(ticks)])
    assert np.array_equal(rows[~lost, 0], n[: len(ticks)][~lost])
    assert len(ticks) > 5900
    assert (np.diff(ticks) > 0).all()
    expected = {"lost": (~kept).sum()}
    assert {name: count for name, count in resampler.counters().items() if count} == expected


def test_without_a_counter_a_loss_is_found_and_placed() -> None:
    n = np.arange(6000)
    lost = [700, 1500, 1501, 1502, 3000, 4444]
    kept = np.delete(n, lost)
    resampler = Resampler(P, 1)
    ticks, rows = resampler.absorb(*frames(kept * P + 1e-4 * np.sin(kept) ** 2, kept * 1.0))
    assert np.flatnonzero(np.isnan(rows[:, 0])).tolist() == lost
    assert np.abs(seconds(ticks) - n[: len(ticks)] * P).max() < 2e-4
    assert resampler.counters()["lost"] == len(lost)


@pytest.mark.compiled
@pytest.mark.parametrize("jitter", ["none", "0.2 ms"])
def test_without_a_counter_many_losses_are_placed_where_the_link_is_steady(jitter: str) -> None:
    """A loss every 33 samples, while the one before it is still waited for."""
    n = np.arange(20_000)
    kept = np.random.default_rng(5).random(20_000) > 0.03
    resampler = Resampler(P, 1)
    ticks, rows = resampler.absorb(*frames(arrivals(n * P * (1 - 40e-6), jitter)[kept], n[kept] * 1.0))
    assert len(ticks) > 19_800
    right = np.where(kept[: len(ticks)], n[: len(ticks)], np.nan)
    assert np.array_equal(rows[100:, 0], right[100:], equal_nan=True)  # once the clock is set
    assert resampler.counters()["restart"] == 0


def test_a_stall_of_a_second_loses_and_moves_nothing() -> None:
    t = np.arange(5000) * P
    late = t.copy()
    late[2000:3000] = t[3000]
    for modulo in (0, 16):
        signals = [t, np.arange(5000) % 16.0][: 2 if modulo else 1]
        resampler = Resampler(P, 1, counter_modulo=modulo)
        ticks, rows = resampler.absorb(*frames(late, *signals))
        assert np.array_equal(rows[:, 0], t)
        np.testing.assert_allclose(seconds(ticks), t, atol=4e-4)
        assert set(resampler.counters().values()) == {0}


@pytest.mark.parametrize(("gap", "causes"), [(0.5, {"lost"}), (5.0, {"lost", "restart"})])
def test_a_long_gap_is_stepped_over_and_counted(gap: float, causes: set[str]) -> None:
    t = np.arange(4000) * P
    t[2000:] += gap
    resampler = Resampler(P, 1)
    ticks, rows = resampler.absorb(*frames(t, t))
    np.testing.assert_allclose(seconds(ticks), rows[:, 0], atol=1e-4)
    assert len(ticks) == 4000
    assert {name for name, count in resampler.counters().items() if count} == causes
    assert resampler.counters()["lost"] == round(gap / P)


@pytest.mark.combined
@pytest.mark.parametrize(
    "missing",
    [
        *(1, 64, 255, 256, 1000, 10_000, 600_000),
        *(pytest.param(one, marks=pytest.mark.compiled) for one in (63, 65, 66, 67, 1499, 1600, 65_536)),
    ],
)
@pytest.mark.parametrize("clock", ["none", "counter 256", "counter 65536", "device time"])
@pytest.mark.parametrize("jitter", [0.0, pytest.param(2e-4, marks=pytest.mark.compiled)])
def test_what_is_missing_is_counted_whatever_the_gap(missing: int, clock: str, jitter: float) -> None:
    n = np.arange(4000)
    n[2000:] += missing
    arrival = n * P + jitter * np.random.default_rng(5).random(len(n))
    if clock == "none":
        resampler, batch = Resampler(P, 1), frames(arrival, n * 1.0)
    elif clock == "device time":
        resampler, batch = Resampler(P, 1, device_wrap=np.inf), frames(arrival, n * 1.0, n * P + 7.0)
    else:
        modulo = int(clock.split()[1])
        resampler, batch = Resampler(P, 1, counter_modulo=modulo), frames(arrival, n * 1.0, (n % modulo) * 1.0)
    resampler.absorb(*batch)
    assert resampler.counters()["lost"] == missing
    assert (resampler.counters()["restart"] == 1) or missing < 1501


@pytest.mark.parametrize("wrong", [100, 1000, 12_799, 32_000, 50_000, 64_000])
@pytest.mark.parametrize("begin", [5, 2005])
def test_a_damaged_counter_is_no_loss(wrong: int, begin: int) -> None:
    """While the clock settles, after a gap, too: no time has passed for what it says."""
    n = np.arange(4000)
    n[2000:] += 300
    counter = n.copy()
    counter[begin] += wrong
    resampler = Resampler(P, 1, counter_modulo=65536)
    resampler.absorb(*frames(n * P, n * 1.0, (counter % 65536) * 1.0))
    assert 300 <= resampler.counters()["lost"] <= 302


@pytest.mark.parametrize("gap", [0.0, 2.0])
def test_what_was_only_held_up_is_not_counted_as_missing(gap: float) -> None:
    """A receiver that stands still for 1.8 s gets it all in one burst; a gap in it stands where the burst ends."""
    t = np.arange(8000) * P
    t[6000:] += gap
    arrival = t.copy()
    arrival[2000:3800] = t[3800] + 1e-6 * np.arange(1800)
    resampler = Resampler(P, 1)
    resampler.absorb(*frames(np.maximum.accumulate(arrival), t))
    assert resampler.counters()["lost"] == round(gap / P)


def test_the_clock_settles_on_the_earliest_frames_even_when_the_first_is_late() -> None:
    t = np.arange(3000) * P
    arrival = np.maximum.accumulate(t + np.r_[np.full(5, 0.02), np.zeros(2995)])
    ticks, rows = Resampler(P, 1).absorb(*frames(arrival, t))
    np.testing.assert_allclose(seconds(ticks), rows[:, 0], atol=1e-8)
    assert len(ticks) == 3000


@pytest.mark.compiled
@pytest.mark.parametrize("jitter", JITTERS)
def test_channels_of_other_frames_rates_and_delays_meet_on_the_tick(jitter: str) -> None:
    """Motor encoder 1 kHz; torque 500 Hz; link encoder 1 kHz, 3.1 ms late in itself."""
    duration = 6.0
    fast, slow = np.arange(0, duration, P), np.arange(0.0004, duration, 2 * P)
    torque, link = np.sin(9 * slow), np.cos(4 * (fast - 0.0031))
    on_bus = arrivals(fast, jitter, 5)
    readings = merge(
        frames(on_bus, fast),
        tuple(np.where(i == 2, part + 1, part) for i, part in enumerate(frames(arrivals(slow, jitter, 6), torque))),
        tuple(np.where(i == 2, part + 2, part) for i, part in enumerate(frames(on_bus, link))),
    )
    resampler = Resampler(P, 3, delays=[0, 0, 0.0031], periods=[P, 2 * P, P])
    _, rows = resampler.absorb(readings[0].astype(np.int64), readings[1], readings[2].astype(np.int32))
    rows = rows[2000:]
    assert len(rows) > 3500
    assert np.isfinite(rows).all()
    clocks = {"none": 0, "0.2 ms": 4e-5}.get(jitter, 5e-4)  # how far the clocks of two independent links may be apart
    assert np.abs(rows[:, 1] - np.sin(9 * rows[:, 0])).max() < 9 * clocks + 81 * (2 * P) ** 2 / 8 * 1.01
    skew = 4e-6 * (jitter != "none")  # between frames of one link, s
    assert np.abs(rows[:, 2] - np.cos(4 * rows[:, 0])).max() < 4 * skew + 16 * P**2 / 8 * 1.05
    assert resampler.counters()["late"] == 0


def test_a_channel_that_comes_when_it_likes_is_interpolated_at_its_arrival() -> None:
    t = np.arange(2000) * P
    when = np.sort(np.random.default_rng(2).uniform(0, 2, 700))
    other = frames(when, 5 * when)
    readings = merge(frames(t, t), (other[0], other[1], other[2] + np.int32(1)))
    _, rows = Resampler(P, 2, periods=[P, 0]).absorb(*readings)
    assert len(rows) > 1900
    np.testing.assert_allclose(rows[:, 1], 5 * rows[:, 0], atol=1e-7)


def test_a_silent_channel_is_waited_for_and_then_left_out() -> None:
    t = np.arange(1000) * P
    other = frames(t[:400], -t[:400])
    readings = merge(frames(t, t), (other[0], other[1], other[2] + np.int32(1)))
    resampler = Resampler(P, 2, patience=0.05)
    _, rows = resampler.absorb(*readings)
    assert np.array_equal(rows[:400, 1], -t[:400])
    assert np.isnan(rows[400:, 1]).all()
    assert len(rows) == 949  # 50 ms are still waited for
    assert resampler.late() == [0, 549]
    assert resampler.counters()["late"] == 549


def test_nothing_is_interpolated_across_a_lost_frame() -> None:
    t = np.arange(1000) * P
    other = frames(np.delete(t, 500) + 3e-4, np.delete(t, 500) + 3e-4)
    readings = merge(frames(t, t), (other[0], other[1], other[2] + np.int32(1)))
    resampler = Resampler(P, 2)
    _, rows = resampler.absorb(*readings)
    assert rows[np.isnan(rows[:, 1]), 0].tolist() == [0.5, 0.501]
    assert resampler.counters()["lost"] == 1


def test_a_few_missing_samples_are_interpolated_and_counted() -> None:
    """A straight line and a parabola; frames lost at once, singly, by two and by three, with their counter."""
    n = np.arange(2000)
    lost = [2, 700, 900, 901, 1200, 1201, 1202, 1500]
    kept = np.delete(n, lost)
    readings = frames(kept * P, 3.0 * kept, (kept * P) ** 2, kept % 256.0)
    resampler = together(2, counter_modulo=256, bridge=2)
    ticks, rows = resampler.absorb(*readings)
    np.testing.assert_allclose(seconds(ticks), n[: len(ticks)] * P, atol=2e-8)
    assert np.flatnonzero(np.isnan(rows[:, 0])).tolist() == [1200, 1201, 1202]
    known = np.isfinite(rows[:, 0])
    np.testing.assert_allclose(rows[known, 0], 3.0 * n[: len(rows)][known], rtol=1e-9)
    off = rows[:, 1] - (n[: len(rows)] * P) ** 2
    # before there are four values that far apart, the straight line of x = t²: x″ (t − a)(b − t) / 2
    assert off[2] == pytest.approx(P**2, rel=1e-3)
    assert np.nanmax(np.abs(np.delete(off, 2))) < 1e-12
    assert resampler.counters()["lost"] == len(lost)
    assert resampler.counters()["interpolated"] == 5


@pytest.mark.parametrize("missing", [1, 3])
def test_missing_samples_of_a_motion_lie_on_the_cubic_through_their_neighbours(missing: int) -> None:
    """Losses at distances that leave three values before a gap, and some that lie within another gap's reach."""
    n = np.arange(3000)
    first = np.arange(100, 2900, 47)
    lost = np.concatenate([first + k for k in range(missing)] + [first[::5] + 2 * missing + 3])
    kept = np.setdiff1d(n, lost)
    noise = 1e-6 * np.random.default_rng(3).standard_normal(len(n))
    x = np.sin(2 * np.pi * 3.0 * n * P)
    readings = frames(kept * P, x[kept], noise[kept], kept % 256.0)
    _, rows = together(2, counter_modulo=256, bridge=missing).absorb(*readings)
    gap = missing + 1
    for one in first[10::5][:-1]:  # all four there: against Lagrange's polynomial through them
        at = one - 1 + gap * np.array([-2, -1, 0, 1])
        inner = np.arange(one, one + missing)
        if np.isin(at, lost).any():
            continue
        wanted = np.array([np.polyval(np.polyfit((at - one) / gap, x[at], 3), (k - one) / gap) for k in inner])
        np.testing.assert_allclose(rows[inner, 0], wanted, atol=1e-11)
    line = (2 * np.pi * 3.0 * gap * P) ** 2 / 8
    assert np.abs(rows[: len(rows), 0] - x[: len(rows)]).max() < 0.02 * line
    assert np.std(rows[np.intersect1d(lost, n[: len(rows)]), 1]) < 1.3e-6, "noise is not amplified"


def test_values_that_are_no_numbers_are_bridged_and_long_ones_are_not() -> None:
    t = np.arange(1000) * P
    values = np.where(np.isin(np.arange(1000), [100, 200, 201, 300, 301, 302]), np.nan, t)
    other = frames(t + 3e-4, np.where(np.arange(1000) == 500, np.nan, t + 3e-4))
    readings = merge(frames(t, values), (other[0], other[1], other[2] + np.int32(1)))
    resampler = Resampler(P, 2, bridge=2)
    ticks, rows = resampler.absorb(*readings)
    known = np.isfinite(rows)
    assert (seconds(ticks)[~known[:, 0]] / P).round().tolist() == [300, 301, 302]
    assert known[:, 1].all()
    np.testing.assert_allclose(rows[known[:, 0], 0], seconds(ticks)[known[:, 0]], atol=1e-9)
    np.testing.assert_allclose(rows[:, 1], seconds(ticks), atol=1e-9)
    assert resampler.counters()["interpolated"] == 5  # rows 100, 200, 201; 500 and 501 of the other frame


def test_a_channel_without_any_number_holds_nothing_up() -> None:
    t = np.arange(500) * P
    ticks, rows = together(2, bridge=2).absorb(*frames(t, t, np.full(500, np.nan)))
    assert len(ticks) >= 495
    assert np.isnan(rows[:, 1]).all()
    np.testing.assert_allclose(rows[:, 0], t[: len(rows)])


@pytest.mark.compiled
@pytest.mark.parametrize(("jitter", "modulo"), [*((jitter, 65536) for jitter in JITTERS), ("none", 0), ("0.2 ms", 0)])
def test_losses_of_three_per_cent_leave_the_published_parameters(jitter: str, modulo: int) -> None:
    """EMPS, with a sample counter where the link jitters: parameters by all frames, and by those left."""
    if not EMPS.exists():
        pytest.skip(f"needs the EMPS recording in {EMPS}")
    data = loadmat(EMPS)
    position, force = data["qm"].ravel(), data["vir"].ravel() * data["gtau"].item()
    n = np.arange(len(position))
    arrival = arrivals(n * P * (1 + 50e-6), jitter)
    kept = np.random.default_rng(11).random(len(n)) > 0.03

    def parameters(bridge: int, these: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        signals = [position[these], force[these]] + ([n[these] % 65536.0] if modulo else [])
        resampler = together(2, counter_modulo=modulo, bridge=bridge)
        conditioner = Conditioner(RigidSettings(axis=Axis.PRISMATIC).build(), P)
        rows = conditioner.absorb(*resampler.absorb(*frames(arrival[these], *signals)))
        phi, y = rows.phi[:, 0], rows.y[:, 0]
        theta, left, _, _ = np.linalg.lstsq(phi, y, rcond=None)
        return theta, np.sqrt(np.diag(np.linalg.inv(phi.T @ phi)) * left / len(y)), len(y)

    whole, deviation, rows = parameters(2, np.ones(len(n), bool))
    theta, _, left = parameters(2, kept)
    assert parameters(0, kept)[2] < 0.2 * rows  # what a lost sample costs without
    assert left > 0.98 * rows
    assert (np.abs(theta - whole) < 0.35 * deviation).all(), (theta - whole) / deviation
    assert (np.abs(theta / whole - 1) < [5e-4, 2e-3, 2e-3, 1e-2]).all(), theta / whole


@pytest.mark.parametrize("speed", [0.05, 0.3, -0.45, 0.9])  # turns per sample
def test_an_encoder_is_unwrapped_through_nan_and_glitches(speed: float) -> None:
    wrap = 2 * np.pi
    t = np.arange(400) * P
    angle = np.cumsum(np.interp(np.arange(400), [0, 100, 400], [0, speed * wrap, speed * wrap]))
    raw = angle % wrap
    raw[150] = np.nan
    raw[200] = (raw[200] + 0.4 * wrap) % wrap
    raw[250] = (raw[250] - 0.45 * wrap) % wrap
    resampler = Resampler(P, 1, wraps=[wrap])
    _, rows = resampler.absorb(*frames(t, raw))
    good = np.delete(np.arange(400), [150, 200, 250])
    np.testing.assert_allclose(rows[good, 0], angle[good], atol=1e-9)
    assert np.isnan(rows[[150, 200, 250], 0]).all()
    assert resampler.counters() | {"invalid": 1, "glitch": 2} == resampler.counters()


def test_a_jump_that_stays_is_accepted() -> None:
    t = np.arange(400) * P
    raw = np.where(t < 0.2, 0.1, 0.55)  # of one turn
    _, rows = Resampler(P, 1, wraps=[1.0]).absorb(*frames(t, raw))
    assert np.isnan(rows[200, 0])
    assert np.array_equal(np.abs(rows[201:, 0] % 1.0 - 0.55) < 1e-12, np.ones(199, bool))


def test_duplicates_stragglers_and_a_reset_of_the_device() -> None:
    n = np.r_[np.arange(300), 299, np.arange(300, 500), 497, np.arange(500, 700), np.arange(400)]
    t = np.r_[np.arange(300), 299.2, np.arange(300, 500), 499.2, np.arange(500, 1100)] * P
    resampler = Resampler(P, 1, counter_modulo=65536)
    ticks, rows = resampler.absorb(*frames(t, n * 1.0, n * 1.0))
    assert resampler.counters() == {
        "lost": 0, "late": 0, "duplicate": 1, "out_of_order": 2, "invalid": 0, "glitch": 0, "restart": 1, "rejected": 0,
        "refused": 0, "interpolated": 0,
    }  # fmt: skip
    assert np.array_equal(rows[:, 0], np.r_[np.arange(700), np.arange(1, 400)])
    np.testing.assert_allclose(seconds(ticks), np.r_[np.arange(700), np.arange(701, 1100)] * P, atol=2e-5)


def test_a_counter_in_a_frame_of_its_own_is_counted_and_not_used() -> None:
    t = np.arange(500) * P
    own = frames(t + 2e-4, np.arange(500.0))
    resampler = Resampler(P, 1, counter_modulo=256)
    _, rows = resampler.absorb(*merge(frames(t, t), (own[0], own[1], own[2] + np.int32(1))))
    assert len(rows) >= 499
    assert np.array_equal(rows[:, 0], t[: len(rows)])
    assert resampler.counters() | {"invalid": 499, "lost": 0, "restart": 0} == resampler.counters()


def test_a_constant_counter_gives_no_samples_and_says_why() -> None:
    t = np.arange(100) * P
    resampler = Resampler(P, 1, counter_modulo=256)
    ticks, _ = resampler.absorb(*frames(t, t, np.zeros(100)))
    assert len(ticks) == 0
    assert resampler.counters()["duplicate"] == 99


def mess(seed: int) -> Readings:
    """Frames of three channels and a counter, jittering, lost, invalid, torn and out of order."""
    rng = np.random.default_rng(seed)
    n = np.arange(1500)
    t = arrivals(n * P, JITTERS[seed % 4], seed) + (n > 900) * rng.choice([0, 0.03, 0.4, 3])
    readings = frames(t, np.sin(n), n * 0.3 % 1, n % 64.0)
    other = frames(arrivals(n[::2] * P, "3 ms", seed), np.cos(n[::2]))
    times, values, columns = merge(readings, (other[0], other[1], other[2] + np.int32(2)))
    columns = np.where(columns == 2, np.where(np.isin(times, other[0]) & (np.abs(values) <= 1), 2, 3), columns)
    keep = rng.random(len(times)) > 0.03
    values[rng.random(len(values)) < 0.01] = np.nan
    swap = rng.integers(0, len(times) - 50, 5)
    times[swap], times[swap + 40] = times[swap + 40], times[swap].copy()
    return times[keep], values[keep], columns[keep].astype(np.int32)


def untidy(bridge: int) -> Resampler:
    return Resampler(
        P, 3, reference=1, delays=[0.0, 0.0004, -0.002], wraps=[0, 1.0, 0], counter_modulo=64, frames=[0, 0, 1],
        periods=[P, P, 2 * P], bridge=bridge,
    )  # fmt: skip


@pytest.mark.compiled
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.lists(st.integers(1, 900), max_size=12), st.sampled_from([0, 1, 2, 7]))
def test_results_do_not_depend_on_the_batches_and_time_runs_forward(seed: int, cuts: list[int], bridge: int) -> None:
    times, values, columns = mess(seed)
    whole = untidy(bridge)
    ticks, rows = whole.absorb(times, values, columns)
    assert (np.diff(ticks) > 0).all()
    assert len(ticks) <= 1500 + LONGEST_LOSS * whole.counters()["lost"]
    pieces = untidy(bridge)
    edges = np.unique(np.minimum(np.cumsum([0, *cuts, len(times)]), len(times)))
    parts = [pieces.absorb(times[a:b], values[a:b], columns[a:b]) for a, b in itertools.pairwise(edges)]
    assert np.array_equal(np.concatenate([part[0] for part in parts]), ticks)
    assert np.array_equal(np.concatenate([part[1] for part in parts]), rows, equal_nan=True)
    assert pieces.counters() == whole.counters()


@pytest.mark.compiled
def test_a_batch_larger_than_every_ring_is_the_same_as_many_small_ones() -> None:
    n = np.arange(20_000)
    times, values, columns = frames(arrivals(n * P, "0.2 ms"), np.sin(n), np.cos(n))
    ticks, rows = together(2).absorb(times, values, columns)
    assert len(ticks) == 20_000
    for size in (1, 3, 1000):
        pieces = together(2)
        parts = [
            pieces.absorb(times[a : a + size], values[a : a + size], columns[a : a + size])
            for a in range(0, len(times), size)
        ]
        assert np.array_equal(np.concatenate([part[0] for part in parts]), ticks)
        assert np.array_equal(np.concatenate([part[1] for part in parts]), rows)


@pytest.mark.compiled
@pytest.mark.parametrize("jitter", JITTERS)
def test_emps_over_a_bad_link_gives_the_published_parameters(jitter: str) -> None:
    """Position and force in frames of their own, a device clock 50 ppm slow, no counter."""
    if not EMPS.exists():
        pytest.skip(f"needs the EMPS recording in {EMPS}")
    data = loadmat(EMPS)
    position, force = data["qm"].ravel(), data["vir"].ravel() * data["gtau"].item()
    arrival = arrivals(np.arange(len(position)) * P * (1 + 50e-6), jitter)
    other = frames(arrival, force)
    readings = merge(frames(arrival, position), (other[0], other[1], other[2] + np.int32(1)))
    conditioner = Conditioner(RigidSettings(axis=Axis.PRISMATIC).build(), P)
    rows = conditioner.absorb(*Resampler(P, 2).absorb(*readings))
    theta = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0], rcond=None)[0]
    published = np.array([95.1089, 203.5034, 20.3935, -3.1648])  # kg, N·s/m, N, N
    assert (np.abs(theta / published - 1) <= [0.0025, 0.014, 0.010, 0.025]).all(), theta
    assert conditioner.counters()["dropped"] == 0


def test_bad_input_is_said_clearly() -> None:
    times, values, columns = frames(np.arange(5) * P, np.arange(5.0))
    with pytest.raises(ValueError, match="expected columns from 0 to 1, found 0 to 7"):
        Resampler(P, 1).absorb(times, values, np.array([0, 7, 0, 0, 0], np.int32))
    with pytest.raises(ValueError, match="positive period"):
        Resampler(0.0, 1)
    with pytest.raises(ValueError, match="reference among them"):
        Resampler(P, 2, reference=2)
    with pytest.raises(ValueError, match="device time over 512 periods, found"):
        Resampler(P, 1, device_wrap=0.5)
    with pytest.raises(ValueError, match="delays for 2 channels, found 3"):
        Resampler(P, 2, delays=[0, 0, 0])
    assert len(Resampler(P, 1).absorb(times[:0], values[:0], columns[:0])[0]) == 0
