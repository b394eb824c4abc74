"""All recordings of a fleet, one after the other here or on the workers of a cluster: the same to the bit."""

from collections.abc import Iterator, Sequence
from typing import Final

from daq.fleet.addresses import Address
from daq.fleet.examine import ExaminedRecording, Plan, examine, failed
from daq.processes.cluster import Cluster

MODULES: Final = ("daq.fleet.examine", "estimators.refit.job")  # with the kernels that one recording may need


def here(addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """In this process."""
    return (examine(address, plan) for address in addresses)


def on(cluster: Cluster, addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """On workers, as they are done; a recording that kills one worker after the other is told as what it is."""
    for number, found in cluster.run(examine, [(address, plan) for address in addresses]):
        yield (
            found
            if isinstance(found, ExaminedRecording)
            else failed(addresses[number], f"{type(found).__name__}: {found}")
        )
