"""A whole robot compared with its truth: seven axes, identified from one motion, learning live on another.

The friction torque of each joint at two speeds is judged, by which its drift is judged as well. The arm is that of
plants/robots/lwr4.py; without the bend of its friction the law of the model is right.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from daq.state.baselines import JUDGED
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.files.urdf import read_urdf
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.online.robot.estimator import RobotEstimator
from hil_rig.plants.base import Floats, Jump
from hil_rig.plants.robots import lwr4
from hil_rig.plants.robots.fourier import FourierMotion
from hil_rig.plants.robots.rigid_arm import SMOOTH, TORQUE, RigidArm
from hil_rig.truth.trial import EXCUSED, UNSEEN, TrialOutcome

RATE: Final = 500  # Hz
LEARNT: Final = 40  # s of motion from which it is identified
SECONDS: Final = 150
BITS: Final = 20
CHANGE: Final = 40.0  # s


def whole(
    seed: int, *jumps: tuple[str, float, bool], bits: int = BITS, bend: float = 0.0
) -> Callable[[], TrialOutcome]:
    """A trial of the robot.

    jumps: changes of the arm while it learns live: name, factor or value, and whether it is a value; bits: of its
    encoders; bend: share of lwr4's bend, with which friction does not follow the law of the model.
    """
    return partial(_run, seed, tuple(Jump(CHANGE, *jump) for jump in jumps), bits, bend)


class _Arm(RigidArm):
    """The arm, its sensors, and the truth."""

    def __init__(self, seed: int, draw: int, jumps: tuple[Jump, ...], bits: int, bend: float) -> None:
        """Make the arm; draw: number of the random motion."""
        friction = lwr4.FRICTION | {"bend": tuple(bend * one for one in lwr4.FRICTION["bend"])}
        motion = FourierMotion(frequency=0.1, draw=draw).series(lwr4.LIMITS)
        super().__init__(lwr4.ROWS, lwr4.links(), friction, motion, RATE, 40.0, jumps, lwr4.ROTORS)
        self._bits = bits
        self._rng = np.random.default_rng([seed, draw, 16])

    def take(self, seconds: int) -> tuple[Floats, Floats]:
        """Return the next positions (rad) and torques (N·m), (samples, joints)."""
        exact = self.exact(seconds * RATE)
        noise = lwr4.NOISE * self._rng.standard_normal(exact.shape[:2])
        return self.encoded(exact, self._bits), exact[:, :, TORQUE] + noise

    def friction(self, speeds: Floats) -> Floats:
        """Present friction torque at speeds (joints, k), rad/s."""
        now = self.parameters.as_dict()
        dry, viscous, bend, rate = (
            np.array([[now[f"joint{j + 1}.{name}"]] for j in range(self.joints)]) for name in FRICTION
        )
        return np.asarray(dry * np.tanh(speeds / SMOOTH) + viscous * speeds + bend * np.arctan(rate * speeds))


FRICTION: Final = ("coulomb", "viscous", "bend", "bend_rate")


def _identified(seed: int, bits: int, bend: float) -> IdentifiedRobot:
    """The arm's model, identified from another motion of the same arm."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "lwr4.urdf"
        sheet.write_text(lwr4.Lwr4Settings().data_sheet(), encoding="utf-8")
        robot = read_urdf(sheet).robot
    q, torque = _Arm(seed, 2 * seed + 1, (), bits, bend).take(LEARNT)
    time = np.arange(len(q)) / RATE
    found = identify(robot, pieces(time, q, torque), [], ()).found
    return with_live_residuals(found, [Recorded(time, q, torque)])


def _run(seed: int, jumps: tuple[Jump, ...], bits: int, bend: float) -> TrialOutcome:
    estimator = RobotEstimator(_identified(seed, bits, bend), 1.0 / RATE)
    arm = _Arm(seed, 2 * seed + 2, jumps, bits, bend)
    looks = trusted = lying = alarms = 0
    worst, worst_name, started = 0.0, "", False
    scores: list[Floats] = []
    errors: list[float] = []
    reasons: dict[tuple[str, str], int] = {}
    for second in range(SECONDS):
        q, torque = arm.take(1)
        estimator.absorb(1_000_000_000 // RATE * (1 + second * RATE + np.arange(RATE)), q, torque)
        since = min((second + 1 - jump.time for jump in jumps if second + 1 >= jump.time), default=np.inf)
        for event in estimator.events():
            started |= event.kind == "started"
            alarms += event.kind in ("contact", "friction", "payload") and since > EXCUSED
        if not started:
            continue
        looks += 1
        estimate, found = estimator.estimate(), estimator.friction()
        errors.append(float(np.linalg.norm(estimate.measured - estimate.predicted) / np.linalg.norm(estimate.measured)))
        if estimate.status not in JUDGED:
            reasons |= {one.identity: reasons.get(one.identity, 0) + 1 for one in estimate.reasons[:1]}
            continue
        z = (found.torque - arm.friction(found.speeds)) / found.deviations
        trusted += 1
        lying += np.abs(z).max() > 4.0
        if since > UNSEEN:
            scores.append(z)
        if np.abs(z).max() > worst:
            worst, worst_name = float(np.abs(z).max()), f"joint{int(np.abs(z).max(axis=1).argmax()) + 1}"
    left = float(np.median(errors)) if errors else np.nan
    return TrialOutcome(
        looks, trusted, int(lying), worst, np.array(scores).ravel(), alarms, 0, left, reasons, worst_name
    )
