"""An identified robot as URDF: links, joints with limits and <dynamics damping friction>.

URDF has no armature and no offset; a comment has them, and `cannot` reports them.
"""

from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np
from scipy.spatial.transform import Rotation

from daq.commands.model.mjcf import numbers
from daq.commands.model.simulated import SimulatedJoint, SimulatedRobot
from estimators.models.robots.inertia import tensor


def document(robot: SimulatedRobot) -> str:
    """The text of the file."""
    root = Element("robot", name=robot.name)
    for text in (*robot.cannot, *cannot(robot)):
        root.append(Comment(f" not expressed: {text.replace('--', '- -')} "))
    SubElement(root, "link", name="base")
    for one in robot.joints:
        _link(root, one)
        _joint(root, one, robot)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def cannot(robot: SimulatedRobot) -> list[str]:
    """Sentences about values that URDF cannot express, unlike other formats."""
    found = []
    for word, values in (
        ("inertia of the rotors (armature)", [one.armature.value for one in robot.joints]),
        ("constant offsets of the torque", [one.offset.value for one in robot.joints]),
    ):
        if any(values):
            listed = ", ".join(f"{one.joint.name} {value:.6g}" for one, value in zip(robot.joints, values, strict=True))
            found.append(f"URDF has no place for the {word}: {listed}")
    return found


def _link(root: Element, one: SimulatedJoint) -> None:
    parameters = one.parameters
    link = SubElement(SubElement(root, "link", name=f"{one.joint.name}_link"), "inertial")
    mass, centre = float(parameters[0]), parameters[1:4] / parameters[0]
    inertia = tensor(parameters) - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    SubElement(link, "origin", xyz=numbers(centre), rpy="0 0 0")
    SubElement(link, "mass", value=repr(mass))
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    SubElement(link, "inertia", {key: repr(float(inertia[place])) for key, place in places.items()})


def _joint(root: Element, one: SimulatedJoint, robot: SimulatedRobot) -> None:
    joint, limits = one.joint, one.joint.limits
    bounded = bool(np.isfinite([limits.lower, limits.upper]).all())
    kind = "prismatic" if one.slides else "revolute" if bounded else "continuous"
    element = SubElement(root, "joint", name=joint.name, type=kind)
    parent = "base" if joint.parent < 0 else f"{robot.joints[joint.parent].joint.name}_link"
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=f"{joint.name}_link")
    angles = Rotation.from_matrix(joint.placement[:3, :3]).as_euler("xyz")
    SubElement(element, "origin", xyz=numbers(joint.placement[:3, 3]), rpy=numbers(angles))
    SubElement(element, "axis", xyz=numbers(joint.direction))
    settings = {"effort": limits.effort, "velocity": limits.velocity}
    if bounded:
        settings |= {"lower": limits.lower, "upper": limits.upper}
    known = {key: repr(float(value)) if np.isfinite(value) else "1e9" for key, value in settings.items()}
    SubElement(element, "limit", known)
    SubElement(element, "dynamics", damping=repr(one.viscous.value), friction=repr(one.coulomb.value))
