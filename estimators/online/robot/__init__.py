"""A whole robot, live.

Read estimator.py first (`RobotEstimator`, which the service runs). It composes learner.py (parameters), watch.py
(contact.py, compensation.py, and residual_attribution.py, in which the causes of findings/ compete;
reported_findings.py records the results), start/robot_start.py (how long the start lasts) and change_handling.py,
which passes on what one of them has found to the others. Rows come from motion.py and block.py, and estimate.py
declares reports and states.
"""
