"""The objective as the kernel sees it: box, budget and best point are kept where every value is asked for."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.search.base import OBJECTIVE

Ints = NDArray[np.int64]

EVALUATIONS: Final = 0  # indices into Objective.counts
BUDGET: Final = 1
NONFINITE: Final = 2
STOP: Final = 3
LEGACY: Final = 4  # 1: count for count as v2.0, where the target ends the search only after a completed stage
COUNTS: Final = 5

BEST: Final = 0  # indices into Objective.value
TARGET: Final = 1

RUNNING: Final = 0  # Objective.counts[STOP]
SPENT: Final = 1
REACHED: Final = 2
ABANDONED: Final = 3  # set from outside, when an objective in Python raised or its Problem said stop


class Objective(NamedTuple):
    """f over the box; everything it learns is written into its arrays."""

    f: Callable[[Floats, Floats], float]
    data: Floats
    lower: Floats  # (dimensions,)
    upper: Floats
    free: Ints  # (dimensions,) where each coordinate stands in x
    x: Floats  # (all dimensions,) the point handed to f
    best: Floats  # (dimensions,)
    value: Floats  # BEST, TARGET
    counts: Ints  # EVALUATIONS …


FLOATS: Final[Any] = numba.types.Array(numba.float64, 1, "C")
INTS: Final[Any] = numba.types.Array(numba.int64, 1, "C")
FUNCTION: Final[Any] = numba.types.FunctionType(numba.float64(FLOATS, FLOATS))
OBJECTIVE_TYPE: Final[Any] = cast(Any, numba.types).NamedTuple(
    (FUNCTION, FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, INTS), Objective
)


@inline
def evaluate(objective: Objective, point: Floats) -> float:
    """f at point projected to the box; +∞, without a call, once the search has been told to stop."""
    counts = objective.counts
    if counts[EVALUATIONS] >= counts[BUDGET] and counts[STOP] == RUNNING:
        counts[STOP] = SPENT
    if counts[STOP] != RUNNING:
        return np.inf
    for i in range(point.size):
        objective.x[objective.free[i]] = min(max(point[i], objective.lower[i]), objective.upper[i])
    counts[EVALUATIONS] += 1
    value = objective.f(objective.x, objective.data)
    if not np.isfinite(value):
        counts[NONFINITE] += 1
        return np.inf
    if value < objective.value[BEST]:
        objective.value[BEST] = value
        for i in range(point.size):
            objective.best[i] = objective.x[objective.free[i]]
        if counts[LEGACY] == 0:
            stage(objective)
    return value


@inline
def copy(source: Floats, target: Floats) -> None:
    """target = source; a loop, because slices cost the compiler far more."""
    for i in range(source.size):
        target[i] = source[i]


@inline
def ascending(values: Floats, count: int) -> Ints:
    """The indices that sort the first count values, equal ones in their order."""
    order = np.empty(count, np.int64)
    for k in range(count):
        j = k
        while j > 0 and values[order[j - 1]] > values[k]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    return order


@inline
def stage(objective: Objective) -> None:
    """A stage is complete: stop if the target is reached."""
    if objective.value[BEST] <= objective.value[TARGET] and objective.counts[STOP] == RUNNING:
        objective.counts[STOP] = REACHED


def _call(_typing: Any, _address: Any) -> Any:
    """double (*)(void) at an address."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = ir.FunctionType(ir.DoubleType(), []).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), [])

    return numba.float64(numba.int64), generate


call: Final[Any] = intrinsic(_call)


@kernel(OBJECTIVE)
def interpreted(_x: Floats, data: Floats) -> float:
    """An objective in Python: data[0] holds the bits of a C address that reads x where it lies."""
    return float(call(data.view(np.int64)[0]))
