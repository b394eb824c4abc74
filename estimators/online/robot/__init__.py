"""A whole robot, live. Read estimator.py first (`RobotEstimator`, which the service runs); it composes

learner.py (parameters), watch.py (contact.py, compensation.py, and residual_attribution.py, for which the causes of
findings/ compete; reported_findings.py records what came of them), start/robot_start.py (how long the start lasts) and
change_handling.py, which carries out what follows from one for the others. Rows come from motion.py and block.py, and
estimate.py declares what is reported and kept.
"""
