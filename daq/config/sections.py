"""Every table of the configuration's TOML file: its keys, their ranges and defaults."""

from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from daq.config.fields import (
    LARGEST,
    Endpoint,
    Factor,
    FilePath,
    Name,
    Section,
    SignalName,
    TlsSection,
    is_local,
    matching,
    meet,
)
from daq.config.gateways import AnyGateway
from daq.config.notify import NotifySection
from drivers.catalogue import AnyDriver
from estimators.conditioning.bridge import MOST
from estimators.models.mechanisms.bearing import SLOWEST
from estimators.online.settings import LINK, NEAR, JointIdentification
from estimators.quantities import Settings

SCHEDULER: Final = "tls://HOST:PORT (whoever reaches one at tcp:// runs programs as its workers: docs/fleet.md)"
Metres = Annotated[float, Field(ge=-10, le=10)]
LAST_PORT: Final = 65535


class DriftSettings(Settings):
    """The limits from which a parameter counts as drifted."""

    percent: float = Field(default=10.0, gt=0, le=1000, description="% of the baseline")
    z: float = Field(default=5.0, gt=0, le=1000, description="standard deviations of the change")
    release: float = Field(
        default=0.7, gt=0, le=1, description="share of a limit below which a parameter is within it again"
    )
    wear: float = Field(
        default=30.0, gt=0, le=1000, description="limit of dry friction's growth corrected for heat and load, %"
    )
    hold: float = Field(default=5.0, ge=0, le=3600, description="s for which it must be beyond, or within again")


class HistorySettings(Settings):
    """The history file: whether it is written, and how long minutes stay in it."""

    keep: bool = Field(default=True, description="write a history of minutes, hours and days next to the state")
    minutes: float = Field(
        default=14.0, ge=1, le=3660, description="days for which minutes are kept; hours and days are kept for ever"
    )


class ToolSection(Section):
    """The tool configured in the robot's controller: beyond what was carried when the robot's model was identified."""

    mass: float = Field(ge=0, le=1000, description="kg")
    centre: tuple[Metres, Metres, Metres] = Field(
        default=(0.0, 0.0, 0.0), description="m, its centre of mass in the frame of the model's last link"
    )


class RobotSection(Section):
    """The robot: its name in every message and metric, its files."""

    name: Name = "robot"
    state: FilePath | None = Field(
        default=None, description="folder of what outlives a restart: systemd's, else this file's, when left out"
    )
    model: FilePath | None = Field(
        default=None, description="the whole robot, written by `jointwatch identify`: residuals, contact, payload"
    )
    mechanism: FilePath | None = Field(
        default=None,
        description="a mechanism with loops, by `jointwatch identify`: residuals, constraint forces",
    )
    tool: ToolSection | None = Field(
        default=None, description="tool configured in the robot's controller: `robot` says by how much it differs"
    )
    drift: DriftSettings = DriftSettings()


class CurveKeys(Section):
    """CURVE keys of the stream, made by `jointwatch keys`; relative paths are relative to the configuration's file."""

    secret: FilePath = Field(description="the server's .key_secret")
    clients: FilePath = Field(description="folder of the .key files of those who may subscribe")

    @field_validator("secret")
    @classmethod
    def _a_secret(cls, secret: Path) -> Path:
        from daq.stream.keys import KeyFileError, read_pair  # with ZeroMQ, which a stream without keys does not check

        try:
            read_pair(secret)
        except KeyFileError as error:
            raise ValueError(f"expected a secret key: {error}") from error
        return secret

    @field_validator("clients")
    @classmethod
    def _a_folder(cls, clients: Path) -> Path:
        if not clients.is_dir():
            raise ValueError(f"expected a folder of public keys, found none at {clients}")
        return clients


