"""Rotors that are not described: where torque is motor current, there is a rotor, whose inertia is learnt.

Slow motion and motion from place to place hardly show it. Without it the links' parameters
absorb it, and the prediction of another motion, with other accelerations, has an error; so the rotor is left out only
where that is clearly better.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.special import stdtrit

from estimators.models.robots.description import RobotDescription
from estimators.models.robots.newton_euler import mass_matrix
from estimators.models.robots.whole_robot import NOMINAL, WholeRobot
from estimators.offline.robot.cross_validation import FEWEST, validated
from estimators.offline.robot.motion import Piece
from estimators.offline.robot.rows import build
from estimators.quantities import Floats

ALONE: Final = 30.0  # rad/s² (m/s²) by which the largest torque seen accelerates a large rotor alone: servos reach 50
DOUBT: Final = 0.05  # chance that they are left out though nothing is better


def with_rotors(robot: RobotDescription, pieces: list[Piece], say: Callable[[str], None]) -> RobotDescription:
    """Where torque is motor current and the rotor's inertia is not given, it is learnt unless that predicts worse.

    Its prior: zero, with half of the inertia that the described links have about the joint, on average over the motion,
    or with what ALONE says: the rotors of wrists are many times their links.
    """
    unknown = [j for j, joint in enumerate(robot.joints) if joint.by_current and joint.rotor == 0.0]
    if not unknown:
        return robot
    say("rotors")
    links = _inertia(robot, np.concatenate([piece.rows(piece.q) for piece in pieces]))
    largest = np.max([np.abs(piece.rows(piece.tau)).max(axis=0) for piece in pieces], axis=0)
    spread = np.maximum(NOMINAL * links, largest / ALONE)
    joints = [
        replace(joint, unknown_rotor=float(spread[j])) if j in unknown else joint
        for j, joint in enumerate(robot.joints)
    ]
    free = replace(robot, joints=tuple(joints))
    losses = []
    for model in (WholeRobot(robot), WholeRobot(free)):
        rows = build(model, pieces)
        losses.append(validated(model, rows).losses if rows.moves.any() else np.zeros(0))
    without, lost = losses
    if len(without) < FEWEST or len(lost) != len(without):
        return robot
    worse = lost - without
    deviation = float(worse.std(ddof=1) / np.sqrt(len(worse)))
    return robot if worse.mean() > float(stdtrit(len(worse) - 1, 1.0 - DOUBT)) * deviation else free


def _inertia(robot: RobotDescription, q: Floats) -> Floats:
    """Inertia of all that each joint moves, on average over positions (rows, n): (n,) kg·m² (kg)."""
    M = np.empty((*q.shape, q.shape[1]))
    mass_matrix(*robot.tree(), np.ascontiguousarray(q), np.ascontiguousarray(robot.parameters), M)
    return np.asarray(M.diagonal(axis1=1, axis2=2).mean(axis=0))
