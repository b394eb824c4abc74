"""The model file of a whole robot, as `jointwatch identify` writes it, and whether it fits the joints."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from daq.config.sections import Joint, Robot
from daq.config.words import ConfigError, Problem, unknown
from daq.stream.update import ROBOT
from estimators.models.robots.files.identified import IdentifiedRobot, ModelError, read

TORQUES = ("torque", "force")  # roles of what drives a joint


def load_model(file: Path) -> IdentifiedRobot:
    """Raises ConfigError."""
    try:
        return read(tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(file, [Problem(1, "", f"cannot be read: {error.strerror}")]) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(file, [Problem(1, "", f"not valid TOML: {error}")]) from error
    except ModelError as error:
        raise ConfigError(file, [Problem(1, "", str(error))]) from error


def torque_role(joint: Joint) -> str:
    """Of the channel that drives the joint."""
    return next(role for role in TORQUES if role in joint.model.roles())


def check_model(robot: Robot, joints: Mapping[str, Joint]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What does not fit, and where. joints: those of the configuration that are sound."""
    if robot.model is None:
        return
    if ROBOT in joints:
        yield ("joints", ROBOT), f'expected another name than "{ROBOT}", which means all joints together'
    try:
        learnt = load_model(robot.model)
    except ConfigError as error:
        yield from ((("robot", "model"), f"{robot.model}: {problem.text}") for problem in error.problems)
        return
    for name, one in zip(learnt.robot.names, learnt.robot.joints, strict=True):
        if name not in joints:
            yield ("robot", "model"), f"its joint {unknown(name, sorted(joints), '[joints.NAME]')}"
            continue
        joint = joints[name]
        if joint.reference != "position":
            yield ("joints", name, "reference"), 'expected "position", whose clock the whole robot runs on'
        if joint.model.unit() != one.axis.effort:
            text = f"expected an axis whose torque is in {one.axis.effort}, as in {robot.model}"
            yield ("joints", name, "model"), f"{text}, found {joint.model.unit()}"
