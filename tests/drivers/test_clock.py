"""The difference of the two clocks, whenever the process is put aside."""

import time
from collections.abc import Callable

import pytest

from drivers.clock import unix_offset


@pytest.mark.parametrize("pauses", [(), (0,), (1,), (0, 2)], ids=str)
def test_a_pause_between_the_clocks_puts_nothing_into_the_future(
    pauses: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Callable[[], int] = time.monotonic_ns
    calls = 0

    def later() -> int:
        nonlocal calls
        if calls in pauses:
            time.sleep(0.05)
        calls += 1
        return read()

    before = time.time_ns() - read()
    monkeypatch.setattr(time, "monotonic_ns", later)
    offset = unix_offset()
    after = -(read() - time.time_ns())  # read in the other order: at least the true difference
    assert offset <= after
    assert offset > before - 40_000_000, "a reading without a pause was there"
