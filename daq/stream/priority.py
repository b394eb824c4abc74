"""Gives real-time priority to the threads through which an update passes, and to no others.

On a busy machine a thread that gets an update waits for the processor, up to the scheduler's slice (3 ms). A thread
takes the priority only for itself; threads and processes that it starts have no priority, so a refit runs as an
ordinary process. ZeroMQ's own threads get the priority from their context, and threads of a driver's middleware get it
by `share` after it is open. A controller with a higher real-time priority still runs first.

Without a priority the same threads ask for a short slice, which needs no permission. From Linux 6.12 on, a thread that
wakes up runs before threads with longer slices; its share of the processor stays the same. The process of refits takes
the usual slice again.
"""

import ctypes
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Final

import zmq

#: ns, argued: Slice of a thread through which updates pass, the shortest in Linux; an update takes a few slices.
SHORT: Final = 100_000
SET_ATTRIBUTES: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}  # sched_setattr, by machine


class _Attributes(ctypes.Structure):
    """The first version of Linux's struct sched_attr."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )  # fmt: skip


def ask_for_short_slice() -> bool:
    """Let this thread, and threads that it starts, run soon after they wake up; returns whether that was possible."""
    return _set_slice(SHORT)


def take_usual_slice() -> bool:
    """Let this thread, which may have inherited a short slice, run in usual slices; returns whether it worked."""
    return _set_slice(0)


def _set_slice(slice_: int) -> bool:
    """Set the slice of this thread, ns (0: the usual one). An older kernel ignores it."""
    number = SET_ATTRIBUTES.get(platform.machine())
    if number is None or not hasattr(os, "SCHED_OTHER"):
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    asked = _Attributes(ctypes.sizeof(_Attributes), os.SCHED_OTHER, 0, nice, 0, slice_, 0, 0)
    return int(ctypes.CDLL(None).syscall(number, 0, ctypes.byref(asked), 0)) == 0


def take(priority: int) -> None:
    """Give this thread the priority; 0: none. Raises OSError if the operating system does not allow it."""
    if priority:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


def share() -> None:
    """Give this thread's real-time priority, if it has one, to every thread of the process that has none: threads that
    a library has started carry messages too, and may hold the interpreter."""
    if not hasattr(os, "SCHED_RESET_ON_FORK"):  # not Linux
        return
    policy = os.sched_getscheduler(0)
    if policy & ~os.SCHED_RESET_ON_FORK != os.SCHED_RR:
        return
    param = os.sched_getparam(0)
    for task in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # the thread has ended meanwhile
            if os.sched_getscheduler(int(task.name)) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER:
                os.sched_setscheduler(int(task.name), os.SCHED_RR | os.SCHED_RESET_ON_FORK, param)


def allowed(priority: int) -> bool:
    """Whether the operating system allows this process to have the priority."""
    try:
        take(priority)
    except (OSError, AttributeError):
        return False
    if priority:
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
    return True


def give(context: "zmq.Context[zmq.Socket[bytes]]", priority: int) -> None:
    """Give a context's threads the priority, before it has a socket. If not allowed, ZeroMQ ends the process."""
    if priority:
        context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_RR)
        context.set(zmq.THREAD_PRIORITY, priority)
