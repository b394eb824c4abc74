"""Loads the configuration: one TOML file, read once and frozen; every mistake in it is reported at once.

ConfigError holds all problems of a file, each with its line, what was expected, what was found, and the nearest name.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from daq.config.checks import cross_check
from daq.config.fields import Name
from daq.config.gateways import AnyGateway
from daq.config.notify import NotifySection
from daq.config.sections import (
    Config,
    HistorySettings,
    JointSection,
    Processes,
    Publish,
    Record,
    RefitPlace,
    RobotSection,
)
from daq.config.toml_file import is_mechanism, read_toml, validate_part
from daq.config.toml_lines import Lines
from daq.config.words import ConfigError, ConfigurationProblem, unknown
from drivers.catalogue import AnyDriver, class_of

OURS: Final = {"folder", "robot_model", "mechanism"}  # fields of a Config that are not in its file


def load(file: Path) -> Config:
    """Read and check a configuration file. Raises ConfigError with every mistake found."""
    data, lines = read_toml(file)
    return check(data, file, lines)


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
        parts[key] = validate_part(kind, data.get(key, {}), (key,), lines, folder, problems)
    optional: dict[str, Any] = {"recorder": Record, "notify": NotifySection}  # only where they are asked for
    for key, kind in optional.items():
        parts[key] = validate_part(kind, data[key], (key,), lines, folder, problems) if key in data else None
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
            validate_part(Name, name, (key, name), lines, folder, problems)
            chosen = _driver_class(value) if key == "drivers" else kind
            part = validate_part(chosen, value, (key, name), lines, folder, problems)
            if part is not None:
                parts[key][name] = part
    wrong = [*cross_check(data, parts)]
    if parts["robot"] is not None and parts["joints"].keys() == _names(data.get("joints")):
        for part, checked in (("robot_model", _check_robot), ("mechanism", _check_mechanism)):
            parts[part], mistakes = checked(parts["robot"], parts["joints"])
            wrong += mistakes
    for path, message in wrong:
        problems.append(ConfigurationProblem(lines.of(path), ".".join(map(str, path)), message))
    if problems:
        raise ConfigError(file, problems)
    return Config.model_construct(**parts)


def digest(config: Config) -> str:
    """Sixteen hexadecimal digits that change with any setting but those of gateways, which concern no value."""
    unset = {name for name in ("robot_model", "mechanism") if not getattr(config, name)}
    text = config.model_dump_json(by_alias=True, exclude={"folder", "gateways"} | unset)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _driver_class(table: Any) -> Any:
    """The class of a driver's settings, so that mistakes are reported by its own schema; where there is none, the
    reason is reported by the catalogue."""
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
    if _holds_mechanism(robot.model):
        text = f'{robot.model} is a mechanism with loops: write mechanism = "{robot.model.name}" instead'
        return "", [(("robot", "model"), text)]
    from daq.config.robots.robot_model import check_model  # a second of kernels that only a whole robot needs

    return check_model(robot.model, joints)


def _check_mechanism(
    robot: RobotSection, joints: Mapping[str, JointSection]
) -> tuple[str, list[tuple[tuple[str, ...], str]]]:
    """The description of the mechanism, where there is one, and the mistakes in it."""
    if robot.mechanism is None:
        return "", []
    from daq.config.robots.robot_mechanism import check_mechanism  # kernels that only a mechanism needs

    return check_mechanism(robot.mechanism, joints)


def _holds_mechanism(file: Path) -> bool:
    try:
        return is_mechanism(file)
    except ConfigError:  # what cannot be read is reported by the reader of models
        return False
