"""Faults of a servo joint, derived from physics alone, and the eight rigs on which they are simulated.

servo_joint.py is the plant, base.py defines faults and their development in time, catalogue.py contains the faults, and
rigs.py the joints. They were written before the classifier of causes (estimators/causes), and share nothing with it.
"""
