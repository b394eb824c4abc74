"""Random arms of four to seven axes, their data sheets, motions, and identification from a recording."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.files.urdf import read_urdf
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from hil_rig.plants.base import Floats, Jump
from hil_rig.plants.robots.data_sheet import DataSheet
from hil_rig.plants.robots.dynamics import body
from hil_rig.plants.robots.fourier import FourierMotion, MotionLimits
from hil_rig.plants.robots.rigid_arm import SMOOTH, TORQUE, RigidArm

RATE: Final = 500  # Hz
LEARNT: Final = 40  # s of motion from which an arm is identified
AXES: Final = (4, 5, 6, 7)
BITS: Final = (16, 17, 18, 19, 20)
RIGHT: Final = np.pi / 2
BANDWIDTH: Final = 40.0  # rad/s, of the controller
NOISE: Final = 0.001  # of a joint's maximum torque, standard deviation of a sample
SEED: Final = 31  # of all random draws of this file


class DrawnArm(NamedTuple):
    """The true properties of a random arm."""

    rows: Floats  # (n, 4) α, a, d, offset
    links: Floats  # (n, LINK)
    friction: dict[str, Floats]  # FRICTION of rigid_arm.py → (n,)
    rotors: Floats  # (n,) kg·m², at the joint
    limits: MotionLimits
    effort: Floats  # (n,) N·m
    bits: int  # of its encoders
    frequency: float  # Hz, of its motions

    @property
    def axes(self) -> int:
        """The number of joints."""
        return len(self.rows)

    def sheet(self) -> str:
        """Return its data sheet as a URDF: lengths are exact, bodies approximate."""
        return DataSheet("drawn", self.rows, self.links, self.limits, self.effort.tolist()).urdf()


def draw(seed: int) -> DrawnArm:
    """Draw the arm of a seed; its axes are alternately along and across the arm, as usual."""
    rng = np.random.default_rng([seed, SEED])
    n = int(rng.choice(AXES))
    size = rng.uniform(0.7, 1.3)
    alpha = np.array([0.0, *(RIGHT * rng.choice((-1.0, 1.0)) for _ in range(n - 1))])
    depth = size * np.where(np.arange(n) % 2 == 0, rng.uniform(0.1, 0.4, n), rng.uniform(-0.05, 0.05, n))
    length = size * np.where(np.arange(n) % 2 == 0, 0.0, rng.uniform(0.0, 0.15, n))
    rows = np.column_stack((alpha, length, depth, np.zeros(n)))
    masses = size**2 * np.linspace(5.0, 1.5, n) * rng.uniform(0.7, 1.3, n)
    centres = [np.array([*rng.uniform(-0.03, 0.03, 2), 0.5 * after]) for after in [*depth[1:], 0.06]]
    sizes = rng.uniform(0.05, 0.1, (n, 3))
    links = np.array(
        [body(m, centre, m * np.diag(one**2)) for m, centre, one in zip(masses, centres, sizes, strict=True)]
    )
    strength = size**3 * np.geomspace(2.8, 0.7, n)
    friction = {
        "offset": strength * rng.uniform(-0.15, 0.15, n),
        "coulomb": strength * rng.uniform(0.6, 1.4, n),
        "viscous": strength * rng.uniform(0.5, 1.3, n),
        "bend": np.zeros(n),
        "bend_rate": np.full(n, 8.0),
        "push": np.zeros(n),
    }
    limits = MotionLimits(
        np.radians(rng.uniform(60.0, 110.0, n)),
        np.radians(rng.uniform(60.0, 110.0, n)),
        np.radians(rng.uniform(140.0, 280.0, n)),
    )
    rotors = size**2 * np.geomspace(1.5, 0.2, n)
    effort = 60.0 * strength
    return DrawnArm(
        rows, links, friction, rotors, limits, effort, int(rng.choice(BITS)), float(rng.uniform(0.07, 0.13))
    )


class ArmInMotion(RigidArm):
    """The arm in one motion, with its sensors."""

    def __init__(self, arm: DrawnArm, seed: int, motion: int, jumps: Sequence[Jump] = ()) -> None:
        """Make the arm; motion: number of the random motion."""
        series = FourierMotion(frequency=arm.frequency, draw=motion).series(arm.limits)
        friction = {name: one.tolist() for name, one in arm.friction.items()}
        super().__init__(arm.rows, arm.links, friction, series, RATE, BANDWIDTH, jumps, arm.rotors)
        self._bits, self._noise = arm.bits, NOISE * arm.effort
        self._rng = np.random.default_rng([seed, motion, SEED])

    def take(self, seconds: int) -> tuple[Floats, Floats]:
        """Return the next positions (rad) and torques (N·m), (samples, joints)."""
        exact = self.exact(seconds * RATE)
        noise = self._noise * self._rng.standard_normal(exact.shape[:2])
        return self.encoded(exact, self._bits), exact[:, :, TORQUE] + noise

    def reference_at(self, times: Floats) -> Floats:
        """Reference positions of the controller (times, joints), rad."""
        return self.series.at(times)[0]

    def friction_at(self, speeds: Floats) -> Floats:
        """Present friction torque without the offset at speeds (joints, k), rad/s."""
        now = self.parameters.as_dict()
        dry, viscous = (
            np.array([[now[f"joint{j + 1}.{name}"]] for j in range(self.joints)]) for name in ("coulomb", "viscous")
        )
        return np.asarray(dry * np.tanh(speeds / SMOOTH) + viscous * speeds)


def identified(arm: DrawnArm, seed: int) -> IdentifiedRobot:
    """Identify the arm as `jointwatch identify` does, from another motion than the one that is watched."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "drawn.urdf"
        sheet.write_text(arm.sheet(), encoding="utf-8")
        robot = read_urdf(sheet).robot
    q, torque = ArmInMotion(arm, seed, 2 * seed + 1).take(LEARNT)
    time = np.arange(len(q)) / RATE
    found = identify(robot, pieces(time, q, torque), [], ()).found
    return with_live_residuals(found, [Recorded(time, q, torque)])
