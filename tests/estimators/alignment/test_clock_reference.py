"""The clock's equations and the unwrapping, written down once more in plain numbers; interpreted and compiled alike."""

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler

pytestmark = pytest.mark.interpreted

P = 1e-3
Floats = np.ndarray


def run(arrival: Floats, *signals: Floats, **options: object) -> tuple[dict[str, int], Floats, Floats]:
    """Totals that are not zero, ticks in s, and values; one frame an arrival (s), columns as given."""
    columns = np.tile(np.arange(len(signals), dtype=np.int32), len(arrival))
    times = np.repeat(np.round(arrival * 1e9).astype(np.int64) + 10**12, len(signals))
    resampler = Resampler(P, 1, **options)  # type: ignore[arg-type]
    ticks, rows = resampler.absorb(times, np.stack(signals, axis=1).ravel().astype(float), columns)
    totals = {name: count for name, count in resampler.counters().items() if count}
    return totals, (ticks - 10**12) * 1e-9, rows[:, 0]


def followed(arrival: Floats) -> Floats:
    """Instants (s) of even samples by the loop of the docstring: T + P (1 + ρ) + σ, set by the first nine frames."""
    instants = np.empty(len(arrival))
    first = min(arrival[n] - arrival[0] - n * P for n in range(9))  # those that agree
    instants[:9] = arrival[0] + first + P * np.arange(9)
    rho = sigma = 0.0
    window: list[float] = []
    for n in range(9, len(arrival)):
        instants[n] = instants[n - 1] + P * (1.0 + rho) + sigma
        window.append(arrival[n] - instants[n])
        if len(window) == 128:
            least = min(window)
            sigma = 0.3 * least / 128
            rho = float(np.clip(rho + 0.04 * least / (128 * P), -1e-3, 1e-3))
            window = []
    return instants


@pytest.mark.parametrize("counter", [False, True])
@pytest.mark.parametrize("drift", [3e-4, 1.2e-3, -1.2e-3])
def test_the_clock_is_the_loop_that_its_docstring_tells(drift: float, counter: bool) -> None:
    """Within 2 ns, whatever it has learnt; a crystal beyond 1e-3 is followed by σ alone."""
    n = np.arange(2000)
    late = np.where(n < 9, 0.0, 1e-4 * np.random.default_rng(1).random(len(n)))
    arrival = np.round((n * P * (1.0 + drift) + late) * 1e9) * 1e-9
    signals = [n, n % 256] if counter else [n]
    totals, ticks, values = run(arrival, *signals, counter_modulo=256 * counter)
    assert totals == {}
    assert np.array_equal(values, n[: len(values)])
    assert len(ticks) == len(n)
    np.testing.assert_allclose(ticks, followed(arrival), atol=2e-9)


@pytest.mark.parametrize("pace", [1.0, 1.0003])
def test_even_ticks_of_an_uneven_device_are_the_recursion_of_its_docstring(pace: float) -> None:
    """Frames that arrive as they are stamped: the clock is theirs, and ticks are behind by what the recursion says."""
    n = np.arange(2000)
    taken = np.round((n * pace + np.random.default_rng(2).uniform(-0.15, 0.15, len(n))) * P * 1e9) * 1e-9
    taken[:9] = n[:9] * P
    behind, longer, evened = np.zeros(len(n)), 0.0, 1.0
    for k in range(1, len(n)):
        apart = behind[k - 1] + (taken[k] - taken[k - 1]) / P - 1.0 - longer
        evened = min(evened + 1.0, 1000.0)
        behind[k] = (1.0 - 1.0 / evened) * apart
        if evened > 100.0:
            longer += 0.25 * apart / evened**2
    assert np.abs(behind).max() < 0.5, "no leap"
    totals, ticks, _ = run(taken, np.sin(n), taken + 7.0, device_wrap=np.inf)
    assert totals == {}
    shown = np.where(np.abs(behind) > 2e-3, behind, 0.0) * P
    right = (taken - shown)[: len(ticks)]
    np.testing.assert_allclose(ticks, right, atol=5e-9)


@pytest.mark.parametrize("lost", [1, 2, 5])
@pytest.mark.parametrize(("later", "more"), [(0.1, 0), (0.4, 0), (0.7, 0), (0.8, 1), (0.95, 1)])
def test_a_loss_and_a_link_that_is_slower_from_then_on(lost: int, later: float, more: int) -> None:
    """⌊e/P + 1/4⌋ are missing, e the least lateness: what is within a quarter period of one more is one more."""
    n = np.delete(np.arange(1500), np.arange(700, 700 + lost))
    arrival = n * P + np.where(n >= 700, later * P, 0.0)
    totals, ticks, values = run(arrival, n)
    assert totals == {"lost": lost + more}
    before = values < 700
    np.testing.assert_allclose(ticks[before], values[before] * P, atol=1e-8)
    behind = np.flatnonzero(values > 700)[0]
    np.testing.assert_allclose(ticks[behind], (values[behind] + more) * P, atol=1e-8)


