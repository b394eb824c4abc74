"""Nonlinear parameters η of a running estimator. Read in this order:

in_force.py (η and its columns), nonlinear_columns.py (the same within a compiled pass), lookback.py (what past rows say
of it), refits.py (searches in a worker; estimators/refit/job.py is what the worker does).
"""
