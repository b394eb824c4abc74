"""What LLVM writes out: a loop twice at most (decision 069), and a part in its caller where that is asked for."""

import math
import re
from typing import Any

import pytest

from estimators.quantities import Floats
from jointwatch_numba.jit import INTERPRETED, inline, inline_always

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


def _long(values: Floats, at: int) -> float:
    found = 0.0
    for i in range(at):
        values[i], found = math.sqrt(values[i + 1]) / (found + values[at]), found / values[i] - values[i + 2]
    for i in range(at):
        values[i], found = math.sqrt(values[i + 1]) / (found - values[at]), found / values[i] + values[i + 2]
    for i in range(at):
        values[i], found = math.sqrt(values[i + 1]) * (found - values[at]), found * values[i] + values[i + 2]
    return found


@pytest.mark.parametrize(("decorator", "calls"), [(inline, 2), (inline_always, 0)])
def test_a_long_part_is_written_out_in_its_caller_where_that_is_asked_for(decorator: Any, calls: int) -> None:
    import numba
    from numba.core.registry import cpu_target

    from jointwatch_numba.compiled import OPTIONS
    from jointwatch_numba.library import prepare

    prepare(cpu_target.target_context)
    part = decorator(_long)

    def caller(values: Floats, at: int) -> float:
        return float(part(values, at) + part(values, at + 1))

    made: Any = numba.jit("f8(f8[::1], i8)", **OPTIONS)(caller)
    code = made.inspect_llvm(made.signatures[0])
    assert len(re.findall(r"\bcall\b.*5_long", code)) == calls
