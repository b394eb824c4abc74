"""What fills a model's rows within a pass: a kernel of its own, found by address in the parcel of all that it is given.

So no kernel that forms rows is compiled for any one model, and one pass goes over joints whose models are not alike.
"""

from typing import Any, Final

from numba.extending import intrinsic

from estimators.numerics.function_pointer import calling
from estimators.numerics.jit import INTERPRETED
from estimators.numerics.parcel import TABLE

# of every model's kernel: signals (rows, channels, SIGNALS), η (nonlinear,), its parcel's table, Φ (rows, outputs,
# parameters) and y (rows, outputs) to write, see Model.fill
SIGNATURE: Final = f"void(f8[:, :, ::1], f8[::1], {TABLE}, f8[:, :, ::1], f8[:, ::1])"
FILL: Final = 0  # of its parcel: the function itself


def _call(_typing: Any, _fill: Any, _signals: Any, _eta: Any, _table: Any, _phi: Any, _y: Any) -> Any:
    return calling(SIGNATURE)


# within a kernel: FILL of a model's parcel, and its arguments
fill_rows: Final[Any] = (lambda fill, *rest: fill(*rest)) if INTERPRETED else intrinsic(_call)
