"""The decorators of kernels, see jointwatch_numba.jit."""

from jointwatch_numba.jit import INTERPRETED, inline, kernel

__all__ = ["INTERPRETED", "inline", "kernel"]
