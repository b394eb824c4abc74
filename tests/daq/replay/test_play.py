"""How a recording is played: in batches as a core would take them, silences as it would see them, what is counted."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.recording.reader import RecordingError
from daq.replay.replay import BOOT, Played, play
from daq.stream.update import Message
from drivers.base import DriverError
from drivers.reading import READING

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
MS = 10**6  # ns
FAST = 1e12  # times real time: turns are handed over one by one, and none waits


class Noting(Pipeline):
    """The real one, which notes what it was given."""

    def __init__(self) -> None:
        super().__init__(load(TEMPLATE), BOOT)
        self.given: list[tuple[str, list[int]]] = []

    def absorb(
        self, readings: NDArray[np.void], epoch: int, now: Callable[[], int], late: bool = False
    ) -> list[Message]:
        assert (epoch, late) == (0, False)
        assert now() == readings["time"][-1], "the recording's own time"
        self.given.append(("absorb", readings["time"].tolist()))
        return super().absorb(readings, epoch, now, late)

    def check_silence(self, now: int, epoch: int) -> list[Message]:
        assert epoch == 0
        self.given.append(("watch", [now]))
        return super().check_silence(now, epoch)

    def batches(self) -> list[list[int]]:
        return [times for what, times in self.given if what == "absorb"]


def readings(*times: int) -> np.ndarray:
    found = np.zeros(len(times), READING)
    found["time"], found["value"] = times, np.arange(len(times))
    return found


def played(*parts: np.ndarray) -> tuple[Noting, Played]:
    pipeline, counted = Noting(), Played()
    list(play(pipeline, iter(parts), counted, FAST))
    return pipeline, counted


def test_a_batch_ends_with_each_fiftieth_of_a_second() -> None:
    """Every 20 ms of the recording's time, however it is cut into parts; nothing is lost, and nothing comes twice."""
    times = [10**12 + 7 * number * MS for number in range(20)]
    expected = [
        [one for one in times if one // (20 * MS) == slot] for slot in sorted({one // (20 * MS) for one in times})
    ]
    whole = readings(*times)
    for cuts in ([], [1], [3, 4, 5], list(range(1, 20))):
        pipeline, _ = played(*np.split(whole, cuts))
        assert pipeline.batches() == expected, cuts


def test_after_each_batch_silence_is_looked_for_at_its_last_instant() -> None:
    pipeline, _ = played(readings(10**12, 10**12 + 5 * MS, 10**12 + 25 * MS))
    assert pipeline.given == [
        ("absorb", [10**12, 10**12 + 5 * MS]),
        ("watch", [10**12 + 5 * MS]),
        ("absorb", [10**12 + 25 * MS]),
        ("watch", [10**12 + 25 * MS]),
    ]


def test_a_silence_is_looked_at_twice_a_second_and_not_for_ever() -> None:
    """As the core would have, and as long as it can matter."""
    pipeline, _ = played(readings(10**12, 10**12 + 1700 * MS, 10**12 + 10**6 * MS))
    watched = [one for what, [one, *_] in pipeline.given if what == "watch"]
    short = [10**12 + late * MS for late in (0, 500, 1000, 1500, 1700)]
    assert watched[: len(short)] == short
    long = watched[len(short) : -1]
    assert [late - early for early, late in pairwise([short[-1], *long])] == 19 * [500 * MS]
    assert watched[-1] == 10**12 + 10**6 * MS


def test_what_has_gone_through_is_counted() -> None:
    pipeline, counted = played(readings(5 * 10**9, 5 * 10**9 + MS), readings(5 * 10**9 + 40 * MS, 5 * 10**9 + 30 * MS))
    assert (counted.readings, counted.first, counted.last) == (4, 5 * 10**9, 5 * 10**9 + 40 * MS)
    counted.note(readings(5 * 10**9 + 10 * MS))
    assert (counted.readings, counted.last) == (5, 5 * 10**9 + 40 * MS), "time does not go back"
    assert sum(map(len, pipeline.batches())) == 4
    nothing, counted = played(readings(), readings())
    assert (nothing.given, counted.readings, counted.first, counted.last) == ([], 0, 0, 0)


@pytest.mark.parametrize("failure", [DriverError("it broke off"), RecordingError("it broke off")])
def test_of_a_recording_that_breaks_off_everything_before_is_played(failure: Exception) -> None:
    def source() -> Iterator[np.ndarray]:
        yield readings(10**12, 10**12 + MS)
        raise failure

    pipeline, counted = Noting(), Played()
    with pytest.raises(type(failure), match="it broke off"):
        list(play(pipeline, source(), counted, FAST))
    assert pipeline.batches() == [[10**12, 10**12 + MS]]
    assert counted.readings == 2


def test_it_may_be_played_no_faster_than_it_was_or_several_times_as_fast() -> None:
    source = readings(*(10**12 + 20 * number * MS for number in range(9)))
    for speed, least in ((1.0, 0.16), (4.0, 0.04)):
        begin = time.monotonic()
        list(play(Noting(), iter([source]), Played(), speed))
        assert time.monotonic() - begin >= least
