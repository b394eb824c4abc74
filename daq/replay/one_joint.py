"""One joint's estimator without the service around it, for programs that may not know estimators."""

from estimators.offline.whole_run import at_once
from estimators.online.joint import JointEstimator

__all__ = ["JointEstimator", "at_once"]
