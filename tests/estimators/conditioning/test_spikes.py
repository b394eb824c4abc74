"""Wild samples are found, and nothing else: not corners, steps and grain of motion, nor what real robots recorded."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat

from estimators.conditioning.spikes import Spikes
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted

PERIOD = 1e-3
BIT_20, BIT_14 = 2 * np.pi / (1 << 20), 2 * np.pi / (1 << 14)
DATA = Path(__file__).parents[4] / "shared" / "data"


def clock(rows: int) -> np.ndarray:
    return np.arange(rows, dtype=np.int64) * 1_000_000


def motion(rows: int = 800) -> Floats:
    """A position of 20 bits, ±1 rad/s and ±10 rad/s², and a noisy torque with Coulomb friction: (rows, 2)."""
    t = np.arange(rows) * PERIOD
    speed = 2.0 * np.abs((t / 0.2) % 2.0 - 1.0) - 1.0
    torque = 20.0 * np.tanh(speed / 0.05) + np.random.default_rng(1).normal(0.0, 0.5, rows)
    return np.stack([np.round(np.cumsum(speed) * PERIOD / BIT_20) * BIT_20, torque], axis=1)


def judged(values: Floats, roles: tuple[str, ...] = ("position", "torque")) -> tuple[Floats, int]:
    spikes = Spikes(roles[: values.shape[1]], PERIOD)
    time, out = spikes.absorb(clock(len(values)), values)
    assert np.array_equal(time, clock(len(values))[:-2])
    return out, spikes.count


@pytest.mark.parametrize("wrong", [1e-3, -0.02, 0.5, 2 * np.pi, -1e4])
@pytest.mark.parametrize("at", [99, 100, 101, 200, 350])  # it turns back at 100 and 300, and is fastest at 200
def test_a_wild_position_is_taken_out_and_nothing_else_is_touched(wrong: float, at: int) -> None:
    values = motion()
    values[at, 0] += wrong
    out, count = judged(values)
    values[at, 0] = np.nan
    assert np.array_equal(out, values[:-2], equal_nan=True)
    assert count == 1


@pytest.mark.parametrize(("column", "pair"), [(0, (0.2, 0.3)), (0, (-0.5, -0.5)), (1, (60.0, 40.0)), (1, (1e6, -1e6))])
def test_two_in_a_row_are(column: int, pair: tuple[float, float]) -> None:
    """As one becomes when a channel's delay is no multiple of the period."""
    values = motion()
    values[320:322, column] += pair
    out, count = judged(values)
    assert np.flatnonzero(np.isnan(out[:, column])).tolist() == [320, 321]
    assert count == 2


def test_one_in_a_thousand_is_found_in_noise_wherever_it_is() -> None:
    values = np.random.default_rng(2).normal(0.0, 0.5, (4000, 1))
    wild = np.arange(200, 4000, 100)
    values[wild, 0] += 40.0 * np.random.default_rng(3).choice([-1.0, 1.0], len(wild))
    spikes = Spikes(("torque",), PERIOD)
    _, out = spikes.absorb(clock(4000), values)
    assert np.flatnonzero(np.isnan(out[:, 0])).tolist() == wild.tolist()


def test_what_joints_do_is_believed() -> None:
    t = np.arange(4000) * PERIOD
    rng = np.random.default_rng(4)
    stick = np.floor(t / 0.3) * 0.05 + np.clip((t % 0.3) - 0.28, 0.0, None) * 2.5  # sticks, then slips at 2.5 rad/s
    coarse = np.round(0.02 * np.sin(3.0 * t) / BIT_14) * BIT_14
    flicker = (rng.random(len(t)) < 0.02) * BIT_14
    step = np.where(t < 2.0, 0.1, 0.7) + BIT_20 * rng.integers(0, 2, len(t))  # set to another zero
    fast = np.round(300.0 * np.sin(2.0 * t) / BIT_14) * BIT_14  # before the gear
    hold = np.repeat(rng.normal(0.0, 3.0, 400), 10)  # of a slow sensor
    ringing = 5.0 * np.exp(-(t % 0.4) / 0.02) * np.sin(2 * np.pi * 180.0 * t) + rng.normal(0.0, 0.05, len(t))
    seen = {
        "stick": np.round(stick / BIT_20) * BIT_20, "coarse": coarse, "flicker": flicker, "step": step, "fast": fast,
        "hold": hold, "ringing": ringing, "laplace": rng.laplace(size=4000), "zero": np.zeros(4000),
    }  # fmt: skip
    for name, x in seen.items():
        out, count = judged(x[:, np.newaxis], ("torque" if name in ("hold", "ringing", "laplace") else "position",))
        assert count == 0, name
        assert np.array_equal(out[:, 0], x[:-2]), name


