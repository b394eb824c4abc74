"""What fills a model's rows: a kernel of its own, found by address, and what the model gives it.

So no kernel that forms rows is compiled for any one model, and one pass goes over joints whose models are not alike.
"""

from collections.abc import Callable
from typing import Final

from jointwatch_numba.layout import Own, by_address

# arguments of every model's kernel: signals (rows, channels, SIGNALS), η (nonlinear,), the model's own terms, and Φ
# (rows, outputs, parameters) and y (rows, outputs) to write, see Model.fill
FILL: Final = ("f8[:, :, ::1]", "f8[::1]", Own, "f8[:, :, ::1]", "f8[:, ::1]")

fill_rows: Final[Callable[..., None]] = by_address("void", *FILL)  # within a kernel: a model's kernel, its arguments
