"""One TOML file, read once, frozen, passed down by section; every mistake in it is reported at once.

ConfigError            the file cannot be used: carries all problems, each with file:line, expected, found, nearest
"""

import difflib
import hashlib
import ipaddress
import os.path
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from daq.config.toml_lines import Lines
from daq.core.drift import DriftSettings
from daq.stream.keys import KeyFileError, read_pair
from drivers import AnyDriver
from drivers.base import LayoutError, Wanted
from estimators.alignment.device_clock import LONGEST_LOSS
from estimators.online.joint import Identification


def _matching(pattern: str, expected: str) -> AfterValidator:
    def match(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(match)


Model = TypeVar("Model", bound=BaseModel)
Name = Annotated[str, _matching(r"[A-Za-z0-9_-]+", "letters, digits, _ and - only")]
SignalName = Annotated[str, _matching(r"[^.]+\.[^.]+\.[^.]+", "driver.MESSAGE.signal")]
Endpoint = Annotated[str, _matching(r"tcp://[^:/]+:\d+|ipc://.+", "tcp://HOST:PORT or ipc://PATH")]


class Section(BaseModel):
    """Part of the configuration: frozen, unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Robot(Section):
    """Who this is, in every message and metric."""

    name: Name = "robot"
    state: Path | None = Field(
        default=None, description="folder of what outlives a restart: systemd's, else this file's, when left out"
    )

    @field_validator("state")
    @classmethod
    def _in_folder(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        return path and Path((info.context or {}).get("folder") or "") / path


class Curve(Section):
    """CURVE keys of the stream, made by `jointwatch keys`; relative paths are relative to the configuration's file."""

    secret: Path = Field(description="the server's .key_secret")
    clients: Path = Field(description="folder of the .key files of those who may subscribe")

    @field_validator("secret", "clients")
    @classmethod
    def _in_folder(cls, path: Path, info: ValidationInfo) -> Path:
        return Path((info.context or {}).get("folder") or "") / path

    @field_validator("secret")
    @classmethod
    def _a_secret(cls, secret: Path) -> Path:
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
    """What goes out, and where."""

    endpoint: Endpoint = Field(default="tcp://127.0.0.1:5556", description="updates")
    curve: Curve | None = Field(default=None, description="who may subscribe; without it everyone who reaches endpoint")
    insecure: bool = Field(default=False, description="serve an address that others reach without any lock")
    page: str = Field(default="http://127.0.0.1:8080", description="dashboard, and /metrics for Prometheus")
    rate: float = Field(default=50.0, gt=0, le=1000, description="Hz, updates per joint")

    @field_validator("page")
    @classmethod
    def _an_address(cls, page: str) -> str:
        address = urlsplit(page)
        if address.scheme != "http" or not address.hostname or address.port is None or address.path not in ("", "/"):
            raise ValueError("expected http://HOST:PORT, for example http://127.0.0.1:8080")
        return page

    @model_validator(mode="after")
    def _locked_or_local(self) -> Self:
        host = self.endpoint.removeprefix("tcp://").rpartition(":")[0]
        if self.endpoint.startswith("tcp://") and not _is_local(host) and self.curve is None and not self.insecure:
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


class Record(Section):
    """What is kept of every run, and how much of it."""

    folder: Path = Field(description="relative to the configuration's file")
    file_size: float = Field(default=500e6, ge=1e6, description="bytes, after which the next file begins")
    file_duration: float = Field(default=3600.0, ge=1, description="s, after which the next file begins")
    keep: float = Field(default=20e9, ge=1e6, description="bytes; the oldest files of this robot go first")
    reserve: float = Field(default=1e9, ge=0, description="bytes of the disk that stay free")

    @field_validator("folder")
    @classmethod
    def _in_folder(cls, path: Path, info: ValidationInfo) -> Path:
        return Path((info.context or {}).get("folder") or "") / path

    @model_validator(mode="after")
    def _keeps_a_file(self) -> Self:
        if self.keep < self.file_size:
            raise ValueError(
                f"expected to keep at least one file of {self.file_size:g} bytes, found keep = {self.keep:g}"
            )
        return self


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Channel(Section):
    """One measured quantity of a joint: value = scale × signal + offset, in SI, on the joint's side."""

    signal: SignalName
    scale: float = Field(default=1.0, allow_inf_nan=False, description="gear ratio, torque constant, sign")
    offset: float = Field(default=0.0, allow_inf_nan=False)
    delay: float = Field(default=0.0, ge=-1.0, le=1.0, description="s by which this channel's values are late")
    wrap: float | None = Field(
        default=None, gt=0, description="rad (m) after which the encoder starts again, after scaling"
    )
    rate: float | None = Field(default=None, gt=0, le=20_000, description="Hz, where it is not the joint's")


class Counter(Section):
    """The device's own sample counter: with it every lost sample is seen exactly, whatever the link's jitter."""

    signal: SignalName
    modulo: int = Field(default=65536, ge=4)


class DeviceTime(Section):
    """The device's own time of each sample: its clock is followed, and the link's jitter does not matter."""

    signal: SignalName
    scale: float = Field(default=1.0, gt=0, allow_inf_nan=False, description="s per unit, where the signal has no unit")
    wrap: float | None = Field(default=None, gt=0, description="s after which it starts again: 2³² µs are 4294.967296")


class Joint(Identification):
    """One joint: where its channels come from, and how it is identified."""

    rate: float = Field(gt=0, le=20_000, description="Hz at which the device samples the reference channel")
    channels: dict[str, Channel]
    counter: Counter | None = None
    device_time: DeviceTime | None = None
    reference: str = Field(default="position", description="the channel whose clock the samples are built on")
    patience: float = Field(
        default=0.1, gt=0, le=5, description="s to wait for a late channel before a sample goes without it"
    )
    bridge: int = Field(
        default=2, ge=0, le=16, description="samples in a row that may be missing and are then interpolated (0: none)"
    )
    stale: float = Field(default=1.0, gt=0, description="s without samples after which the joint is called faulted")
    drift: DriftSettings = DriftSettings()


class Config(Section):
    """The whole configuration, frozen."""

    robot: Robot = Robot()
    publish: Publish = Publish()
    recorder: Record | None = None
    drivers: dict[Name, AnyDriver]
    joints: dict[Name, Joint]
    folder: Path = Path()  # relative paths (a DBC) are relative to the file they stand in


class Route(NamedTuple):
    """One line of the table of channels: which signal of which driver feeds which role of which joint."""

    joint: str
    role: str  # a channel's role, or "counter" (the device's own time stands in its place)
    driver: str
    signal: str  # MESSAGE.signal
    scale: float
    offset: float


def routes(config: Config) -> list[Route]:
    """The table of channels; a Reading's `channel` is an index into it. A joint's channels stand together."""
    table: list[Route] = []
    for name, joint in config.joints.items():
        for role, channel in joint.channels.items():
            driver, signal = channel.signal.split(".", 1)
            table.append(Route(name, role, driver, signal, channel.scale, channel.offset))
        if joint.counter is not None:
            driver, signal = joint.counter.signal.split(".", 1)
            table.append(Route(name, "counter", driver, signal, 1.0, 0.0))
        if joint.device_time is not None:
            driver, signal = joint.device_time.signal.split(".", 1)
            table.append(Route(name, "counter", driver, signal, joint.device_time.scale, 0.0))
    return table


def wanted(config: Config, driver: str) -> list[Wanted]:
    """What one driver is asked for."""
    return [
        Wanted(index, route.signal, route.scale, route.offset)
        for index, route in enumerate(routes(config))
        if route.driver == driver
    ]


class Problem(NamedTuple):
    """One mistake and where it stands."""

    line: int
    path: str
    text: str  # what was expected, what was found, the nearest valid name

    def __str__(self) -> str:
        return f"{self.line}: {self.path}: {self.text}" if self.path else f"{self.line}: {self.text}"


class ConfigError(Exception):
    """The configuration cannot be used; `problems` holds every mistake found."""

    def __init__(self, file: Path, problems: list[Problem]) -> None:
        self.file = file
        self.problems = sorted(problems)
        super().__init__("\n".join(f"{file}:{problem}" for problem in self.problems))


def load(file: Path) -> Config:
    """Read and check a configuration file. Raises ConfigError with every mistake found."""
    data, lines = read_toml(file)
    return check(data, file, lines)


def read_toml(file: Path) -> tuple[dict[str, Any], Lines]:
    """The tables of a TOML file, and where each key stands. Raises ConfigError."""
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(text), Lines(text)
    except OSError as error:
        raise ConfigError(file, [Problem(1, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [Problem(1, "", f"expected UTF-8 text: {error.reason}")]) from error
    except tomllib.TOMLDecodeError as error:
        line = error.lineno if hasattr(error, "lineno") else _line_in(str(error))
        raise ConfigError(file, [Problem(line, "", f"not valid TOML: {error}")]) from error


def validate(kind: type[Model], data: Mapping[str, Any], file: Path, lines: Lines) -> Model:
    """The whole of a TOML file as one model. Raises ConfigError with every mistake found."""
    problems: list[Problem] = []
    found = _validate(kind, data, (), lines, file.resolve().parent, problems)
    if problems:
        raise ConfigError(file, problems)
    return cast(Model, found)


def check(data: Mapping[str, Any], file: Path, lines: Lines) -> Config:
    """Validate a read configuration section by section, so that one mistake hides no other."""
    problems: list[Problem] = []
    folder = file.resolve().parent
    parts: dict[str, Any] = {"folder": folder}
    for key in data.keys() - (Config.model_fields.keys() - {"folder"}):
        known = sorted(Config.model_fields.keys() - {"folder"})
        problems.append(Problem(lines.of((key,)), key, _unknown(key, known)))
    single: tuple[tuple[str, Any], ...] = (("robot", Robot), ("publish", Publish))
    for key, kind in single:
        parts[key] = _validate(kind, data.get(key, {}), (key,), lines, folder, problems)
    parts["recorder"] = None  # only where it is asked for
    if "recorder" in data:
        parts["recorder"] = _validate(Record, data["recorder"], ("recorder",), lines, folder, problems)
    many: tuple[tuple[str, Any], ...] = (("drivers", AnyDriver), ("joints", Joint))
    for key, kind in many:
        parts[key] = {}
        section = data.get(key, {})
        if not isinstance(section, dict) or not section:
            problems.append(Problem(lines.of((key,)), key, f"expected at least one [{key}.NAME] table, found none"))
            continue
        for name, value in section.items():
            _validate(Name, name, (key, name), lines, folder, problems)
            part = _validate(kind, value, (key, name), lines, folder, problems)
            if part is not None:
                parts[key][name] = part
    for path, message in _cross_check(data, parts):
        problems.append(Problem(lines.of(path), ".".join(map(str, path)), message))
    if problems:
        raise ConfigError(file, problems)
    return Config.model_construct(**parts)


def digest(config: Config) -> str:
    """Sixteen hexadecimal digits that change with any setting."""
    text = config.model_dump_json(by_alias=True, exclude={"folder"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def revive(text: str) -> Config:
    """The configuration that the supervisor checked and wrote down as JSON for its processes."""
    return Config.model_validate_json(text)


def _validate(kind: Any, value: Any, path: tuple[str, ...], lines: Lines, folder: Path, problems: list[Problem]) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    try:
        return adapter.validate_python(value, context={"folder": folder})
    except ValidationError as error:
        schema = adapter.json_schema()
        for mistake in error.errors(include_url=False):
            inside, names = _walk(schema, mistake["loc"])
            where = (*path, *inside)
            problems.append(Problem(lines.of(where), ".".join(map(str, where)), _in_words(mistake, names)))
        return None


def _walk(schema: dict[str, Any], loc: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], list[str]]:
    """Follow an error's location through the schema: the path as it stands in the file, and the names valid there.

    pydantic puts the tag of a tagged union into the location; in the file there is no such key.
    """
    definitions = schema.get("$defs", {})
    path: list[int | str] = []
    node: dict[str, Any] = schema
    names: list[str] = []
    for part in loc:
        node = _settle(node, definitions)
        if "discriminator" in node and part in node["discriminator"]["mapping"]:
            node = definitions[node["discriminator"]["mapping"][part].rsplit("/", 1)[-1]]
            continue
        path.append(part)
        names = sorted(node.get("properties", {}))
        node = node.get("properties", {}).get(part) or node.get("items") or node.get("additionalProperties") or {}
        node = node if isinstance(node, dict) else {}
    return tuple(path), names


def _settle(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return _settle(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            return _settle(option, definitions)
    return node


def _in_words(mistake: Any, names: list[str]) -> str:
    kind, found = mistake["type"], mistake["input"]
    if kind == "extra_forbidden":
        return _unknown(str(mistake["loc"][-1]), names)
    if kind == "missing":
        return "expected a value, found none"
    if kind == "union_tag_not_found":
        return f'expected a table with kind = "…", found {_short(found)}'
    if kind == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in mistake["ctx"]["expected_tags"].split(",")]
        return _unknown(str(mistake["ctx"]["tag"]), tags, "kind")
    text = str(mistake["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = text if text.startswith("expected") else text.replace("Input should be", "expected")
    return f"{text}, found {_short(found)}" if "found" not in text else text


def _unknown(name: str, known: list[str], what: str = "key") -> str:
    near = difflib.get_close_matches(name, known, n=1)
    ending = f'; did you mean "{near[0]}"?' if near else ""
    return f'unknown {what} "{name}", expected one of {", ".join(known)}{ending}'


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _cross_check(data: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What no section can know alone: roles against the model, signals against the drivers.

    Signals are looked up in the data as read, so that a mistake elsewhere in a joint does not hide a wrong one.
    """
    drivers = _table(data, "drivers")
    yield from _check_wires(drivers)
    for path, source in _sources(_table(data, "joints")):
        driver, _, signal = source.partition(".")
        if driver not in drivers:
            yield path, _unknown(driver, sorted(drivers), "driver")
        elif driver in parts["drivers"]:
            try:
                parts["drivers"][driver].check([Wanted(0, signal)])
            except LayoutError as error:
                yield path, f"expected a signal of {driver}, found: {error}"
    for name, joint in parts["joints"].items():
        yield from _check_roles(name, joint)


def _check_wires(drivers: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Two drivers on one wire would steal each other's bytes, or give every frame twice."""
    owners: dict[tuple[str, ...], str] = {}
    for name in drivers:
        table = _table(drivers, name)
        names = ("path",) if table.get("kind") == "file" else ("channel", "port")
        key = next((key for key in names if isinstance(table.get(key), str)), "")
        owner = owners.setdefault(_wire(table, str(table[key])), name) if key else name
        if owner != name:
            yield (
                ("drivers", name, key),
                f'expected a wire of its own, found "{table[key]}", which is driver {owner}\'s',
            )


def _wire(driver: Mapping[str, Any], place: str) -> tuple[str, ...]:
    """What two drivers may not share."""
    if driver.get("kind") == "file":  # every bus of a log is a wire of its own
        return "file", place, str(driver.get("channel", ""))
    if place.startswith("/"):  # a port, under whatever name
        return "port", os.path.realpath(place.partition("@")[0])
    return str(driver.get("interface")), place, str(_table(driver, "options").get("port"))


def _sources(joints: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every well-formed driver.MESSAGE.signal that a joint names, and where."""
    for name in joints:
        joint = _table(joints, name)
        places = {("channels", role): _table(_table(joint, "channels"), role) for role in _table(joint, "channels")}
        clocks = {(key,): _table(joint, key) for key in ("counter", "device_time")}
        for path, place in (places | clocks).items():
            source = place.get("signal")
            if isinstance(source, str) and source.count(".") == 2:
                yield ("joints", name, *path, "signal"), source


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _check_roles(name: str, joint: Joint) -> Iterator[tuple[tuple[str, ...], str]]:
    needed = set(joint.model.roles())
    for role in sorted(joint.channels.keys() - needed):
        yield ("joints", name, "channels", role), _unknown(role, sorted(needed), "channel")
    for role in sorted(needed - joint.channels.keys()):
        yield ("joints", name, "channels"), f'the model "{joint.model.kind}" needs the channel "{role}", found none'
    if joint.counter is not None and joint.device_time is not None:
        yield ("joints", name, "device_time"), "expected either counter or device_time, found both"
    for key, clock in (("counter", joint.counter), ("device_time", joint.device_time)):
        if clock is not None and joint.reference in joint.channels:
            message = joint.channels[joint.reference].signal.rpartition(".")[0]
            if clock.signal.rpartition(".")[0] != message:
                text = f'expected a signal of {message}, the frame of the reference channel, found "{clock.signal}"'
                yield ("joints", name, key, "signal"), text
    if joint.device_time is not None and joint.device_time.wrap is not None:
        least = 8 * LONGEST_LOSS / joint.rate
        if joint.device_time.wrap < least:
            text = f"expected at least {least:g} s at {joint.rate:g} Hz, found {joint.device_time.wrap:g}"
            yield ("joints", name, "device_time", "wrap"), text
    if joint.reference not in joint.channels:
        message = _unknown(joint.reference, sorted(joint.channels), "reference channel")
        yield ("joints", name, "reference"), message


def _line_in(message: str) -> int:
    words = message.replace(",", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words else 1
