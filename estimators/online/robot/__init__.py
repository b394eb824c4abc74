"""A whole robot, live. Read estimator.py first (`RobotEstimator`, which the service runs); it composes

start.py (how long the start lasts), learner.py (parameters) and watch.py (contact.py, compensation.py, and
residual_attribution.py, for which the causes of findings/ compete; told_findings.py tells what came of them). Rows come
from motion.py and block.py, and estimate.py declares what is reported and kept.
"""