def test_a_glitch_at_rest_before_the_first_motion_and_a_wild_first_sample() -> None:
    values = motion()[:, :1]
    values[:300] = values[300]
    values[[0, 150], 0] += (1e4, 0.5)
    values[700, 0] += 0.5
    out, _ = judged(values)
    assert np.flatnonzero(np.isnan(out[:, 0])).tolist() == [0, 150, 700]


def test_missing_values_stay_missing_and_gaps_separate() -> None:
    values = motion()
    values[200:250, 0] = np.nan
    values[255, 1] = np.inf
    values[300:] += 0.3  # the joint was moved while nothing came
    time = clock(800)
    time[300:] += 50_000_000
    spikes = Spikes(("position", "torque"), PERIOD)
    _, out = spikes.absorb(time, values)
    assert np.array_equal(out, values[:-2], equal_nan=True)
    assert spikes.count == 0


def test_a_sample_is_judged_by_those_on_its_own_side_of_a_gap() -> None:
    """By both sides together the scatter would be the 0.3 by which the joint was moved meanwhile, and hide 0.5."""
    values, time = motion(), clock(800)
    values[300:, 0] += 0.3
    time[300:] += 50_000_000
    values[300, 0] += 0.5
    spikes = Spikes(("position", "torque"), PERIOD)
    _, out = spikes.absorb(time, values)
    assert np.flatnonzero(np.isnan(out[:, 0])).tolist() == [300]


def test_a_sample_that_repeats_what_was_before_a_gap_is_wild_behind_it() -> None:
    """The three after the gap say where the joint is now; the two before it agree with the wild one by chance."""
    values, time = motion(), clock(800)
    values[301:, 0] += 0.3
    time[300:] += 50_000_000
    spikes = Spikes(("position", "torque"), PERIOD)
    _, out = spikes.absorb(time, values)
    assert np.flatnonzero(np.isnan(out[:, 0])).tolist() == [300]


@pytest.mark.parametrize(("late", "breaks"), [(-500_001, 2), (-500_000, 0), (500_000, 0), (500_001, 2)])
def test_rows_more_than_half_a_period_out_of_time_separate(late: int, breaks: int) -> None:
    """late: ns by which one row is; it is that far from the row after it, too."""
    time = clock(100)
    time[50] += late
    spikes = Spikes(("position", "torque"), PERIOD)
    spikes.absorb(time, motion(100))
    assert spikes.state.run == breaks


def test_two_samples_between_gaps_are_too_few_to_be_judged() -> None:
    values, time = motion(), clock(800)
    values[300:302, 0] += 0.5
    time[300:] += 50_000_000
    time[302:] += 50_000_000
    spikes = Spikes(("position", "torque"), PERIOD)
    _, out = spikes.absorb(time, values)
    assert np.array_equal(out, values[:-2])


@pytest.mark.parametrize(("apart", "taken_out"), [(20, 3), (50, 4), (90, 18), (101, None)])
def test_a_channel_that_is_wild_more_often_than_one_in_a_hundred_is_believed(apart: int, taken_out: int | None) -> None:
    """A torque that alternates ±1 has s = 4, and next to a spike MAD = 2: one of 40 is wild while 5s < 40 − 8·2.

    s has to grow by a fifth. A wild sample makes it a tenth larger, each other one, but for the two after it, 1/1024
    smaller: 1.1ⁿ (1 − 1/1024)^(n (apart − 3)) ≥ 1.2 after n = 3, 4, 18; from an apart of 101 on, never.
    """
    values = np.where(np.arange(20_000) % 2 == 0, 1.0, -1.0)[:, None]
    at = np.arange(1000, 20_000, apart)
    values[at, 0] += 40.0
    out, count = judged(values, ("torque",))
    assert np.flatnonzero(np.isnan(out[:, 0])).tolist() == at[:taken_out].tolist()
    assert count == len(at[:taken_out])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 90), max_size=12), st.lists(st.integers(0, 799), max_size=4))
