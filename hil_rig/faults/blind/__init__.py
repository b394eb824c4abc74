"""Blind faults with their own plant, written by a second author who had not read the classifier of causes.

They are only used to score the classifier (tests/benchmarks/diagnosis/causes.py --blind), never to tune it. joint.py is
the plant, with more physics than servo_joint.py; catalogue.py contains the faults.
"""
