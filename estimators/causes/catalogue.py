"""The causes, a line each: adding one is one file and one line."""

from typing import Final

from estimators.causes.base import CauseKind
from estimators.causes.kinds import (
    bearing,
    belt_slack,
    brake_drag,
    cable_drag,
    collision,
    encoder_eccentricity,
    encoder_slip,
    gear_gap,
    gear_wear,
    load,
    loose_bolt,
    temperature,
    torque_measurement,
)

CAUSES: Final[tuple[CauseKind, ...]] = (
    bearing.CAUSE,
    belt_slack.CAUSE,
    brake_drag.CAUSE,
    cable_drag.CAUSE,
    collision.CAUSE,
    encoder_eccentricity.CAUSE,
    encoder_slip.CAUSE,
    gear_gap.CAUSE,
    gear_wear.CAUSE,
    load.CAUSE,
    loose_bolt.CAUSE,
    temperature.CAUSE,
    torque_measurement.CAUSE,
)
