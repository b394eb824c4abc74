"""Stamps of the wall clock on the monotonic one, where somebody has set the wall clock, and where nobody has."""

import time

import numpy as np

from drivers.can.adapter import on_monotonic
from drivers.clock import unix_offset

MS = 1_000_000


def test_a_stamp_that_cannot_be_true_is_the_arrival() -> None:
    arrived = time.monotonic_ns() - 50 * MS
    empty = arrived - 100 * MS
    # behind in the queue, just now; before it was empty, an hour late, an hour early, ahead by a coarse clock's tick
    true = arrived + MS * np.array([-60, 0, -300, -3_600_000, 3_600_000, 5])
    times = on_monotonic(true + unix_offset(), np.full(6, arrived), empty)
    np.testing.assert_allclose(times[:2], true[:2], atol=MS)
    np.testing.assert_array_equal(times[2:], np.full(4, arrived))
    assert (times <= arrived).all()
