"""A mechanism from a URDF, which knows trees only, and a TOML list of what closes its loops.

The TOML names the file (`urdf`, beside it), the joints that are driven (`drives`), `bearings` by joint, and `cuts`
whose points lie in the URDF's link frames. Links are turned into frames that are parallel to the base's at zero.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from estimators.models.mechanisms.mechanism import Mechanism, MechanismError, build
from estimators.models.robots.description import RobotDescription, RobotError
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.inertia import tensor
from estimators.quantities import Axis, Floats


def load_urdf(file: Path) -> Mechanism:
    """file: the TOML. Raises MechanismError with every mistake."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        robot = read_urdf(file.parent / str(content.get("urdf", ""))).robot
    except OSError as error:
        raise MechanismError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, RobotError) as error:
        raise MechanismError(f"{file}: {error}") from error
    drives, bearings = content.get("drives", list(robot.names)), content.get("bearings", {})
    unknown = sorted({*drives, *bearings} - set(robot.names))
    if unknown:
        raise MechanismError(f"{file}: there is no joint {', '.join(unknown)}; there are {', '.join(robot.names)}")
    turns = _turns(robot)
    links = [_link(robot, i, turns, drives, bearings) for i in range(len(robot.joints))]
    cuts = [_cut(robot, cut, turns, file) for cut in content.get("cuts", [])]
    return build({"gravity": tuple(robot.gravity), "links": links, "cuts": cuts}, str(file))


def _turns(robot: RobotDescription) -> list[Floats]:
    """Rotation of each link's frame in the base's, all joints at zero; the base's own is the last."""
    turns: list[Floats] = []
    for joint in robot.joints:
        above = np.eye(3) if joint.parent < 0 else turns[joint.parent]
        turns.append(above @ joint.placement[:3, :3])
    return [*turns, np.eye(3)]


def _link(
    robot: RobotDescription, i: int, turns: list[Floats], drives: list[str], bearings: dict[str, Any]
) -> dict[str, Any]:
    joint, parameters, turn = robot.joints[i], robot.parameters[i], turns[i]
    centre = parameters[1:4] / parameters[0]
    about = tensor(parameters) - parameters[0] * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    about = turn @ about @ turn.T
    return {
        "name": joint.name,
        "parent": "" if joint.parent < 0 else robot.joints[joint.parent].name,
        "kind": "prismatic" if joint.axis is Axis.PRISMATIC else "revolute",
        "axis": tuple(turn @ joint.direction),
        "origin": tuple(turns[joint.parent] @ joint.placement[:3, 3]),
        "mass": parameters[0],
        "centre": tuple(turn @ centre),
        "inertia": (about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2]),
        "drive": joint.name in drives,
        "bearing": bearings.get(joint.name, {}),
    }


def _cut(robot: RobotDescription, cut: dict[str, Any], turns: list[Floats], file: Path) -> dict[str, Any]:
    """Its points moved from the URDF's link frames to those of the joints that carry them."""
    moved = dict(cut)
    for end, place in (("link", "point"), ("other", "other_point")):
        frame = robot.frames.get(str(cut.get(end)))
        if frame is None:
            raise MechanismError(f'{file}: cut "{cut.get("name")}": there is no link "{cut.get(end)}"')
        own = frame.placement[:3, :3] @ np.array(cut.get(place, (0.0, 0.0, 0.0))) + frame.placement[:3, 3]
        moved[end] = "" if frame.link < 0 else robot.joints[frame.link].name
        moved[place] = tuple(turns[frame.link] @ own)
    return moved