def test_results_do_not_depend_on_the_batches(cuts: list[int], wild: list[int]) -> None:
    values = motion()
    values[wild, 0] += 0.5
    values[10:12, 1] = np.nan
    whole, count = judged(values)
    edges = np.unique(np.minimum(np.cumsum([0, *cuts, 800]), 800))
    pieces = Spikes(("position", "torque"), PERIOD)
    parts = [pieces.absorb(clock(800)[a:b], values[a:b]) for a, b in itertools.pairwise(edges)]
    assert np.array_equal(np.concatenate([out for _, out in parts]), whole, equal_nan=True)
    assert np.array_equal(np.concatenate([time for time, _ in parts]), clock(798))
    assert pieces.count == count


@pytest.mark.compiled
def test_more_than_is_taken_at_once() -> None:
    values = np.tile(motion(), (6, 1))
    whole, _ = judged(values)
    pieces = Spikes(("position", "torque"), PERIOD)
    parts = [pieces.absorb(clock(4800)[a : a + 7], values[a : a + 7])[1] for a in range(0, 4800, 7)]
    assert np.array_equal(np.concatenate(parts), whole, equal_nan=True)


def recorded() -> dict[str, Floats]:
    """Channels of real robots, (samples,) each."""
    emps = loadmat(DATA / "emps" / "nlid_emps_sim_data_training.mat")
    found = {"EMPS position": emps["qm"].ravel(), "EMPS force": emps["vir"].ravel()}
    for run in (2, 3):
        lwr = np.load(DATA / "kuka_lwr4" / f"measurements_{run}.npz")
        for kind, joint in itertools.product(("positions", "torques"), range(7)):
            found[f"LWR4 {run} {kind} {joint}"] = lwr[kind][:, joint]
    for run in "AB":
        kr300 = loadmat(DATA / "kr300" / f"traj_{run}.mat", squeeze_me=True, struct_as_record=False)["rec"]
        for kind, axis in itertools.product(("act_pos_mot_deg", "act_pos_se_deg", "act_torque_abs_nm"), range(3)):
            table = np.asarray(getattr(kr300, kind), np.float64)
            found[f"KR300 {run} {kind} {axis}"] = (table if table.shape[0] > table.shape[1] else table.T)[:, axis]
    for file in sorted((DATA / "bam_xl330" / "raw").glob("*.json")):
        entries = json.loads(file.read_text())["entries"]
        found[f"XL330 {file.stem}"] = np.array([entry["position"] for entry in entries])
    return found


@pytest.mark.compiled
def test_nothing_that_real_robots_recorded_is_taken_out() -> None:
    if not DATA.exists():
        pytest.skip(f"needs the recordings in {DATA}")
    channels = recorded()
    assert sum(map(len, channels.values())) > 200_000
    for name, x in channels.items():
        role = "torque" if "torque" in name or "force" in name else "position"
        _, count = judged(np.ascontiguousarray(x, np.float64)[:, np.newaxis], (role,))
        assert count == 0, name


# --- sample by sample, from the text alone


