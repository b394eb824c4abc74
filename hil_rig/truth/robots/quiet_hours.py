"""Hours of undisturbed random motion, in which every reported contact is false.

A random arm performs one random motion after the other: each is a Fourier series that begins and ends at rest in the
same posture, so they join without a jump, and in a share REST of them the arm stands. It is identified from another
motion. The live estimator and a momentum observer see the same rows, as in contact_trial.py, with the same rule for
their thresholds (MARGIN times the largest value of the start, for LASTING).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from estimators.online.robot.estimator import RobotEstimator
from hil_rig.plants.base import Floats
from hil_rig.plants.robots.fourier import FourierMotion
from hil_rig.truth.robots.contact_trial import AFTER, BEGIN, LASTING, MARGIN
from hil_rig.truth.robots.momentum_observer import observed
from hil_rig.truth.robots.random_arm import RATE, ArmInMotion, DrawnArm, draw, identified

REST: Final = 0.125  # share of the motions in which the arm stands
PART: Final = 300.0  # s, about, that the observer processes at once
LEAD: Final = 2.0  # s of the previous part, in which its filters settle
SIZE: Final = 25  # rows that the estimator gets at once
SEED: Final = 59


class QuietHours(NamedTuple):
    """The reports of two detectors about an arm that nobody touches."""

    axes: int
    hours: float
    ours: list[float]  # s at which the live estimator has reported a contact
    observer: list[float]  # s at which the observer has reported one; reports within AFTER of each other count once
    others: dict[str, int]  # kind of any other event of the live estimator → how many
    valid: float  # share of the parts at whose end its values were valid


def undisturbed(seed: int, hours: float) -> QuietHours:
    """Let the arm of a seed move for this many hours."""
    drawn = draw(seed)
    arm = drawn._replace(frequency=1.0 / round(1.0 / drawn.frequency))  # whole seconds, so that motions join
    model = identified(arm, seed)
    estimator, ours, others = RobotEstimator(model, 1.0 / RATE), list[float](), dict[str, int]()
    times, limits, lead, rows, valid, looks = list[float](), np.zeros(0), np.zeros((2, 0, arm.axes)), 0, 0, 0
    for part in _parts(arm, seed, hours):
        q, torque = part
        for first in range(0, len(q), SIZE):
            at = slice(first, first + SIZE)
            ticks = 1_000_000_000 // RATE * (1 + rows + first + np.arange(len(q[at])))
            estimator.absorb(ticks, q[at], torque[at])
        for event in estimator.events():
            if event.kind == "contact":
                ours.append(event.time / 1e9)
            else:
                others[event.kind] = others.get(event.kind, 0) + 1
        looks, valid = looks + 1, valid + (estimator.estimate().status == "valid")
        seen = np.concatenate([lead, part], axis=1)
        r = np.abs(observed(model, seen[0], seen[1], 1.0 / RATE)[lead.shape[1] :])
        if not len(limits):
            limits = MARGIN * r[RATE : BEGIN * RATE].max(axis=0)
            r[: BEGIN * RATE] = 0.0
        times += [(rows + one) / RATE for one in _begins(r > limits)]
        lead, rows = seen[:, -round(LEAD * RATE) :], rows + len(q)
    apart = [one for one, before in zip(times, [-np.inf, *times], strict=False) if one - before > AFTER]
    return QuietHours(arm.axes, rows / RATE / 3600.0, ours, apart, others, valid / looks)


def _parts(arm: DrawnArm, seed: int, hours: float) -> Iterator[Floats]:
    """Yield positions and torques (2, rows, joints), part by part."""
    random, period = np.random.default_rng([seed, SEED]), round(1.0 / arm.frequency)
    moves = ArmInMotion(arm, seed, 2 * seed + 2)
    left = round(3600.0 * hours)
    while left > 0:
        taken = []
        for _ in range(round(PART / period)):
            taken.append(moves.take(period))
            motion = FourierMotion(frequency=arm.frequency, draw=int(random.integers(1 << 31))).series(arm.limits)
            rests = random.uniform() < REST
            moves.series = motion._replace(amplitude=motion.amplitude * (0.0 if rests else random.uniform(0.3, 1.0)))
        left -= period * len(taken)
        yield np.array([np.concatenate(one) for one in zip(*taken, strict=True)])


def _begins(over: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> list[int]:
    """Rows at which some joint has been beyond its threshold for LASTING."""
    rows = round(LASTING * RATE)
    counts = np.cumsum(np.concatenate([np.zeros((1, over.shape[1]), np.int64), over]), axis=0)
    lasting = (counts[rows:] - counts[:-rows] == rows).any(axis=1)
    return (np.flatnonzero(np.diff(lasting.astype(int), prepend=0) > 0) + rows - 1).tolist()
