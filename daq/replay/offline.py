"""What the offline estimators can be asked, by name: the door for judges, who may not know the estimators themselves."""

from estimators.experiments.kr300_gears import NOMINAL, gears
from estimators.experiments.recordings import DATA, RecordingError
from estimators.models.joints.lost_motion import LostMotionSettings
from estimators.models.mechanisms.clearance import SIBLINGS, Known
from estimators.models.mechanisms.dynamics import ACTIVE, ALL, IDEAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismError, Motion, Solution, build, load
from estimators.offline.clearance import Fitted, Run, error, measured, siblings
from estimators.offline.mechanism_fit import MechanismFit, identify
from estimators.online.lost_motion import LostMotion, Report
from estimators.search import minimise
from estimators.search.bees import POINTING

__all__ = [
    "ACTIVE",
    "ALL",
    "DATA",
    "IDEAL",
    "NOMINAL",
    "POINTING",
    "SIBLINGS",
    "Fitted",
    "Known",
    "LostMotion",
    "LostMotionSettings",
    "Mechanism",
    "MechanismError",
    "MechanismFit",
    "Motion",
    "RecordingError",
    "Report",
    "Run",
    "Solution",
    "build",
    "error",
    "gears",
    "identify",
    "load",
    "measured",
    "minimise",
    "siblings",
]
