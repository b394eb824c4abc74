"""What LLVM writes out: a loop twice at most (decision 069), and a part in its caller where that is asked for."""

import re
from typing import Any

import pytest

from estimators.quantities import Floats
from estimators.recursive.kernel import absorb
from estimators.recursive.state import RecursiveState
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


def test_what_a_row_of_recursive_least_squares_does_is_written_out_in_its_loop() -> None:
    """Calls of functions for every row would cost a twentieth of it; `learn` is called once for all rows."""
    import numba

    from jointwatch_numba.compiled import OPTIONS, typed

    kernel: Any = absorb
    made: Any = numba.jit((RecursiveState.numba_type(), typed("f8[:, :, ::1]"), typed("f8[:, ::1]")), **OPTIONS)(
        kernel.py_func
    )
    code = made.inspect_llvm(made.signatures[0])
    called = set(re.findall(r"\bcall\b.*?@_ZN10estimators9recursive\d+[a-z]+?\d+(\w+?)B\d", code))
    assert called == {"absorb", "learn"}
