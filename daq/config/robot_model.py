"""The model file of a whole robot, as `jointwatch identify` writes it, and whether it fits the joints."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from daq.config.sections import Config, JointSection
from daq.config.words import ConfigError, ConfigurationProblem, unknown
from daq.stream.update import ROBOT
from estimators.models.robots.files.identified import IdentifiedRobot, ModelError, read
from estimators.online.settings import LINK

TORQUES = ("torque", "force")  # roles of what drives a joint


def load_model(file: Path) -> IdentifiedRobot:
    """Raises ConfigError."""
    return parse(file, text_of(file))


def text_of(file: Path) -> str:
    """Raises ConfigError."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"not valid TOML: {error}")]) from error


def parse(file: Path, text: str) -> IdentifiedRobot:
    """The model that stands, or stood, in a file. Raises ConfigError."""
    try:
        return read(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"not valid TOML: {error}")]) from error
    except ModelError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", str(error))]) from error


def model_of(config: Config) -> IdentifiedRobot | None:
    """What all joints of a configuration are together: as it stood when the configuration was read. ConfigError."""
    file = config.robot.model
    if file is None:
        return None
    return parse(file, config.robot_model or text_of(file))  # recordings of before hold no model


def torque_role(joint: JointSection) -> str:
    """Of the channel that drives the joint."""
    return next(role for role in TORQUES if role in joint.model.roles())


def check_model(file: Path, joints: Mapping[str, JointSection]) -> tuple[str, list[tuple[tuple[str, ...], str]]]:
    """The model's text, what does not fit, and where. joints: those of the configuration that are sound."""
    problems: list[tuple[tuple[str, ...], str]] = []
    if ROBOT in joints:
        problems.append((("joints", ROBOT), f'expected another name than "{ROBOT}", which means all joints together'))
    try:
        text = text_of(file)
        return text, problems + [*_misfits(file, parse(file, text), joints)]
    except ConfigError as error:
        return "", problems + [(("robot", "model"), f"{file}: {problem.text}") for problem in error.problems]


def _misfits(
    file: Path, learnt: IdentifiedRobot, joints: Mapping[str, JointSection]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, one in zip(learnt.robot.names, learnt.robot.joints, strict=True):
        if name not in joints:
            yield ("robot", "model"), f"its joint {unknown(name, sorted(joints), '[joints.NAME]')}"
            continue
        joint = joints[name]
        if joint.reference != "position":
            yield ("joints", name, "reference"), 'expected "position", whose clock the whole robot runs on'
        if learnt.model().twists[learnt.robot.names.index(name)] is not None and LINK not in joint.channels:
            text = f"expected {LINK}, the second encoder that {file} was learnt with, found none"
            yield ("joints", name, "channels"), text
        if joint.model.unit() != one.axis.effort:
            text = f"expected an axis whose torque is in {one.axis.effort}, as in {file}"
            yield ("joints", name, "model"), f"{text}, found {joint.model.unit()}"
