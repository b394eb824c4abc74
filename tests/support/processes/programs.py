"""Starts our programs quickly: each is forked from a process that has imported them (program_server.py).

A fresh interpreter takes a second of processor time for its imports, and a rig with its service takes two.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("program_server.py")


class Program:
    """A running `python -m MODULE ARGUMENTS` with stdout and stderr as pipes, used like subprocess.Popen."""

    def __init__(self, server: str, module: str, *arguments: object, strict: bool = False, **streams: Any) -> None:
        """strict: warnings are errors in it; streams: stdout, stderr as of subprocess.Popen, or an open file."""
        self.args = [module, *map(str, arguments)]
        self.stdout, out = _stream(streams.get("stdout", subprocess.PIPE), sys.__stdout__)
        self.stderr, err = _stream(streams.get("stderr", subprocess.PIPE), sys.__stderr__)
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(server)
        wanted = {
            "module": module, "arguments": self.args[1:], "strict": strict,
            "folder": os.getcwd(), "environment": dict(os.environ),  # noqa: PTH109
        }  # fmt: skip
        self._server.sendall(json.dumps(wanted).encode() + b"\n")
        socket.send_fds(self._server, [b"\n"], [nothing, out, err])
        for end in (nothing, out, err):
            os.close(end)
        self._unread = b""
        self.pid = self._answer()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(1e-3)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal if the program still runs."""
        with contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60.0) -> int:
        """The exit code; negative: of the signal that ended it. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._server.settimeout(timeout)
            try:
                self.returncode = self._answer()
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(self.args, timeout) from error
            self._server.close()
        return self.returncode

    def communicate(self, timeout: float = 60.0) -> tuple[str, str]:
        """Wait for the end, and return the rest of stdout and stderr; each must fit into a pipe."""
        self.wait(timeout)
        return self.stdout.read(), self.stderr.read()

    def close(self) -> None:
        """End the program if it runs."""
        self.kill()
        self.wait()
        for one in (self.stdout, self.stderr):
            if one is not None:
                one.close()

    def _answer(self) -> int:
        """The number in the next line from the server."""
        while b"\n" not in self._unread:
            if not (more := self._server.recv(64)):
                raise EOFError("the process that starts programs has ended")
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return int(line)


def await_line(program: Any, line: str, timeout: float = 120.0) -> None:
    """Read what a program prints until this line has come. Fails where it has not within `timeout` s."""
    found = threading.Event()

    def read() -> None:
        if any(one == f"{line}\n" for one in iter(program.stdout.readline, "")):
            found.set()

    threading.Thread(target=read, daemon=True).start()
    assert found.wait(timeout), f"no line {line!r} within {timeout:g} s"


def _stream(wanted: Any, inherited: Any) -> tuple[Any, int]:
    """Our end of a stream, if any, and the descriptor of the program's end."""
    if wanted == subprocess.PIPE:
        mine, its = os.pipe()
        return os.fdopen(mine), its
    if wanted == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_WRONLY)
    return None, os.dup((inherited if wanted is None else wanted).fileno())


def completed(
    server: str, module: str, *arguments: object, strict: bool = False, timeout: float = 300.0
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end: subprocess.run([sys.executable, "-m", module, …], capture_output=True, text=True)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        program = Program(server, module, *arguments, strict=strict, stdout=out, stderr=err)
        try:
            code = program.wait(timeout)
        finally:
            program.close()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(program.args, code, out.read(), err.read())


@contextlib.contextmanager
def serving(address: str, *modules: str) -> Iterator[None]:
    """A process at this address that has imported our programs, or these modules, and forks what is asked for."""
    with subprocess.Popen(
        [sys.executable, SERVER, address, *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield
        server.stdin.close()
