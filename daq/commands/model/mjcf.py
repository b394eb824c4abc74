"""An identified robot as MJCF, MuJoCo's format: bodies, joints with armature and friction, a motor for each joint.

Reference: MuJoCo documentation, XML reference. τ = M q̈ + bias + damping·q̇ + frictionloss·sign(q̇) + offset; the offset
is an actuator without a control. Numbers for randomisation and what MJCF has no place for are in <custom>.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from daq.commands.model.simulated import SimulatedJoint, SimulatedRobot
from estimators.models.robots.inertia import tensor
from estimators.quantities import Floats


def document(robot: SimulatedRobot) -> str:
    """The text of the file."""
    root = Element("mujoco", model=robot.name)
    SubElement(root, "compiler", angle="radian", inertiafromgeom="false", autolimits="true")
    SubElement(root, "option", gravity=numbers(robot.gravity), integrator="implicitfast")
    world, actuators, custom = SubElement(root, "worldbody"), SubElement(root, "actuator"), SubElement(root, "custom")
    bodies = {-1: world}
    for i, one in enumerate(robot.joints):
        bodies[i] = _body(bodies[one.joint.parent], one)
        _actuators(actuators, one)
        _ranges(custom, one)
    for text in robot.cannot:
        SubElement(custom, "text", name=f"not expressed {len(custom)}", data=text)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _body(parent: Element, one: SimulatedJoint) -> Element:
    joint, parameters = one.joint, one.parameters
    place = joint.placement
    body = SubElement(parent, "body", name=f"{joint.name}_link", pos=numbers(place[:3, 3]), quat=_quaternion(place))
    mass, centre = float(parameters[0]), parameters[1:4] / parameters[0]
    inertia = tensor(parameters) - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    about = [inertia[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    SubElement(body, "inertial", pos=numbers(centre), mass=repr(mass), fullinertia=numbers(np.array(about)))
    known = {
        "armature": one.armature.value,
        "damping": one.viscous.value,
        "frictionloss": one.coulomb.value,
    }
    settings: dict[str, str] = {key: repr(value) for key, value in known.items() if value}
    if np.isfinite([joint.limits.lower, joint.limits.upper]).all():
        settings["range"] = numbers(np.array([joint.limits.lower, joint.limits.upper]))
    kind = "slide" if one.slides else "hinge"
    SubElement(body, "joint", {"name": joint.name, "type": kind, "axis": numbers(joint.direction)} | settings)
    return body


def _actuators(parent: Element, one: SimulatedJoint) -> None:
    """A motor for the torque, and a constant force for the offset."""
    limit = one.joint.limits.effort
    control = {"ctrlrange": numbers(np.array([-limit, limit]))} if np.isfinite(limit) else {}
    SubElement(parent, "motor", {"name": one.joint.name, "joint": one.joint.name} | control)
    if one.offset.value:
        fixed = {"gainprm": "0", "biastype": "affine", "biasprm": numbers(np.array([-one.offset.value, 0.0, 0.0]))}
        SubElement(parent, "general", {"name": f"{one.joint.name}_offset", "joint": one.joint.name} | fixed)


def _ranges(parent: Element, one: SimulatedJoint) -> None:
    """Write the range of each quantity for randomisation, and the stiffness of the gear."""
    for key, value in (("damping", one.viscous), ("frictionloss", one.coulomb), ("armature", one.armature)):
        if value.deviation:
            SubElement(parent, "numeric", name=f"{one.joint.name}.{key}.range", data=numbers(np.array(value.range)))
    if np.isfinite(one.stiffness):
        SubElement(parent, "numeric", name=f"{one.joint.name}.gear_stiffness", data=repr(one.stiffness))


def numbers(values: Floats) -> str:
    """Write numbers such that they are read back exactly."""
    return " ".join(repr(float(value)) for value in values)


def _quaternion(pose: Floats) -> str:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return numbers(np.array([w, x, y, z]))
