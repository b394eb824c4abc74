"""The tables [gateways.NAME]: other systems that get the stream, each by its own process."""

import importlib.util
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, field_validator, model_validator

from daq.config.fields import FilePath, SecretFile, Section, TlsSection, is_local, matching, meet

MqttLevel = Annotated[str, matching(r"[^/+#\0]{1,64}", "text without /, + and #, 64 characters at most")]


def _parts(url: str, schemes: tuple[str, ...], example: str) -> SplitResult:
    """The parts of an address with a host and a port. Raises ValueError."""
    parts = urlsplit(url)
    try:
        good = parts.scheme in schemes and parts.hostname and parts.port is not None
    except ValueError as error:
        raise ValueError(f"expected {example}: {error}") from None
    if not good or parts.username is not None:
        raise ValueError(f"expected {' or '.join(f'{one}://HOST:PORT' for one in schemes)}, for example {example}")
    return parts


class GatewaySettings(Section):
    """What every gateway has: where it listens, and which package it needs."""

    package: ClassVar[str] = ""  # module that it imports; "": none but the service's own
    extra: ClassVar[str] = ""  # of pyproject.toml, which installs that package

    @property
    def served(self) -> tuple[str, int] | None:
        """Host and port at which it listens; None where it connects to others."""
        return None


class FoxgloveSettings(GatewaySettings):
    """A WebSocket server for Foxglove: who connects reads, nothing can be written."""

    kind: Literal["foxglove"]
    address: str = Field(default="ws://127.0.0.1:8765", description="ws://HOST:PORT, or wss:// with tls")
    tls: TlsSection | None = Field(default=None, description="certificate and key of an address at wss://")
    origins: tuple[str, ...] = Field(
        default=(), description="web pages that may connect besides programs: https://app.foxglove.dev"
    )
    insecure: bool = Field(default=False, description="serve an address that others reach without any lock")

    @field_validator("address")
    @classmethod
    def _an_address(cls, address: str) -> str:
        if _parts(address, ("ws", "wss"), "ws://127.0.0.1:8765").path not in ("", "/"):
            raise ValueError("expected an address without a path, for example ws://127.0.0.1:8765")
        return address

    @model_validator(mode="after")
    def _locked_or_local(self) -> Self:
        host, _ = self.served
        if self.address.startswith("wss:") != (self.tls is not None):
            raise ValueError("expected both an address at wss:// and tls = { certificate, key }, found one of them")
        if not is_local(host) and not self.insecure:
            raise ValueError(
                f"expected an address of this machine alone, found {host}: Foxglove's protocol has no login, so "
                "everyone on the network could read (insecure = true allows it; an SSH tunnel does without)"
            )
        return self

    @property
    def served(self) -> tuple[str, int]:
        """Host and port of the server."""
        parts = urlsplit(self.address)
        return str(parts.hostname), int(parts.port or 0)


class SparkplugSettings(GatewaySettings):
    """An edge node of Sparkplug B at an MQTT broker: one device a joint; who may read, the broker says."""

    package: ClassVar[str] = "paho.mqtt"
    extra: ClassVar[str] = "mqtt"

    kind: Literal["sparkplug"]
    broker: str = Field(description="mqtts://HOST:PORT, usually 8883; mqtt:// on this machine, usually 1883")
    group: MqttLevel = Field(description="Sparkplug's group: a line, a cell")
    node: MqttLevel | None = Field(default=None, description="Sparkplug's edge node; left out: [robot] name")
    ca: FilePath | None = Field(default=None, description="PEM file of the broker's root; left out: the system's")
    user: str | None = Field(default=None, min_length=1, description="left out: no login")
    password: SecretFile | None = Field(default=None, description="file (0600) of the password")
    insecure: bool = Field(default=False, description="talk to another machine without encryption")
    rate: float = Field(default=1.0, ge=0.01, le=50, description="Hz, of what has changed of each joint")

    @field_validator("broker")
    @classmethod
    def _an_address(cls, broker: str) -> str:
        _parts(broker, ("mqtts", "mqtt"), "mqtts://broker.example:8883")
        return broker

    @model_validator(mode="after")
    def _encrypted_or_local(self) -> Self:
        parts = urlsplit(self.broker)
        if parts.scheme == "mqtt" and not is_local(str(parts.hostname)) and not self.insecure:
            raise ValueError(
                f"expected mqtts:// for the broker {parts.hostname} on another machine, found mqtt://: everyone on the "
                "network could read (insecure = true allows it)"
            )
        if self.password is not None and self.user is None:
            raise ValueError("expected a user for the password, found none")
        return self


