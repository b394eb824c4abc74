"""A whole robot, live.

motion.py      rows of positions and torques → filtered chunks and regression rows
contact.py     residual torque against each joint's threshold
causes.py      what explains the residual: a payload, or another friction of one joint
estimator.py   the four rates put together; `RobotEstimator` is what the service runs
estimate.py    what is reported
"""
