"""Samples are watched, cleaned and observed the same however they are cut; what is odd is taken out and counted."""

from typing import Any

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioning
from estimators.conditioning.preprocessing import Preprocessing, Preprocessor, preprocess
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
    return preprocess(time, values, np.zeros(len(time), np.bool_), state)


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


def preprocessor(channels: tuple[str, ...] = CHANNELS, saturation: float | None = 19.5, **more: object) -> Preprocessor:
    model = RigidSettings.model_validate({"gravity_sin": True} | more).build()
    return Preprocessor(model, channels, PERIOD, 0.05, saturation, Conditioning())


class Passed:
    """What comes of samples that are handed over in such pieces."""

    def __init__(self, one: Preprocessor, values: Floats, size: int, since: int = 0) -> None:
        self.stops: list[tuple[int, int]] = []  # sample, why
        self.heard: list[Floats] = []
        one.follower = lambda _, cleaned: self.heard.append(cleaned)
        time, parts = 10_000_000 + 1_000_000 * (since + np.arange(len(values))), [one.conditioner.nothing]
        first = 0
        while first < len(values):
            one.state.passed = 0
            first += take(time[first : first + size], values[first : first + size], one.state)
            one.feed_follower()
            if one.state.former.windows:
                count = form_rows(one.state.former.windows, one.state.former)
                parts.append(Rows(*(part.copy() for part in one.state.former.formed.rows.part(0, count))))
            if one.state.stop != DONE:
                self.stops.append((first - 1, one.state.stop))
                one.channels.look()
        self.rows, self.cleaned = joined(parts), np.concatenate(self.heard)


@pytest.mark.parametrize("size", [1, 20, 333])
def test_how_samples_are_cut_changes_nothing(size: int) -> None:
    values, one, other = samples(6000), preprocessor(), preprocessor()
    ours, theirs = Passed(one, values, size), Passed(other, values, 1024)
    assert all(np.array_equal(*pair) for pair in zip(ours.rows, theirs.rows, strict=True))
    assert np.array_equal(ours.cleaned, theirs.cleaned, equal_nan=True)
    assert ours.stops == theirs.stops
    assert one.counters() == other.counters()
    assert one.channels.certain == other.channels.certain


def test_what_is_odd_is_taken_out_and_counted() -> None:
    values, one = samples(6000), preprocessor()
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
    found = Passed(preprocessor(), samples(6000), 500).stops
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
    cleaned = Passed(preprocessor(("position", "torque", "temperature")), values, 77).cleaned
    assert np.isnan(cleaned[:100, 2]).all()
    for k in range(4):
        part = cleaned[100 + 250 * k : 350 + 250 * k, 2]
        assert (part == k).all()


def test_a_torque_from_98_percent_of_the_saturation_on_is_not_believed() -> None:
    values = samples(8000)[:, :2]
    values[2000, 0] -= 0.4
    values[[2500, 2501, 2502, 3100], 1] = values[[2499, 2499, 2499, 3099], 1]
    values[:, 1] = np.clip(values[:, 1], -9.7, 9.7)  # it stays there around 0.9 s and 6.73 s
    values[[900, 903, 6732, 6735], 1] = [9.79, 9.81, -9.79, -9.81]  # of 10
    one = preprocessor(CHANNELS[:2], 10.0)
    wanted = values[:-2].copy()
    wanted[[903, 6735], 1] = np.nan
    assert np.array_equal(Passed(one, values, 20).cleaned, wanted, equal_nan=True), (
        "two samples late, the rest as it is"
    )
    assert one.counters()["saturated"] == 2
    free = preprocessor(CHANNELS[:2], None)
    assert np.array_equal(Passed(free, values, 20).cleaned, values[:-2])
    assert free.counters()["saturated"] == 0


def test_a_wider_kernel_keeps_the_totals_of_the_one_before_it() -> None:
    values = samples(5000)[:, :2]
    values[4000:4100, 1] = np.nan
    one = preprocessor(CHANNELS[:2], None)
    before, counted = Passed(one, values[:2600], 20).rows, one.counters()
    one.widen(0.06)
    after = Passed(one, values[2600:], 20, 2600).rows
    assert one.conditioner.half_width == 0.06
    assert len(after.time) > 50
    totals = one.counters()
    assert totals["rows"] == len(before.time) + len(after.time)
    assert counted["dropped"] > 0
    assert totals["dropped"] > counted["dropped"] + 5
    assert totals["implausible"] == 1
    begun = 2_610_000_000 + round(1e9 * one.conditioner.delay)
    assert after.time[0] >= begun - 2_000_000, "the old samples are given up"


