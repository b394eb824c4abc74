"""Misfit: whether a model leaves something out, and what. Read in this order:

regressors.py (columns that no model has), scores.py (tests of them, for one joint), long_run.py (variance of correlated
residuals).
"""
