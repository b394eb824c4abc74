"""Real-time priority for the threads that an update passes on its way, and for no others.

On a busy machine a thread that is handed an update waits for the processor, up to the scheduler's slice (3 ms). A
thread takes the priority for itself only; what it starts has none, so a refit runs as an ordinary process. ZeroMQ's own
threads get the priority from their context. A controller with a higher real-time priority still runs first.
"""

import os

import zmq


def take(priority: int) -> None:
    """Give this thread the priority; 0: none. Raises OSError where the operating system does not allow it."""
    if priority:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


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
