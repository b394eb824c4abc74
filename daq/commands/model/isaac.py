"""An identified robot as JSON with the attributes of USD physics and of Isaac's actuators, and ranges to randomise.

The names are those of UsdPhysics (MassAPI, joints), of PhysX (armature) and of Isaac Lab's actuator configuration; a
script sets them on the prims of the same joints. Angles of USD are in degrees.
"""

import json
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from daq.commands.model.simulated import SIGMAS, SimulatedJoint, SimulatedRobot, Value
from estimators.models.robots.inertia import tensor
from estimators.quantities import Floats


def document(robot: SimulatedRobot) -> str:
    """The text of the file."""
    whole = {
        "format": "jointwatch usd-isaac",
        "version": 1,
        "robot": robot.name,
        "gravity": robot.gravity.tolist(),
        "ranges": f"value ± {SIGMAS:g} standard deviations, never negative",
        "joints": {one.joint.name: _joint(one, robot) for one in robot.joints},
        "not_expressed": list(robot.cannot),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _joint(one: SimulatedJoint, robot: SimulatedRobot) -> dict[str, Any]:
    limits, turn = one.joint.limits, 1.0 if one.slides else 180.0 / np.pi
    actuator = {
        "armature": one.armature,
        "viscous_friction": one.viscous,
        "friction": one.coulomb,
        "dynamic_friction": one.coulomb,
    }
    known = {
        "physics:lowerLimit": limits.lower * turn,
        "physics:upperLimit": limits.upper * turn,
        "physxJoint:maxJointVelocity": limits.velocity * turn,
        "effort_limit": limits.effort,
        "gear_stiffness": one.stiffness,
    }
    return {
        "type": "PhysicsPrismaticJoint" if one.slides else "PhysicsRevoluteJoint",
        "parent": "" if one.joint.parent < 0 else robot.joints[one.joint.parent].joint.name,
        "axis": one.joint.direction.tolist(),
        "placement": one.joint.placement.tolist(),
        "link": _link(one.parameters),
        "actuator": {key: value.value for key, value in actuator.items()},
        "ranges": {key: list(value.range) for key, value in actuator.items() if value.deviation}
        | ({"torque_offset": _both(one.offset)} if one.offset.deviation else {}),
        "torque_offset": one.offset.value,
        **{key: float(value) for key, value in known.items() if np.isfinite(value)},
    }


def _both(value: Value) -> list[float]:
    return [value.value - SIGMAS * value.deviation, value.value + SIGMAS * value.deviation]


def _link(parameters: Floats) -> dict[str, Any]:
    """Mass, centre, and principal inertia with its axes as a quaternion (w, x, y, z)."""
    mass, centre = float(parameters[0]), parameters[1:4] / parameters[0]
    inertia = tensor(parameters) - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    diagonal, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return {
        "physics:mass": mass,
        "physics:centerOfMass": centre.tolist(),
        "physics:diagonalInertia": diagonal.tolist(),
        "physics:principalAxes": [float(w), float(x), float(y), float(z)],
    }
