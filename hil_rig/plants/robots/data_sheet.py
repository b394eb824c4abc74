"""The data sheet of an arm's maker as a URDF: like real ones, it is close to the truth but never equal to it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.robots.fourier import MotionLimits

WRONG: Final = 0.15  # relative standard deviation of a mass and of an inertia from the truth
SHIFTED: Final = 0.01  # m, standard deviation of a centre of mass from the truth


class DataSheet(NamedTuple):
    """A serial arm of revolute joints, with exact lengths and approximate bodies."""

    name: str
    rows: Floats  # (n, 4) α, a, d, offset (Craig)
    links: Floats  # (n, LINK), the true parameters
    limits: MotionLimits
    effort: Sequence[float]  # N·m

    def urdf(self) -> str:
        """Return the file's text, with joints joint1 … in a chain."""
        rng = np.random.default_rng(0xDA7A)
        parts = ['<?xml version="1.0"?>', f'<robot name="{self.name}">', '  <link name="base"/>']
        for node, (row, link) in enumerate(zip(self.rows, self.links, strict=True), 1):
            parts += _link(node, link, rng) + self._joint(node, row)
        return "\n".join([*parts, "</robot>"]) + "\n"

    def _joint(self, node: int, row: Floats) -> list[str]:
        alpha, a, d, offset = row
        # Rx(α) Rz(offset) as roll, pitch, yaw about fixed axes
        ca, sa, co, so = np.cos(alpha), np.sin(alpha), np.cos(offset), np.sin(offset)
        roll, pitch, yaw = np.arctan2(sa * co, ca), -np.arcsin(sa * so), np.arctan2(ca * so, co)
        j = node - 1
        upper, velocity, effort = self.limits.position[j], self.limits.velocity[j], self.effort[j]
        return [
            f'  <joint name="joint{node}" type="revolute">',
            f'    <parent link="{f"link{j}" if j else "base"}"/>',
            f'    <child link="link{node}"/>',
            f'    <origin xyz="{a:.6g} {-sa * d:.6g} {ca * d:.6g}" rpy="{roll:.9g} {pitch:.9g} {yaw:.9g}"/>',
            '    <axis xyz="0 0 1"/>',
            f'    <limit lower="{-upper:.6g}" upper="{upper:.6g}" velocity="{velocity:.6g}" effort="{effort:g}"/>',
            "  </joint>",
        ]


def _link(node: int, link: Floats, rng: np.random.Generator) -> list[str]:
    """Return one body with its mass, centre, and inertia about the centre, all of them inexact."""
    mass, centre = link[9], link[6:9] / link[9]
    about = np.empty((3, 3))
    about[np.triu_indices(3)] = link[:6]
    about = np.triu(about) + np.triu(about, 1).T - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    size = np.exp(WRONG * rng.standard_normal(2))
    x, y, z = centre + SHIFTED * rng.standard_normal(3)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    inertia = " ".join(
        f'{key}="{value:.6g}"' for key, value in zip(keys, size.prod() * about[np.triu_indices(3)], strict=True)
    )
    return [
        f'  <link name="link{node}">',
        "    <inertial>",
        f'      <origin xyz="{x:.6g} {y:.6g} {z:.6g}"/>',
        f'      <mass value="{size[0] * mass:.6g}"/>',
        f"      <inertia {inertia}/>",
        "    </inertial>",
        "  </link>",
    ]
