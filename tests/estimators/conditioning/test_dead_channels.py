"""What is said of a channel that gives nothing, or always the same."""

import numpy as np
import pytest

from estimators.conditioning.dead_channels import Channels

PERIOD = 0.01  # s: 200 rows are looked at together
NAMES = ("position", "torque", "gear_temperature")


def rows(count: int = 200) -> np.ndarray:
    """A joint under way at 0.5 rad/s, its torque, and its temperature, which stays."""
    t = PERIOD * np.arange(count)
    return np.column_stack([0.5 * t, np.sin(t), np.full(count, 31.0)])


def absorb(channels: Channels, values: np.ndarray) -> None:
    """Let it look at rows (rows, channels), span by span, as the compiled pass does."""
    for row in values:
        channels.watched.values[channels.watched.count] = row
        channels.watched.count += 1
        channels.look()


def faults(values: np.ndarray, standstill: float = 0.01) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All that is said, and what is certain."""
    channels = Channels(NAMES, PERIOD, standstill)
    absorb(channels, values)
    return tuple(map(str, channels.faults)), tuple(map(str, channels.certain))


def test_nothing_is_said_of_a_joint_whose_slow_channel_stays() -> None:
    assert faults(rows()) == ((), ())


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("channel", "name"), list(enumerate(NAMES)))
def test_a_channel_without_a_finite_value_is_dead(channel: int, name: str, missing: float) -> None:
    values = rows()
    values[:, channel] = missing
    said = (f"{name} gave no finite value for 2 s",)
    assert faults(values) == (said, said)
    values[77, channel] = 0.3
    values[:, 2] = 31.0 + 0.01 * values[:, 1]
    assert "finite" not in "".join(faults(values)[0]), "one value is enough"


def test_a_channel_that_stays_while_others_change_is_stuck() -> None:
    values = rows()
    values[:, 1] = 0.123456789
    values[5, 1] = np.nan
    said = ("torque stays at 0.123457 although other channels change",)
    assert faults(values) == (said, said)


def test_what_stays_is_not_certain_while_the_joint_stands() -> None:
    """Standstill is 0.01 rad/s: over two seconds it may creep by 0.02 rad."""
    values = rows()
    values[:, 1] = 4.0
    said = ("torque stays at 4 although other channels change",)
    for reach, certain in ((0.019, ()), (0.021, said)):
        values[:, 0] = 1.0 + reach * np.linspace(0.0, 1.0, 200)
        assert faults(values) == (said, certain)
    values[:, 1] = np.nan
    values[:, 0] = 1.0 + 0.019 * np.linspace(0.0, 1.0, 200)
    dead = ("torque gave no finite value for 2 s",)
    assert faults(values) == (dead, dead), "standstill excuses no channel that is not there"


def test_where_every_channel_stays_none_is_stuck() -> None:
    assert faults(np.full((200, 3), 2.0)) == ((), ())


def test_dead_channels_are_said_before_stuck_ones() -> None:
    values = rows()
    values[:, 0], values[:, 2] = 1.0, np.nan
    said, certain = faults(values)
    assert said == (
        "gear_temperature gave no finite value for 2 s",
        "position stays at 1 although other channels change",
    )
    assert certain == said[:1]


@pytest.mark.parametrize("size", [1, 7, 200, 333, 1000])
def test_it_is_said_at_the_end_of_every_two_seconds_however_rows_are_cut(size: int) -> None:
    values = rows(1000)
    values[200:600, 1] = np.nan
    values[300, 1] = 1.0
    channels = Channels(NAMES, PERIOD, 0.01)
    for first in range(0, 1000, size):
        absorb(channels, values[first : first + size])
        seen = min(first + size, 1000)
        dead = 3 <= seen // 200 < 4  # the third span alone is without any
        stuck = seen // 200 == 2  # one value is no change
        assert any("finite" in one for one in map(str, channels.faults)) == dead
        assert any("stays at 1 " in one for one in map(str, channels.faults)) == stuck
        assert channels.watched.count == seen % 200


def test_a_slow_joint_is_looked_at_over_two_rows_at_least() -> None:
    channels = Channels(("position",), 5.0, 0.01)
    absorb(channels, np.array([[np.nan]]))
    assert channels.faults == ()
    absorb(channels, np.array([[np.nan]]))
    assert tuple(map(str, channels.faults)) == ("position gave no finite value for 10 s",)
