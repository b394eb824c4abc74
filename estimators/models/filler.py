"""What fills a model's rows within a pass: a kernel of its own, found by address in the parcel of all that it is given.

So no kernel that forms rows is compiled for any one model, and one pass goes over joints whose models are not alike.
"""

from typing import Any, Final

from estimators.numerics.parcel import TABLE
from jointwatch_layout import by_address

FILL: Final = 0  # of its parcel: the function itself
# of every model's kernel: signals (rows, channels, SIGNALS), η (nonlinear,), its parcel's table, Φ (rows, outputs,
# parameters) and y (rows, outputs) to write, see Model.fill
ARGUMENTS: Final = ("f8[:, :, ::1]", "f8[::1]", TABLE, "f8[:, :, ::1]", "f8[:, ::1]")
SIGNATURE: Final = f"void({', '.join(ARGUMENTS)})"

fill_rows: Final[Any] = by_address("void", *ARGUMENTS)  # within a kernel: FILL of a model's parcel, and its arguments