def test_the_step_of_an_encoder_is_reported_once_with_the_sample_that_tells_it() -> None:
    """The 240th move is that of the sample 480."""
    values = np.zeros((1000, 2))
    values[:, 0] = 1e-4 * np.repeat(np.arange(500), 2)
    one = preprocessor(CHANNELS[:2])
    assert [where for where, why in Passed(one, values[:400], 20).stops if why == ENCODER] == []
    assert one.found() == ()
    assert [where for where, why in Passed(one, values[400:], 100, 400).stops if why == ENCODER] == [80]
    ((channel, steps),) = one.found()
    assert (channel, steps.since) == (0, 490_000_000)
    assert one.found() == ()


def test_a_temperature_that_comes_seldom_drops_no_row() -> None:
    values = np.full((2000, 3), np.nan)
    values[:, :2], values[::500, 2] = samples(3200)[:2000, :2], 35.0
    values[2000:, 0] = np.nan
    one = preprocessor(("position", "torque", "temperature"), None, temperature=30.0)
    rows = Passed(one, values, 50).rows
    assert one.counters()["dropped"] == 0
    assert len(rows.time) > 180


def test_where_two_things_are_to_be_decided_at_one_sample_it_stops_once() -> None:
    """The 240th move of an encoder is that of the sample which fills a span of two seconds.

    A torque that is new in each sample has moved so often long before.
    """
    values = np.zeros((2100, 2))
    values[:, 1] = samples(2100)[:, 1]
    values[1521:, 0] = 1e-4 * np.repeat(np.arange(1, 291), 2)[:579]
    one = preprocessor(CHANNELS[:2], None)
    (torque, (sample, why)) = (stop for stop in Passed(one, values, 300).stops if stop[1] != UNEVEN)
    assert torque == (240, ENCODER)
    assert (sample, why) == (1999, max(SPAN, ENCODER))
    assert one.channels.watched.count == 100
    assert [channel for channel, _ in one.found()] == [0, 1]


def test_channels_are_watched_as_they_came_with_what_is_wild_missing_or_beyond_all_reason() -> None:
    values, one = samples(3900), preprocessor()
    Passed(one, values, 300)
    assert one.channels.watched.count == 1900
    assert np.array_equal(one.channels.watched.values[:1900], values[2000:], equal_nan=True)


def test_a_channel_that_stays_the_same_is_reported() -> None:
    values, one = samples(2100), preprocessor()
    values[:, 1] = 4.0
    Passed(one, values, 300)
    assert list(map(str, one.channels.certain)) == ["torque stays at 4 although other channels change"]


def test_it_takes_no_more_samples_than_there_is_room_for() -> None:
    """Those that have passed stay until they are fetched; of 1024 places two are wanted for what is still judged."""
    values, one = samples(4000)[:, :2], preprocessor(CHANNELS[:2], None)
    time, first, counts = 10_000_000 + 1_000_000 * np.arange(4000), 0, []
    for _ in range(5):
        counts.append(take(time[first : first + 400], values[first : first + 400], one.state))
        first += counts[-1]
        if one.state.former.windows:
            form_rows(one.state.former.windows, one.state.former)
    assert one.state.passed == len(one.state.times) == 1024
    assert sum(counts) == 1026
    assert counts[-1] == 0


def test_a_channel_that_never_came_holds_nothing_and_a_fast_one_holds_never() -> None:
    values = samples(600)
    values[:, 2] = np.nan
    values[300, 1] = np.nan
    cleaned = Passed(preprocessor(("position", "torque", "temperature")), values, 100).cleaned
    assert np.isnan(cleaned[:, 2]).all()
    assert np.isnan(cleaned[300, 1])
    assert np.isfinite(cleaned[299, 1])


@pytest.mark.interpreted
def test_the_rows_are_those_of_a_conditioner_where_nothing_is_odd() -> None:
    values = samples(900)
    values[:, 1] = np.clip(values[:, 1], -15.0, 15.0)
    one: Any = preprocessor()
    found = Passed(one, values, 64)
    time = 10_000_000 + 1_000_000 * np.arange(900)
    alone = preprocessor().conditioner
    expected = alone.absorb(time[: len(found.cleaned)], np.ascontiguousarray(values[: len(found.cleaned), :2]))
    assert one.counters()["spikes"] == 0
    assert len(expected.time) > 30
    assert all(np.array_equal(*pair) for pair in zip(found.rows, expected, strict=True))
