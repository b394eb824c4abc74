"""Friction from a path that is run forwards and backwards: time reversal keeps q and q̈ and turns q̇ around.

    τ_odd(t)  = [τ_f(t) − τ_r(T − t)]/2        friction that changes sign with the motion; all else cancels
    τ_even(t) = [τ_f(t) + τ_r(T − t)]/2 − Y π   what differs from one direction to the other

The odd part needs no model and no slow motion. The even part, a curve of |q̇| for each joint, and the base parameters π
are found in turns from the mean torque: the curve from what π leaves over, π by least squares from what the curve does.

After Liu et al., Actuators 2023, 12, 454, loop 1, corrected: what stands above is what is done.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import weighted
from estimators.offline.robot.motion import MotionError, Piece
from estimators.quantities import Floats

PASSES: Final = 3
SLOW: Final = 0.02  # rad/s (m/s) below which a joint's direction is not used
BINS: Final = 12  # of |q̇| in a curve, equally filled
ALIKE: Final = 0.02  # of the path's size, by which the two paths may differ (rms)


class Extracted(NamedTuple):
    """Friction along the path; rows are the forward run's."""

    time: Floats  # (rows,) s
    dq: Floats  # (rows, n)
    friction: Floats  # (rows, n) N·m (N) of the forward run; NaN where a joint hardly moves
    odd: Floats  # (rows, n)
    even: Floats  # (rows, n) the curve at |q̇|
    speeds: Floats  # (n, BINS) rad/s, of the curve
    curve: Floats  # (n, BINS) N·m
    base: Floats  # (p,) base parameters, then the rotors' inertia
    differ: float  # of the two paths, rms over the path's size


def extract(model: WholeRobot, forward: Piece, backward: Piece) -> Extracted:
    """Extract from a piece of each run, at one rate. Raises MotionError if they are not one path in two directions."""
    if abs(forward.rate - backward.rate) > 1e-3 * forward.rate:
        raise MotionError([f"expected both runs at one rate, found {forward.rate:g} and {backward.rate:g} Hz"])
    turned, tau = backward.q[::-1], backward.tau[::-1]
    shift = _shift(forward.q, turned)
    first, last = max(0, shift), min(len(forward.q), shift + len(turned))
    here, there = slice(first, last), slice(first - shift, last - shift)
    size = np.sqrt(np.mean((forward.q - forward.q.mean(axis=0)) ** 2))
    differ = float(np.sqrt(np.mean((forward.q[here] - turned[there]) ** 2)) / size)
    if last - first < forward.rate or not differ < ALIKE:
        text = (
            f"expected one path forwards and backwards, found paths that differ by {100 * differ:.1f} % of their size"
        )
        raise MotionError([text])
    at = forward.at[(forward.at >= first) & (forward.at < last - 1)].astype(np.int64)
    q, dq, ddq = (one[at] for one in (forward.q, forward.dq, forward.ddq))
    ours, theirs = forward.tau[at], tau[at - shift]
    odd, mean = (ours - theirs) / 2, (ours + theirs) / 2
    moves = np.abs(dq) > SLOW
    X = rigid_columns(model, q, dq, ddq)
    speeds, curve = np.zeros((2, dq.shape[1], BINS))
    even = np.zeros_like(odd)
    base = np.zeros(X.shape[2])
    for number in range(PASSES):
        rows = X if number else np.concatenate([X, _even_columns(dq)], axis=2)
        base = weighted(rows * moves[:, :, np.newaxis], (mean - even) * moves).theta[: X.shape[2]]
        left = mean - X @ base
        for j in range(dq.shape[1]):
            speeds[j], curve[j] = _binned(np.abs(dq[moves[:, j], j]), left[moves[:, j], j])
            even[:, j] = np.interp(np.abs(dq[:, j]), speeds[j], curve[j])
    friction = np.where(moves, odd + even, np.nan)
    time = forward.time[0] + (at - forward.at[0]) / forward.rate
    return Extracted(time, dq, friction, odd, even, speeds, curve, base, differ)


def rigid_columns(model: WholeRobot, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """Base regressor and, where torque is the motor's, the rotors': those independent of it."""
    Y = model.rigid(q, dq, ddq)
    rotors = [j for j, joint in enumerate(model.robot.joints) if joint.rotor > 0 or joint.unknown_rotor > 0]
    for j in rotors:
        column = np.zeros((*dq.shape, 1))
        column[:, j, 0] = ddq[:, j]
        flat, one = Y.reshape(-1, Y.shape[2]), column.reshape(-1)
        if np.linalg.norm(one - flat @ np.linalg.lstsq(flat, one, rcond=None)[0]) > 1e-6 * np.linalg.norm(one):
            Y = np.concatenate([Y, column], axis=2)
    return Y


def _even_columns(dq: Floats) -> Floats:
    """Friction columns of the first pass: a step and a slope in |q̇| for each joint."""
    n = dq.shape[1]
    found = np.zeros((len(dq), n, 2 * n))
    for j in range(n):
        found[:, j, 2 * j] = 1.0
        found[:, j, 2 * j + 1] = np.abs(dq[:, j])
    return found


def _binned(speed: Floats, torque: Floats) -> tuple[Floats, Floats]:
    """Means of equally many samples each, by rising speed."""
    if len(speed) < BINS:
        return np.linspace(0.0, 1.0, BINS), np.zeros(BINS)
    order = np.array_split(np.argsort(speed), BINS)
    return np.array([speed[one].mean() for one in order]), np.array([torque[one].mean() for one in order])


def _shift(path: Floats, other: Floats) -> int:
    """How many samples the other starts after this one: where their correlation over all joints is largest."""
    from scipy.signal import fftconvolve  # see estimators/numerics/splines.py

    size = np.maximum(path.std(axis=0), 1e-12)
    a, b = (path - path.mean(axis=0)) / size, (other - path.mean(axis=0)) / size
    product = fftconvolve(a, b[::-1], axes=0).sum(axis=1)
    squares = fftconvolve(np.ones(len(a)), (b[::-1] ** 2).sum(axis=1)) + fftconvolve(
        (a**2).sum(axis=1), np.ones(len(b))
    )
    count = fftconvolve(np.ones(len(a)), np.ones(len(b)))
    apart = np.where(count > 0.5 * min(len(a), len(b)), (squares - 2 * product) / np.maximum(count, 1.0), np.inf)
    return int(np.argmin(apart)) - (len(b) - 1)
