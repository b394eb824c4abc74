"""A hotter or colder joint: viscous friction follows the oil, and the Stribeck part moves the other way."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape

#: 1, argued: Stribeck part that moves against the viscous one, shares of its change (Bittencourt's F_sT and F_vT).
AGAINST: Final = (0.0, 0.15, 0.3)
#: 1, argued: Share of the top speed over which the Stribeck part fades.
FADE: Final = 0.05


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Viscous friction by one factor, with more or less of the other."""
    v = window.rows.v
    rms = float(np.sqrt((v**2).mean()))
    fading = rms * window.side * np.exp(-np.abs(v) / (FADE * window.healthy.scales.speed))
    return [Shape.of(v - share * fading, either=True) for share in AGAINST]


CAUSE = CauseKind(
    "temperature",
    "a hotter or colder joint",
    "If the room's temperature or the duty has changed, do nothing: the friction returns by itself. "
    "Otherwise check the cooling and the lubricant's grade.",
    torque,
    sudden=False,
    only=True,
    leak=0.1,
)
