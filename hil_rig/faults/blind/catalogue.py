"""The blind faults, a line each: adding one is one file and one line."""

from typing import Final

from hil_rig.faults.base import Fault
from hil_rig.faults.blind.shown import (
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
from hil_rig.faults.blind.unshown import (
    broken_phase,
    changed_cogging,
    flooded_gear,
    frozen_hose,
    late_brake,
    loose_mounting,
    loose_reader,
    one_sided_seal,
    repeated_samples,
    sagging_supply,
    starved_lubricant,
    wandering_gain,
    wrong_gear,
)

BLIND_SHOWN: Final[tuple[Fault, ...]] = (
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
BLIND_UNSHOWN: Final[tuple[Fault, ...]] = (
    broken_phase.FAULT,
    changed_cogging.FAULT,
    flooded_gear.FAULT,
    frozen_hose.FAULT,
    late_brake.FAULT,
    loose_mounting.FAULT,
    loose_reader.FAULT,
    one_sided_seal.FAULT,
    repeated_samples.FAULT,
    sagging_supply.FAULT,
    starved_lubricant.FAULT,
    wandering_gain.FAULT,
    wrong_gear.FAULT,
)
