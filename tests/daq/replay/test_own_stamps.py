"""Uneven recordings on even ticks, by their own stamps."""

import numpy as np

from daq.replay.own_stamps import even, is_uneven, once_an_instant, without_repeated_rows
from estimators.alignment.channel_delay import ChannelSeries


def stamps(steps: list[float], rows: int = 400) -> np.ndarray:
    return np.cumsum(np.random.default_rng(0).choice(steps, size=rows))


def test_even_recordings_and_those_that_lost_samples_are_even() -> None:
    time = np.arange(400) / 100.0
    assert not is_uneven(ChannelSeries(time, time))
    kept = np.delete(time, [7, 90, 91, 200])
    assert not is_uneven(ChannelSeries(kept, kept))
    assert not is_uneven(ChannelSeries(time[:1], time[:1]))
    assert is_uneven(ChannelSeries(stamps([0.010, 0.012]), time))
    assert is_uneven(ChannelSeries(stamps([0.001, 0.004, 0.013]), time))


def test_of_two_samples_at_one_instant_the_first_counts() -> None:
    once = once_an_instant(ChannelSeries(np.array([0.0, 0.1, 0.1, 0.2]), np.array([1.0, 2.0, 3.0, 4.0])))
    np.testing.assert_array_equal(once.time, [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(once.values, [1.0, 2.0, 4.0])
    nothing = ChannelSeries(np.zeros(0), np.zeros(0))
    assert once_an_instant(nothing) is nothing


def test_values_are_those_of_the_ticks() -> None:
    time = stamps([0.010, 0.012])
    values = 3.0 * time - 1.0
    values[50] = np.nan
    found = even(ChannelSeries(time, values), 100.0)
    np.testing.assert_allclose(np.diff(found.time), 0.01, atol=1e-12)
    np.testing.assert_allclose(found.values, 3.0 * found.time - 1.0, atol=1e-12)
    assert found.time[0] == time[0]
    assert time[-1] - found.time[-1] < 0.01


def test_nothing_is_made_up_in_a_gap() -> None:
    time = stamps([0.010, 0.012])
    time[200:] += 3.0
    found = even(ChannelSeries(time, time), 100.0)
    inside = (found.time > time[199]) & (found.time < time[200])
    assert not inside.any()
    assert (found.time > time[200]).any()


def test_rows_that_were_sent_twice_by_a_quicker_clock_are_none() -> None:
    """A state of 29.4 Hz that is sent at 30 Hz; of channels with rows of their own nothing can be said."""
    time = np.arange(300) / 30.0
    state = np.floor(time * 29.4 + 1e-6) / 29.4

    def channels(torque_later: float) -> dict[str, dict[str, ChannelSeries]]:
        return {
            name: {
                "position": ChannelSeries(time, np.sin(state + k)),
                "torque": ChannelSeries(time + torque_later, state),
            }
            for k, name in enumerate(("a", "b"))
        }

    found, repeating = without_repeated_rows(channels(0.0))
    assert repeating
    series = found["a"]["position"]
    assert len(series.time) == len(found["b"]["torque"].time) == 300 - 5
    np.testing.assert_allclose(np.diff(series.time[40:-40]), 1.0 / 29.4, rtol=1e-3)
    assert not without_repeated_rows(channels(0.01))[1]
    assert not without_repeated_rows({})[1]
