"""A robot of three joints, one of them a slide, and recordings of it with a known truth."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from estimators.models.friction import AnyFriction
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.inertia import parameters_of, pseudo_inertia
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.motion import Piece, pieces
from estimators.quantities import Floats

LINKS: dict[str, dict[str, Any]] = {
    "turn": {"alpha": 0.0, "d": 0.4, "mass": 6.0, "centre": (0.02, 0.01, 0.1)},
    "lift": {"alpha": -90.0, "a": 0.2, "mass": 4.0, "centre": (0.25, 0.0, 0.03)},
    "slide": {"kind": "prismatic", "alpha": 90.0, "a": 0.1, "mass": 3.0, "centre": (0.02, 0.03, 0.2)},
}
BODY = {"inertia": (0.09, 0.08, 0.06, 0.004, 0.002, -0.003)}


def table(**more: Any) -> DhTable:
    joints = {name: row | BODY | more.get(name, {}) for name, row in LINKS.items()}
    return DhTable.model_validate({"name": "test", "convention": "modified", "angles": "deg", "joints": joints})


class Truth:
    """Links 10–20 % off the description's, friction of a law."""

    def __init__(
        self, law: AnyFriction | None = None, phi: Floats | None = None, described: DhTable | None = None
    ) -> None:
        self.robot = (described or table()).robot()
        n = len(self.robot.joints)
        self.model = WholeRobot(self.robot, None if law is None else (law,) * n)
        change = np.diag([1.08, 0.95, 1.05, 1.07])
        self.parameters = np.array(
            [parameters_of(change @ pseudo_inertia(one) @ change) for one in self.robot.parameters]
        )
        each = np.array([3.0, 2.0, 0.5]) if phi is None else phi  # viscous, coulomb, offset
        self.phi = np.resize(np.tile(each, n), len(self.model.terms))
        self.base = self.model.projection.G @ self.parameters.ravel()

    @property
    def theta(self) -> Floats:
        return np.concatenate([self.base, self.phi])

    def motion(self, seed: int, seconds: float = 20.0, rate: float = 200.0) -> tuple[Floats, Floats, Floats]:
        """Time, position, torque without noise; five harmonics of 0.1 Hz."""
        random = np.random.default_rng(seed)
        time = np.arange(int(seconds * rate)) / rate
        q = np.zeros((3, len(time), 3))
        for k in range(1, 6):
            w = 2 * np.pi * 0.1 * k
            a, phase = random.uniform(0.1, 0.5, 3) / k, random.uniform(0, 2 * np.pi, 3)
            wave = w * time[:, None] + phase
            q += np.array([a * np.sin(wave), a * w * np.cos(wave), -a * w**2 * np.sin(wave)])
        tau = self.model.torque(self.parameters, *q)
        for joint, term, column in self.model.others(q[0], q[1], q[2], tau, np.full(3, np.inf)):
            tau[:, joint] += self.phi[term] * column
        return time, q[0], tau

    def pieces(self, seed: int, noise: float = 0.2, **more: float) -> list[Piece]:
        time, q, tau = self.motion(seed, **more)
        return pieces(time, q, tau + noise * np.random.default_rng(seed + 99).normal(size=tau.shape))


@pytest.fixture(scope="session")
def simulated() -> SimpleNamespace:
    return SimpleNamespace(Truth=Truth, table=table)


@pytest.fixture(scope="session")
def truth() -> Truth:
    return Truth()
