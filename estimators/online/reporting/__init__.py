"""Reporting: what is published of an estimate.

report.py makes the estimate of a phase, its status and reasons; inspection.py gives points of curves and the excitation
to a person who looks at one joint.
"""
