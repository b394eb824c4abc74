"""Starts programs of ours as `python -m NAME` would, each forked from this process, which has imported them.

    python tests/support/processes/program_server.py SOCKET [MODULE …]

The modules, if any are named, are imported instead of our programs.
One connection a program: a line with {"module", "arguments", "strict": whether its warnings are errors, "folder" where
it runs, "environment"}, and a line with the descriptors of its stdin, stdout and stderr; answered with its number, and
when it has ended with its exit code, one line each. Ends with its own stdin.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import warnings
from typing import Any

from daq.core.checkpoint import edition
from daq.processes.child import die_with

PREPARED = (
    *("hil_rig.__main__", "daq.__main__", "daq.config.load", "daq.processes.supervisor", "daq.core.process"),
    *("daq.outlet.process", "daq.recording.process", "daq.processes.driver", "drivers.catalogue", "hil_rig.plants"),
    "fake_outlet",
)


def serve(path: str) -> dict[str, Any]:
    """Fork one child for each request; returns only in a child, with its request."""
    running: dict[int, tuple[int, socket.socket]] = {}  # descriptor of a process → its number, its connection
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while True:
            readable, _, _ = select.select([listener, 0, *running], [], [])
            for ended in running.keys() & {one for one in readable if isinstance(one, int)}:
                number, connection = running.pop(ended)
                os.close(ended)
                with connection:
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
            if 0 in readable:  # whoever started us is gone
                sys.exit()
            if listener not in readable:
                continue
            connection, _ = listener.accept()
            text = _line(connection)
            _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
            server, number = os.getpid(), os.fork()
            if number == 0:
                os.setsid()
                die_with(server)
                for place, descriptor in enumerate(descriptors):
                    os.dup2(descriptor, place)
                for mine in (connection, *(one for _, one in running.values())):
                    mine.close()
                for descriptor in (*descriptors, *running):
                    os.close(descriptor)
                wanted: dict[str, Any] = json.loads(text)
                return wanted
            for descriptor in descriptors:
                os.close(descriptor)
            running[os.pidfd_open(number)] = number, connection
            connection.sendall(b"%d\n" % number)


def _line(connection: socket.socket) -> bytes:
    """Read the first line of a request, and no byte more, since the descriptors follow it."""
    text = bytearray()
    while not text.endswith(b"\n"):
        there = connection.recv(1 << 16, socket.MSG_PEEK)
        text += connection.recv(there.find(b"\n") + 1 or len(there))
    return bytes(text)


if __name__ == "__main__":
    for name in sys.argv[2:] or PREPARED:
        importlib.import_module(name)
    edition()
    gc.collect()
    gc.freeze()  # no child has to look at what is here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = serve(sys.argv[1])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    tempfile.tempdir = None  # which TMPDIR may have changed
    os.chdir(wanted["folder"])
    if wanted["strict"]:
        warnings.simplefilter("error")
    sys.modules.pop(f"{wanted['module']}.__main__", None)  # else runpy warns that it was imported before it is run
    sys.argv[1:] = wanted["arguments"]
    runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
