"""How jointwatch uses numba: the decorators of kernels, their disk cache, and state with names that kernels share.

A package below drivers and estimators, which both use it and may not import from each other.
"""
