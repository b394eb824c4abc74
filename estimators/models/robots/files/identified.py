"""A whole robot as it was identified: what a model file holds and a live service loads.

`document()` is plain data (numbers, strings, lists, tables), `read()` builds the same robot from it; θ, its covariance
and the prior are in the order of `WholeRobot.names`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from estimators.models.compensation.learned import Learned
from estimators.models.compensation.learned import read as read_learned
from estimators.models.robots.description import Coupling, JointLimits, LinkFrame, RobotDescription, RobotJoint
from estimators.models.robots.gear_twist import GearTwist
from estimators.models.robots.springs import CounterbalanceSettings
from estimators.models.robots.torque_lag import TorqueLag
from estimators.models.robots.whole_robot import RobotFriction, WholeRobot
from estimators.quantities import Axis, Floats
from estimators.thresholds import AT_REST

FORMAT: Final = "jointwatch whole robot"
VERSION: Final = 1
REACH: Final = 1.1  # of the speed seen in teaching: beyond it a friction law is not used
#: 1, tuned: Share of the fastest speed of teaching, up to which a joint that was taught slowly stands. With a fifth,
#: simulated joints that never reach 0.01 rad/s reported reversals as contacts. From 0.05 rad/s on AT_REST is less.
STANDS: Final = 0.4

_FRICTION: Final[TypeAdapter[Any]] = TypeAdapter(RobotFriction)
_SPRING: Final[TypeAdapter[Any]] = TypeAdapter(CounterbalanceSettings)


class ModelError(ValueError):
    """The document is no whole-robot model, or of a version that is not known here."""


@dataclass(frozen=True, slots=True)
class IdentifiedRobot:
    """Everything that was learnt, and what it was learnt from; n joints, p = size of θ."""

    robot: RobotDescription
    laws: tuple[RobotFriction, ...]
    theta: Floats  # (p,)
    covariance: Floats  # (p, p)
    prior: Floats  # (p,)
    prior_covariance: Floats  # (p, p)
    variance: Floats  # (n,) of the residual torque, (N·m)² (N²)
    correlation: Floats  # (n,) rows of 50 Hz that count as one
    speed: Floats  # (n,) the highest |dq| of teaching, rad/s (m/s)
    lower: Floats  # (n,) of the positions seen, rad (m)
    upper: Floats
    parameters: Floats  # (n, 10) the likeliest standard parameters: exactly θ's base parameters
    physical: Floats  # (n, 10) nearly as good, every link a body that can be
    loading: Floats  # (n, 10) of the rigid body whose torque loads friction that follows the load
    source: dict[str, Any]  # files, rows, errors in %
    peaks: Floats | None = None  # (n,) the largest residual of teaching under the live low-pass, N·m (N)
    deviations: Floats | None = None  # (n,) its root mean square
    twists: tuple[GearTwist | None, ...] = ()  # of each joint's gear; () or None where there is no second encoder
    learned: tuple[Learned | None, ...] = ()  # of each joint's residual, where a compensation was asked for
    lag: TorqueLag | None = None  # of the torque; θ was learnt without
    friction_discrepancy: Floats | None = None  # (n,) deviation of what friction has beyond its law, N·m (N)
    unseen: Floats | None = None  # (n,) deviation of the torque on motions that were not learnt from, N·m (N)
    beyond: Floats | None = None  # (n,) deviation of friction beyond its law at each speed, N·m (N) …
    beyond_covariance: Floats | None = None  # … and by it of θ (p, p); `covariance` is without
    resting: Floats | None = None  # (n,) speeds up to which a joint may have stood in teaching, rad/s (m/s)
    steps: Floats | None = None  # (n,) of the encoders of teaching, rad (m); 0 where its positions show none

    def model(self) -> WholeRobot:
        """The columns that θ belongs to."""
        return WholeRobot(self.robot, self.laws, self.twists)

    def spread(self) -> Floats:
        """Deviations of θ (p,) by all that is known of: noise, and friction beyond its law."""
        beyond = 0.0 if self.beyond_covariance is None else np.diag(self.beyond_covariance)
        return np.asarray(np.sqrt(np.diag(self.covariance) + beyond))

    def reach(self) -> Floats:
        """Speeds up to which the friction laws may be used: (n,)."""
        return REACH * self.speed

    def at_rest(self) -> Floats:
        """Speeds (n,) up to which a joint stands: AT_REST, or less where it was taught slowly."""
        if self.resting is None:
            return np.full(len(self.speed), AT_REST)
        moved = self.resting < self.speed
        return np.where(moved, np.minimum(AT_REST, np.maximum(self.resting, STANDS * self.speed)), AT_REST)

    def predicted(self, q: Floats, dq: Floats, ddq: Floats, load: Floats | None = None) -> Floats:
        """Torque of every joint in N·m (N) for a smooth motion (rows, n); load: of the rigid body, else computed.

        Gears twist under the torque of the rigid body and of counterbalances.
        """
        model = self.model()
        tau = model.torque(self.parameters, q, dq, ddq)
        if load is None:
            load = model.load(self.loading, q, dq, ddq) if model.loaded else tau
        carried = tau
        if model.twisted:
            behind = model.behind_gears()[model.base :]
            for joint, term, column in model.others(q, dq, ddq, load, self.reach(), model.twist(tau, dq)):
                if behind[term]:
                    carried = carried.copy()
                    carried[:, joint] += self.theta[model.base + term] * column
        for joint, term, column in model.others(q, dq, ddq, load, self.reach(), model.twist(carried, dq)):
            tau[:, joint] = tau[:, joint] + self.theta[model.base + term] * column
        return tau

    def document(self) -> dict[str, Any]:
        """Everything as plain data, for a file."""
        model = self.model()
        return {
            "format": FORMAT,
            "version": VERSION,
            "robot": {
                "name": self.robot.name,
                "gravity": self.robot.gravity.tolist(),
                "guessed": self.robot.guessed,
                "couplings": [one.model_dump() for one in self.robot.couplings],
            },
            "learnt_from": self.source,
            "joints": {joint.name: self._joint(i, joint) for i, joint in enumerate(self.robot.joints)},
            "frames": {
                name: {"link": frame.link, "placement": frame.placement.tolist()}
                for name, frame in self.robot.frames.items()
            },
            "theta": {
                "names": list(model.names),
                "meanings": list(model.meanings),
                "values": self.theta.tolist(),
                "deviations": self.spread().tolist(),
                "covariance": self.covariance.tolist(),
                "prior": self.prior.tolist(),
                "prior_covariance": self.prior_covariance.tolist(),
                **(
                    {} if self.beyond_covariance is None else {"covariance_beyond_law": self.beyond_covariance.tolist()}
                ),
            },
            **(
                {}
                if self.lag is None
                else {"torque_lag": {key: one.tolist() for key, one in self.lag._asdict().items()}}
            ),
        }

    def _joint(self, i: int, joint: RobotJoint) -> dict[str, Any]:
        limits = {key: value for key, value in joint.limits.model_dump().items() if np.isfinite(value)}
        spring = self.robot.counterbalances.get(joint.name)
        gear = self.twists[i] if self.twists else None
        learned = self.learned[i] if self.learned else None
        return {
            "axis": str(joint.axis),
            "parent": joint.parent,
            "placement": joint.placement.tolist(),
            "direction": joint.direction.tolist(),
            "limits": limits,
            "rotor": joint.rotor,
            **({"by_current": True} if joint.by_current else {}),
            **({"unknown_rotor": joint.unknown_rotor} if joint.unknown_rotor > 0 else {}),
            "described": self.robot.parameters[i].tolist(),
            "likeliest": self.parameters[i].tolist(),
            "physical": self.physical[i].tolist(),
            "loading": self.loading[i].tolist(),
            "friction": self.laws[i].model_dump(mode="json", exclude_none=True),
            "variance": float(self.variance[i]),
            "correlation": float(self.correlation[i]),
            "speed_seen": float(self.speed[i]),
            "position_seen": [float(self.lower[i]), float(self.upper[i])],
            **({} if self.peaks is None else {"residual_peak": float(self.peaks[i])}),
            **({} if self.deviations is None else {"residual_rms": float(self.deviations[i])}),
            **({} if self.friction_discrepancy is None else {"residual_bend": float(self.friction_discrepancy[i])}),
            **({} if self.unseen is None else {"residual_unseen": float(self.unseen[i])}),
            **({} if self.beyond is None else {"friction_beyond_law": float(self.beyond[i])}),
            **({} if self.resting is None else {"speed_at_rest": float(self.resting[i])}),
            **({} if self.steps is None else {"encoder_step": float(self.steps[i])}),
            **({} if gear is None else {"gear_twist": gear._asdict()}),
            **({} if learned is None else {"compensation": learned.document()}),
        } | ({"counterbalance": spring.model_dump(mode="json")} if spring is not None else {})


def read(document: Mapping[str, Any]) -> IdentifiedRobot:
    """The robot of a document. Raises ModelError."""
    if document.get("format") != FORMAT:
        raise ModelError(f'expected format = "{FORMAT}", found {document.get("format")!r}')
    if document.get("version") != VERSION:
        raise ModelError(f"expected version {VERSION}, found {document.get('version')!r}: identify the robot again")
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, IndexError, ValidationError) as error:
        raise ModelError(f"not a whole model: {type(error).__name__} {str(error).splitlines()[0]}") from error


def _described(document: Mapping[str, Any]) -> RobotDescription:
    """The robot as it was described when it was identified."""
    whole, joints = document["robot"], document["joints"]
    return RobotDescription(
        whole["name"],
        tuple(
            RobotJoint(
                name,
                Axis(one["axis"]),
                one["parent"],
                np.array(one["placement"], np.float64).reshape(4, 4),
                np.array(one["direction"], np.float64).reshape(3),
                JointLimits(**one["limits"]),
                one["rotor"],
                one.get("by_current", False),
                one.get("unknown_rotor", 0.0),
            )
            for name, one in joints.items()
        ),
        _table(joints, "described", 10),
        np.array(whole["gravity"], np.float64).reshape(3),
        whole["guessed"],
        {
            name: LinkFrame(one["link"], np.array(one["placement"], np.float64).reshape(4, 4))
            for name, one in document.get("frames", {}).items()
        },
        tuple(Coupling(**one) for one in whole["couplings"]),
        {
            name: _SPRING.validate_python(one["counterbalance"])
            for name, one in joints.items()
            if "counterbalance" in one
        },
    )


def _read(document: Mapping[str, Any]) -> IdentifiedRobot:
    robot, joints, theta = _described(document), document["joints"], document["theta"]
    laws = tuple(_FRICTION.validate_python(one["friction"]) for one in joints.values())
    twists = tuple(GearTwist(**one["gear_twist"]) if "gear_twist" in one else None for one in joints.values())
    learned = tuple(read_learned(one["compensation"]) if "compensation" in one else None for one in joints.values())
    p = len(theta["names"])
    if list(WholeRobot(robot, laws, twists).names) != theta["names"]:
        raise ModelError("the names of its parameters are not those of its joints and laws")
    vectors = {key: np.array(theta[key], np.float64).reshape(p) for key in ("values", "prior")}
    several = ["covariance", "prior_covariance", *(key for key in theta if key == "covariance_beyond_law")]
    squares = {key: np.array(theta[key], np.float64).reshape(p, p) for key in several}
    seen = _table(joints, "position_seen", 2)
    found = IdentifiedRobot(
        robot,
        laws,
        vectors["values"],
        squares["covariance"],
        vectors["prior"],
        squares["prior_covariance"],
        _column(joints, "variance"),
        _column(joints, "correlation"),
        _column(joints, "speed_seen"),
        np.ascontiguousarray(seen[:, 0]),
        np.ascontiguousarray(seen[:, 1]),
        _table(joints, "likeliest", 10),
        _table(joints, "physical", 10),
        _table(joints, "loading", 10),
        dict(document["learnt_from"]),
        _column(joints, "residual_peak") if _all_have(joints, "residual_peak") else None,
        _column(joints, "residual_rms") if _all_have(joints, "residual_rms") else None,
        twists=twists,
        learned=learned,
        lag=_lag(document.get("torque_lag"), p, len(joints)),
        friction_discrepancy=_column(joints, "residual_bend") if _all_have(joints, "residual_bend") else None,
        unseen=_column(joints, "residual_unseen") if _all_have(joints, "residual_unseen") else None,
        beyond=_column(joints, "friction_beyond_law") if _all_have(joints, "friction_beyond_law") else None,
        beyond_covariance=squares.get("covariance_beyond_law"),
        resting=_column(joints, "speed_at_rest") if _all_have(joints, "speed_at_rest") else None,
        steps=_column(joints, "encoder_step") if _all_have(joints, "encoder_step") else None,
    )
    if not all(np.isfinite(one).all() and one.stiffness > 0 for one in twists if one is not None):
        raise ModelError("found the twist of a gear that no spring has")
    if any(one is not None and gear is None for one, gear in zip(learned, twists, strict=True)):
        raise ModelError("found a learnt compensation of a joint without two encoders")
    if not all(np.isfinite(one).all() for one in (*vectors.values(), *squares.values(), found.parameters)):
        raise ModelError("found a parameter that is not finite")
    return found


def _lag(found: Mapping[str, Any] | None, p: int, n: int) -> TorqueLag | None:
    """The torque lag in a document; older models have none."""
    if found is None:
        return None
    shapes = {"values": (n,), "covariance": (n, n), "moves": (p, n)}
    lag = TorqueLag(**{key: np.array(found[key], np.float64).reshape(shape) for key, shape in shapes.items()})
    if not all(np.isfinite(one).all() for one in lag):
        raise ModelError("found a lag of a torque that is not finite")
    return lag


def _table(joints: Mapping[str, Any], key: str, columns: int) -> Floats:
    return np.array([one[key] for one in joints.values()], np.float64).reshape(len(joints), columns)


def _all_have(joints: Mapping[str, Any], key: str) -> bool:
    return all(key in one for one in joints.values())


def _column(joints: Mapping[str, Any], key: str) -> Floats:
    return np.array([one[key] for one in joints.values()], np.float64).reshape(len(joints))
