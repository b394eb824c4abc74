"""A crank that drives a slide through a rod, against closed forms: a joint that slides within a loop."""

from typing import Any

import numpy as np
import pytest

from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
CRANK, ROD, MASS, WEIGHT = 0.05, 0.14, 1.7, 4.0  # m, m, kg, m/s² along the slide
ANGLE, SPEED, SECOND = np.array([0.2, 0.9, 1.8, 2.7]), 3.0, -5.0


def slide(angle: Floats) -> tuple[Floats, Floats, Floats]:
    """Place of the slide by the crank's angle, from where the crank is at zero; its first and second derivative."""
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(ROD**2 - (CRANK * s) ** 2)
    first = -CRANK * s - CRANK**2 * s * c / root
    second = -CRANK * c - CRANK**2 * (c**2 - s**2) / root - CRANK**4 * (s * c) ** 2 / root**3
    return CRANK * c + root - CRANK - ROD, first, second


def slider_crank(turned: bool) -> Mechanism:
    """The rod hangs on the slide and is pinned to the crank; only the slide has a mass."""
    links: list[dict[str, Any]] = [
        {"name": "crank", "drive": True},
        {"name": "slide", "kind": "prismatic", "axis": (1.0, 0.0, 0.0), "origin": (CRANK + ROD, 0.0, 0.0)},
        {"name": "rod", "parent": "slide"},
    ]
    links[1] |= {"mass": MASS, "drive": False}
    links[2]["drive"] = False
    (one, here), (other, there) = [("crank", (CRANK, 0.0, 0.0)), ("rod", (-ROD, 0.0, 0.0))][:: -1 if turned else 1]
    pin = {"name": "pin", "link": one, "point": here, "other": other, "other_point": there}
    return build({"links": links, "cuts": [pin], "gravity": (-WEIGHT, 0.0, 0.0)})


def moved(mechanism: Mechanism) -> MechanismMotion:
    q, dq, ddq = np.zeros((3, len(ANGLE), 3))
    q[:, 0], dq[:, 0], ddq[:, 0] = ANGLE, SPEED, SECOND
    return mechanism.fit(q, dq, ddq)


@pytest.mark.parametrize("turned", [False, True])
def test_the_slide_moves_as_the_crank_and_the_rod_make_it(turned: bool) -> None:
    q, dq, ddq = moved(slider_crank(turned))
    place, first, second = slide(ANGLE)
    np.testing.assert_allclose(q[:, 1], place, atol=1e-11)
    np.testing.assert_allclose(dq[:, 1], first * SPEED, atol=1e-11)
    np.testing.assert_allclose(ddq[:, 1], first * SECOND + second * SPEED**2, atol=1e-10)
    np.testing.assert_allclose(ROD * np.sin(q[:, 2]), -CRANK * np.sin(ANGLE), atol=1e-11)


@pytest.mark.parametrize("turned", [False, True])
def test_the_crank_carries_what_the_slide_weighs_and_how_it_speeds_up(turned: bool) -> None:
    """By virtual work; and forward dynamics are inverse dynamics turned round."""
    mechanism = slider_crank(turned)
    motion = moved(mechanism)
    place, first, second = slide(ANGLE)
    tau = MASS * (first * SECOND + second * SPEED**2 + WEIGHT) * first
    solution = mechanism.ideal(motion)
    np.testing.assert_allclose(solution.tau[:, 0], tau, rtol=1e-9)
    assert not solution.tau[:, 1:].any()
    energy = mechanism.energy(motion)
    expected = 0.5 * MASS * (first * SPEED) ** 2 + MASS * WEIGHT * place
    np.testing.assert_allclose(energy - energy[0], expected - expected[0], atol=1e-12)
    again = mechanism.forward(motion.q, motion.dq, solution.tau)
    np.testing.assert_allclose(again.ddq, motion.ddq, rtol=1e-7)


@pytest.mark.parametrize("turned", [False, True])
def test_a_slide_turns_no_joint_and_moves_its_end_along_itself(turned: bool) -> None:
    mechanism = slider_crank(turned)
    J, turns = mechanism.loops(moved(mechanism).q)
    sign = -1.0 if turned else 1.0  # of the crank's end less the rod's, or the other way round
    np.testing.assert_allclose(turns[:, 0], np.tile([sign, 0.0, -sign], (len(ANGLE), 1)), atol=1e-12)
    np.testing.assert_allclose(J[:, :, 1], np.tile([-sign, 0.0], (len(ANGLE), 1)), atol=1e-12)
