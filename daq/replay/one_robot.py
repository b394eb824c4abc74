"""The estimator of a whole robot for hil_rig.truth, which judges the estimators and must not import them directly."""

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.files.urdf import read_urdf
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.record import RobotFinding

__all__ = [
    "IdentifiedRobot",
    "Recorded",
    "RobotEstimator",
    "RobotFinding",
    "identify",
    "pieces",
    "read_urdf",
    "with_live_residuals",
]
