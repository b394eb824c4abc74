"""A mechanism with loops, live: what each drive's torque leaves unexplained, and what every joint carries.

estimator.py is what the service runs; filtered_motion.py makes its rows, friction_level.py watches how the bearings'
friction stands to the model's, and estimate.py declares what is reported.
"""
