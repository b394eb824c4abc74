"""Friction of a slide within a loop, from the torque of the crank that drives it, against closed forms."""

from typing import Any

import numpy as np
import pytest

from estimators.models.mechanisms.dynamics import ALL
from estimators.models.mechanisms.joint_load import RADIAL, RUB
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build
from estimators.offline.mechanism_fit import AS_THEY_ARE
from estimators.offline.mechanism_run import MechanismRun, carried, identified
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled
CRANK, ROD, MASS, GRAVITY = 0.1, 0.3, 1.5, 9.81
WHEEL, TIP, TURNS = 2e-3, 0.4, 4e-3  # kg·m² of the crank, kg and kg·m² of the rod
MU, VISCOUS, EPSILON = 0.15, 2.0, 0.01


def slider_crank() -> Mechanism:
    """The rod's mass is at the crank's tip; gravity presses the slide onto its way. No friction is known."""
    links: list[dict[str, Any]] = [
        {"name": "crank", "drive": True},
        {"name": "rod", "parent": "crank", "origin": (CRANK, 0.0, 0.0), "drive": False},
        {"name": "slide", "kind": "prismatic", "axis": (1.0, 0.0, 0.0), "origin": (CRANK + ROD, 0.0, 0.0)},
    ]
    links[0] |= {"mass": 0.5, "inertia": (WHEEL, WHEEL, WHEEL, 0.0, 0.0, 0.0)}
    links[1] |= {"mass": TIP, "inertia": (TURNS, TURNS, TURNS, 0.0, 0.0, 0.0)}
    links[2] |= {"mass": MASS, "inertia": (TURNS, TURNS, TURNS, 0.0, 0.0, 0.0), "drive": False}
    tip = {"name": "tip", "link": "rod", "point": (ROD, 0.0, 0.0), "other": "slide", "other_point": (0.0, 0.0, 0.0)}
    return build({"links": links, "cuts": [tip], "gravity": (0.0, -GRAVITY, 0.0)})


def drive(seconds: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Angle, speed and acceleration of the crank, and time."""
    t = np.arange(0.0, seconds, 0.02)
    parts = [(1.1, 0.4, 0.0), (0.7, 0.93, 1.0), (0.3, 1.7, 2.0)]
    w = [(a, 2 * np.pi * f, phase) for a, f, phase in parts]
    angle = 0.8 + sum(a * np.sin(f * t + p) for a, f, p in w)
    speed = np.sum([a * f * np.cos(f * t + p) for a, f, p in w], axis=0)
    return np.asarray(angle), speed, -np.sum([a * f**2 * np.sin(f * t + p) for a, f, p in w], axis=0), t


def truth(angle: Floats, speed: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """The crank's torque by virtual work, what presses the slide, and its friction, N·m and N."""
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(ROD**2 - (CRANK * s) ** 2)
    first = -CRANK * s - CRANK**2 * s * c / root
    curve = -CRANK * c - CRANK**2 * (c**2 - s**2) / root - CRANK**4 * (s * c) ** 2 / root**3
    v, a = first * speed, first * second + curve * speed**2
    sine, cosine = -CRANK * s / ROD, root / ROD  # of the rod's angle φ, from crank to slide
    turn, bend = -CRANK * c / root, CRANK * s / root - CRANK**3 * s * c**2 / root**3  # dφ/dθ, d²φ/dθ²
    spin = turn * second + bend * speed**2
    normal = np.full_like(v, MASS * GRAVITY)
    for _ in range(50):
        rub = MU * np.abs(normal) * np.tanh(v / EPSILON) + VISCOUS * v
        pushes = MASS * a + rub  # along the slide's way
        normal = MASS * GRAVITY - (pushes * sine - TURNS * spin / ROD) / cosine  # moments of the rod about its tip
    inertial = (WHEEL + TIP * CRANK**2) * second + TIP * GRAVITY * CRANK * c + TURNS * spin * turn
    return inertial + pushes * first, np.abs(normal), rub


def motion(mechanism: Mechanism, angle: Floats, speed: Floats, second: Floats) -> MechanismMotion:
    q, dq, ddq = np.zeros((3, len(angle), 3))
    q[:, 0], dq[:, 0], ddq[:, 0] = angle, speed, second
    return mechanism.fit(q, dq, ddq)


def test_a_slide_of_a_closed_chain_has_a_friction_of_its_own_and_the_file_that_is_written_predicts_it() -> None:
    mechanism, (*moved, t) = slider_crank(), drive(40.0)
    torque = truth(*moved)[0] + 1e-3 * np.random.default_rng(4).standard_normal(len(t))
    found = identified(mechanism, MechanismRun(motion(mechanism, *moved), torque[:, None], t, AS_THEY_ARE))
    fit = found.fit
    friction = dict(zip(fit.names, fit.friction, strict=True))
    units = dict(zip(fit.names, fit.units, strict=True))
    assert found.transition == EPSILON
    assert friction["radial joints that slide"] == pytest.approx(MU, rel=0.03)
    assert friction["viscous joints that slide"] == pytest.approx(VISCOUS, rel=0.03)
    assert (units["radial joints that slide"], units["radial joints that turn"]) == ("1", "m")
    assert (units["viscous joints that slide"], units["viscous joints that turn"]) == ("N·s/m", "N·m·s/rad")
    assert friction["radial joints that turn"] < 2e-4  # m; the pins of this plant do not rub
    own = Mechanism(found.description)
    *other, time = drive(15.0)
    expected, presses, rub = truth(*other)
    run = MechanismRun(motion(own, *other), expected[:, None], time, AS_THEY_ARE)
    predicted, solution = carried(own, run, found.transition)
    off = predicted[:, 0] - expected
    assert np.sqrt(np.mean(off**2)) < 0.02 * np.sqrt(np.mean(expected**2))
    slide = own.joints.index("slide")
    np.testing.assert_allclose(solution.loads[:, slide, RADIAL], presses, atol=0.02 * presses.max())
    np.testing.assert_allclose(solution.loads[:, slide, RUB], rub, atol=0.05 * np.abs(rub).max())
    assert run.motion.q.shape == (len(time), 3)
    assert own.inverse(run.motion, ALL).tau.shape == (len(time), 3)
