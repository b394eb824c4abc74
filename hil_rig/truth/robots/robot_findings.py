"""Whole robots compared with their truth: findings about random arms, each with one disturbance.

Every arm is identified from one motion and watched in another. The reported causes, the friction of each joint at two
speeds and the mass of a payload are judged. A trusted value lies materially if its error is more than four of its
deviations, more than 5 % of the value, and more than 1 % of the joint's torque.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from daq.state.baselines import JUDGED
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.record import RobotFinding
from hil_rig.plants.base import Floats
from hil_rig.truth.robots.disturbances import CHANGE, DISTURBANCES, PAYLOAD, SECONDS, Disturbance
from hil_rig.truth.robots.random_arm import RATE, ArmInMotion, draw, identified
from hil_rig.truth.trial import EXCUSED

FAR: Final = 4.0  # deviations
MATERIAL: Final = (0.05, 0.01)  # of the value, and of the joint's torque
WEIGHED: Final = 5.0  # s after it is picked up, from which a payload's mass is judged
NOTHING: Final = "nothing"
SEVERAL: Final = "several fit"
SEED: Final = 77


class Outcome(NamedTuple):
    """The results of one trial."""

    looks: int  # looks after the start, one a second
    trusted: int  # looks in which the values are valid or held
    lying: int  # trusted looks in which a value lies materially
    reported: str  # cause of the first finding about the disturbance; NOTHING, or SEVERAL
    right: bool | None  # whether this cause is right; None if nothing is reported
    joint: bool  # whether the finding names the joint
    false: int  # other findings
    delay: float  # s until the first event of a right cause; NaN if there is none
    z: Floats  # of the friction while trusted
    masses: Floats  # (looks, 2) error and deviation of a payload's mass


def run(name: str, seed: int) -> Outcome:
    """Run one trial of a row."""
    arm = draw(seed)
    disturbance = DISTURBANCES[name](arm, np.random.default_rng([seed, SEED]))
    moves = ArmInMotion(disturbance.live or arm, seed, 2 * seed + 2, disturbance.jumps)
    estimator = RobotEstimator(identified(arm, seed), 1.0 / RATE)
    looks = trusted = lying = 0
    scores, masses, delay = list[Floats](), list[tuple[float, float]](), np.nan
    power = np.zeros(arm.axes)
    started = False
    for second in range(SECONDS):
        q, torque = moves.take(1)
        disturbance.distorted(float(second), q, torque, RATE)
        power += (torque**2).mean(axis=0)
        estimator.absorb(1_000_000_000 // RATE * (1 + second * RATE + np.arange(RATE)), q, torque)
        for event in estimator.events():
            started |= event.kind == "started"
            if event.kind in disturbance.causes and np.isnan(delay):
                delay = event.time / 1e9 - (0.0 if disturbance.from_start else CHANGE)
        estimate, friction = estimator.estimate(), estimator.friction()
        if disturbance.carried is not None and estimate.payload.carried:
            first, last = disturbance.carried
            if first + WEIGHED <= second + 1 < last:
                masses.append((estimate.payload.mass - PAYLOAD, estimate.payload.mass_deviation))
        if not started:
            continue
        looks += 1
        if estimate.status not in JUDGED:
            continue
        trusted += 1
        truth = moves.friction_at(friction.speeds)
        error = np.abs(friction.torque - truth)
        share, of_torque = MATERIAL
        rms = np.sqrt(power / (second + 1))[:, None]
        far = (error > FAR * friction.deviations) & (error > share * np.abs(truth)) & (error > of_torque * rms)
        lying += bool(far.any())
        scores.append((friction.torque - truth) / friction.deviations)
    reported, right, joint, false = _judged(estimator.findings(), disturbance)
    z = np.array(scores).ravel()
    return Outcome(looks, trusted, lying, reported, right, joint, false, delay, z, np.array(masses).reshape(-1, 2))


def _judged(findings: tuple[RobotFinding, ...], disturbance: Disturbance) -> tuple[str, bool | None, bool, int]:
    """Cause of the first finding about the disturbance, whether it is right and names the joint, and other findings."""
    causes, joint, from_start = disturbance.causes, disturbance.joint, disturbance.from_start
    mine = [one for one in findings if causes and (from_start or one.since / 1e9 >= CHANGE)]
    others = len(findings) - len(mine)
    if not mine:
        return NOTHING, None if causes else True, False, others
    again = [one for one in mine[1:] if one.cause not in causes and _late(one, disturbance)]
    first = mine[0]
    reported = SEVERAL if first.others else first.cause
    named = joint is None or first.joints == (f"joint{joint + 1}",) or f"joint{joint + 1}" in first.joints[:1]
    return reported, reported in causes, named, others + len(again)


def _late(finding: RobotFinding, disturbance: Disturbance) -> bool:
    """Whether a finding comes so long after the disturbance, or before its end, that it is a false one."""
    carried = disturbance.carried
    ends = CHANGE if carried is None else carried[1]
    return not 0.0 <= finding.since / 1e9 - ends < EXCUSED


ROWS: Final[Mapping[str, str]] = {name: (make.__doc__ or "").strip() for name, make in DISTURBANCES.items()}
