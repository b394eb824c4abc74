"""The report of a mechanism at one instant."""

from dataclasses import dataclass
from typing import NamedTuple

from estimators.base import Phase, Status
from estimators.quantities import Floats
from estimators.reasons import Reason


class FrictionRatio(NamedTuple):
    """Friction of all joints that one drive feels, over that of the model."""

    ratio: float  # 1; NaN while it is not known
    deviation: float  # from blocks of rows
    progress: float  # of the window, per cent


@dataclass(frozen=True, slots=True)
class MechanismEstimate:
    """Report of d drives and j joints, those of the tree first, then the cuts."""

    time: int  # ns
    phase: Phase
    status: Status
    reasons: tuple[Reason, ...]
    measured: Floats  # (d,) filtered torque, N·m (N)
    predicted: Floats  # (d,) of the model, friction included
    friction: Floats  # (d,) the part of `predicted` that comes from the friction of all joints
    deviations: Floats  # (d,) of the residual where nothing was wrong
    thresholds: Floats  # (d,) NaN until they stand
    contact: tuple[bool, ...]  # (d,) the residual is beyond its threshold, or has been just before
    ratios: tuple[FrictionRatio, ...]  # (d,)
    position: Floats  # (tree joints,) rad (m), of joints without an encoder by the loops
    loads: Floats  # (j, LOADS) load of each joint, see models/mechanisms/joint_load.py
    progress: float  # of the start, per cent
