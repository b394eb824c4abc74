"""Finds what a whole robot's residual torque comes from.

Read competition.py first: causes (causes/) compete over windows of looks (looks.py). explanation.py keeps a cause that
was found and is no part of the model (a payload, a slip), and record.py reports it as one finding that is refined.
"""
