"""Finds the joints of a configuration that drive its mechanism, and checks that they fit the mechanism's file."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from daq.config.robots.mechanism_file import read_mechanism
from daq.config.sections import Config, JointSection
from daq.config.words import ConfigError, unknown
from daq.stream.update import MECHANISM
from estimators.models.mechanisms.description import Description

Mistake = tuple[tuple[str, ...], str]


def mechanism_of(config: Config) -> Description | None:
    """The mechanism, as its file was when the configuration was read; None without one."""
    return Description.model_validate_json(config.mechanism) if config.mechanism else None


def driving_joints(description: Description, joints: Mapping[str, JointSection]) -> dict[str, str]:
    """Drive of the mechanism → the joint of the configuration that has its channels, where there is one.

    They have one name; one drive and one joint belong together, whatever they are called.
    """
    drives = [link.name for link in description.links if link.drive]
    if len(drives) == len(joints) == 1:
        return {drives[0]: next(iter(joints))}
    return {name: name for name in drives if name in joints}


def check_mechanism(file: Path, joints: Mapping[str, JointSection]) -> tuple[str, list[Mistake]]:
    """The description as JSON, and every mistake with its place. joints: the valid joints of the configuration."""
    try:
        description = read_mechanism(file).description
    except ConfigError as error:
        return "", [(("robot", "mechanism"), f"{error.file}:{problem}") for problem in error.problems]
    return description.model_dump_json(), [*_misfits(file, description, joints)]


def _misfits(file: Path, description: Description, joints: Mapping[str, JointSection]) -> Iterator[Mistake]:
    if MECHANISM in joints:
        yield ("joints", MECHANISM), f'expected another name than "{MECHANISM}", which stands for the mechanism'
    driving = driving_joints(description, joints)
    for link in description.links:
        if not link.drive:
            continue
        if link.name not in driving:
            yield ("robot", "mechanism"), f"its drive {unknown(link.name, sorted(joints), '[joints.NAME]')}"
            continue
        name = driving[link.name]
        joint = joints[name]
        unit = "N" if link.kind == "prismatic" else "N·m"
        if joint.reference != "position":
            yield ("joints", name, "reference"), 'expected "position": the mechanism uses its clock'
        if joint.model.unit() != unit:
            text = f"expected an axis whose torque is in {unit}, as {link.name} in {file}, found {joint.model.unit()}"
            yield ("joints", name, "model"), text
