"""Rows into a history, as a compiled pass writes them."""

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.rows import Rows, RowStore
from estimators.window.row_history import HistoryState, RowHistory, append

ROOM = 10  # rows that come at once, at most


@kernel(
    (
        *("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", "f8[:, :, ::1]", "b1[::1]"),
        HistoryState,
    )
)
def _append(
    time: Nanoseconds,
    phi: Floats,
    y: Floats,
    speed: Floats,
    samples: Floats,
    motion: Floats,
    which: NDArray[np.bool_],
    history: HistoryState,
) -> None:
    for row in range(len(time)):
        if which[row]:
            append(time[row], phi[row], y[row], speed[row], samples[row], motion[row], history)


def put(history: RowHistory, rows: Rows, which: NDArray[np.bool_] | None = None) -> None:
    """Those of the rows that taught (which; None: all of them), a few at a time, after those that are there."""
    count, (outputs, parameters) = len(rows.time), rows.phi.shape[1:]
    store = RowStore.room(ROOM, outputs, parameters, rows.speed.shape[1], rows.samples.shape[1], rows.samples.shape[3])
    given = RowStore.room(count, outputs, parameters, rows.speed.shape[1], rows.samples.shape[1], rows.samples.shape[3])
    given.write(rows)
    which = np.ones(count, np.bool_) if which is None else np.asarray(which)
    for first in range(0, count, ROOM):
        few = slice(first, min(first + ROOM, count))
        if history.whole and history.filled + few.stop - few.start > len(history.store.rows.time):
            history.make_room(store)
        _append(
            given.time[few], given.phi[few], given.y[few], given.speed[few], given.samples[few], given.motion[few],
            which[few], history.store,
        )  # fmt: skip
        history.state.total += int(which[few].sum())
