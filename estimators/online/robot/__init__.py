"""A whole robot, live. Read estimator.py first (`RobotEstimator`, which the service runs); it composes

start.py (how long the start lasts), learner.py (parameters) and watch.py (contact.py, residual_attribution.py,
compensation.py); rows come from motion.py and block.py, and estimate.py declares what is reported and kept.
"""
