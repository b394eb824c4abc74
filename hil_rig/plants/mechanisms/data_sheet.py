"""The data sheet of a tree mechanism's maker as a URDF: close to the truth but never equal to it."""

from typing import Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.mechanisms.newton_euler import PlantTree

WRONG: Final = 0.15  # relative standard deviation of a mass and of an inertia from the truth
SHIFTED: Final = 0.01  # m, standard deviation of a centre of mass from the truth
TURNS: Final = 3.0  # rad in each direction
FASTEST: Final = 10.0  # rad/s
EFFORT: Final = 50.0  # N·m
KEYS: Final = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")  # as in PlantTree


def urdf(name: str, mechanism: PlantTree, upright: str = "0 0 0") -> str:
    """Return the URDF with joints joint1 …, exact lengths and axes.

    upright: roll, pitch, yaw that turn the base's axes so that z is up.
    """
    rng = np.random.default_rng(0xDA7A)
    parts = ['<?xml version="1.0"?>', f'<robot name="{name}">', '  <link name="ground"/>', '  <link name="base"/>']
    parts += ['  <joint name="stand" type="fixed">', '    <parent link="ground"/>', '    <child link="base"/>']
    parts += [f'    <origin xyz="0 0 0" rpy="{upright}"/>', "  </joint>"]
    for i, parent in enumerate(mechanism.parent):
        parts += _link(mechanism, i, rng) + _joint(mechanism, i, f"link{parent + 1}" if parent >= 0 else "base")
    return "\n".join([*parts, "</robot>"]) + "\n"


def _joint(mechanism: PlantTree, i: int, above: str) -> list[str]:
    return [
        f'  <joint name="joint{i + 1}" type="revolute">',
        f'    <parent link="{above}"/>',
        f'    <child link="link{i + 1}"/>',
        f'    <origin xyz="{_numbers(mechanism.offset[i])}" rpy="0 0 0"/>',
        f'    <axis xyz="{_numbers(mechanism.axis[i])}"/>',
        f'    <limit lower="{-TURNS:g}" upper="{TURNS:g}" velocity="{FASTEST:g}" effort="{EFFORT:g}"/>',
        "  </joint>",
    ]


def _link(mechanism: PlantTree, i: int, rng: np.random.Generator) -> list[str]:
    """Return one body with its mass, centre, and inertia about the centre, all of them inexact."""
    size = np.exp(WRONG * rng.standard_normal(2))
    exact = mechanism.inertia[i]
    inertia = size.prod() * np.where(np.arange(6) < 3, np.maximum(exact, 1e-5), exact)
    moments = " ".join(f'{key}="{value:.6g}"' for key, value in zip(KEYS, inertia, strict=True))
    return [
        f'  <link name="link{i + 1}">',
        "    <inertial>",
        f'      <origin xyz="{_numbers(mechanism.centre[i] + SHIFTED * rng.standard_normal(3))}"/>',
        f'      <mass value="{size[0] * mechanism.mass[i]:.6g}"/>',
        f"      <inertia {moments}/>",
        "    </inertial>",
        "  </link>",
    ]


def _numbers(values: Floats) -> str:
    return " ".join(f"{value:.6g}" for value in values)
