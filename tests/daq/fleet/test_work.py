"""The recordings of a fleet on the workers of a cluster: whatever comes of one, it is told of that one."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from daq.fleet.addresses import Address
from daq.fleet.examine import ExaminedRecording, Plan, examine, failed, on
from daq.processes.cluster import Cluster, ClusterError


def test_a_recording_that_kills_its_workers_is_reported_as_what_it_is_and_the_others_are_as_they_were_found() -> None:
    """Results come as they are done, in any order."""
    addresses = [Address(f"/x/{robot}.npz", robot) for robot in ("a", "b", "c")]
    plan, good = Plan(None, None, skew=False), failed(addresses[0], "it is empty")

    def run(task: Any, arguments: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, object]]:
        assert (task, arguments) == (examine, [(address, plan) for address in addresses])
        yield 2, ClusterError("three workers died of it")
        yield 0, good

    killed, found = on(cast(Cluster, SimpleNamespace(run=run)), addresses, plan)
    assert found is good
    assert (killed.address, killed.robot) == ("/x/c.npz", "c")
    assert killed.problem == "ClusterError: three workers died of it"
    assert isinstance(killed, ExaminedRecording)
    assert killed.seconds == pytest.approx(0.0)
