"""Trials of contacts: pushes on links of random arms, as the live estimator and a momentum observer detect them.

A push is a constant force for PUSHED s in a random direction. It loads the most loaded joint with 4 to 8 times its
Coulomb friction. Pushes act alternately at the outer end of a link, where the force is judged, and at its middle, where
the link is judged: its outer end belongs to the next link as well. Both detectors use the same model of the arm, the
same rule (beyond 1.5 times the largest value of the start for 30 ms) and the same bandwidth of 10 Hz. The observer
names the last joint beyond its threshold, as De Luca and Mattone do, and fits its force by least squares at that link's
end.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.estimator import RobotEstimator
from hil_rig.plants.base import Floats, Jump
from hil_rig.truth.robots.momentum_observer import observed
from hil_rig.truth.robots.random_arm import RATE, ArmInMotion, DrawnArm, draw, identified

BEGIN: Final = 26  # s after which every start is over
EVERY: Final = 4.0  # s from one push to the next
PUSHED: Final = 0.5  # s
FIRM: Final = (4.0, 8.0)  # times the Coulomb friction of the joint that is loaded most
STEP: Final = 0.01  # s for which a push's joint torques are held constant
AFTER: Final = 3.0  # s after a push in which a contact is attributed to it
SETTLED: Final = 0.4  # s after a push begins at which link and force are judged
MARGIN: Final = 1.5  # threshold over the largest value of the start
LASTING: Final = 0.03  # s beyond the threshold until a contact is declared
SEED: Final = 53
TELLABLE: Final = (
    0.02  # m, of the smallest singular value of a link's J: below it the joints do not determine its force
)


class ContactPush(NamedTuple):
    """The truth of one push."""

    at: float  # s
    link: int
    force: Floats  # (3,) N, base frame
    outer: bool  # whether it acts at the link's outer end, not at its middle
    own: float  # load of the link's joint over its Coulomb friction: at 0 the link cannot be told from the one before


class DetectedPush(NamedTuple):
    """One detector's result for one push."""

    delay: float  # s; infinite if the push is missed
    link: int | None  # the link that the detector names SETTLED s after the onset
    error: float  # N, error of the force; NaN if the link is wrong or the joints do not determine the force
    size: float  # N, magnitude of the push
    z: Floats  # (3,) error of the force over its deviation; NaN if no force is stated


class ContactOutcome(NamedTuple):
    """The result of one trial."""

    ours: list[tuple[ContactPush, DetectedPush]]
    observer: list[tuple[ContactPush, DetectedPush]]
    false: tuple[int, int]  # false contacts of the live estimator, of the observer
    quiet: float  # s without a push


def ends(arm: DrawnArm, q: Floats) -> tuple[Floats, Floats, Floats]:
    """Axes (n, 3), origins (n, 3) and outer ends (n, 3) of the links at q (n,), in the base frame."""
    T, axes, origins = np.eye(4), [], []
    for (alpha, a, d, offset), angle in zip(arm.rows, q, strict=True):
        c, s, ca, sa = np.cos(angle + offset), np.sin(angle + offset), np.cos(alpha), np.sin(alpha)
        T = T @ np.array([[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]])
        axes.append(T[:3, 2])
        origins.append(T[:3, 3])
    last = T[:3, :3] @ arm.links[-1, 6:9] / arm.links[-1, 9] + T[:3, 3]
    return np.array(axes), np.array(origins), np.array([*origins[1:], last])


def lever(arm: DrawnArm, q: Floats, link: int, outer: bool = True) -> Floats:
    """The Jacobian J (3, n) of a link's outer end, or of its middle."""
    axes, origins, points = ends(arm, q)
    J, point = np.zeros((3, arm.axes)), points[link] if outer else 0.5 * (origins[link] + points[link])
    J[:, : link + 1] = np.cross(axes[: link + 1], point - origins[: link + 1]).T
    return J


def pushes(
    arm: DrawnArm, moves: ArmInMotion, count: int, rng: np.random.Generator
) -> tuple[list[ContactPush], list[Jump]]:
    """Draw random pushes. Returns them, and their joint torques as jumps of the simulation."""
    found, jumps = list[ContactPush](), list[Jump]()
    steps = np.arange(0.0, PUSHED, STEP)
    for k in range(count):
        at, link = BEGIN + EVERY * k, int(rng.integers(1, arm.axes))
        q, outer = moves.reference_at(at + steps), k % 2 == 0
        direction = rng.normal(size=3)
        loads = np.abs(direction @ lever(arm, q[0], link, outer)) / arm.friction["coulomb"]
        factor = rng.uniform(*FIRM) / loads.max()
        force = factor * direction
        found.append(ContactPush(at, link, force, outer, factor * float(loads[link])))
        for when, place in zip(at + steps, q, strict=True):
            torque = force @ lever(arm, place, link, outer)
            jumps += [Jump(when, f"joint{j + 1}.push", torque[j], True) for j in range(arm.axes)]
        jumps += [Jump(at + PUSHED, f"joint{j + 1}.push", 0.0, True) for j in range(arm.axes)]
    return found, jumps


