"""Seven axes like those of an LWR 4: light links, a torque sensor after every gear, dynamically coupled joints.

Lengths are published (0.3105, 0.4, 0.39, 0.078 m); links and friction are plausible, not measured. Near standstill the
friction is more nonlinear than the identified law, so its model is never exact.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, Role
from hil_rig.plants.robots.arm import ArmAxis, ArmSettings
from hil_rig.plants.robots.data_sheet import DataSheet
from hil_rig.plants.robots.dynamics import body
from hil_rig.plants.robots.fourier import FourierMotion, MotionLimits
from hil_rig.plants.robots.rigid_arm import TORQUE, RigidArm

JOINTS: Final = 7
RIGHT: Final = np.pi / 2
ROWS: Final = np.array(  # α, a, d, offset
    [
        (0.0, 0.0, 0.3105, 0.0),
        (RIGHT, 0.0, 0.0, 0.0),
        (-RIGHT, 0.0, 0.4, 0.0),
        (-RIGHT, 0.0, 0.0, 0.0),
        (RIGHT, 0.0, 0.39, 0.0),
        (RIGHT, 0.0, 0.0, 0.0),
        (-RIGHT, 0.0, 0.078, 0.0),
    ]
)
BODIES: Final = (  # mass (kg), centre (m), radii of gyration (m) about it
    (2.7, (0.002, 0.02, -0.07), (0.08, 0.08, 0.05)),
    (2.7, (0.001, 0.09, 0.03), (0.09, 0.06, 0.08)),
    (2.7, (-0.002, -0.02, -0.08), (0.08, 0.08, 0.05)),
    (2.5, (0.002, -0.09, 0.03), (0.09, 0.06, 0.08)),
    (1.8, (0.0, 0.02, -0.09), (0.08, 0.08, 0.04)),
    (1.6, (0.001, 0.005, 0.0), (0.05, 0.04, 0.05)),
    (0.5, (0.003, -0.002, 0.02), (0.04, 0.04, 0.04)),
)
FRICTION: Final = {
    "offset": (0.3, -0.4, 0.2, 0.3, -0.1, 0.1, -0.05),  # N·m
    "coulomb": (2.6, 2.8, 1.7, 1.8, 1.0, 0.8, 0.6),  # N·m
    "viscous": (2.4, 2.6, 1.5, 1.6, 0.8, 0.6, 0.5),  # N·m·s/rad
    "bend": (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.06),  # N·m
    "bend_rate": (8.0,) * JOINTS,  # s/rad
    "push": (0.0,) * JOINTS,  # N·m
}
LIMITS: Final = MotionLimits(
    np.radians((100.0, 70.0, 100.0, 90.0, 100.0, 90.0, 120.0)),
    np.radians((80.0, 70.0, 80.0, 80.0, 90.0, 90.0, 110.0)),
    np.radians((160.0, 140.0, 180.0, 180.0, 240.0, 240.0, 300.0)),
)
ROTORS: Final = np.array((1.5, 1.5, 0.8, 0.8, 0.4, 0.2, 0.2))  # kg·m², at the joint
EFFORT: Final = (176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0)  # N·m
NOISE: Final = np.array((0.15, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05))  # N·m


class Lwr4Settings(ArmSettings):
    """Settings of the arm; jumps change its friction."""

    axes: ClassVar[int] = JOINTS
    trajectory: FourierMotion = FourierMotion(frequency=0.1)
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    encoder_bits: int = Setting(default=20, ge=8, le=28, description="at the joint")
    bandwidth: float = Setting(default=40.0, gt=0, description="rad/s, of the controller")
    noise: float = Setting(default=1.0, ge=0, description="× the torque noise 0.15 … 0.05 N·m")

    def arm(self, seed: int, jumps: Sequence[Jump]) -> "Lwr4":
        """Make the simulation of the whole arm. Raises RigError."""
        return Lwr4(self, seed, jumps)

    def data_sheet(self) -> str:
        """Return a URDF with exact lengths and limits, and approximate bodies."""
        return DataSheet("lwr4", ROWS, links(), LIMITS, EFFORT).urdf()


class Lwr4(RigidArm):
    """The arm in motion."""

    def __init__(self, settings: Lwr4Settings, seed: int, jumps: Sequence[Jump]) -> None:
        series = settings.trajectory.series(LIMITS)
        super().__init__(ROWS, links(), FRICTION, series, settings.rate, settings.bandwidth, jumps, ROTORS)
        self._settings = settings
        self._rng = np.random.default_rng([seed, 0x4])

    def axis(self, node: int) -> ArmAxis:
        """Return one axis, which sends position and torque."""
        fields = (
            MessageField("position", 32, "counts", counts_per_rev=1 << self._settings.encoder_bits),
            MessageField("torque", 16, "N·m", 1e-2),
        )
        roles = {"position": Role("STATE.position"), "torque": Role("STATE.torque")}
        return ArmAxis(self, node, (Message("STATE", fields),), roles)

    def measured(self, exact: Floats) -> Floats:
        """Return position (rad) and torque (N·m)."""
        noise = self._settings.noise * NOISE * self._rng.standard_normal(exact.shape[:2])
        return np.stack((self.encoded(exact, self._settings.encoder_bits), exact[:, :, TORQUE] + noise), axis=2)


def links() -> Floats:
    """Parameters of the links, (joints, LINK)."""
    return np.array([body(mass, np.array(centre), mass * np.diag(np.square(size))) for mass, centre, size in BODIES])
