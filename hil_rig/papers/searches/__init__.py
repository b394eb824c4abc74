"""Huyer and Neumaier 1999 (J. Global Optimization 14, 331): global searches on nine test functions.

`jointwatch reproduce search`. Read published_table.py first; the functions and SciPy's searches have their own files.
"""
