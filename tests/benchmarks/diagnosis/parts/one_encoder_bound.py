#!/usr/bin/env python3
"""What a joint without a second encoder can tell of a gap or a slack belt against the noise of its sensors.

    python tests/benchmarks/diagnosis/parts/one_encoder_bound.py [SEED]

The blind faults are played without noise, and the same joint without the fault. s, by how much the torque differs that
rigid motion of the link does not explain, is what a test can see; its noise has the covariance

    C = σ_τ² I + J² σ_q² D₂D₂ᵀ / h⁴            D₂: second differences of blocks of h seconds

The evidence that a test can expect that knows s and the healthy joint is ½ sᵀC⁻¹s; of s only what friction, inertia and
gravity cannot absorb counts. Where the joint turns nothing is counted. Printed: share of the torque, nats.
"""

import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hil_rig.faults.base import Course, Fault, play
from hil_rig.faults.blind.catalogue import BLIND_SHOWN
from hil_rig.faults.blind.joint import BlindJoint
from hil_rig.faults.rigs import RIGS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
H: Final = 0.01  # s, of a block
COURSE, END, SINCE = Course(60.0, 120.0), 120.0, 100.0  # s, as in `bench causes`; the classifier's last window
VISCOUS_HEAT: Final = 21.0  # K
FEWEST: Final = 5  # blocks of a stretch


def blocks(values: Floats, rate: float) -> Floats:
    """Means over H."""
    size = round(H * rate)
    return np.asarray(values[: len(values) // size * size].reshape(-1, size).mean(axis=1))


def left_over(torque: Floats, q: Floats, inertia: float) -> Floats:
    """Torque less what the inertia takes, of blocks (blocks, …); the first and the last have no acceleration."""
    return np.asarray(torque[1:-1] - inertia * (q[2:] - 2 * q[1:-1] + q[:-2]) / H**2)


def evidence(s: Floats, healthy: Floats, slides: Mask, torque: float, position: float, inertia: float) -> float:
    """Nats by which s (blocks,) is told from what the columns of `healthy` (blocks, columns) may absorb.

    slides: (blocks,) which count, in stretches of FEWEST at least. torque, position: variances of a block's, (N·m)² and
    rad².
    """
    of_position = inertia**2 * position / H**4
    edges, white = np.flatnonzero(np.diff(np.concatenate([[0], slides.astype(int), [0]]))), []
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if end - begin >= FEWEST:
            second = np.diff(np.eye(end - begin + 2), 2, axis=0)
            C = torque * np.eye(end - begin) + of_position * second @ second.T
            white.append(np.linalg.solve(np.linalg.cholesky(C), np.column_stack([s, healthy])[begin:end]))
    rows = np.vstack(white)
    rest = rows[:, 0] - rows[:, 1:] @ np.linalg.lstsq(rows[:, 1:], rows[:, 0])[0]
    return float(rest @ rest) / 2


def bound(rig: str, fault: Fault, seed: int) -> tuple[float, float]:
    """Share of the torque (rms) and nats."""
    settings = RIGS[rig]
    quiet = settings.model_copy(update={"noise": 0.0, "bits": 44, "two_encoders": True})
    own = BlindJoint(quiet, seed).values
    inertia, viscous = own["J_m"] + own["J_l"] + own["J_t"], own["F_v"] * np.exp(-own["heat"] / VISCOUS_HEAT)
    motions = []
    for one in (None, fault):
        values = play(quiet, one, COURSE, END, seed, BlindJoint)
        torque, q = blocks(values[:, 1], settings.rate), blocks(values[:, 2], settings.rate)
        a, v = (q[2:] - 2 * q[1:-1] + q[:-2]) / H**2, (q[2:] - q[:-2]) / (2 * H)
        left = left_over(torque, q, inertia)
        torque, q = torque[1:-1], q[1:-1]
        left -= viscous * v + own["G_s"] * np.sin(q) + own["G_c"] * np.cos(q)
        motions.append((left, q, v, a, torque))
    (before, q, v, a, torque), (after, _, other, *_) = motions
    s, slow = after - before, 0.05 * float(np.percentile(np.abs(v), 99))
    side = np.sign(v)
    healthy = np.column_stack(
        [np.ones_like(q), np.sin(q), np.cos(q), a, v, side, side * np.exp(-np.abs(v) / slow), side * np.abs(torque)]
    )
    slides = (np.minimum(np.abs(v), np.abs(other)) > slow) & (side == np.sign(other))
    slides &= (np.arange(len(s)) + 1.5) * H > SINCE
    count, step = H * settings.rate, 2 * np.pi / 2**settings.bits
    share = float(np.sqrt(np.mean(s[slides] ** 2) / np.mean(torque[slides] ** 2)))
    noises = settings.noise**2 / count, step**2 / 12 / count  # of a block
    return share, evidence(s, healthy, slides, *noises, inertia)


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 17
    for name in ("gear_gap", "belt_slack"):
        fault = next(one for one in BLIND_SHOWN if one.name == name)
        for rig in (rig for rig, one in RIGS.items() if not one.two_encoders):
            share, nats = bound(rig, fault, seed)
            print(f"{name:12}{rig:22}{100 * share:6.2f} %{nats:9.0f} nats", flush=True)
