"""Reads a topic of ROS 2 over DDS without ROS: Cyclone DDS delivers messages as encoded on the wire (CDR).

The reader is best effort, so it matches every writer and blocks none. It keeps all messages up to a limit; messages
beyond it are counted, never silently replaced. Cyclone does not count messages that a full socket drops, so sockets are
as large as the kernel allows, and a reader without processor time for some seconds loses nothing.

A DDS domain has no access control: whoever is in it can publish, also falsely.
"""

from collections.abc import Sequence
from typing import Any, Final, Self
from xml.sax.saxutils import quoteattr

from drivers.base import LinkError

QUEUE: Final = 16384  # messages that may wait, more than fit into the sockets
ROOM: Final = "16 MiB"  # of a socket, if net.core.rmem_max allows: Cyclone's own 1 MiB holds 1.6 s of 7 joints at 1 kHz
AT_ONCE: Final = 256  # messages taken in one call
NEEDED: Final = "ROS 2 needs Cyclone DDS, which is not installed: pip install 'jointwatch[ros2]'"


def domain_xml(interface: str, peers: Sequence[str]) -> str:
    """Return Cyclone's configuration: one interface, and no multicast if peers are named."""
    places = "".join(f"<Peer Address={quoteattr(peer)}/>" for peer in peers)
    discovery = (
        f"<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex>"
        f"<Peers>{places}</Peers></Discovery>"
    )
    return (
        "<CycloneDDS><Domain><General><Interfaces>"
        f"<NetworkInterface name={quoteattr(interface)}/></Interfaces>"
        f"<AllowMulticast>{'false' if peers else 'default'}</AllowMulticast></General>"
        f"{discovery if peers else ''}"
        f"<Internal><SocketReceiveBufferSize max='{ROOM}'/></Internal></Domain></CycloneDDS>"
    )


class DdsTopic:
    """A topic, open for reading: messages as bytes. `lost`, `refused`: messages that the middleware reports as lost."""

    def __init__(self, domain: int, interface: str, peers: Sequence[str], topic: str, kind: str) -> None:
        self._name = f"{topic} in domain {domain}"
        self._domain, self._xml = domain, domain_xml(interface, peers)
        self._topic, self._kind = f"rt{topic}", kind
        self._open: dict[str, Any] = {}  # entities of DDS, which close with their last reference
        self.counts = {"lost": 0, "refused": 0}

    def __enter__(self) -> Self:
        try:
            from cyclonedds.core import DDSException, InstanceState, ReadCondition, SampleState, ViewState, WaitSet
            from cyclonedds.domain import Domain, DomainParticipant
            from cyclonedds.qos import Policy, Qos
            from cyclonedds.sub import DataReader
            from cyclonedds.topic import Topic

            from drivers.network.dds_types import TYPES
        except ImportError as error:
            raise LinkError(NEEDED) from error
        self.counts.update(lost=0, refused=0)
        states = SampleState.Any | ViewState.Any | InstanceState.Any
        try:
            try:
                self._open["domain"] = Domain(self._domain, self._xml)
            except DDSException as error:
                if error.code != DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:  # the process has joined already
                    raise
            participant = self._open["participant"] = DomainParticipant(self._domain)
            topic = self._open["topic"] = Topic(participant, self._topic, TYPES[self._kind])
            qos = Qos(
                Policy.Reliability.BestEffort,
                Policy.History.KeepAll,
                Policy.ResourceLimits(max_samples=QUEUE, max_instances=1, max_samples_per_instance=QUEUE),
            )
            reader = self._open["reader"] = DataReader(participant, topic, qos=qos, listener=_listener(self.counts))
            condition = self._open["condition"] = ReadCondition(reader, states)
            waiting = self._open["waiting"] = WaitSet(participant)
            waiting.attach(condition)
        except DDSException as error:
            self._open.clear()
            raise LinkError(f"{self._name}: {error}: is `interface` one of `ip -br link`?") from error
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._open)):
            del self._open[name]

    def messages(self, timeout: float) -> list[bytes]:
        """Wait up to timeout seconds for the first message, then take all available ones. Raises LinkError."""
        if "waiting" not in self._open:
            raise LinkError(f"{self._name}: not open")
        found: list[bytes] = []
        if self._open["waiting"].wait(int(max(0.0, timeout) * 1e9)):
            reader = self._open["reader"]
            while part := reader.take(AT_ONCE):
                found += [one.data for one in part if one.sample_info.valid_data]
                if len(part) < AT_ONCE or len(found) >= QUEUE:
                    break
        return found


def _listener(counts: dict[str, int]) -> Any:
    """Return a listener that counts the messages that the middleware reports as lost."""
    from cyclonedds.core import Listener

    def lost(_reader: Any, status: Any) -> None:
        counts["lost"] = status.total_count

    def refused(_reader: Any, status: Any) -> None:
        counts["refused"] = status.total_count

    return Listener(on_sample_lost=lost, on_sample_rejected=refused)
