"""Huyer and Neumaier 1999: global searches on nine test functions."""