@pytest.mark.parametrize("delay", [0.7, 3.2, 10.3])
def test_a_clock_that_queues_have_set_late_comes_back_by_half_a_period_a_frame(delay: float) -> None:
    """The first 100 frames were late by as much (periods). T ← max(arrival, T + P/2) where the next sample is early."""
    n = np.arange(1000)
    arrival = n * P + np.where(n < 100, delay * P, 0.0)
    arrival[100:] = np.maximum(arrival[100:], arrival[99] + 1e-6 * (n[100:] - 99))
    expected = arrival.copy()
    expected[1:100] = arrival[0] + n[1:100] * P
    for k in range(100, 137):
        even = expected[k - 1] + P
        expected[k] = even if arrival[k] - even >= -0.5 * P else max(arrival[k], expected[k - 1] + 0.5 * P)
    totals, ticks, _ = run(arrival, n, n % 65536, counter_modulo=65536)
    assert totals == {}
    np.testing.assert_allclose(ticks[:137], expected[:137], atol=1e-8)  # the first window's end


def test_a_frame_that_comes_twice_is_taken_once() -> None:
    n = np.insert(np.arange(1000), 500, 499)
    arrival = n * P
    arrival[500] += 2e-4
    totals, ticks, values = run(arrival, n, n % 256, counter_modulo=256)
    assert totals == {"duplicate": 1}
    assert np.array_equal(values, np.arange(len(values)))
    np.testing.assert_allclose(ticks, values * P, atol=1e-8)


@pytest.mark.parametrize("first", [0, 7])
@pytest.mark.parametrize("backwards", [1, 2])
def test_one_counter_that_goes_back_is_a_stray_and_two_are_a_device_begun_anew(backwards: int, first: int) -> None:
    n = np.arange(1000)
    counter = n + 5000
    counter[500 : 500 + backwards] = np.arange(backwards) + first
    totals, _, values = run(n * P, n, counter, counter_modulo=65536)
    if backwards == 1:
        assert totals == {"out_of_order": 1, "lost": 1}
        assert np.flatnonzero(np.isnan(values)).tolist() == [500]
    else:
        assert totals["restart"] >= 1


def turned(speed: Floats) -> tuple[Floats, Floats]:
    """Sample numbers and the angle (turns) of a joint that moves by `speed` turns a sample."""
    return np.arange(len(speed)), 0.3 + np.cumsum(speed)


def test_an_encoder_is_followed_beyond_a_quarter_turn_a_sample() -> None:
    """From rest to ±0.6 turns a sample: by the last step, where the nearest turn would be another one."""
    n, angle = turned(0.6 * np.sin(2 * np.pi * np.arange(1200) / 400))
    totals, _, values = run(n * P, angle % 1.0, wraps=[1.0])
    assert totals == {}
    np.testing.assert_allclose(values, angle, atol=1e-9)


@pytest.mark.parametrize("lost", [1, 5, 12])
def test_it_is_followed_over_lost_frames_as_far_as_it_was_going(lost: int) -> None:
    n, angle = turned(np.minimum(0.002 * np.arange(600), 0.3))
    kept = np.delete(n, np.arange(400, 400 + lost))
    totals, _, values = run(kept * P, angle[kept] % 1.0, kept % 256, wraps=[1.0], counter_modulo=256)
    assert totals == {"lost": lost}
    there = np.isfinite(values)
    np.testing.assert_allclose(values[there], angle[kept], atol=1e-9)


@pytest.mark.parametrize("wrong", [0.26, 0.4, -0.3, -0.49])
def test_one_wild_value_moves_nothing_that_follows(wrong: float) -> None:
    n, angle = turned(np.full(300, 0.01))
    raw = angle.copy()
    raw[[100, 200]] += wrong
    totals, _, values = run(n * P, raw % 1.0, wraps=[1.0])
    assert totals == {"glitch": 2}
    good = np.delete(n, [100, 200])
    assert np.isnan(values[[100, 200]]).all()
    np.testing.assert_allclose(values[good], angle[good], atol=1e-9)


@pytest.mark.parametrize("off", [0.24, -0.24])
def test_a_value_within_a_quarter_turn_of_what_is_expected_counts(off: float) -> None:
    n, angle = turned(np.full(300, 0.01))
    raw = angle.copy()
    raw[100:] += off
    totals, _, values = run(n * P, raw % 1.0, wraps=[1.0])
    np.testing.assert_allclose(values[:101], raw[:101], atol=1e-9)
    assert totals.get("glitch", 0) <= 1, "the step that it makes is extrapolated once"


@pytest.mark.parametrize("drift", [1e-4, 8e-4])
def test_between_neighbours_nothing_is_bridged(drift: float) -> None:
    """A frame of another device, a little slower than said: its values are interpolated, but none was missing."""
    n = np.arange(1500)
    own, other = n * P, n * P * (1.0 + drift) + 3e-4
    times = np.concatenate([own, other])
    order = np.argsort(times, kind="stable")
    values, columns = np.concatenate([own, 5.0 * other])[order], np.repeat([0, 1], len(n)).astype(np.int32)[order]
    resampler = Resampler(P, 2, bridge=2)
    _, rows = resampler.absorb(np.round(times[order] * 1e9).astype(np.int64) + 10**12, values, columns)
    assert not any(resampler.counters().values())
    np.testing.assert_allclose(rows[:, 1], 5.0 * rows[:, 0], atol=2.5e-3)  # half a period of the other clock