class Ros2GatewaySettings(GatewaySettings):
    """Two topics of a ROS 2 domain, which has no access control: whoever is in it reads them."""

    package: ClassVar[str] = "cyclonedds"
    extra: ClassVar[str] = "ros2"

    kind: Literal["ros2"]
    domain: int = Field(default=0, ge=0, le=232, description="ROS_DOMAIN_ID")
    interface: str = Field(min_length=1, description='of the network: "eth0", "lo" for this machine alone')
    peers: tuple[str, ...] = Field(default=(), description="addresses, where multicast does not reach them")
    topic: str = Field(
        default="/jointwatch/joint_health", pattern=r"^/[A-Za-z0-9_/]+$", description="of the numbers of every joint"
    )
    rate: float = Field(default=1.0, ge=0.01, le=50, description="Hz of both topics")


class OpcuaSettings(GatewaySettings):
    """An OPC UA server with read-only nodes; without a certificate it serves this machine alone."""

    package: ClassVar[str] = "asyncua"
    extra: ClassVar[str] = "opcua"

    kind: Literal["opcua"]
    endpoint: str = Field(default="opc.tcp://127.0.0.1:4840", description="opc.tcp://HOST:PORT")
    certificate: FilePath | None = Field(
        default=None, description="PEM or DER file: then Basic256Sha256 only, signed, encrypted where the client asks"
    )
    key: FilePath | None = Field(default=None, description="PEM file of its private key, without a password")
    insecure: bool = Field(default=False, description="serve an address that others reach without a certificate")
    rate: float = Field(default=1.0, ge=0.01, le=50, description="Hz, of every node")

    @field_validator("endpoint")
    @classmethod
    def _an_address(cls, endpoint: str) -> str:
        _parts(endpoint, ("opc.tcp",), "opc.tcp://127.0.0.1:4840")
        return endpoint

    @model_validator(mode="after")
    def _locked_or_local(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("expected both certificate and key, found one of them")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise ValueError(f"{file}: expected a file, found none")
        host, _ = self.served
        if not is_local(host) and self.certificate is None and not self.insecure:
            raise ValueError(
                f"expected certificate and key for {host}, which other machines reach, found none: everyone on the "
                "network could read (insecure = true allows it)"
            )
        return self

    @property
    def served(self) -> tuple[str, int]:
        """Host and port of the server."""
        parts = urlsplit(self.endpoint)
        return str(parts.hostname), int(parts.port or 0)


AnyGateway = Annotated[
    FoxgloveSettings | SparkplugSettings | Ros2GatewaySettings | OpcuaSettings, Field(discriminator="kind")
]


def gateway_mistakes(parts: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Mistakes of gateways that only other sections show: (path, what is wrong). parts: the valid ones."""
    taken: dict[int, tuple[str, str]] = {}  # port → host, who listens there
    if (publish := parts["publish"]) is not None:
        host, port = publish.address
        taken[port] = host, "the page"
        if publish.endpoint.startswith("tcp://"):
            host, _, number = publish.endpoint.removeprefix("tcp://").rpartition(":")
            taken[int(number)] = host, "the stream"
    for name, gateway in parts["gateways"].items():
        if gateway.package and not _installed(gateway.package):
            text = f"expected the package {gateway.package} for kind {gateway.kind}, found it not installed"
            yield ("gateways", name, "kind"), f"{text}: pip install 'jointwatch[{gateway.extra}]'"
        if gateway.served is None or gateway.served[1] == 0:
            continue
        host, port = gateway.served
        other, whose = taken.setdefault(port, (host, f"the gateway {name}"))
        if whose != f"the gateway {name}" and meet(host, other):
            yield ("gateways", name), f"expected a port of its own, found {port}, which is that of {whose}"


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of a package's package
        return False
