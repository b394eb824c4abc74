"""Real-time priority for the threads that an update passes on its way, and for no others.

On a busy machine a thread that is handed an update waits for the processor, up to the scheduler's slice (3 ms). A
thread takes the priority for itself only; what it starts has none, so a refit runs as an ordinary process. ZeroMQ's own
threads get the priority from their context, those of a driver's middleware by `share` once it is open. A controller
with a higher real-time priority still runs first.

Without a priority the same threads ask for a short slice, which needs no permission: from Linux 6.12 on a thread that
wakes runs before those whose slices are longer, for a share of the processor that stays the same. The refit's process
goes back to the usual slice.
"""

import ctypes
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Final

import zmq

#: ns, argued: Slice of a thread on an update's way, the shortest that Linux gives; an update takes a few of them.
SHORT: Final = 100_000
SET_ATTRIBUTES: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}  # sched_setattr, by machine


class _Attributes(ctypes.Structure):
    """Linux's struct sched_attr, its first version."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )  # fmt: skip


def ask_for_short_slice() -> bool:
    """Let this thread, and those that it starts, run soon after they wake; returns whether it is done."""
    return _set_slice(SHORT)


def take_usual_slice() -> bool:
    """Let this thread, which may have inherited a short slice, run in usual ones; returns whether it is done."""
    return _set_slice(0)


def _set_slice(slice_: int) -> bool:
    """Set the slice, ns (0: the usual one), of this thread. An older kernel leaves it as it is."""
    number = SET_ATTRIBUTES.get(platform.machine())
    if number is None or not hasattr(os, "SCHED_OTHER"):
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    asked = _Attributes(ctypes.sizeof(_Attributes), os.SCHED_OTHER, 0, nice, 0, slice_, 0, 0)
    return int(ctypes.CDLL(None).syscall(number, 0, ctypes.byref(asked), 0)) == 0


def take(priority: int) -> None:
    """Give this thread the priority; 0: none. Raises OSError where the operating system does not allow it."""
    if priority:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


def share() -> None:
    """Give this thread's real-time priority, where it has one, to every thread of the process that has none: what a
    library has started carries messages too, and may hold the interpreter."""
    if not hasattr(os, "SCHED_RESET_ON_FORK"):  # not Linux
        return
    policy = os.sched_getscheduler(0)
    if policy & ~os.SCHED_RESET_ON_FORK != os.SCHED_RR:
        return
    param = os.sched_getparam(0)
    for task in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it has ended meanwhile
            if os.sched_getscheduler(int(task.name)) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER:
                os.sched_setscheduler(int(task.name), os.SCHED_RR | os.SCHED_RESET_ON_FORK, param)


def allowed(priority: int) -> bool:
    """Whether this process may have the priority."""
    try:
        take(priority)
    except (OSError, AttributeError):
        return False
    if priority:
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
    return True


def give(context: "zmq.Context[zmq.Socket[bytes]]", priority: int) -> None:
    """Give the threads of a context the priority; it may have no socket yet. Not allowed: ZeroMQ ends the process."""
    if priority:
        context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_RR)
        context.set(zmq.THREAD_PRIORITY, priority)
