"""Examines all recordings of a fleet, here or on the workers of a cluster; the results are the same to the bit."""

from collections.abc import Iterator, Sequence
from typing import Final

from daq.fleet.addresses import Address
from daq.fleet.examine import ExaminedRecording, Plan, examine, failed
from daq.processes.cluster import Cluster

MODULES: Final = ("daq.fleet.examine", "estimators.refit.job")  # with the kernels that one recording may need


def here(addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """Examine them in this process."""
    return (examine(address, plan) for address in addresses)


def on(cluster: Cluster, addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """Examine them on workers, in the order in which they finish; one that kills its workers is reported as failed."""
    for number, found in cluster.run(examine, [(address, plan) for address in addresses]):
        yield (
            found
            if isinstance(found, ExaminedRecording)
            else failed(addresses[number], f"{type(found).__name__}: {found}")
        )
