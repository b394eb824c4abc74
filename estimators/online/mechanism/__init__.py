"""A mechanism with loops, live: each drive's unexplained torque, and the load of every joint.

estimator.py is what the service runs; filtered_motion.py makes its rows, friction_level.py compares the bearings'
friction with the model's, and estimate.py declares the report.
"""
