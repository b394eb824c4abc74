"""Loops of kernels are written out twice at most (decision 069)."""

import re
from typing import Any

import pytest

from estimators.quantities import Floats
from jointwatch_numba.jit import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


def _product(one: Floats, other: Floats) -> float:
    found = 0.0
    for i in range(len(one)):
        found += one[i] * other[i]
    return found


def test_a_loop_is_written_out_twice_at_most() -> None:
    """A sum in order has one multiplication in each copy of its loop, and one more for an odd number of turns."""
    import numba
    from numba.core.registry import cpu_target

    from jointwatch_numba.compiled import OPTIONS
    from jointwatch_numba.library import prepare

    prepare(cpu_target.target_context)
    made: Any = numba.jit("f8(f8[::1], f8[::1])", **OPTIONS)(_product)
    code = made.inspect_asm(made.signatures[0])
    assert 1 <= len(re.findall(r"\b(?:v?mulsd|fmul)\b", code)) <= 3
