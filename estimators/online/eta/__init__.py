"""Nonlinear parameters η of a running estimator. Read in this order:

in_force.py (η and its columns), nonlinear_columns.py (the same within a compiled pass), lookback.py (what past rows say
of it), refits.py (searches in a worker), search.py (what the worker does), found.py (what it returns).
"""
