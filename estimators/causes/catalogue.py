"""The causes, a line each; adding one is its shapes and its remedy in a file of kinds/, and a line here."""

from typing import Final

from estimators.causes.base import CauseKind
from estimators.causes.kinds.drive_train import BELT_SLACK, GEAR_GAP, LOOSE_BOLT
from estimators.causes.kinds.friction import BEARING, BRAKE_DRAG, CABLE_DRAG, GEAR_WEAR, TEMPERATURE
from estimators.causes.kinds.measurement import ENCODER_ECCENTRICITY, ENCODER_SLIP, TORQUE_MEASUREMENT
from estimators.causes.kinds.outside import COLLISION, LOAD

CAUSES: Final[tuple[CauseKind, ...]] = (
    BEARING,
    BELT_SLACK,
    BRAKE_DRAG,
    CABLE_DRAG,
    COLLISION,
    ENCODER_ECCENTRICITY,
    ENCODER_SLIP,
    GEAR_GAP,
    GEAR_WEAR,
    LOAD,
    LOOSE_BOLT,
    TEMPERATURE,
    TORQUE_MEASUREMENT,
)
