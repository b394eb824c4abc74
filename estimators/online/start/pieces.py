"""Rows that come in pieces and are used together: one array with room for more.

A list of the pieces would need twice the memory, and thousands of small arrays lie among longer-lived ones, so their
memory is not returned once they are freed: 4 MB after the starts of seven joints.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: rows, argued: Room for which there is a first array; it doubles.
FEW: Final = 256


class Pieces:
    """All rows that were added, in order."""

    def __init__(self, rows: NDArray[Any]) -> None:
        """rows: those that are there before; where there is none, those that are added may have another shape."""
        self._room, self._count = rows, len(rows)

    def __len__(self) -> int:
        return self._count

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows; they are copied."""
        end = self._count + len(rows)
        if end > len(self._room) or not self._count:
            room = np.empty((max(FEW, 2 * end), *rows.shape[1:]), rows.dtype)
            if self._count:
                room[: self._count] = self.all()
            self._room = room
        self._room[self._count : end] = rows
        self._count = end

    def all(self) -> NDArray[Any]:
        """All rows: a view, which later rows do not change."""
        return self._room[: self._count]

    def keep_last(self, count: int) -> None:
        """Forget all rows but these."""
        self._room = self.all()[-count:].copy()
        self._count = len(self._room)
