"""Faults of a servo joint, from physics alone, and the eight rigs on which they are played.

servo_joint.py is the plant; base.py says what a fault is and how it comes about; catalogue.py has the faults; rigs.py
has the joints. They were written before the classifier of causes (estimators/causes), and share nothing with it.
"""
