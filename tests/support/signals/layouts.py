"""Layouts in comparisons of tests."""

import pickle

from jointwatch_numba.layout import Layout


def packed(layout: Layout) -> bytes:
    """The bits of all its numbers and arrays."""
    return pickle.dumps(layout.as_dict())
