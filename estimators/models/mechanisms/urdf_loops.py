"""A mechanism from a URDF, which knows trees only, and a TOML list of what closes its loops.

The TOML names the file (`urdf`, in the same folder), the joints that are driven (`drives`), `bearings` by joint, and
`cuts` whose points lie in the URDF's link frames. Links are turned into frames that are parallel to the base's at zero.
"""

from typing import Any

import numpy as np
from pydantic import Field

from estimators.models.mechanisms.description import Bearing, Cut, Description, Triple
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.inertia import tensor
from estimators.quantities import Axis, Floats, Settings


class UrdfLoops(Settings):
    """What a URDF does not say of a mechanism."""

    urdf: str  # file, relative to this one
    drives: tuple[str, ...] | None = None  # joints; none given: all
    bearings: dict[str, Bearing] = Field(default={})  # joint → its bearing
    cuts: tuple[Cut, ...] = ()  # `link` and `other` are links of the URDF
    gravity: Triple | None = None  # m/s², in the base frame; none given: the URDF's −9.81 z

    def unknown_names(self, robot: RobotDescription) -> list[tuple[tuple[str | int, ...], str, list[str]]]:
        """Names that the URDF does not have: the place of each, the name, and those that there are."""
        joints, links = list(robot.names), sorted(robot.frames)
        places: list[tuple[tuple[str | int, ...], str, list[str]]] = [
            (("drives", at), name, joints) for at, name in enumerate(self.drives or ())
        ]
        places += [(("bearings", name), name, joints) for name in self.bearings]
        for at, cut in enumerate(self.cuts):
            places += [(("cuts", at, "link"), cut.link, links), (("cuts", at, "other"), cut.other, links)]
        return [(path, name, known) for path, name, known in places if name not in known]

    def content(self, robot: RobotDescription) -> dict[str, Any]:
        """The mechanism as a file of links and cuts has it; every name must be known."""
        turns = _turns(robot)
        return {
            "gravity": self.gravity or tuple(robot.gravity),
            "links": [self._link(robot, i, turns) for i in range(len(robot.joints))],
            "cuts": [_cut(robot, cut, turns) for cut in self.cuts],
        }

    def _link(self, robot: RobotDescription, i: int, turns: list[Floats]) -> dict[str, Any]:
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
            "drive": self.drives is None or joint.name in self.drives,
            "bearing": self.bearings.get(joint.name, Bearing()),
        }


def describe(loops: UrdfLoops, robot: RobotDescription) -> Description:
    """The mechanism of a robot whose loops are closed; every name must be known."""
    return Description.model_validate(loops.content(robot))


def _turns(robot: RobotDescription) -> list[Floats]:
    """Rotation of each link's frame in the base's, all joints at zero; the base's own is the last."""
    turns: list[Floats] = []
    for joint in robot.joints:
        above = np.eye(3) if joint.parent < 0 else turns[joint.parent]
        turns.append(above @ joint.placement[:3, :3])
    return [*turns, np.eye(3)]


def _cut(robot: RobotDescription, cut: Cut, turns: list[Floats]) -> Cut:
    """A cut with its points moved from the URDF's link frames to those of the joints that carry them."""
    moved: dict[str, Any] = {}
    for end, place, point in (("link", "point", cut.point), ("other", "other_point", cut.other_point)):
        frame = robot.frames[getattr(cut, end)]
        own = frame.placement[:3, :3] @ np.array(point) + frame.placement[:3, 3]
        moved[end] = "" if frame.link < 0 else robot.joints[frame.link].name
        moved[place] = tuple(map(float, turns[frame.link] @ own))
    return cut.model_copy(update=moved)