class Publish(Section):
    """What is published, and where."""

    endpoint: Endpoint = Field(default="tcp://127.0.0.1:5556", description="updates")
    curve: CurveKeys | None = Field(
        default=None, description="who may subscribe; without it everyone who reaches endpoint"
    )
    insecure: bool = Field(default=False, description="serve an address that others reach without any lock")
    page: str = Field(default="http://127.0.0.1:8080", description="dashboard, and /metrics for Prometheus")
    tls: TlsSection | None = Field(default=None, description="certificate and key of a page at https://")
    token: FilePath | None = Field(default=None, description="file (0600) of the token that allows to set baselines")
    rate: float = Field(default=50.0, ge=0.01, le=1000, description="Hz, updates per joint")

    @field_validator("page")
    @classmethod
    def _an_address(cls, page: str) -> str:
        address = urlsplit(page)
        try:
            good = address.scheme in ("http", "https") and address.hostname and address.port is not None
        except ValueError as error:
            raise ValueError(f"expected http://HOST:PORT with a port from 0 to 65535: {error}") from None
        if not good or address.path not in ("", "/"):
            raise ValueError("expected http://HOST:PORT, for example http://127.0.0.1:8080")
        return page

    @field_validator("endpoint")
    @classmethod
    def _a_port(cls, endpoint: str) -> str:
        if endpoint.startswith("tcp://") and int(endpoint.rpartition(":")[2][:9]) > LAST_PORT:
            raise ValueError(f"expected a port from 0 to {LAST_PORT}, found {endpoint.rpartition(':')[2]}")
        return endpoint

    @model_validator(mode="after")
    def _one_port_each(self) -> Self:
        host, port = self.address
        stream, _, number = self.endpoint.removeprefix("tcp://").rpartition(":")
        if self.endpoint.startswith("tcp://") and int(number) == port != 0 and meet(host, stream):
            raise ValueError(f"expected a port of its own for the page, found {port}, which is the stream's")
        return self

    @model_validator(mode="after")
    def _page_locked_or_local(self) -> Self:
        host, _ = self.address
        if self.page.startswith("https:") != (self.tls is not None):
            raise ValueError("expected both a page at https:// and tls = { certificate, key }, found one of them")
        if not is_local(host) and self.tls is None and not self.insecure:
            raise ValueError(
                f"expected tls for the public page {self.page}, found none: everyone on the network could read the "
                "token on its way (https:// and tls = { certificate, key }; insecure = true allows it without)"
            )
        return self

    @model_validator(mode="after")
    def _locked_or_local(self) -> Self:
        host = self.endpoint.removeprefix("tcp://").rpartition(":")[0]
        if self.endpoint.startswith("tcp://") and not is_local(host) and self.curve is None and not self.insecure:
            raise ValueError(
                f"expected curve keys for the public address {self.endpoint}, found none: everyone on the network "
                "could listen (`jointwatch keys` makes keys; insecure = true allows it without)"
            )
        return self

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the page."""
        parts = urlsplit(self.page)
        return str(parts.hostname), int(parts.port or 0)


class Processes(Section):
    """How the service's own processes are watched."""

    hang: float = Field(
        default=10.0,
        ge=3,
        le=3600,
        description="s without a sign of life (waits for a processor not counted) until a process is started anew",
    )
    priority: int = Field(
        default=0,
        ge=0,
        le=50,
        description="real-time priority of the way from a frame to the stream; 0: none (deploy/drop-ins)",
    )


class RefitPlace(Section):
    """Where refits run: in a process on this machine, or on a cluster."""

    scheduler: Annotated[str, matching(r"tls://[^:/]+:\d+", SCHEDULER)] | None = Field(
        default=None,
        description="tls://HOST:PORT of a Dask cluster; while it does not answer, refits run on this machine",
    )


class Record(Section):
    """The recorder: where recordings are written, and how much of them is kept."""

    folder: FilePath = Field(description="relative to the configuration's file")
    file_size: float = Field(default=500e6, ge=1e6, description="bytes, after which the next file begins")
    file_duration: float = Field(default=3600.0, ge=1, description="s, after which the next file begins")
    keep: float = Field(default=20e9, ge=1e6, description="bytes; the oldest files of this robot go first")
    reserve: float = Field(default=1e9, ge=0, description="bytes of the disk that stay free")

    @model_validator(mode="after")
    def _keeps_a_file(self) -> Self:
        if self.keep < self.file_size:
            raise ValueError(
                f"expected to keep at least one file of {self.file_size:g} bytes, found keep = {self.keep:g}"
            )
        return self


