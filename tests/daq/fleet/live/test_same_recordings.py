"""The summaries that recordings' joints would have sent give, by way of a lake, the verdict of the offline fleet."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from daq.core.pipeline import Pipeline
from daq.fleet.addresses import Address, find
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import Plan, here
from daq.fleet.live.lake import Lake
from daq.fleet.live.standing import Reader
from daq.fleet.live.writer import LakeWriter, Retention
from daq.fleet.verdict import judge
from daq.recording.columns import read
from daq.replay.from_columns import configured
from daq.replay.replay import BOOT, Played, play
from daq.replay.sources import readings_of
from hil_rig.truth.fleet import Fleet, record
from tests.support.processes.summaries import batch

DAY = 86_400.0
T0 = 1_800_000_000 // 86_400 * DAY


def last_summary(address: Address, run: int) -> dict[str, Any]:
    """The last summary of a recording's joint, as if it had been recorded on the day of this number."""
    file = Path(address.text)
    config = configured(file, read(file, None), None)
    said = play(Pipeline(config, BOOT), readings_of(file, config, {}, None, None), Played())
    [*_, last] = (msgpack.unpackb(body) for topic, body in said if topic == b"summary/joint1")
    return last | {"robot": address.robot, "timestamp": T0 + run * DAY + 60.0, "seq": run}


def told(judged: Iterable[JudgedQuantity]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    ones = list(judged)
    return ({(one.robot, one.quantity) for one in ones if one.odd},
            {(one.robot, one.quantity) for one in ones if one.drifts})  # fmt: skip


@pytest.mark.slow
@pytest.mark.compiled
def test_the_verdict_on_summaries_is_that_on_the_recordings(tmp_path: Path) -> None:
    """Eight robots, two recordings each; one with 1.6 times the friction, one whose viscous friction grows by half."""
    list(record(Fleet(robots=8, recordings=2, seed=31), tmp_path / "recordings"))
    addresses = find([str(tmp_path / "recordings")])
    writer = LakeWriter(Lake(str(tmp_path / "lake")), "hall", Retention(3660, 3660))
    writer.start()
    for run in range(2):
        writer.put(batch(*(last_summary(one, run) for one in addresses[run::2])), T0 + (run + 1) * DAY)
    writer.stop()
    live = Reader(str(tmp_path / "lake")).standing(T0, T0 + 2 * DAY, "days").quantities
    offline = judge(here(addresses, Plan(None, None, skew=False)))
    drifting = ("robot005", "viscous")  # by its second recording it is about as far off as tells: odd, or not quite
    for odd, drifts in (told(live), told(offline)):
        assert odd - {drifting} == {("robot002", "coulomb")}
        assert drifts == {drifting}
    values = {(one.robot, one.quantity): one.value for one in offline}
    assert values.keys() == {(one.robot, one.quantity) for one in live}
    for one in live:
        assert one.value == pytest.approx(values[one.robot, one.quantity], rel=0.02, abs=0.05)
