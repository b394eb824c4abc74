"""Declares the report of a whole robot at one instant, and the state that a restart keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import Phase, Status
from estimators.models.robots.tree import PARAMETERS
from estimators.online.robot.findings.carried import Payload
from estimators.online.robot.findings.contact_force import ContactForce
from estimators.online.robot.findings.friction_discrepancy import KNOTS, SUMS
from estimators.online.robot.findings.record import RobotFinding
from estimators.online.robot.findings.tool import ToolDifference
from estimators.quantities import Floats
from estimators.reasons import Reason

VERSION: Final = 4  # of the kept state

BAD: Final = np.array([np.nan])  # in place of a value that cannot be read


class Friction(NamedTuple):
    """Friction torque of every joint at two speeds, without its offset.

    It is certain even where Coulomb and viscous friction cannot be distinguished from each other.
    """

    speeds: Floats  # (n, 2) rad/s (m/s)
    torque: Floats  # (n, 2) N·m (N)
    deviations: Floats  # (n, 2)


class HeldFinding(NamedTuple):
    """Declares a change of one joint that is no part of the model: another torque constant, a slip, a spring."""

    value: float  # share of the torque, or angle, rad (m), beyond the true one; stiffness, N·m/rad (N/m)
    deviation: float
    since: int  # ns


@dataclass(frozen=True, slots=True)
class RobotEstimate:
    """Report of n joints with p parameters."""

    time: int  # ns
    phase: Phase
    status: Status
    reasons: tuple[Reason, ...]
    measured: Floats  # (n,) filtered torque, N·m (N)
    predicted: Floats  # (n,) of the model, the payload included
    deviations: Floats  # (n,) of the undisturbed residual
    thresholds: Floats  # (n,) with the friction that a joint may hold while it turns around; NaN until they are set
    contact: tuple[bool, ...]  # joints whose residual exceeds theirs, or has just before
    payload: Payload
    progress: float  # of the start, per cent
    compensation: Floats  # (n,) of `predicted`, what a learnt compensation gives; NaN where none is used
    findings: tuple[RobotFinding, ...] = ()  # the oldest first
    touch: ContactForce | None = None  # the link that is touched, and the force; None without a contact
    tool: ToolDifference | None = None  # carried body less the controller's tool; None: not configured


@dataclass(frozen=True, slots=True)
class RobotEstimatorState:
    """State that a restart keeps."""

    version: int
    theta: Floats  # (p + n,) the lags of the torques last
    covariance: Floats  # (p + n, p + n)
    variance: Floats  # (n,)
    thresholds: Floats  # (n,)
    deviations: Floats  # (n,)
    learnt: int  # blocks
    compensation: Floats  # (looks, 2, joints with a learnt compensation), see compensation.py
    friction_discrepancy: Floats  # (n,) of friction beyond its law, see friction_discrepancy.py
    moved: Floats  # (p + n, n, knots) by it
    seen: Floats  # (SUMS, n, knots) of it
    identified: Floats  # (p + n, p + n) of what it did to the identification
    etas: list[float] = field(default_factory=list)  # nonlinear parameters of the frictions, see friction_refit.py
    payload: Floats = field(default_factory=lambda: np.zeros((0, PARAMETERS)))  # see ResidualAttribution.keep
    held: Floats = field(default_factory=lambda: np.zeros(0))  # (n,) by joints at rest, see ContactWatch


def read_state(saved: Mapping[str, Any], n: int, p: int) -> dict[str, Floats]:
    """Return the arrays of a saved state; p: parameters with the lags.

    Raises ValueError where it is of another version or robot, or not finite.
    """
    shapes = {
        "theta": (p,), "covariance": (p, p), "variance": (n,), "thresholds": (n,), "deviations": (n,),
        "friction_discrepancy": (n,), "moved": (p, n, len(KNOTS)), "seen": (SUMS, n, len(KNOTS)),
    }  # fmt: skip
    found = {name: np.array(saved.get(name, ()), np.float64) for name in shapes}
    found["held"] = np.array(saved.get("held", np.zeros(n)), np.float64)  # none was kept before
    found["identified"] = np.array(saved.get("identified", np.zeros((p, p))), np.float64)
    shapes |= {"held": (n,), "identified": (p, p)}
    right = saved.get("version") == VERSION and isinstance(saved.get("learnt"), int)
    if not right or any(found[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("what was kept of the robot is of another model or version: it starts anew")
    payload = np.array(saved.get("payload", ()), np.float64)
    found["payload"] = payload.reshape(-1, PARAMETERS) if payload.size in (0, (1 + PARAMETERS) * PARAMETERS) else BAD
    if not all(np.isfinite(one).all() for one in found.values()):
        raise ValueError("what was kept of the robot is damaged: it starts anew")
    return found
