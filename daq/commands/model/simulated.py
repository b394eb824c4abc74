"""The part of an identified robot that simulators can express: bodies, armature, Coulomb and viscous friction, offset.

Everything else in the model is reported with the reason, and if something simpler replaces it, with the difference.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.description import RobotJoint
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.quantities import Axis, Floats

#: 1, argued: Half widths of the ranges in standard deviations: 95 % of what the recording leaves possible.
SIGMAS: Final = 2.0
#: 1, argued: Share of the friction by which its part by speed is the same: less is the rounding of the fit.
ALIKE: Final = 1e-6
SPEEDS: Final = 200  # at which a friction law is compared with Coulomb and viscous friction
ROWS: Final = 500  # random states in the range of the recordings, over which torques are compared


class Value(NamedTuple):
    """A number and its standard deviation."""

    value: float
    deviation: float = 0.0

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value to draw, never negative."""
        return max(0.0, self.value - SIGMAS * self.deviation), max(0.0, self.value + SIGMAS * self.deviation)


@dataclass(frozen=True, slots=True)
class SimulatedJoint:
    """One joint with its link."""

    joint: RobotJoint
    parameters: Floats  # (10,) of the link, in the joint's frame
    viscous: Value  # N·m·s/rad (N·s/m)
    coulomb: Value  # N·m (N)
    armature: Value  # kg·m² (kg)
    offset: Value  # N·m (N)
    stiffness: float  # of the gear, N·m/rad (N/m); NaN where it is not known

    @property
    def slides(self) -> bool:
        """Whether it is prismatic."""
        return self.joint.axis is Axis.PRISMATIC


@dataclass(frozen=True, slots=True)
class SimulatedRobot:
    """A robot for a simulator, and sentences about parts of the model that it lacks."""

    name: str
    gravity: Floats
    joints: tuple[SimulatedJoint, ...]
    cannot: tuple[str, ...]  # sentences

    def torque(self, found: IdentifiedRobot, q: Floats, dq: Floats, ddq: Floats) -> Floats:
        """The torque (rows, n), N·m (N), of the exported model, which a simulator should need for this motion."""
        tau = found.model().torque(np.array([one.parameters for one in self.joints]), q, dq, ddq)
        for j, one in enumerate(self.joints):
            tau[:, j] += one.armature.value * ddq[:, j] + one.viscous.value * dq[:, j] + one.offset.value
            tau[:, j] += one.coulomb.value * np.sign(dq[:, j])
        return tau


def simulated(found: IdentifiedRobot) -> SimulatedRobot:
    """Convert a model to the part that simulators can express."""
    model = found.model()
    terms = {
        name: Value(float(value), float(deviation))
        for name, value, deviation in zip(model.names, found.theta, found.spread(), strict=True)
    }
    joints, cannot = [], []
    for j, joint in enumerate(found.robot.joints):
        viscous, coulomb, said = _friction(found, j, terms)
        cannot += said
        twist = found.twists[j] if found.twists else None
        joints.append(
            SimulatedJoint(
                joint,
                found.physical[j],
                viscous,
                coulomb,
                terms.get(f"rotor.{joint.name}", Value(0.0)),
                terms.get(f"offset.{joint.name}", Value(0.0)),
                float("nan") if twist is None else twist.stiffness,
            )
        )
        if f"twist.{joint.name}" in terms:
            cannot.append(f"{joint.name}: friction that grows with the twist of its gear is left out")
        if found.learned and found.learned[j] is not None:
            cannot.append(f"{joint.name}: the learnt compensation of its residual is left out")
    for pair in found.robot.couplings:
        cannot.append(f"{pair.first} and {pair.second}: the friction of their common drive is left out")
    for name in found.robot.counterbalances:
        cannot.append(f"{name}: its counterbalance is left out")
    if found.lag is not None:
        cannot.append("the lag of the measured torque is left out: a simulator's torque has none")
    whole = SimulatedRobot(found.robot.name, found.robot.gravity, tuple(joints), ())
    share = _misfit(found, whole)
    if share > 1e-6:
        cannot.append(
            f"links are the nearest possible bodies, and friction is simplified: over random states in the range of "
            f"the recordings its torque differs from the model's by {100 * share:.3g} % (root mean square)"
        )
    return SimulatedRobot(whole.name, whole.gravity, whole.joints, tuple(cannot))


def _friction(found: IdentifiedRobot, j: int, terms: dict[str, Value]) -> tuple[Value, Value, list[str]]:
    """Viscous and Coulomb friction of a joint: those of its law, or of the nearest law with only these terms."""
    name, law = found.robot.joints[j].name, found.laws[j]
    if isinstance(law, ViscousCoulombSettings):
        return terms.get(f"viscous.{name}", Value(0.0)), terms.get(f"coulomb.{name}", Value(0.0)), []
    speed = np.linspace(0.02, 1.0, SPEEDS) * max(float(found.speed[j]), 1e-3)
    speed = np.concatenate([-speed[::-1], speed])
    torque = _law_torque(found, j, speed)
    columns = np.column_stack([speed, np.sign(speed), np.ones_like(speed)])
    best, *_ = np.linalg.lstsq(columns, torque, rcond=None)
    share = float(np.std(torque - columns @ best) / max(float(np.std(torque)), 1e-12))
    own = [
        value for key, value in terms.items() if key.endswith(f".{name}") and not key.startswith(("offset", "rotor"))
    ]
    wide = float(np.linalg.norm([value.deviation for value in own]))
    said = f"{name}: its friction law {law.kind} is replaced by Coulomb and viscous friction without load, which " + (
        f"differ from it by {100 * share:.2g} % over the identified speeds"
        if share > ALIKE
        else "are its part that depends on speed; parts that depend on load or angle are left out"
    )
    return Value(max(0.0, float(best[0]))), Value(max(0.0, float(best[1])), wide), [said]


def _law_torque(found: IdentifiedRobot, j: int, speed: Floats) -> Floats:
    """Friction of one joint at these speeds, all joints at the middle of their range, without acceleration."""
    model, n = found.model(), len(found.robot.joints)
    q = np.tile(0.5 * (found.lower + found.upper), (len(speed), 1))
    dq, ddq = np.zeros((len(speed), n)), np.zeros((len(speed), n))
    still = found.predicted(q, dq, ddq)[:, j]
    dq[:, j] = speed
    rigid = model.torque(found.parameters, q, dq, ddq)[:, j] - model.torque(found.parameters, q, 0.0 * dq, ddq)[:, j]
    return np.asarray(found.predicted(q, dq, ddq)[:, j] - still - rigid)


def _misfit(found: IdentifiedRobot, robot: SimulatedRobot) -> float:
    """Root mean square of the torques' difference, over that of the model's torque."""
    draw = np.random.default_rng(0)
    n = len(robot.joints)
    q = draw.uniform(found.lower, found.upper, (ROWS, n))
    dq = draw.uniform(0.05, 1.0, (ROWS, n)) * draw.choice([-1.0, 1.0], (ROWS, n)) * found.speed
    ddq = draw.uniform(-1.0, 1.0, (ROWS, n)) * 2.0 * found.speed
    truly = found.predicted(q, dq, ddq)
    return float(np.linalg.norm(robot.torque(found, q, dq, ddq) - truly) / np.linalg.norm(truly))
