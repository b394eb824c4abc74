"""Periodic motion of all joints: a finite Fourier series, from a file of coefficients or random.

    q(t) = q0 + Σ_l a_l/(l w) sin(l w t) − b_l/(l w) cos(l w t),   l = 1 … N          (Swevers et al. 1997)

A file is a CSV with one row for each joint and the columns frequency (Hz), q0 (rad), a1 … aN, b1 … bN (rad/s).
"""

import csv
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings, RigError
from hil_rig.plants.jit import kernel

HARMONICS: Final = 5


class FourierMotion(FrozenSettings):
    """The reference motion of the arm: that of a file, or a random one within limits."""

    file: Path | None = None
    frequency: float = Field(default=0.05, gt=0, description="Hz, of the random motion")
    draw: int = Field(default=1, description="number of the random motion, if there is no file")
    backward: bool = False  # the same path, from its end to its beginning
    pace: float = Field(default=1.0, gt=0, description="× the speed")

    def series(self, limits: "MotionLimits") -> "FourierSeries":
        """Return its coefficients. limits: of a random motion. Raises RigError."""
        found = (
            _draw(self.frequency, self.draw, limits) if self.file is None else _read(self.file, len(limits.position))
        )
        return found._replace(omega=found.omega * self.pace * (-1.0 if self.backward else 1.0), pace=self.pace)


class MotionLimits(NamedTuple):
    """Limits of every joint, (joints,) each, in rad, rad/s, rad/s²."""

    position: Floats
    velocity: Floats
    acceleration: Floats


class FourierSeries(NamedTuple):
    """Coefficients for the kernels."""

    omega: float  # rad/s; negative: backwards
    pace: float
    amplitude: Floats  # (n, 1 + 2 N): q0 in rad, then a and b divided by l·w, in rad

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Position, velocity, acceleration (rows, n)."""
        found = np.empty((3, len(times), len(self.amplitude)))
        for row, time in enumerate(times):
            reference(self.amplitude, self.omega, time, found[0, row], found[1, row], found[2, row])
        return found[0], found[1], found[2]


@kernel("void(f8[:, ::1], f8, f8, f8[:], f8[:], f8[:])")
def reference(amplitude: Floats, omega: float, t: float, q: Floats, dq: Floats, ddq: Floats) -> None:
    """Fill position, velocity and acceleration (n,) at time t (s)."""
    harmonics = (amplitude.shape[1] - 1) // 2
    for joint in range(len(amplitude)):
        q[joint], dq[joint], ddq[joint] = amplitude[joint, 0], 0.0, 0.0
    for k in range(1, harmonics + 1):
        w = k * omega
        s, c = np.sin(w * t), np.cos(w * t)
        for joint in range(len(amplitude)):
            a, b = amplitude[joint, k], amplitude[joint, harmonics + k]
            q[joint] += a * s - b * c
            dq[joint] += w * (a * c + b * s)
            ddq[joint] += w * w * (b * c - a * s)


def _draw(frequency: float, seed: int, limits: MotionLimits) -> FourierSeries:
    """Draw a series that begins at rest at q = 0 and stays within the limits."""
    rng = np.random.default_rng([seed, 0xF0])
    omega, order = 2 * np.pi * frequency, np.arange(1, HARMONICS + 1)
    joints = len(limits.position)
    a, b = rng.normal(size=(2, joints, HARMONICS))
    a -= a.mean(axis=1, keepdims=True)  # velocity 0
    b -= np.outer(b @ order, order) / (order @ order)  # acceleration 0
    amplitude = np.column_stack(((b / order).sum(axis=1) / omega, a / (order * omega), b / (order * omega)))
    moved = FourierSeries(omega, 1.0, amplitude).at(np.linspace(0.0, 1.0 / frequency, 400))
    size = np.max([np.abs(moved[k]).max(axis=0) / limits[k] for k in range(3)], axis=0)
    return FourierSeries(omega, 1.0, amplitude * (0.95 / size)[:, np.newaxis])


def _read(file: Path, joints: int) -> FourierSeries:
    try:
        with file.open(newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        harmonics = sum(name.startswith("a") and name[1:].isdigit() for name in rows[0])
        order = np.arange(1, harmonics + 1)
        names = ["q0"] + [f"{letter}{k}" for letter in "ab" for k in order]
        table = np.array([[float(row[name]) for name in names] for row in rows])
        frequencies = {float(row["frequency"]) for row in rows}
    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
        wanted = "expected a CSV with frequency, q0, a1 …, b1 … and one row for each joint"
        raise RigError(f"trajectory {file}: {wanted} ({' '.join(str(error).split())})") from error
    if len(table) != joints or len(frequencies) != 1 or not np.isfinite(table).all() or harmonics < 1:
        raise RigError(f"trajectory {file}: expected {joints} rows of numbers and one frequency")
    omega = 2 * np.pi * frequencies.pop()
    if not omega > 0:
        raise RigError(f"trajectory {file}: expected a frequency above 0")
    table[:, 1:] /= np.tile(order, 2) * omega
    return FourierSeries(omega, 1.0, table)
