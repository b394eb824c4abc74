"""Bursts of a bus that are predicted, against a simulated sender and a simulated clock."""

import numpy as np
import pytest
from numpy.typing import NDArray

from drivers.can import burst
from drivers.can.burst import Burst, burst_missed, first_frame_came, note_frames, time_of_burst

MS = 1_000_000
Times = NDArray[np.int64]


class Reader:
    """The loop of drivers/can/take.py on a simulated clock: what it read, when, and how often it woke."""

    def __init__(self, times: Times) -> None:
        """times: ns, ascending, at which frames can be read."""
        self.times, self.at, self.now = times, 0, int(times[0]) - MS
        self.burst = Burst()
        self.reads: list[tuple[int, int]] = []  # when, and how many frames were taken until then
        self.wakings = 0

    def run(self) -> None:
        while self.at < len(self.times):
            if until := int(time_of_burst(self.burst, self.now)):
                self._sleep(until)
                if self.there():
                    first_frame_came(self.burst, until, True)
                    self._take()
                    continue
                burst_missed(self.burst)
            if not self.there():
                self._sleep(int(self.times[self.at]))
            if pause := int(first_frame_came(self.burst, self.now, False)):
                self._sleep(self.now + pause)
            self._take()

    def there(self) -> bool:
        return bool(self.times[self.at] <= self.now)

    def _sleep(self, until: int) -> None:
        self.now = until
        self.wakings += 1

    def _take(self) -> None:
        end = int(np.searchsorted(self.times, self.now, "right"))
        note_frames(self.burst, self.times[self.at : end])
        self.at = end
        self.now += 20_000  # ns that reading takes
        self.burst.read = self.now
        self.reads.append((self.now, end))

    def waited(self) -> Times:
        """ns from each frame's coming to its having been read."""
        when, end = np.array(self.reads).T
        return when[np.searchsorted(end, np.arange(len(self.times)), "right")] - self.times


def sent(bursts: Times, frames: int, apart: int = 5_000) -> Times:
    """So many frames a burst, one after the other."""
    return np.sort((10**15 + bursts[:, None] + apart * np.arange(frames)).ravel())


@pytest.mark.parametrize("frames", [2, 7, 28])
@pytest.mark.parametrize("period", [MS, 500_000, 1_000_300])
def test_a_steady_bus_costs_one_waking_a_burst(frames: int, period: int) -> None:
    reader = Reader(sent(period * np.arange(4000), frames))
    reader.run()
    begin = reader.wakings
    assert begin <= 1.15 * 4000, "and one in twenty more for a burst that was cut"
    late = reader.waited()[1000 * frames :].reshape(-1, frames)
    assert np.median(late[:, -1]) < 60_000, "no longer than its last frame needs"
    assert np.quantile(late[:, 0], 0.99) < 5_000 * frames + 100_000


def test_frames_that_come_alone_are_read_at_once() -> None:
    reader = Reader(sent(MS * np.arange(500), 1))
    reader.run()
    assert reader.wakings == 500
    assert reader.waited().max() == 20_000


def test_a_sender_that_jitters_and_is_held_up_is_followed_on_its_grid() -> None:
    random = np.random.default_rng(3)
    bursts = MS * np.arange(6000) + random.exponential(30_000, 6000).astype(np.int64)
    for begin in range(300, 6000, 500):
        bursts[begin : begin + 20] = bursts[begin + 20]  # 20 ms, and then all at once
    reader = Reader(sent(np.sort(bursts), 7))
    reader.run()
    assert reader.at == len(reader.times)
    assert reader.wakings < 1.3 * 6000
    assert np.median(reader.waited()) < 150_000
    assert abs(reader.burst.period - MS) < 20_000


def test_another_period_is_learnt_anew() -> None:
    bursts = np.concatenate([MS * np.arange(2000), 2000 * MS + 1_700_000 * np.arange(2000)])
    reader = Reader(sent(bursts, 7))
    reader.run()
    assert abs(reader.burst.period - 1_700_000) < 2_000
    assert reader.wakings < 1.15 * 4000 + 3 * burst.STEADY


def test_once_frames_come_alone_they_are_not_waited_for_any_longer() -> None:
    alone = 10**15 + MS * np.arange(1000, 1500)
    reader = Reader(np.concatenate([sent(MS * np.arange(1000), 7), alone]))
    reader.run()
    assert reader.waited()[-350:].max() == 20_000, "a hundred reads later, and what they wait in a row"


def test_a_burst_that_was_not_there_at_all_gets_longer_the_next_time() -> None:
    one = Burst(margin=50_000)
    found = [one.margin for _ in range(9) if not burst_missed(one)]
    assert found == [70_000, 90_000, 110_000, 130_000, 150_000, 170_000, 190_000, 200_000, 200_000]


def test_a_frame_out_of_turn_waits_no_longer_than_a_burst() -> None:
    regular = sent(MS * np.arange(4000), 7)
    odd = 10**15 + (MS * (np.arange(1000, 3900, 37) + 0.5)).astype(np.int64)
    times = np.sort(np.concatenate([regular, odd]))
    reader = Reader(times)
    reader.run()
    assert reader.waited().max() < burst.LONGEST


def test_a_bus_that_falls_silent_and_comes_back_is_read() -> None:
    bursts = np.concatenate([MS * np.arange(500), 10**10 + MS * np.arange(500)])
    reader = Reader(sent(bursts, 3))
    reader.run()
    assert reader.at == len(reader.times)
    assert reader.waited().max() < 2 * MS
