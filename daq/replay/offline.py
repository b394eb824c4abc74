"""What the offline estimators can be asked, by name: the door for judges, who may not know the estimators."""

from estimators.experiments.kr300_gears import NOMINAL, gears
from estimators.experiments.recordings import DATA, RecordingError
from estimators.models.joints.lost_motion import LostMotionSettings
from estimators.models.mechanisms.clearance import SIBLINGS, Known
from estimators.models.mechanisms.dynamics import ACTIVE, ALL, IDEAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismError, Motion, Solution, build, load
from estimators.offline.clearance import Fitted, Run, error, measured, siblings
from estimators.offline.mechanism_fit import MechanismFit, identify
from estimators.offline.pointing import MODELS, Pointed, PointingRun, colony, compare, projection
from estimators.online.gear.lost_motion import LostMotion, Report

__all__ = [
    "ACTIVE",
    "ALL",
    "DATA",
    "IDEAL",
    "MODELS",
    "NOMINAL",
    "SIBLINGS",
    "Fitted",
    "Known",
    "LostMotion",
    "LostMotionSettings",
    "Mechanism",
    "MechanismError",
    "MechanismFit",
    "Motion",
    "Pointed",
    "PointingRun",
    "RecordingError",
    "Report",
    "Run",
    "Solution",
    "build",
    "colony",
    "compare",
    "error",
    "gears",
    "identify",
    "load",
    "measured",
    "projection",
    "siblings",
]
