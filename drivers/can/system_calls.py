"""System calls from kernels by name, since a kernel that contains an address cannot be cached on disk.

It requires Linux on a 64-bit little-endian machine. Clocks are in ns; `clocks` is a work array, (2,) int64.
"""

import ctypes
from typing import Any, Final

import numpy as np
from numba import types

from drivers.jit import INTERPRETED, inline

REALTIME, MONOTONIC = 0, 1
_ABSOLUTE: Final = 1  # TIMER_ABSTIME
_READABLE: Final = 1 << 32  # POLLIN, in a struct pollfd
_BEST: Final = 2000  # largest time between two undisturbed reads of a clock, ns
_NAMES: Final = ("recvmmsg", "clock_gettime", "clock_nanosleep", "poll")


def _functions() -> tuple[Any, ...]:
    """Return the functions of libc in _NAMES, and the one that returns the address of errno."""
    if not INTERPRETED:
        word, number, pointer = types.int32, types.uint32, types.intp
        where = types.CPointer(types.int32)  # type: ignore[no-untyped-call]
        signatures = (
            word(word, pointer, number, word, pointer),
            word(word, pointer),
            word(word, word, pointer, pointer),
            word(pointer, types.uint64, word),
        )
        external = [types.ExternalFunction(*one) for one in zip(_NAMES, signatures, strict=True)]
        return (*external, types.ExternalFunction("__errno_location", where()))
    c = ctypes.CDLL(None, use_errno=True)
    whole, long = ctypes.c_int, ctypes.c_ssize_t
    arguments = (
        [whole, long, ctypes.c_uint, whole, long],
        [whole, long],
        [whole, whole, long, long],
        [long, long, whole],
    )
    for name, kinds in zip(_NAMES, arguments, strict=True):
        getattr(c, name).argtypes = kinds
    return (*(getattr(c, name) for name in _NAMES), lambda: [ctypes.get_errno()])


recvmmsg, _clock_gettime, _clock_nanosleep, _poll, errno_location = _functions()


@inline
def now(clock, clocks):  # type: ignore[no-untyped-def]
    """Return the time of a clock, ns."""
    _clock_gettime(clock, clocks.ctypes.data)
    return clocks[0] * 1_000_000_000 + clocks[1]


@inline
def sleep_until(instant, clocks):  # type: ignore[no-untyped-def]
    """Sleep until an instant of CLOCK_MONOTONIC, ns, or until a signal comes."""
    clocks[0], clocks[1] = instant // 1_000_000_000, instant % 1_000_000_000
    _clock_nanosleep(MONOTONIC, _ABSOLUTE, clocks.ctypes.data, 0)


@inline
def readable(descriptor, timeout, clocks):  # type: ignore[no-untyped-def]
    """Whether the descriptor is readable (or has an error) within `timeout` ms, or before a signal comes."""
    clocks[0] = np.int64(descriptor) | _READABLE
    return _poll(clocks.ctypes.data, 1, timeout) > 0


@inline
def difference(clocks):  # type: ignore[no-untyped-def]
    """Return CLOCK_REALTIME − CLOCK_MONOTONIC; the clocks are read again if the reading was interrupted."""
    best = np.int64(1 << 62)
    found = np.int64(0)
    for _ in range(5):
        before = now(MONOTONIC, clocks)
        real = now(REALTIME, clocks)
        after = now(MONOTONIC, clocks)
        if after - before < best:
            best = after - before
            found = real - (before + after) // 2
        if best < _BEST:
            break
    return found
