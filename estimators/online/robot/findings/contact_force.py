"""Finds the link on which a robot is touched, and the force, from the residual torque of all its joints.

    −r = J_kᵀ w + e,   w = [F, M],   F ~ N(0, s²), M ~ N(0, (s ρ_k)²),   e_j ~ N(0, σ_j² + (ε r_j)²)

A force on link k loads the joints before it and none after it. The links are compared by the likelihood of the
residual, averaged over sizes s of the force and, by ρ_k, over the places where the link may be touched. No link is
named until a force on it is likelier than none at all by odds of twenty to one: a joint that has just turned around may
hold any torque up to its friction. The force is estimated by least squares as if it acted at the link's outer end, the
next joint's origin. In directions in which it loads no joint its deviation is WIDE.

Reference: De Luca, Mattone, "Sensorless robot collision detection and hybrid force/motion control", ICRA 2005: a
contact does not load the joints after the touched link.
"""

import math
from collections import deque
from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.tree import AXIS, COSINE, FIXED, OFFSET, REVOLUTE, SINE, SLIDE, Tree
from estimators.online.robot.findings.competition import BETTER
from estimators.quantities import Floats

#: N, argued: Sizes of a force (standard deviations) that are averaged over: from a finger's push to a crash.
SIZES: Final = (3.0, 10.0, 30.0, 100.0, 300.0)
#: N, argued: Prior deviation of the force: more than an arm that works among people can bear.
WIDE: Final = 1000.0
#: m, argued: Least half length of a link: no link is thinner than a hand.
HALF: Final = 0.05
#: chunks, argued: Chunks of the contact that are averaged: a tenth of a second, the response of the low-passes.
AVERAGED: Final = 10
#: chunks, argued: Chunks between two estimates, so that a contact costs little.
EVERY: Final = 5
#: kg, argued: Mass below which a last link's centre is not used as its outer end.
WEIGHS: Final = 0.05
#: 1, argued: Relative error of the model of the contact's torque: torque constants and lengths are not known better,
#: and the usual residual, of undisturbed motion, does not show it.
BELIEVED: Final = 0.03
#: N·m (N), derived: Keeps likelihood and shares finite where a residual, or a force, is exactly zero.
NO_NOISE: Final = 1e-9


class ContactForce(NamedTuple):
    """Declares a contact: the link, and the force at its outer end, in the base frame."""

    link: int  # number of the joint that moves it
    probability: float  # that this link is touched
    point: Floats  # (3,) m
    force: Floats  # (3,) N
    deviation: Floats  # (3,) N
    evidence: float = math.inf  # nats of a force on this link compared with no force

    def words(self, names: tuple[str, ...]) -> str:
        """The contact in words, as part of a sentence. names: of the joints."""
        size = float(np.linalg.norm(self.force))
        whole = float(self.deviation.max()) < 0.5 * WIDE
        along = float(np.linalg.norm(self.force * self.deviation)) / max(size, NO_NOISE)
        force = f"{size:.2g} ± {along:.1g} N" if whole else f"at least {size:.2g} N"
        return f"it acts on the link of {names[self.link]} ({100.0 * self.probability:.0f} %), {force} at its outer end"


