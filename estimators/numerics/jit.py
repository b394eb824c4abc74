"""The decorators of kernels, see jointwatch_numba.jit."""

from jointwatch_numba.jit import INTERPRETED, inline, inline_always, kernel

__all__ = ["INTERPRETED", "inline", "inline_always", "kernel"]
