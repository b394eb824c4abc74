"""ROS 2 without ROS: `/diagnostics` with one status a joint and a process, and a topic with the numbers of every joint.

The numbers are a control_msgs/DynamicJointState: per joint `valid` (1, 0), `error`, each parameter, and its standard
deviation as PARAMETER_deviation. Both topics are reliable and keep the last ten messages, as `ros2` does by default: a
reader that stalls gets the newest ten later, and holds up neither us nor another reader.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cyclonedds.core import DDSException
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import byte, sequence
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.topic import Topic

from daq.config.gateways import Ros2GatewaySettings
from daq.config.sections import Config
from daq.gateways.gateway import Counts
from daq.processes.logs import log
from daq.processes.process import CannotStartError
from drivers.network.dds import domain_xml
from drivers.network.dds_types import DynamicJointState, Header, InterfaceValue, Time
from estimators.base import Status

OK: Final = 0
WARNING: Final = 1
ERROR: Final = 2
STALE: Final = 3
DIAGNOSTICS: Final = "rt/diagnostics"  # the topic /diagnostics, as ROS 2 names it in DDS
DEPTH: Final = 10  # messages of a topic that are kept: ROS 2's default
#: s, argued: A joint that is silent for so long is stale: the core is restarted within less.
SILENT: Final = 5.0
LEVELS: Final = {
    Status.VALID: OK,
    Status.HELD: OK,
    Status.LEARNING: WARNING,
    Status.UNESTIMATED: WARNING,
    Status.FAULTED: ERROR,
}


@dataclass
class KeyValue(IdlStruct, typename="diagnostic_msgs::msg::dds_::KeyValue_"):
    """One line of a status."""

    key: str
    value: str


@dataclass
class DiagnosticStatus(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticStatus_"):
    """How one part of a robot is: level 0 OK, 1 warning, 2 error, 3 stale."""

    level: byte
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
class DiagnosticArray(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticArray_"):
    """All of them at one instant."""

    header: Header
    status: sequence[DiagnosticStatus]


class Ros2Publisher:
    """Two writers of a DDS domain; it subscribes to nothing there."""

    def __init__(self, settings: Ros2GatewaySettings, config: Config) -> None:
        self.counts = Counts()
        self._settings, self._robot = settings, config.robot.name
        self._units: dict[str, dict[str, str]] = {}  # joint → parameter → unit
        self._estimates: dict[str, tuple[float, Mapping[str, Any]]] = {}  # joint → monotonic s of arrival, message
        self._changes: dict[str, list[str]] = {}  # joint → its changes that are not acknowledged
        self._processes: dict[str, Mapping[str, Any]] = {}
        self._due = 0.0
        self._open: list[Any] = []  # entities of DDS, which are closed with their last reference
        self._writers: tuple[DataWriter, ...] = ()

    async def __aenter__(self) -> Self:
        settings = self._settings
        qos = Qos(Policy.Reliability.Reliable(0), Policy.History.KeepLast(DEPTH))  # never waits for a reader: 0 ns
        try:
            self._open = [Domain(settings.domain, domain_xml(settings.interface, settings.peers))]
            participant = DomainParticipant(settings.domain)
            self._open.append(participant)
            topics = ((DIAGNOSTICS, DiagnosticArray), (f"rt{settings.topic}", DynamicJointState))
            self._writers = tuple(DataWriter(participant, Topic(participant, *one), qos=qos) for one in topics)
        except DDSException as error:
            text = f"ROS 2: domain {settings.domain} on {settings.interface}: {error}: is it one of `ip -br link`?"
            raise CannotStartError(text) from error
        log.info("ROS 2 /diagnostics and %s in domain %d", settings.topic, settings.domain)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writers = ()
        while self._open:
            self._open.pop()

    def take(self, topic: str, update: Mapping[str, Any]) -> None:
        """Remember the newest message of each joint and process."""
        family, _, name = topic.partition("/")
        if topic == "meta":
            for joint, fields in update["joints"].items():
                self._units[joint] = {one: parameter["unit"] for one, parameter in fields["parameters"].items()}
        elif family == "estimate":
            self._estimates[name] = time.monotonic(), update
        elif family == "change":
            self._changes[name] = [one["text"] for one in update["records"] if not one["acknowledged"]]
        elif family == "process":
            self._processes[name] = update

    async def turn(self, now: float, /) -> None:
        """Publish both topics every 1/rate s."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + 1 / self._settings.rate
        seconds, part = divmod(round(now * 1e9), 10**9)
        head = Header(Time(seconds, part), "")
        status: Any = [self._joint_status(joint) for joint in self._estimates]
        status += [self._process_status(name) for name in self._processes]
        names: Any = list(self._estimates)
        joints: Any = [_numbers(update) for _, update in self._estimates.values()]
        messages = DiagnosticArray(head, status), DynamicJointState(head, names, joints)
        self.counts.clients = sum(len(writer.get_matched_subscriptions()) for writer in self._writers)
        for writer, message in zip(self._writers, messages, strict=True):
            try:
                writer.write(message)
                self.counts.sent += 1
            except DDSException:  # no room within 0 s
                self.counts.dropped += 1

    def _joint_status(self, joint: str) -> DiagnosticStatus:
        arrival, update = self._estimates[joint]
        health, changes = update["health"], self._changes.get(joint, [])
        level = LEVELS[health["status"]]
        words = [reason["text"] for reason in health["reasons"]] or [health["status"]]
        if changes and level == OK:
            level, words = WARNING, changes
        if (silence := time.monotonic() - arrival) > SILENT:
            level, words = STALE, [f"no estimate for {silence:.0f} s"]
        units, states = self._units.get(joint, {}), update.get("states", {})
        values = [("phase", update["phase"]), ("health", health["status"]), ("error", f"{update['error']:.3g}")]
        for name, value in update["parameters"].items():
            known = "" if states.get(name, {}).get("state") == "known" else " (not known)"
            key = f"{name} [{units[name]}]" if name in units else name
            values.append((key, f"{value:.6g} ± {update['deviations'][name]:.2g}{known}"))
        return self._status(level, joint, "; ".join(words), values)

    def _process_status(self, name: str) -> DiagnosticStatus:
        update = self._processes[name]
        values = [("restarts", str(update["restarts"])), ("silent [s]", f"{update['age']:.1f}")]
        words = "running" if update["up"] else str(update["cause"])
        return self._status(OK if update["up"] else ERROR, f"process {name}", words, values)

    def _status(self, level: int, name: str, words: str, values: list[tuple[str, str]]) -> DiagnosticStatus:
        lines: Any = [KeyValue(*one) for one in values]
        return DiagnosticStatus(level, f"jointwatch: {name}", words, self._robot, lines)


def _numbers(update: Mapping[str, Any]) -> InterfaceValue:
    """The numbers of one joint, by name."""
    found = {"valid": float(update["health"]["status"] == Status.VALID), "error": float(update["error"])}
    for name, value in update["parameters"].items():
        found |= {name: float(value), f"{name}_deviation": float(update["deviations"][name])}
    names: Any = list(found)
    numbers: Any = list(found.values())
    return InterfaceValue(names, numbers)
