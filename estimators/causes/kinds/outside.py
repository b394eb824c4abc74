"""Causes from outside the joint: another load, and a collision."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape

GRAVITY: Final = 9.81  # m/s²
#: m, argued: Levers of tools and payloads about the axis of a joint.
LEVERS: Final = np.geomspace(0.15, 1.0, 7)
#: rad, argued: Directions of the new mass against the old ones'.
TURNED: Final = np.linspace(-0.4, 0.4, 9)


# --- Another tool or payload: a mass at some lever changes gravity and inertia together.


def load_torque(window: FaultWindow) -> Sequence[Shape]:
    """m l (l q̈ + g sin(q + φ)); about a vertical axis inertia alone."""
    sine, slope = window.gravity
    moment = float(np.hypot(sine, slope).mean())
    link = window.rows.a - window.rows.bend
    if moment < 1e-9 * window.healthy.scales.torque:
        return [Shape.of(link, either=True)]
    mixes = [
        (lever, GRAVITY / moment * np.cos(turned), GRAVITY / moment * np.sin(turned))
        for lever in LEVERS
        for turned in TURNED
    ]
    either = np.array(mixes).T
    return [Shape(np.column_stack([link, sine, slope]), np.hstack([either, -either]))]


LOAD = CauseKind(
    "load",
    "another tool or payload",
    "Tell the controller the load that is mounted; if none was changed, look for something that hangs on the arm.",
    load_torque,
    load_torque,
    sudden=True,
    in_torque=True,
    leak=0.025,
)


# --- A collision: a torque from outside, strong and short, after which the joint is as it was.
# It has no shape over the motion: time_course.py finds it in time.


COLLISION = CauseKind(
    "collision",
    "a collision",
    "Look at what the arm has hit, and whether tool and joint are still true: compare the zero and the page's values.",
    sudden=True,
)
