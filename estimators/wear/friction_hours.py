"""Hours of a joint's friction by speed: what wear is judged from."""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

#: hours, derived: Hours of a day.
DAY: Final = 24


class FrictionHours(NamedTuple):
    """Consecutive hours from the first of a day on; rest is NaN."""

    speeds: Floats  # (bands,) rad/s (m/s), increasing
    friction: Floats  # (hours, bands) mean friction at that speed, NaN: no motion there
    load: Floats  # (hours,) mean magnitude of the rest of the torque, any unit; NaN at rest
    losses: Floats  # (hours,) mean of |friction·speed|, any unit; 0 at rest
    temperature: Floats  # (hours,) °C of any thermometer near by; NaN: none

    @property
    def has_thermometer(self) -> bool:
        """Whether a temperature is known in most hours in motion."""
        return bool(np.isfinite(self.temperature[np.isfinite(self.load)]).mean() > 0.5)
