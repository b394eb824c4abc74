"""The first three axes of an ER-16 with the published parameters, friction with an arctangent, and PID control.

    τ = Φ(q, q̇, q̈) θ + f0 + fc tanh(q̇/ε) + fv q̇ + fa atan(fb q̇)

Ding et al., J. Robotics 2018, 8219123, Table 3. θ are fifteen base parameters: used as standard parameters, with all
others zero, they give the same torque. The paper gives no geometry; d1 = 0.5, a1 = 0.15, a2 = 0.6 m are chosen.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, Role
from hil_rig.plants.robots.arm import ArmAxis, ArmSettings
from hil_rig.plants.robots.dynamics import LINK
from hil_rig.plants.robots.fourier import FourierMotion, MotionLimits
from hil_rig.plants.robots.rigid_arm import TORQUE, RigidArm

JOINTS: Final = 3
ROWS: Final = np.array([(0.0, 0.0, 0.5, 0.0), (-np.pi / 2, 0.15, 0.0, 0.0), (0.0, 0.6, 0.0, 0.0)])  # α, a, d, offset
FIRST: Final = 51.3846  # Izz1
SECOND: Final = (
    -24.4871,
    1.1452,
    -0.3699,
    0.0,
    0.4574,
    44.5863,
    32.1287,
    5.4040,
    0.0,
    0.0,
)  # Ixx Ixy Ixz – Iyz Izz mx my
THIRD: Final = (3.1263, 1.9361, 0.4849, 0.0, 0.6900, 11.7725, 5.1317, 10.3145, 0.0, 0.0)
FRICTION: Final = {
    "offset": (0.7044, 53.2922, -3.4499),  # f0, N·m
    "coulomb": (3.9877, -2.8909, 30.6465),  # fc, N·m
    "viscous": (8.0, -70.0174, 4.3297),  # fv, N·m·s/rad
    "bend": (32.3929, 70.0243, -2.7533),  # fa, N·m
    "bend_rate": (6.9975, 19.7363, 5.0),  # fb, s/rad
    "push": (0.0, 0.0, 0.0),  # N·m
}
LIMITS: Final = MotionLimits(  # of random motions: within the paper's Table 1 (hil_rig/papers/er16)
    np.radians((90.0, 60.0, 60.0)),
    np.radians((60.0, 50.0, 60.0)),
    np.radians((50.0, 40.0, 65.0)),  # equal to those of Table 1
)
NOISE: Final = np.array((3.0, 8.0, 4.0))  # N·m
TORQUE_CONSTANT: Final = np.array((60.0, 80.0, 50.0))  # N·m/A at the joint


class Er16Settings(ArmSettings):
    """Settings of the arm; jumps change its friction."""

    axes: ClassVar[int] = JOINTS
    trajectory: FourierMotion = FourierMotion()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    encoder_bits: int = Setting(default=24, ge=8, le=28, description="at the joint")
    bandwidth: float = Setting(default=40.0, gt=0, description="rad/s, of the controller")
    noise: float = Setting(default=1.0, ge=0, description="× the torque noise 3, 8, 4 N·m")

    def arm(self, seed: int, jumps: Sequence[Jump]) -> "Er16":
        """Make the simulation of the whole arm. Raises RigError."""
        return Er16(self, seed, jumps)


class Er16(RigidArm):
    """The arm in motion."""

    def __init__(self, settings: Er16Settings, seed: int, jumps: Sequence[Jump]) -> None:
        series = settings.trajectory.series(LIMITS)
        super().__init__(ROWS, links(), FRICTION, series, settings.rate, settings.bandwidth, jumps)
        self._settings = settings
        self._rng = np.random.default_rng([seed, 0xE16])

    def axis(self, node: int) -> ArmAxis:
        """Return one axis, which sends position and current."""
        fields = (
            MessageField("position", 32, "counts", counts_per_rev=1 << self._settings.encoder_bits),
            MessageField("current", 16, "A", 1e-3),
        )
        roles = {
            "position": Role("STATE.position"),
            "torque": Role("STATE.current", float(TORQUE_CONSTANT[node - 1])),
        }
        return ArmAxis(self, node, (Message("STATE", fields),), roles)

    def measured(self, exact: Floats) -> Floats:
        """Return position (rad) and motor current (A)."""
        noise = self._settings.noise * NOISE * self._rng.standard_normal(exact.shape[:2])
        current = (exact[:, :, TORQUE] + noise) / TORQUE_CONSTANT
        return np.stack((self.encoded(exact, self._settings.encoder_bits), current), axis=2)


def links() -> Floats:
    """The published base parameters as parameters of the links, (joints, LINK)."""
    found = np.zeros((JOINTS, LINK))
    found[0, 5] = FIRST
    found[1], found[2] = SECOND, THIRD
    return found
