"""System calls from within kernels, by name: a kernel with an address in it could not be kept on disk.

Linux on 64-bit little-endian machines. Clocks are in ns; `clocks` is (2,) int64, scratch.
"""

import ctypes
from typing import Any, Final

import numpy as np
from numba import types

from drivers.jit import INTERPRETED, inline

REALTIME, MONOTONIC = 0, 1
_ABSOLUTE: Final = 1  # TIMER_ABSTIME
_READABLE: Final = 1 << 32  # POLLIN, in a struct pollfd
_BEST: Final = 2000  # ns between two looks at a clock that nothing has come between
_NAMES: Final = ("recvmmsg", "clock_gettime", "clock_nanosleep", "poll")


def _functions() -> tuple[Any, ...]:
    """The functions of libc in _NAMES, and the one that says where errno is."""
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
    """ns of a clock."""
    _clock_gettime(clock, clocks.ctypes.data)
    return clocks[0] * 1_000_000_000 + clocks[1]


@inline
def sleep_until(instant, clocks):  # type: ignore[no-untyped-def]
    """Sleep until an instant of CLOCK_MONOTONIC, ns, or until a signal comes."""
    clocks[0], clocks[1] = instant // 1_000_000_000, instant % 1_000_000_000
    _clock_nanosleep(MONOTONIC, _ABSOLUTE, clocks.ctypes.data, 0)


@inline
def readable(descriptor, timeout, clocks):  # type: ignore[no-untyped-def]
    """Whether something can be read (or is wrong) within so many ms, or before a signal comes."""
    clocks[0] = np.int64(descriptor) | _READABLE
    return _poll(clocks.ctypes.data, 1, timeout) > 0


@inline
def difference(clocks):  # type: ignore[no-untyped-def]
    """CLOCK_REALTIME − CLOCK_MONOTONIC, read again where something came between."""
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
