"""Starts: how an estimator gets from its first motion to normal mode. Read in this order:

base.py (the protocol), gathering.py and rows.py (what all starts share), linear.py (models without nonlinear
parameters), searched.py (models with them).
"""
