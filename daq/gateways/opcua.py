"""An OPC UA server with read-only nodes: robot, joints, parameters, each with deviation, unit, status and time.

Below Objects there is one object of the robot's name with one object a joint. A parameter is a variable with
EngineeringUnits, and its standard deviation a sibling PARAMETER_deviation. The status code of a parameter says whether
its value may be used: Good where it is known, Uncertain where it is not, Bad where the joint is silent or faulted; then
the source timestamp is that of the last value that was not.
"""

import logging
import math
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Self

from asyncua import ua
from asyncua.common.node import Node
from asyncua.server.server import Server
from asyncua.ua.status_codes import StatusCodes

from daq.config.gateways import OpcuaSettings
from daq.config.sections import Config
from daq.gateways.gateway import Counts
from daq.gateways.joint_metrics import Change, is_faulted, is_silent, is_value, metrics_of, open_changes
from daq.processes.logs import log
from daq.processes.process import CannotStartError

NAMESPACE: Final = "urn:jointwatch"
UNITS: Final = "http://www.opcfoundation.org/UA/units/un/cefact"  # of EUInformation, by UNECE Recommendation 20
TYPES: Final = {
    bool: ua.VariantType.Boolean,
    int: ua.VariantType.Int32,
    float: ua.VariantType.Double,
    str: ua.VariantType.String,
}
#: s, argued: A joint that is silent for so long has no good value: the core is restarted within less.
SILENT: Final = 5.0


class JointNodes:
    """The newest values of one joint, and its nodes."""

    def __init__(self) -> None:
        self.units: dict[str, str] = {}
        self.values: dict[str, Change] = {}
        self.about = 0.0  # Unix s that the last estimate speaks of
        self.good = 0.0  # the same of the last one that was not faulted; 0: none yet
        self.faulted = self.silent = False  # what the last estimate says of the joint
        self.arrival = 0.0  # monotonic s of the last estimate; 0: none yet
        self.fresh = False  # whether there is an estimate that the nodes do not have
        self.node: Node | None = None
        self.nodes: dict[str, Node] = {}
        self.stale = False

    def status(self, name: str) -> int:
        """The status code of one value."""
        if self.stale or (self.faulted and is_value(name)):
            silent = self.stale or self.silent
            return int(StatusCodes.BadNoCommunication if silent else StatusCodes.BadOutOfService)
        value, (folder, _, parameter) = self.values[name], name.partition("/")
        if folder in ("parameters", "deviations") and not self.values[f"known/{parameter}"]:
            return int(StatusCodes.Uncertain)
        unknown = isinstance(value, float) and not math.isfinite(value)
        return int(StatusCodes.Uncertain if unknown else StatusCodes.Good)

    def time(self, name: str) -> datetime:
        """The instant that one value speaks of: of one that does not count, when it last did."""
        before = (self.stale or self.faulted) and is_value(name) and self.good > 0.0
        return datetime.fromtimestamp(self.good if before else self.about, UTC)


class OpcuaServer:
    """A server whose nodes only this process can write."""

    def __init__(self, settings: OpcuaSettings, config: Config) -> None:
        self.counts = Counts()
        self._settings, self._robot = settings, config.robot.name
        self._joints: dict[str, JointNodes] = {}
        self._server = Server()
        self._index = 0
        self._root: Node | None = None
        self._due = 0.0

    async def __aenter__(self) -> Self:
        logging.getLogger("asyncua").setLevel(logging.ERROR)  # it warns of every client that goes without a word
        settings, server = self._settings, self._server
        await server.init()
        server.set_endpoint(settings.endpoint)
        server.set_server_name(f"jointwatch {self._robot}")
        if settings.certificate is None or settings.key is None:
            server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
        else:
            policies = [ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt, ua.SecurityPolicyType.Basic256Sha256_Sign]
            server.set_security_policy(policies)
            await server.load_certificate(settings.certificate)
            await server.load_private_key(settings.key)
        self._index = await server.register_namespace(NAMESPACE)
        self._root = await server.nodes.objects.add_object(self._index, self._robot)
        try:
            await server.start()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotStartError(f"OPC UA: cannot serve {settings.endpoint}: {reason}") from error
        log.info("OPC UA %s", settings.endpoint)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    def take(self, topic: str, update: Mapping[str, Any]) -> None:
        """Remember the newest values of each joint."""
        family, _, name = topic.partition("/")
        if topic == "meta":
            for joint, fields in update["joints"].items():
                units = {parameter: one["unit"] for parameter, one in fields["parameters"].items()}
                self._joints.setdefault(joint, JointNodes()).units = units
        elif family == "estimate" and name in self._joints:  # before `meta` nothing is known of its units
            joint = self._joints[name]
            joint.values |= metrics_of(update)
            joint.about, joint.arrival, joint.fresh = update["timestamp"], time.monotonic(), True
            joint.faulted, joint.silent = is_faulted(update), is_silent(update)
            joint.good = joint.good if joint.faulted else joint.about
        elif family == "change" and name in self._joints:
            self._joints[name].values |= open_changes(update)

    async def turn(self, _: float, /) -> None:
        """Write the newest values into the nodes every 1/rate s."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + 1 / self._settings.rate
        self.counts.clients = len(self._server.bserver.clients) if self._server.bserver is not None else 0
        for name, joint in self._joints.items():
            stale = joint.arrival > 0 and time.monotonic() - joint.arrival > SILENT
            if joint.fresh or stale != joint.stale:
                joint.stale, joint.fresh = stale, False
                await self._write(name, joint)

    async def _write(self, name: str, joint: JointNodes) -> None:
        """Write all values of one joint, with their status and times."""
        now = datetime.now(UTC)
        for key, value in joint.values.items():
            node = joint.nodes.get(key) or await self._add(name, joint, key, value)
            written = ua.DataValue(
                Value=ua.Variant(value, TYPES[type(value)]),
                StatusCode=ua.StatusCode(joint.status(key)),
                SourceTimestamp=joint.time(key),
                ServerTimestamp=now,
            )
            await self._server.write_attribute_value(node.nodeid, written)
            self.counts.sent += 1

    async def _add(self, name: str, joint: JointNodes, key: str, value: Change) -> Node:
        """A variable for a value that has none; only the server itself may write it."""
        assert self._root is not None
        if joint.node is None:
            joint.node = await self._root.add_object(self._id(name), ua.QualifiedName(name, self._index))
        folder, _, parameter = key.partition("/")
        shown = {"parameters": parameter, "deviations": f"{parameter}_deviation", "known": f"{parameter}_known"}
        label = shown.get(folder, key.replace("/", "_")) if parameter else key
        identity, browsed = self._id(f"{name}.{label}"), ua.QualifiedName(label, self._index)
        node = joint.nodes[key] = await joint.node.add_variable(identity, browsed, value, TYPES[type(value)])
        if folder in ("parameters", "deviations") and parameter in joint.units:
            unit = ua.LocalizedText(joint.units[parameter])
            unit_information = ua.EUInformation(NamespaceUri=UNITS, UnitId=-1, DisplayName=unit, Description=unit)
            await node.add_property(0, "EngineeringUnits", unit_information)  # of OPC UA's own namespace
        return node

    def _id(self, path: str) -> ua.NodeId:
        return ua.NodeId(f"{self._robot}.{path}", self._index)