def by_the_text(time: np.ndarray, values: Floats, coarsest: float) -> list[int]:
    """The samples of one channel that are wild, as the head of the module says it, with NumPy's median."""
    x, wild = values.astype(float).copy(), list[int]()
    run = np.concatenate([[0], np.cumsum(np.abs(np.diff(time) * 1e-9 - PERIOD) > 0.5 * PERIOD)])
    s, seen, b = math.inf, 0, 0.0
    for m in range(len(x) - 2):
        if not np.isfinite(x[m]):
            continue
        around = [k for k in range(-2, 3) if m + k >= 0 and run[m + k] == run[m] and np.isfinite(x[m + k])]

        def departs(slope: float, m: int = m, around: list[int] = around) -> tuple[float, float]:
            z = np.array([x[m + k] - k * slope for k in around])
            if len(z) < 3:
                return 0.0, 0.0
            # of an even number of neighbours the scatter is the larger of the two in the middle
            scatter = np.sort(np.abs(z - np.median(z)))[len(z) // 2]
            return float(abs(x[m] - np.median(z))), float(scatter)

        off, scatter = departs(b)
        if seen < 64:
            out = off > 4.0 * scatter + coarsest
        else:
            flat, flat_scatter = departs(0.0)
            out = off > 4.0 * scatter + 24.0 * s or flat > 8.0 * flat_scatter + 5.0 * s
        if out:
            wild.append(m)
            x[m], s = np.nan, 1.1 * s
            continue
        whole = m >= 2 and run[m - 2] == run[m]
        if not whole or not np.isfinite(x[m - 1]):
            continue
        b = x[m] - x[m - 1]
        second = abs(b - (x[m - 1] - x[m - 2]))
        if np.isfinite(second) and second > 1e-9 * abs(x[m]):
            seen += 1
            s = min(s, second) if seen <= 8 else max(s * (1.0 - 1.0 / 1024.0), min(second, 2.0 * s))
    return wild


def drawn(seed: int) -> tuple[np.ndarray, Floats, str]:
    """A motion with noise, steps, rests and slopes; wild samples of all sizes, missing ones, breaks in time."""
    rng = np.random.default_rng(seed)
    count = 300
    t = PERIOD * np.arange(count)
    x = rng.choice([0.0, 0.02, 0.5]) * np.sin(rng.uniform(5.0, 60.0) * t) + rng.choice([0.0, 1.0, 30.0]) * t
    x += rng.choice([1e-6, 1e-3, 0.05]) * (
        rng.normal(size=count) if seed % 2 else np.where(np.arange(count) % 2, 1, -1)
    )
    if seed % 3 == 0:
        x[60:90] = x[60]
    if seed % 4 == 0:
        x = np.round(x / 1e-3) * 1e-3
    scale = np.median(np.abs(np.diff(x, 2))) + 1e-6
    for at in rng.choice(count, 24, replace=False):
        x[at] += rng.choice([-1.0, 1.0]) * scale * 10.0 ** rng.uniform(0.3, 2.3)
    x[rng.choice(count, 4, replace=False)] = np.nan
    time = clock(count)
    for at in rng.choice(count, 3, replace=False):
        time[at:] += round(1e6 * rng.choice([0.49, 0.52, 3.0]))
    return time, x, ("position" if seed % 5 else "torque")


@pytest.mark.parametrize("seed", range(24))
def test_wild_is_what_the_text_says(seed: int) -> None:
    time, x, role = drawn(seed)
    spikes = Spikes((role,), PERIOD)
    _, out = spikes.absorb(time, x[:, np.newaxis])
    found = np.flatnonzero(np.isnan(out[:, 0]) & np.isfinite(x[:-2])).tolist()
    assert found == by_the_text(time, x, 0.3 if role == "position" else math.inf)
    assert spikes.count == len(found)
    rest = np.delete(out[:, 0], found)
    assert np.array_equal(rest, np.delete(x[:-2], found), equal_nan=True)


@pytest.mark.parametrize(("at", "believed"), [(65, True), (66, False)])
def test_a_torque_is_judged_from_64_samples_on(at: int, believed: bool) -> None:
    """The third sample has the first second difference."""
    values = np.random.default_rng(7).normal(0.0, 1.0, (120, 1))
    values[at, 0] = 1e4
    _, count = judged(values, ("torque",))
    assert count == (0 if believed else 1)


@pytest.mark.parametrize(("jump", "believed"), [(0.29, True), (-0.29, True), (0.31, False), (-0.31, False)])
def test_a_new_position_may_jump_by_the_step_of_the_coarsest_encoder(jump: float, believed: bool) -> None:
    values = np.full((60, 1), 2.0)
    values[30, 0] += jump
    _, count = judged(values, ("position",))
    assert count == (0 if believed else 1)


def test_the_usual_unrest_is_the_least_of_eight_then_its_peaks_which_fade() -> None:
    """A torque with these second differences; nothing is wild before 64 of them."""

    def unrest(seconds: list[float]) -> tuple[float, float]:
        slopes = np.cumsum([0.5, *np.array(seconds) * np.tile([1.0, -1.0], len(seconds))[: len(seconds)]])
        values = np.concatenate([[3.0], 3.0 + np.cumsum(slopes), [0.0, 0.0]])[:, np.newaxis]
        spikes = Spikes(("torque",), PERIOD)
        spikes.absorb(clock(len(values)), values)
        return float(spikes.state.unrest[0]), float(spikes.state.judged[0])

    first = [9.0, 5.0, 3.0, 7.0, 4.0, 8.0, 6.0, 3.5]
    assert unrest(first) == (pytest.approx(3.0), 8.0)
    assert unrest([*first[:7], 1.0]) == (pytest.approx(1.0), 8.0)
    assert unrest([*first, 1.0]) == (pytest.approx(3.0 * 1023.0 / 1024.0), 9.0), "it fades slowly"
    assert unrest([*first, 5.0]) == (pytest.approx(5.0), 9.0)
    assert unrest([*first, 100.0]) == (pytest.approx(6.0), 9.0), "and at most doubles"
    assert unrest([*first, 0.0, 0.0]) == (pytest.approx(3.0), 8.0), "at rest it says nothing"
    assert unrest([]) == (math.inf, 0.0)
