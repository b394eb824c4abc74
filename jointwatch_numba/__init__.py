"""How jointwatch uses numba: the decorators of kernels, their disk cache, and state with names that kernels share.

A package beside drivers and estimators, since neither may import from the other.
"""
