"""Before every ordinary process: the threads that an update passes on its way, and no others.

A hand-over from thread to thread waits for whoever has the processor, up to the scheduler's slice (3 ms) where a
machine is busy. A thread takes the priority for itself and hands it to nothing that it starts, so a re-fit is ordinary
again; ZeroMQ's own threads have it from their context. A controller with a higher real-time priority goes before them.
"""

import os

import zmq


def take(priority: int) -> None:
    """For this thread; 0: none. Raises OSError where the operating system does not allow it."""
    if priority:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


def allowed(priority: int) -> bool:
    """Whether this process may."""
    try:
        take(priority)
    except (OSError, AttributeError):
        return False
    if priority:
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
    return True


def give(context: "zmq.Context[zmq.Socket[bytes]]", priority: int) -> None:
    """To the threads of a context that has no socket yet; where it is not allowed ZeroMQ ends the process."""
    if priority:
        context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_RR)
        context.set(zmq.THREAD_PRIORITY, priority)
