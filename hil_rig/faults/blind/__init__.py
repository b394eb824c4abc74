"""Blind faults and their own plant, by a second author who had not read the classifier of causes.

The classifier is scored on them (tests/benchmarks/diagnosis/causes.py --blind); nothing in it may be chosen by them.
joint.py is the plant, with more physics than servo_joint.py; catalogue.py has the faults.
"""