class ContactLocation:
    """Follows a contact from its first chunk on."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._seen = tree, 0
        self._recent: deque[tuple[Floats, Floats]] = deque(maxlen=AVERAGED)  # residual and q of each chunk
        self.found: ContactForce | None = None  # while it lasts, once a link can be named

    def skip(self, q: Floats, residual: Floats) -> None:
        """Take the mean (n,) of the residual of a chunk without a contact."""
        self._recent.append((residual, q))
        self._seen, self.found = 0, None

    def follow(self, touched: bool, q: Floats, residual: Floats, noise: Floats, last: Floats) -> None:
        """Take a chunk. touched: in contact; q, noise: (n,); residual: (rows, n); last: (10,) of the last link."""
        if not touched:
            self.skip(q, residual.mean(axis=0))
            return
        self._recent.append((residual.mean(axis=0), q))
        if self._seen % EVERY == 0:
            since = list(self._recent)[-max(1, min(self._seen, AVERAGED)) :]
            torque, place = (np.mean(one, axis=0) for one in zip(*since, strict=True))
            found = locate(self._tree, place, torque, noise, last)
            self.found = found if found.evidence > BETTER else None
        self._seen += 1


def locate(tree: Tree, q: Floats, residual: Floats, noise: Floats, last: Floats) -> ContactForce:
    """Find the link that is most likely touched, and the force, however small the evidence is.

    q, residual, noise: (n,); last: (10,) of the last link.
    """
    rotations, origins = frames(tree, q)
    n, torque, noise = len(q), -residual, np.hypot(noise, BELIEVED * residual) + NO_NOISE
    ends = np.array([_end(tree, k, q, rotations, origins, last) for k in range(n)])
    likelihood = np.empty((n, len(SIZES)))
    for k in range(n):
        half = max(0.5 * float(np.linalg.norm(ends[k] - origins[k])), HALF)
        turning, moving = jacobian(tree, k, 0.5 * (ends[k] + origins[k]), rotations, origins)
        spread = moving.T @ moving + half**2 * turning.T @ turning
        for i, size in enumerate(SIZES):
            covariance = np.diag(noise**2) + size**2 * spread
            logarithm = float(np.linalg.slogdet(covariance)[1])
            likelihood[k, i] = -0.5 * float(torque @ np.linalg.solve(covariance, torque)) - 0.5 * logarithm
    chances = np.exp(likelihood - likelihood.max()).sum(axis=1)
    link = int(np.argmax(chances))
    nothing = -0.5 * float(((torque / noise) ** 2).sum()) - float(np.log(noise).sum())
    evidence = float(likelihood.max() + np.log(chances[link] / len(SIZES))) - nothing
    _, moving = jacobian(tree, link, ends[link], rotations, origins)
    weighted = moving / noise**2
    covariance = np.asarray(np.linalg.inv(weighted @ moving.T + np.eye(3) / WIDE**2), np.float64)
    force = np.asarray(covariance @ weighted @ torque, np.float64)
    deviation = np.sqrt(np.diag(covariance))
    return ContactForce(link, float(chances[link] / chances.sum()), ends[link], force, deviation, evidence)


def frames(tree: Tree, q: Floats) -> tuple[Floats, Floats]:
    """Rotation (n, 3, 3) and origin (n, 3) of every link in the base frame."""
    rotations, origins = np.empty((len(q), 3, 3)), np.empty((len(q), 3))
    for i, row in enumerate(tree.geometry):
        turns = tree.kind[i] == REVOLUTE
        own = row[FIXED:COSINE] + (np.cos(q[i]) * row[COSINE:SINE] + np.sin(q[i]) * row[SINE:] if turns else 0.0)
        place = row[OFFSET:SLIDE] + (0.0 if turns else q[i] * row[SLIDE:FIXED])
        p = int(tree.parent[i])
        before, origin = (rotations[p], origins[p]) if p >= 0 else (np.eye(3), np.zeros(3))
        rotations[i], origins[i] = before @ own.reshape(3, 3), origin + before @ place
    return rotations, origins


def jacobian(tree: Tree, link: int, point: Floats, rotations: Floats, origins: Floats) -> tuple[Floats, Floats]:
    """J of a link, (3, n) of its turning and of the motion of one of its points (3,), all in the base frame."""
    n = len(origins)
    turning, moving = np.zeros((3, n)), np.zeros((3, n))
    i = link
    while i >= 0:
        axis = rotations[i] @ tree.geometry[i, AXIS:OFFSET]
        if tree.kind[i] == REVOLUTE:
            turning[:, i], moving[:, i] = axis, np.cross(axis, point - origins[i])
        else:
            moving[:, i] = axis
        i = int(tree.parent[i])
    return turning, moving


def _end(tree: Tree, link: int, q: Floats, rotations: Floats, origins: Floats, last: Floats) -> Floats:
    """The outer end of a link: the origin of the next joint, or the centre of mass of one that moves none."""
    others = np.flatnonzero(tree.parent == link)
    if len(others):
        return np.asarray(origins[others[0]])
    centre = last[1:4] / last[0] if link == len(q) - 1 and last[0] > WEIGHS else np.zeros(3)
    return np.asarray(origins[link] + rotations[link] @ centre)
