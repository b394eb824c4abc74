"""The objective as the kernel sees it: box, budget and best point are kept where every value is computed."""

from typing import Annotated, Any, Final

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.search.base import OBJECTIVE
from jointwatch_numba.layout import Function, Integers, Layout, Vector, by_address

Ints = NDArray[np.int64]

RUNNING: Final = 0  # Objective.stop
SPENT: Final = 1
REACHED: Final = 2
ABANDONED: Final = 3  # set from outside, when an objective in Python raised or its Problem said stop


class Objective(Layout):
    """f over the box, and what asking for its values has shown."""

    f: Function  # of signature OBJECTIVE
    data: Vector
    lower: Annotated[Vector, "dimensions"]
    upper: Annotated[Vector, "dimensions"]
    free: Annotated[Integers, "dimensions"]  # place of each coordinate in x
    x: Vector  # (all dimensions,) the point handed to f
    best: Annotated[Vector, "dimensions"]
    budget: int  # evaluations
    value: float = np.inf  # at the best point
    target: float = -np.inf
    legacy: bool = False  # count for count as v2.0, where the target ends the search only after a completed stage
    evaluations: int = 0
    nonfinite: int = 0
    stop: int = RUNNING


class SearchRules(Layout):
    """The settings of a search, as Mcs has them, and where it began."""

    published: bool
    legacy: bool
    local_steps: int
    stall: int  # sweeps
    room: int  # boxes, and candidates, that one sweep may make
    gamma: float
    tolerance: float
    far: float  # factor of subinterval in rule R
    start: float = 0.0  # best value after initialisation


value_of: Final = by_address("f8", "f8[::1]", "f8[::1]")


@inline
def evaluate(objective: Objective, point: Floats) -> float:
    """f at point projected to the box; +∞, without a call, once the search is to stop."""
    if objective.evaluations >= objective.budget and objective.stop == RUNNING:
        objective.stop = SPENT
    if objective.stop != RUNNING:
        return np.inf
    for i in range(point.size):
        objective.x[objective.free[i]] = min(max(point[i], objective.lower[i]), objective.upper[i])
    objective.evaluations += 1
    value = float(value_of(objective.f, objective.x, objective.data))
    if not np.isfinite(value):
        objective.nonfinite += 1
        return np.inf
    if value < objective.value:
        objective.value = value
        for i in range(point.size):
            objective.best[i] = objective.x[objective.free[i]]
        if not objective.legacy:
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
    if objective.value <= objective.target and objective.stop == RUNNING:
        objective.stop = REACHED


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
