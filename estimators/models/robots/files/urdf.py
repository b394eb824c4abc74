"""A robot from a URDF: fixed links merged into what carries them, every mistake said at once.

Not read, because it has no effect on torques: meshes, materials, transmissions, sensors. Refused: loops, mimic,
floating and planar joints, links that move and weigh nothing. An inertia that no body can have (Ixx > Iyy + Izz) is
reported and used as the nearest possible one; many makers' files hold such.
"""

from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, parse

import numpy as np

from estimators.models.robots.description import (
    GRAVITY,
    JointLimits,
    LinkFrame,
    RobotDescription,
    RobotError,
    RobotJoint,
    pose,
)
from estimators.models.robots.inertia import parameters_of, pseudo_inertia, standard
from estimators.models.robots.tree import PARAMETERS
from estimators.quantities import Axis, Floats

MOVING = {"revolute": Axis.ROTARY, "continuous": Axis.ROTARY, "prismatic": Axis.PRISMATIC}
REFUSED = {"floating": Axis.ROTARY, "planar": Axis.ROTARY}  # walked on, so that what hangs on them is judged too
TRIANGLE = 1e-3  # of the largest, by which a principal inertia may exceed the sum of the others


class _Body(NamedTuple):
    parameters: Floats  # (10,) in the link's frame
    given: bool


class _Edge(NamedTuple):
    name: str
    kind: str
    child: str
    placement: Floats
    element: Element


class UrdfRobot(NamedTuple):
    """A robot, and what is odd about its file though it can be used."""

    robot: RobotDescription
    warnings: list[str]


def read_urdf(file: Path) -> UrdfRobot:
    """Raises RobotError with every mistake."""
    try:
        root = parse(file).getroot()
    except OSError as error:
        raise RobotError([f"{file}: cannot be read: {error.strerror}"]) from error
    except (ParseError, ValueError, LookupError) as error:
        raise RobotError([f"{file}: not valid XML: {error}"]) from error
    reader = _Reader(root)
    found = reader.robot(file.stem) if root.tag == "robot" else None
    if root.tag != "robot":
        reader.problems.append(f"expected <robot> at the top, found <{root.tag}>")
    if reader.problems or found is None:
        raise RobotError([f"{file}: {problem}" for problem in reader.problems])
    return UrdfRobot(found, [f"{file}: {warning}" for warning in reader.warnings])


