"""Samples are watched, cleaned and observed the same however they are cut; what is odd is taken out and counted."""

from typing import Any

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioning
from estimators.conditioning.preprocessing import Front, Preprocessing, preprocess
from estimators.conditioning.row_kernels import form_rows
from estimators.conditioning.stop import DONE, ENCODER, SPAN, UNEVEN
from estimators.models.joints.rigid import RigidSettings
from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.rows import Rows, joined

CHANNELS = ("position", "torque", "current")
PERIOD = 1e-3


@kernel(("Array(i8, 1, 'A', readonly=True)", "Array(f8, 2, 'A', readonly=True)", Preprocessing))
def take(time: Nanoseconds, values: Floats, state: Preprocessing) -> int:
    return preprocess(time, values, state)


def samples(count: int) -> Floats:
    """A joint in motion; with spikes, gaps, values that no joint has and some at saturation, after a second."""
    rng = np.random.default_rng(5)
    t = PERIOD * np.arange(count)
    values = np.column_stack([np.sin(3 * t) + 0.2 * np.sin(11 * t), 20 * np.cos(7 * t), 30 + 0.1 * t])
    values += rng.normal(0.0, [1e-6, 0.05, 0.01], values.shape)
    for row, column, value in ((2000, 0, 0.4), (3100, 1, 1e9)):
        if row < count:
            values[row, column] += value
    values[2500:2503, 1] = np.nan
    return values


def front(channels: tuple[str, ...] = CHANNELS) -> Front:
    return Front(RigidSettings(gravity_sin=True).build(), channels, PERIOD, 0.05, 19.5, Conditioning())


class Passed:
    """What comes of samples that are handed over in such pieces."""

    def __init__(self, one: Front, values: Floats, size: int) -> None:
        self.stops: list[tuple[int, int]] = []  # sample, why
        self.heard: list[Floats] = []
        one.follower = lambda _, cleaned: self.heard.append(cleaned)
        time, parts = 10_000_000 + 1_000_000 * np.arange(len(values)), list[Rows]()
        first = 0
        while first < len(values):
            one.state.passed = 0
            first += take(time[first : first + size], values[first : first + size], one.state)
            one.follow()
            if one.state.former.windows:
                count = form_rows(one.state.former.windows, one.state.former)
                parts.append(Rows(*(part.copy() for part in one.state.former.formed.rows.part(0, count))))
            if one.state.stop != DONE:
                self.stops.append((first - 1, one.state.stop))
                one.channels.look()
        self.rows, self.cleaned = joined(parts), np.concatenate(self.heard)


@pytest.mark.parametrize("size", [1, 20, 333])
def test_how_samples_are_cut_changes_nothing(size: int) -> None:
    values, one, other = samples(6000), front(), front()
    ours, theirs = Passed(one, values, size), Passed(other, values, 1024)
    assert all(np.array_equal(*pair) for pair in zip(ours.rows, theirs.rows, strict=True))
    assert np.array_equal(ours.cleaned, theirs.cleaned, equal_nan=True)
    assert ours.stops == theirs.stops
    assert one.counters() == other.counters()
    assert one.channels.certain == other.channels.certain


def test_what_is_odd_is_taken_out_and_counted() -> None:
    values, one = samples(6000), front()
    found = Passed(one, values, 100)
    kept = found.cleaned[: len(values)]
    counts = one.counters()
    assert (counts["spikes"], counts["implausible"]) == (1, 1)
    assert np.isnan(kept[2000, 0])
    assert np.isnan(kept[3100, 1])
    beyond = np.abs(values[: len(kept), 1]) >= 0.98 * 19.5
    beyond[3100] = False  # it never came to be judged
    assert counts["saturated"] == beyond.sum()
    assert np.isnan(kept[beyond, 1]).all()
    untouched = np.isfinite(values[: len(kept)]) & ~np.isnan(kept)
    assert np.array_equal(kept[untouched], values[: len(kept)][untouched])


def test_it_stops_where_something_is_to_be_decided_and_nowhere_else() -> None:
    found = Passed(front(), samples(6000), 500).stops
    assert [where for where, why in found if why == SPAN] == [1999, 3999, 5999], "each two seconds"
    (where,) = (where for where, why in found if why == ENCODER)
    assert 239 <= where <= 260, "the 240th move of a position that moves with nearly every sample"
    (where,) = (where for where, why in found if why == UNEVEN)
    assert 2000 <= where <= 2010
    assert len(found) == 5


def test_a_slow_channel_holds_its_last_value() -> None:
    values = samples(1000)
    values[:, 2] = np.nan
    values[100::250, 2] = np.arange(4.0)
    cleaned = Passed(front(("position", "torque", "temperature")), values, 77).cleaned
    assert np.isnan(cleaned[:100, 2]).all()
    for k in range(4):
        part = cleaned[100 + 250 * k : 350 + 250 * k, 2]
        assert (part == k).all()


@pytest.mark.interpreted
def test_the_rows_are_those_of_a_conditioner_where_nothing_is_odd() -> None:
    values = samples(900)
    values[:, 1] = np.clip(values[:, 1], -15.0, 15.0)
    one: Any = front()
    found = Passed(one, values, 64)
    time = 10_000_000 + 1_000_000 * np.arange(900)
    alone = front().conditioner
    expected = alone.absorb(time[: len(found.cleaned)], np.ascontiguousarray(values[: len(found.cleaned), :2]))
    assert one.counters()["spikes"] == 0
    assert len(expected.time) > 30
    assert all(np.array_equal(*pair) for pair in zip(found.rows, expected, strict=True))
