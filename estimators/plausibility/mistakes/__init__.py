"""The plausibility look: mistakes of a person in a joint's channels, each one hypothesis that is tested on the data.

Read in this order: base.py (what goes in and out), fit.py (the quick fit, and when one explains the data better), then
any hypothesis; look.py asks all of them. A mistake is named only where the data show it beyond noise and no other
hypothesis does as well; what only scales the parameters cannot be detected by a fit and needs something that is known
in addition: a velocity, bodies that the configuration states, the drive's largest torque, a turn of the encoder.
"""

from typing import Final

from estimators.plausibility.mistakes.base import Mistake
from estimators.plausibility.mistakes.directions import find_channels_exchanged, find_torque_sign, find_velocity_sign
from estimators.plausibility.mistakes.times import find_time_factor, find_time_in_milliseconds
from estimators.plausibility.mistakes.torque_late import find_torque_late
from estimators.plausibility.mistakes.units import find_current_as_torque, find_position_in_degrees, find_torque_scale

MISTAKES: Final[tuple[Mistake, ...]] = (  # exact bounds come before them, see look.py
    find_position_in_degrees,
    find_channels_exchanged,
    find_torque_sign,
    find_velocity_sign,
    find_torque_scale,
    find_torque_late,
    find_time_factor,
    find_time_in_milliseconds,
    find_current_as_torque,
)