class _Reader:
    def __init__(self, root: Element) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._root = root
        self._bodies: dict[str, _Body] = {}
        self._children: dict[str, list[_Edge]] = {}
        self._joints: list[RobotJoint] = []
        self._parameters: list[Floats] = []
        self._given: list[bool] = []
        self._frames: dict[str, LinkFrame] = {}
        self._links: list[str] = []

    def robot(self, name: str) -> RobotDescription | None:
        """The whole; problems are left in `problems`."""
        for link in self._root.findall("link"):
            label = link.get("name", "")
            if label in self._bodies:
                self.problems.append(f'found the link "{label}" twice')
            self._bodies[label] = self._body(label, link)
        parents: dict[str, str] = {}
        for joint in self._root.findall("joint"):
            self._edge(joint, parents)
        roots = [link for link in self._bodies if link not in parents]
        if not self._bodies:
            self.problems.append("found no link")
        elif not roots:
            self.problems.append("found no base link: every link is some joint's child, so the joints form a loop")
        elif len(roots) > 1:
            self.problems.append(f"expected one base link, found {len(roots)}: {', '.join(roots)}")
        for base in roots:
            self._walk(base, -1, np.eye(4))
        lost = [link for link in self._bodies if link not in self._frames]
        if roots and lost:
            self.problems.append(f"found a loop: {', '.join(lost)} cannot be reached from {roots[0]}")
        if roots and not self._joints:
            self.problems.append("found no joint that moves")
        for moving, moved, body, given in zip(self._joints, self._links, self._parameters, self._given, strict=True):
            self._judge(moving.name, moved, body, given)
        if self.problems:
            return None
        return RobotDescription(
            self._root.get("name") or name,
            tuple(self._joints),
            np.array(self._parameters),
            np.array(GRAVITY),
            False,
            self._frames,
        )

    def _edge(self, joint: Element, parents: dict[str, str]) -> None:
        name, kind = joint.get("name", ""), joint.get("type", "")
        ends = [(one.get("link", "") if (one := joint.find(end)) is not None else "") for end in ("parent", "child")]
        parent, child = ends
        for end in ends:
            if end not in self._bodies:
                self.problems.append(f'joint "{name}": found no link "{end}"')
        if kind in REFUSED:
            self.problems.append(f'joint "{name}": found a {kind} joint, expected revolute, prismatic or fixed')
        elif kind not in MOVING and kind != "fixed":
            self.problems.append(f'joint "{name}": found the unknown type "{kind}"')
        if joint.find("mimic") is not None:
            self.problems.append(
                f'joint "{name}": found a mimic joint, whose torque is another joint\'s: not supported'
            )
        if child in parents:
            self.problems.append(
                f'found a loop: the link "{child}" is the child of both "{parents[child]}" and "{name}"'
            )
            return
        parents[child] = name
        if any(name == edge.name for edges in self._children.values() for edge in edges):
            self.problems.append(f'found the joint "{name}" twice')
        edge = _Edge(name, kind, child, self._origin(joint, f'joint "{name}"'), joint)
        self._children.setdefault(parent, []).append(edge)

    def _walk(self, link: str, number: int, at: Floats) -> None:
        """Everything that hangs on a link whose frame sits at `at` in that of joint `number`."""
        self._frames[link] = LinkFrame(number, at)
        if number >= 0 and self._bodies[link].given:
            self._given[number] = True
            self._parameters[number] += parameters_of(at @ pseudo_inertia(self._bodies[link].parameters) @ at.T)
        for name, kind, child, placement, element in self._children.get(link, ()):
            if child not in self._bodies:
                continue
            if kind not in MOVING | REFUSED:
                self._walk(child, number, at @ placement)
                continue
            self._joints.append(self._joint(name, (MOVING | REFUSED)[kind], number, at @ placement, element))
            self._parameters.append(np.zeros(PARAMETERS))
            self._given.append(False)
            self._links.append(child)
            self._walk(child, len(self._joints) - 1, np.eye(4))

    def _joint(self, name: str, axis: Axis, parent: int, placement: Floats, element: Element) -> RobotJoint:
        direction = np.array([1.0, 0.0, 0.0])
        given, before = element.find("axis"), len(self.problems)
        if given is not None:
            direction = self._numbers(given, "xyz", 3, f'joint "{name}": axis')
        length = float(np.linalg.norm(direction))
        if not length > 0:
            if len(self.problems) == before:
                self.problems.append(f'joint "{name}": expected an axis with a direction, found {given_text(given)}')
            direction, length = np.array([0.0, 0.0, 1.0]), 1.0
        limits: dict[str, float] = {}
        limit = element.find("limit")
        for key in ("lower", "upper", "velocity", "effort") if limit is not None else ():
            if limit is None or limit.get(key) is None:
                continue
            if element.get("type") == "continuous" and key in ("lower", "upper"):
                continue
            value = self._numbers(limit, key, 1, f'joint "{name}": limit')[0]
            if key in ("velocity", "effort") and not value > 0:
                continue  # 0 is what exporters write for "not known"
            limits[key] = float(value)
        if limits.get("lower", -np.inf) >= limits.get("upper", np.inf):
            limits.pop("lower", None)
            limits.pop("upper", None)
        return RobotJoint(name, axis, parent, placement, direction / length, JointLimits(**limits))

    def _body(self, name: str, link: Element) -> _Body:
        inertial = link.find("inertial")
        if inertial is None:
            return _Body(np.zeros(PARAMETERS), False)
        where = f'link "{name}"'
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        if mass is None or inertia is None:
            missing = "mass" if mass is None else "inertia"
            self.problems.append(f"{where}: expected <{missing}> in its <inertial>, found none")
            return _Body(np.zeros(PARAMETERS), True)
        kilograms = float(self._numbers(mass, "value", 1, f"{where}: mass")[0])
        if kilograms < 0:
            self.problems.append(f"{where}: expected a mass above zero, found {kilograms:g} kg")
            return _Body(np.zeros(PARAMETERS), True)
        entries = {key: float(self._numbers(inertia, key, 1, where)[0]) for key in ("ixx", "iyy", "izz")}
        entries |= {
            key: float(self._numbers(inertia, key, 1, where)[0]) if inertia.get(key) is not None else 0.0
            for key in ("ixy", "ixz", "iyz")
        }
        about = np.array([[entries["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
        at = self._origin(inertial, where)
        turned = at[:3, :3] @ about @ at[:3, :3].T
        return _Body(standard(kilograms, at[:3, 3], turned), kilograms > 0 or bool(about.any()))

    def _judge(self, joint: str, link: str, body: Floats, given: bool) -> None:
        """Whether the link that a joint moves, with all that is fixed to it, can be a body."""
        where = f'link "{link}" (moved by joint "{joint}")'
        if not given and not body.any():
            self.problems.append(
                f"{where}: expected an inertia, found none: a link that moves must have an <inertial> with a mass"
            )
            return
        if not body[0] > 0:
            self.problems.append(f"{where}: expected a mass above zero, found {body[0]:g} kg")
            return
        centre = body[1:4] / body[0]
        P = pseudo_inertia(body)
        spread = P[:3, :3] - body[0] * np.outer(centre, centre)
        principal = np.linalg.eigvalsh(np.trace(spread) * np.eye(3) - spread)
        if not principal[-1] > 1e-12:
            self.problems.append(f"{where}: expected an inertia above zero, found a point mass of {body[0]:g} kg")
        elif principal[0] < -1e-9 * principal[-1]:
            self.problems.append(
                f"{where}: found a non-physical inertia about its centre of mass: the principal value "
                f"{principal[0]:.3g} kg·m² is negative"
            )
        elif principal[-1] > (principal[0] + principal[1]) + TRIANGLE * principal[-1]:
            self.warnings.append(
                f"{where}: non-physical inertia, no body has the principal values "
                f"{principal[0]:.3g}, {principal[1]:.3g}, {principal[2]:.3g} kg·m² (the largest exceeds the sum of the "
                "others): the nearest possible one is used"
            )

    def _origin(self, element: Element, where: str) -> Floats:
        origin = element.find("origin")
        if origin is None:
            return np.eye(4)
        parts = [
            self._numbers(origin, key, 3, f"{where}: origin") if origin.get(key) is not None else np.zeros(3)
            for key in ("rpy", "xyz")
        ]
        return pose(*parts)

    def _numbers(self, element: Element, key: str, count: int, where: str) -> Floats:
        text = element.get(key)
        try:
            values = np.array([float(word) for word in (text or "").split()])
        except ValueError:
            values = np.zeros(0)
        if len(values) != count or not np.isfinite(values).all():
            what = "a number" if count == 1 else f"{count} numbers"
            self.problems.append(f"{where}: expected {what} as {key}, found {'none' if text is None else repr(text)}")
            return np.zeros(count)
        return values


def given_text(element: Element | None) -> str:
    """The numbers of an axis."""
    return repr(element.get("xyz")) if element is not None else "none"