def run(seed: int, count: int, quiet: int) -> ContactOutcome:
    """Run one arm. count: number of pushes; quiet: s without a push after them."""
    arm, rng = draw(seed), np.random.default_rng([seed, SEED])
    found, jumps = pushes(arm, ArmInMotion(arm, seed, 2 * seed + 2), count, rng)
    moves = ArmInMotion(arm, seed, 2 * seed + 2, jumps)
    model = identified(arm, seed)
    seconds = round(BEGIN + EVERY * count) + quiet
    parts = [moves.take(1) for _ in range(seconds)]
    q, torque = (np.concatenate([one[k] for one in parts]) for k in (0, 1))
    alone, events = _ours(model, q, torque, found, arm)
    r = observed(model, q, torque, 1.0 / RATE)
    beyond = _beyond(r)
    beside = [(push, _observer(push, r, beyond, q, arm)) for push in found]
    times = np.flatnonzero(np.diff(beyond.any(axis=1).astype(int)) > 0) / RATE
    starts = times[np.diff(times, prepend=-np.inf) > AFTER]
    false = tuple(sum(at > BEGIN and not _belongs(at, found) for at in some) for some in (events, starts))
    return ContactOutcome(alone, beside, (false[0], false[1]), seconds - BEGIN - count * (PUSHED + AFTER))


def _belongs(at: float, found: list[ContactPush]) -> bool:
    return any(0.0 <= at - push.at < PUSHED + AFTER for push in found)


def _ours(
    model: IdentifiedRobot, q: Floats, torque: Floats, found: list[ContactPush], arm: DrawnArm
) -> tuple[list[tuple[ContactPush, DetectedPush]], list[float]]:
    """The live estimator's result for each push, and the times (s) of its contacts."""
    estimator = RobotEstimator(model, 1.0 / RATE)
    events, states, size = list[float](), {}, round(0.05 * RATE)
    due = {round((push.at + SETTLED) * RATE) // size * size: push for push in found}
    for first in range(0, len(q), size):
        rows = slice(first, first + size)
        estimator.absorb(1_000_000_000 // RATE * (1 + first + np.arange(size)), q[rows], torque[rows])
        events += [one.time / 1e9 for one in estimator.events() if one.kind == "contact"]
        if first in due:
            states[due[first].at] = estimator.estimate().touch
    detected = []
    for push in found:
        delay = next((at - push.at for at in events if 0.0 <= at - push.at < PUSHED + 0.1), np.inf)
        touch, error, z = states[push.at], np.nan, np.full(3, np.nan)
        tells = _tells(arm, q[round(push.at * RATE)], push.link)
        if touch is not None and touch.link == push.link and push.outer and tells:
            error, z = float(np.linalg.norm(touch.force - push.force)), (touch.force - push.force) / touch.deviation
        link = None if touch is None else touch.link
        detected.append((push, DetectedPush(delay, link, error, float(np.linalg.norm(push.force)), z)))
    return detected, events


def _tells(arm: DrawnArm, q: Floats, link: int) -> bool:
    """Whether the joints before a link determine all three components of a force on it."""
    return link >= 2 and float(np.linalg.svd(lever(arm, q, link))[1][2]) > TELLABLE


def _beyond(r: Floats) -> NDArray[np.bool_]:
    """Whether the observer has been beyond its thresholds for LASTING, (rows, n)."""
    limits = MARGIN * np.abs(r[RATE : BEGIN * RATE]).max(axis=0)
    over, rows = np.abs(r) > limits, round(LASTING * RATE)
    counts = np.cumsum(over, axis=0)
    lasting = np.zeros(over.shape, np.bool_)
    lasting[rows:] = counts[rows:] - counts[:-rows] == rows
    return lasting


def _observer(push: ContactPush, r: Floats, beyond: NDArray[np.bool_], q: Floats, arm: DrawnArm) -> DetectedPush:
    first, at = round(push.at * RATE), round((push.at + SETTLED) * RATE)
    size = float(np.linalg.norm(push.force))
    rows = np.flatnonzero(beyond[first : first + round((PUSHED + 0.1) * RATE)].any(axis=1))
    if not len(rows):
        return DetectedPush(np.inf, None, np.nan, size, np.full(3, np.nan))
    joints = np.flatnonzero(beyond[first:at].any(axis=0))
    link, error = int(joints[-1]) if len(joints) else None, np.nan
    if link == push.link and push.outer and _tells(arm, q[first], link):
        lately = np.arange(at - round(0.1 * RATE), at, 5)
        stacked = np.concatenate([lever(arm, q[row], link).T for row in lately])
        force = np.linalg.lstsq(stacked, r[lately].ravel())[0]
        error = float(np.linalg.norm(force - push.force))
    return DetectedPush(rows[0] / RATE, link, error, size, np.full(3, np.nan))
