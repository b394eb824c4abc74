"""Faults by a second author, who had not read the classifier of causes when they were written, and their own plant.

The classifier is scored on them (tests/benchmarks/causes.py --blind); nothing in it may be chosen by them.
joint.py is the plant: more physics than servo_joint.py. shown/ has another realisation of each cause that the
classifier knows, unshown/ kinds that it does not know.
"""
