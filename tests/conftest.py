"""The order of the tests, and programs of ours that start at once.

Those that wait for whole services come first, then those that compile in processes of their own, so that all workers
end at the same time.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# before NumPy is imported: threads of a linear algebra of small matrices only wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
LONG = Path(__file__).with_name("end_to_end")
COMPILING = Path(__file__).with_name("test_jointwatch_jit.py")
SERVER = Path(__file__).parent / "support" / "program_server.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: 0 if LONG in item.path.parents else 1 if item.path == COMPILING else 2)


class Program:
    """A running `python -m MODULE ARGUMENTS`, with stdout and stderr as pipes: what is used of subprocess.Popen."""

    def __init__(self, server: str, module: str, *arguments: object) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(server)
        wanted = {"module": module, "arguments": list(map(str, arguments))}
        ends = [nothing, out_end, err_end]
        socket.send_fds(self._server, [json.dumps(wanted).encode()], ends)
        for end in ends:
            os.close(end)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)
        self._answers = self._server.makefile()
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """To a program, where it still runs."""
        with contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """At once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60.0) -> int:
        """The exit code; negative: of the signal that ended it. Raises TimeoutError."""
        if self.returncode is None:
            self._server.settimeout(timeout)
            self.returncode = int(self._answers.readline())
        return self.returncode

    def communicate(self, timeout: float = 60.0) -> tuple[str, str]:
        """What is left of stdout and stderr, of which neither is more than a pipe holds."""
        self.wait(timeout)
        return self.stdout.read(), self.stderr.read()

    def close(self) -> None:
        """End it, if it runs."""
        self.kill()
        self.wait()
        for one in (self._answers, self._server, self.stdout, self.stderr):
            one.close()


@pytest.fixture(scope="session")
def program_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of one process that has imported our programs, once for all that are started from it."""
    address = str(tmp_path_factory.mktemp("programs") / "s")
    with subprocess.Popen(
        [sys.executable, SERVER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield address
        server.stdin.close()


@pytest.fixture
def start_program(program_server: str) -> Iterator[Callable[..., Program]]:
    """start_program(module, *arguments): a Program, ended with the test."""
    started: list[Program] = []

    def start(module: str, *arguments: object) -> Program:
        started.append(Program(program_server, module, *arguments))
        return started[-1]

    yield start
    for program in started:
        program.close()
