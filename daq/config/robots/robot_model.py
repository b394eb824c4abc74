"""Reads the model file of a whole robot, as `jointwatch identify` writes it, and checks that it fits the joints."""

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
    """Read a model file. Raises ConfigError."""
    return parse(file, text_of(file))


def text_of(file: Path) -> str:
    """The text of a model file. Raises ConfigError."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(file, [ConfigurationProblem(0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"not valid TOML: {error}")]) from error


def parse(file: Path, text: str) -> IdentifiedRobot:
    """Parse the text of a model file; `file` is named in errors. Raises ConfigError."""
    try:
        return read(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"not valid TOML: {error}")]) from error
    except ModelError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", str(error))]) from error


def model_of(config: Config) -> IdentifiedRobot | None:
    """The robot's model, as its file was when the configuration was read; None without one. Raises ConfigError."""
    return None if config.robot.model is None else parse(config.robot.model, config.robot_model)


def torque_role(joint: JointSection) -> str:
    """The role of the channel that drives the joint: torque or force."""
    return next(role for role in TORQUES if role in joint.model.roles())


def check_model(file: Path, joints: Mapping[str, JointSection]) -> tuple[str, list[tuple[tuple[str, ...], str]]]:
    """The text of the model and every mistake with its place. joints: the valid joints of the configuration."""
    problems: list[tuple[tuple[str, ...], str]] = []
    if ROBOT in joints:
        problems.append((("joints", ROBOT), f'expected another name than "{ROBOT}", which stands for the whole robot'))
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
            yield ("joints", name, "reference"), 'expected "position": the model of the whole robot uses its clock'
        if learnt.model().twists[learnt.robot.names.index(name)] is not None and LINK not in joint.channels:
            text = f"expected {LINK}: {file} was learnt with this second encoder, found none"
            yield ("joints", name, "channels"), text
        if joint.model.unit() != one.axis.effort:
            text = f"expected an axis whose torque is in {one.axis.effort}, as in {file}"
            yield ("joints", name, "model"), f"{text}, found {joint.model.unit()}"
