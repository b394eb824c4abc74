"""Rows in pieces: as one array has them, and in no more memory than that."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.online.start.pieces import Pieces


def cut(rows: NDArray[Any], seed: int) -> list[NDArray[Any]]:
    """Pieces of no to nine rows."""
    lengths = np.random.default_rng(seed).integers(0, 10, len(rows))
    return np.split(rows, np.cumsum(lengths)[np.cumsum(lengths) < len(rows)])


def test_rows_are_what_was_added_in_order_whatever_their_shape() -> None:
    rng = np.random.default_rng(1)
    for rows in (rng.standard_normal((3000, 2, 5)), rng.integers(0, 9, 3000), rng.random((3000, 1)) < 0.5):
        pieces, parts = Pieces(np.zeros((0, 7))), cut(rows, 2)
        for part in parts:
            pieces.add(part)
        found = pieces.all()
        assert (len(pieces), found.dtype) == (3000, rows.dtype)
        np.testing.assert_array_equal(found, np.concatenate(parts))
        pieces.add(rows[:900])
        np.testing.assert_array_equal(found, rows)  # a view that was given stays as it is
        pieces.keep_last(1000)
        pieces.add(rows[:1])
        np.testing.assert_array_equal(pieces.all(), np.concatenate([rows[-100:], rows[:900], rows[:1]]))


def test_rows_that_are_there_before_are_not_written_to() -> None:
    before = np.arange(4.0)
    pieces = Pieces(before)
    pieces.add(np.ones(2))
    pieces.all()[0] = 7.0
    assert (before.tolist(), pieces.all().tolist()) == ([0.0, 1.0, 2.0, 3.0], [7.0, 1.0, 2.0, 3.0, 1.0, 1.0])


def test_thousands_of_pieces_are_not_thousands_of_blocks_of_memory() -> None:
    pieces, piece = Pieces(np.zeros((0, 2))), np.ones((20, 2))
    before = sys.getallocatedblocks()
    for _ in range(2000):
        pieces.add(piece)
    assert sys.getallocatedblocks() - before < 200
