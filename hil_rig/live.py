"""Runs a rig and the service that listens to it during a `with` block, each in its own process as in the field."""

import json
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar, Final, Protocol, Self

from hil_rig.ports import free_port

START: Final = 300.0  # s until the page must answer; a first start compiles kernels for a minute or more
STOP: Final = 60.0  # s within which a process must stop by itself, also on a busy machine


class LiveError(Exception):
    """The rig or the service failed; the text states which of them, and how."""


class Running(Protocol):
    """A running program, with the used part of subprocess.Popen's interface."""

    pid: int
    stdout: IO[str] | None
    stderr: IO[str] | None

    def poll(self) -> int | None: ...

    def wait(self, timeout: float = ...) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def kill(self) -> None: ...


def interpreter(module: str, *arguments: object, **streams: Any) -> Running:
    """Start `python -m MODULE ARGUMENTS` in its own session, so that Ctrl-C reaches only us, and we stop all in
    order."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, text=True, start_new_session=True, **streams)


class Live:
    """Runs a rig on a wire, and `jointwatch run` with a configuration for it.

    rig: arguments of `jointwatch rig`, from the name on. endpoint, page: of the service; free ones by default.
    more: sections that the service's configuration has besides the rig's.
    """

    start: ClassVar[Callable[..., Running]] = staticmethod(interpreter)

    def __init__(
        self, rig: Sequence[str], endpoint: str = "", page: str = "", quiet: bool = True, more: str = ""
    ) -> None:
        self.endpoint = endpoint or f"tcp://127.0.0.1:{free_port()}"
        self.page = page or f"http://127.0.0.1:{free_port()}"
        self.truth: dict[str, dict[str, float]] = {}
        self.hello: dict[str, Any] = {}
        self.farewell: dict[str, Any] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="jointwatch-rig-"))
        self.config = self._folder / "jointwatch.toml"
        self._rig_arguments = list(rig)
        self._quiet = quiet
        self._more = more
        self._readers: list[threading.Thread] = []
        self._words: list[str] = []  # lines of the service, if quiet
        self._lines: queue.Queue[str] = queue.Queue()
        self._rig: Running | None = None
        self.service: Running | None = None

    def __enter__(self) -> Self:
        try:
            self._start_rig()
            self._start_service()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.service, self._rig):
            if process is not None:
                _stop(process)
        self._hear_farewell()
        for reader in self._readers:
            reader.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def rig_pid(self) -> int:
        """Id of the rig's process; 0 if none runs."""
        return self._rig.pid if self._rig is not None and self._rig.poll() is None else 0

    def wait_for_rig(self, timeout: float) -> int:
        """Wait for the end of the rig, and return its exit code. Raises LiveError after timeout (s)."""
        assert self._rig is not None
        try:
            code = self._rig.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise LiveError(f"the rig still plays after {timeout:g} s") from error
        self._hear_farewell()
        return code

    def end_rig(self, timeout: float) -> dict[str, Any]:
        """Stop the rig, and return its report on sent frames. Raises LiveError after timeout (s)."""
        assert self._rig is not None
        self._rig.send_signal(signal.SIGTERM)
        self.wait_for_rig(timeout)
        return self.farewell

    def hold_rig(self, held: bool) -> None:
        """Interrupt the frames of the rig like a pulled cable, or let them continue."""
        assert self._rig is not None
        self._rig.send_signal(signal.SIGSTOP if held else signal.SIGCONT)

    def stop_rig(self) -> None:
        """End the rig in order, and store its last report in `farewell`."""
        assert self._rig is not None
        _stop(self._rig)
        self._hear_farewell()

    def _start_rig(self) -> None:
        where = ["--config", self.config, "--endpoint", self.endpoint, "--page", self.page]
        words = subprocess.DEVNULL if self._quiet else None
        self._rig = Live.start("hil_rig", *self._rig_arguments, "--json", *where, stdout=subprocess.PIPE, stderr=words)
        self._read(self._rig.stdout, self._lines.put)
        try:
            self.hello = json.loads(self._lines.get(timeout=START))
        except (queue.Empty, json.JSONDecodeError) as error:
            raise LiveError(f"the rig {' '.join(self._rig_arguments)} did not start") from error
        self.truth = self.hello["truth"]
        with self.config.open("a", encoding="utf-8") as configuration:
            configuration.write(self._more)

    def _read(self, stream: IO[str] | None, take: Callable[[str], None]) -> None:
        """Read a stream line by line in a thread, with an empty line at its end, since a full pipe would block its
        writer."""

        def lines() -> None:
            assert stream is not None
            with stream:
                for line in stream:
                    take(line)
            take("")

        reader = threading.Thread(target=lines, daemon=True)
        reader.start()
        self._readers.append(reader)

    def _hear_farewell(self) -> None:
        for reader in self._readers[:1]:  # reader of the rig, which has ended
            reader.join(STOP)
        while not self._lines.empty():
            if line := self._lines.get():
                self.farewell = json.loads(line)

    def _start_service(self) -> None:
        log = subprocess.PIPE if self._quiet else None
        self.service = Live.start("daq", "run", self.config, stdout=None, stderr=log)
        if self._quiet:
            self._read(self.service.stderr, self._words.append)
        deadline = time.monotonic() + START
        while not answers(self.page):
            if self.service.poll() is not None:
                words = "".join(self._words).strip().splitlines()
                raise LiveError(words[-1] if words else "the service did not start")
            if time.monotonic() > deadline:
                raise LiveError(f"{self.page} does not answer after {START:g} s")
            time.sleep(0.05)


def _stop(process: Running) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(page: str) -> bool:
    """Whether a server answers at the address of the page."""
    try:
        with urllib.request.urlopen(page, timeout=1.0) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