class Channel(Section):
    """One measured quantity of a joint: value = scale × signal + offset, in SI, on the joint's side."""

    signal: SignalName
    scale: Factor = Field(default=1.0, description="gear ratio, torque constant, sign")
    offset: float = Field(default=0.0, ge=-LARGEST, le=LARGEST)
    delay: float = Field(default=0.0, ge=-1.0, le=1.0, description="s by which this channel's values are late")
    wrap: float | None = Field(
        default=None,
        ge=1 / LARGEST,
        le=LARGEST,
        description="rad (m) after which the encoder starts again, after scaling",
    )
    rate: float | None = Field(default=None, ge=0.01, le=20_000, description="Hz, where it is not the joint's")


class Counter(Section):
    """The device's own sample counter: it shows every lost sample exactly, whatever the link's jitter."""

    signal: SignalName
    modulo: int = Field(default=65536, ge=4, le=1 << 53)


class DeviceTime(Section):
    """The device's own time of each sample: samples follow its clock, so the link's jitter does not matter."""

    signal: SignalName
    scale: float = Field(default=1.0, ge=1e-15, le=1e6, description="s per unit, where the signal has no unit")
    wrap: float | None = Field(default=None, gt=0, description="s after which it starts again: 2³² µs are 4294.967296")


class JointSection(JointIdentification):
    """One joint: where its channels come from, and how it is identified."""

    rate: float = Field(ge=0.01, le=20_000, description="Hz at which the device samples the reference channel")
    channels: dict[str, Channel]
    counter: Counter | None = None
    device_time: DeviceTime | None = None
    reference: str = Field(default="position", description="the channel whose clock the samples are built on")
    patience: float = Field(
        default=0.1, gt=0, le=5, description="s to wait for a late channel before a sample goes without it"
    )
    bridge: int | None = Field(
        default=None,
        ge=0,
        le=MOST,
        description="samples in a row that may be missing and are then interpolated (0: none); left out: as many as "
        "move no acceleration by more than 1 %, which are 5 at 1 kHz",
    )
    stale: float = Field(
        default=1.0, ge=0.01, le=3600, description="s without samples after which the joint is called faulted"
    )
    drift: DriftSettings = DriftSettings()

    @model_validator(mode="after")
    def _samples_that_show_a_clearance(self) -> Self:
        if self.clearance is not None and self.rate < SLOWEST:
            raise ValueError(f"clearance: expected a rate of {SLOWEST:g} Hz at least, found {self.rate:g} Hz")
        return self

    @property
    def source(self) -> str:
        """Name of the signal that is taken as torque (force) without a scale; empty where it has one."""
        channel = self.channels.get("torque") or self.channels.get("force")
        return "" if channel is None or abs(channel.scale) != 1.0 else channel.signal.rpartition(".")[2]

    def roles(self) -> tuple[str, ...]:
        """The channels of a sample: what the joint's own estimation needs, a second encoder and proximity sensors
        where there are some."""
        own = super().roles()
        return own + tuple(role for role in (LINK, *NEAR) if role in self.channels and role not in own)


class Config(Section):
    """The whole configuration, frozen."""

    robot: RobotSection = RobotSection()
    publish: Publish = Publish()
    recorder: Record | None = None
    history: HistorySettings = HistorySettings()
    notify: NotifySection | None = None
    processes: Processes = Processes()
    refit: RefitPlace = RefitPlace()
    gateways: dict[Name, AnyGateway] = Field(default={}, description="other systems that get the stream")
    drivers: dict[Name, AnyDriver]
    joints: dict[Name, JointSection]
    folder: Path = Path()  # relative paths (a DBC) are relative to the file that has them
    mechanism: str = ""  # the mechanism's description as JSON, as its file was when the configuration was read
    robot_model: str = ""  # text of the robot's model file when the configuration was read: all processes use this one
