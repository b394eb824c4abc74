"""The faults, a line each: adding one is one file and one line."""

from typing import Final

from hil_rig.faults.base import Fault
from hil_rig.faults.shown import (
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
from hil_rig.faults.unshown import (
    late_channel,
    lost_balancer,
    lost_counts,
    saturated_amplifier,
    wedged_body,
    winding_short,
)

SHOWN: Final[tuple[Fault, ...]] = (
    bearing.FAULT,
    belt_slack.FAULT,
    brake_drag.FAULT,
    cable_drag.FAULT,
    collision.FAULT,
    encoder_eccentricity.FAULT,
    encoder_slip.FAULT,
    gear_gap.FAULT,
    gear_wear.FAULT,
    load.FAULT,
    loose_bolt.FAULT,
    temperature.FAULT,
    torque_measurement.FAULT,
)
UNSHOWN: Final[tuple[Fault, ...]] = (
    late_channel.FAULT,
    lost_balancer.FAULT,
    lost_counts.FAULT,
    saturated_amplifier.FAULT,
    wedged_body.FAULT,
    winding_short.FAULT,
)
