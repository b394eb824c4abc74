"""Loads the configuration: one TOML file, read once and frozen; every mistake in it is reported at once.

ConfigError holds all problems of a file, each with its line, what was expected, what was found, and the nearest name.
"""

import functools
import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from pydantic import (
    BaseModel,
    TypeAdapter,
    ValidationError,
)

from daq.config.checks import cross_check, unusable
from daq.config.fields import Name
from daq.config.gateways import AnyGateway
from daq.config.history_settings import HistorySettings
from daq.config.notify import NotifySection
from daq.config.sections import Config, JointSection, Processes, Publish, Record, RefitPlace, RobotSection
from daq.config.toml_lines import Lines
from daq.config.words import ConfigError, ConfigurationProblem, in_words, path_in_file, unknown
from drivers.catalogue import AnyDriver, class_of

LARGEST: Final = 1_000_000  # bytes of a configuration
OURS: Final = {"folder", "robot_model"}  # fields of a Config that are not in its file
Model = TypeVar("Model", bound=BaseModel)


def load(file: Path) -> Config:
    """Read and check a configuration file. Raises ConfigError with every mistake found."""
    data, lines = read_toml(file)
    return check(data, file, lines)


def read_toml(file: Path) -> tuple[dict[str, Any], Lines]:
    """The tables of a TOML file, and the line of each key. Raises ConfigError."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ConfigError(
                file, [ConfigurationProblem(1, "", f"expected a configuration, found more than {LARGEST} bytes")]
            )
        text = raw.decode("utf-8").replace("\r\n", "\n")
        data = tomllib.loads(text)
        lines = Lines(text)
    except OSError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"expected UTF-8 text: {error.reason}")]) from error
    except tomllib.TOMLDecodeError as error:
        line = error.lineno if hasattr(error, "lineno") else _line_in(str(error))
        raise ConfigError(file, [ConfigurationProblem(line, "", f"not valid TOML: {error}")]) from error
    except (RecursionError, ValueError) as error:  # a path with NUL in it, or tables in tables in tables …
        reason = "tables or lists are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(file, [ConfigurationProblem(1, "", f"cannot be read: {reason}")]) from error
    problems = [ConfigurationProblem(lines.of(path), ".".join(path), words) for path, words in unusable(data)]
    if problems:
        raise ConfigError(file, problems)
    return data, lines


def validate(kind: type[Model], data: Mapping[str, Any], file: Path, lines: Lines) -> Model:
    """Validate a whole TOML file as one model. Raises ConfigError with every mistake found."""
    problems: list[ConfigurationProblem] = []
    found = _validate(kind, data, (), lines, file.resolve().parent, problems)
    if problems:
        raise ConfigError(file, problems)
    return cast(Model, found)


def check(data: Mapping[str, Any], file: Path, lines: Lines) -> Config:
    """Validate a read configuration section by section, so that one mistake hides no other."""
    problems: list[ConfigurationProblem] = []
    folder = file.resolve().parent
    parts: dict[str, Any] = {"folder": folder}
    for key in data.keys() - (Config.model_fields.keys() - OURS):
        known = sorted(Config.model_fields.keys() - OURS)
        problems.append(ConfigurationProblem(lines.of((key,)), key, unknown(key, known)))
    single: dict[str, Any] = {"robot": RobotSection, "publish": Publish, "processes": Processes, "refit": RefitPlace}
    single["history"] = HistorySettings
    for key, kind in single.items():
        parts[key] = _validate(kind, data.get(key, {}), (key,), lines, folder, problems)
    optional: dict[str, Any] = {"recorder": Record, "notify": NotifySection}  # only where they are asked for
    for key, kind in optional.items():
        parts[key] = _validate(kind, data[key], (key,), lines, folder, problems) if key in data else None
    many: tuple[tuple[str, Any], ...] = (("drivers", AnyDriver), ("joints", JointSection), ("gateways", AnyGateway))
    for key, kind in many:
        parts[key] = {}
        section = data.get(key, {})
        if key == "gateways" and section == {}:
            continue
        if not isinstance(section, dict) or not section:
            problems.append(
                ConfigurationProblem(lines.of((key,)), key, f"expected at least one [{key}.NAME] table, found none")
            )
            continue
        for name, value in section.items():
            _validate(Name, name, (key, name), lines, folder, problems)
            chosen = _driver_class(value) if key == "drivers" else kind
            part = _validate(chosen, value, (key, name), lines, folder, problems)
            if part is not None:
                parts[key][name] = part
    wrong = [*cross_check(data, parts)]
    if parts["robot"] is not None and parts["joints"].keys() == _names(data.get("joints")):
        parts["robot_model"], mistakes = _check_robot(parts["robot"], parts["joints"])
        wrong += mistakes
    for path, message in wrong:
        problems.append(ConfigurationProblem(lines.of(path), ".".join(map(str, path)), message))
    if problems:
        raise ConfigError(file, problems)
    return Config.model_construct(**parts)


def digest(config: Config) -> str:
    """Sixteen hexadecimal digits that change with any setting but those of gateways, which concern no value."""
    text = config.model_dump_json(
        by_alias=True, exclude={"folder", "gateways"} | ({"robot_model"} if not config.robot_model else set())
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _driver_class(table: Any) -> Any:
    """The class of a driver's settings, so that mistakes are told by its own schema; where there is none, the reason
    is told by the catalogue."""
    try:
        return class_of(table)
    except ValueError:
        return AnyDriver


def _names(section: Any) -> set[str]:
    return set(section) if isinstance(section, dict) else set()


def _check_robot(
    robot: RobotSection, joints: Mapping[str, JointSection]
) -> tuple[str, list[tuple[tuple[str, ...], str]]]:
    """The text of the robot's model, where there is one, and the mistakes in it."""
    if robot.model is None:
        return "", []
    from daq.config.robot_model import check_model  # a second of kernels that only a whole robot needs

    return check_model(robot.model, joints)


def _validate(
    kind: Any, value: Any, path: tuple[str, ...], lines: Lines, folder: Path, problems: list[ConfigurationProblem]
) -> Any:
    try:
        return _adapter(kind).validate_python(value, context={"folder": folder})
    except ValidationError as error:
        schema = {} if kind is AnyDriver else _schema(kind)
        for mistake in error.errors(include_url=False):
            inside, names = path_in_file(schema, mistake["loc"])
            where = (*path, *inside)
            problems.append(ConfigurationProblem(lines.of(where), ".".join(map(str, where)), in_words(mistake, names)))
        return None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@functools.cache  # 30 ms each, and wanted for every wrong table
def _schema(kind: Any) -> dict[str, Any]:
    return _adapter(kind).json_schema()


def _line_in(message: str) -> int:
    words = message.replace(",", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words else 1
