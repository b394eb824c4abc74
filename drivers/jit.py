"""The decorators of kernels, see jointwatch_jit."""

from jointwatch_jit import INTERPRETED, inline, kernel

__all__ = ["INTERPRETED", "inline", "kernel"]
