"""The outlet as a real process, and publishers that stand in for the core."""

import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import zmq

from daq.stream.sockets import open_publisher
from daq.stream.update import Publication
from estimators.base import Estimate, Phase, Status
from estimators.reasons import Reason
from tests.support.processes.programs import Program


def until(condition: Callable[[], object], timeout: float = 60.0, pause: float = 0.02) -> None:
    """Wait for a condition, however loaded the machine is; fails after the timeout. pause: s between two looks."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(pause)  # between two looks


def an_estimate(phase: Phase = Phase.NORMAL, reasons: tuple[Reason, ...] = (), inertia: float = 0.5) -> Estimate:
    status = Status.FAULTED if phase is Phase.FAULTED else Status.VALID
    return Estimate(
        time=0, phase=phase, status=status, reasons=reasons, names=("inertia", "viscous"),
        values=np.array([inertia, 1.25]), deviations=np.array([0.002, 0.03]),
        error=0.011, forgetting=0.9995, measured=3.0, predicted=2.75, progress=100.0,
    )  # fmt: skip


class FakeCore:
    """Publishes as a core does, on the addresses that an outlet has bound."""

    def __init__(self, folder: Path, boot: int = 1) -> None:
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.updates = open_publisher(self.context, f"ipc://{folder}/u")
        self.status = open_publisher(self.context, f"ipc://{folder}/s")
        self.boot = boot
        self._partings = self.updates.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.publications = {name: Publication("robot", name, boot, "N·m") for name in ("elbow", "base")}

    def estimate(self, joint: str = "elbow", estimate: Estimate | None = None, timestamp: float | None = None) -> None:
        estimate, now = estimate or an_estimate(), timestamp or time.time()
        self.updates.send_multipart(self.publications[joint].estimate(estimate, now, now, 2e-4))
        self.updates.send_multipart(self.publications[joint].residual(estimate, now))

    def wait_alone(self) -> None:
        """Until the publisher knows that its outlet is gone: what it sends from then on waits for the next one."""
        assert self._partings.poll(60_000)
        self._partings.recv_multipart()

    def close(self) -> None:
        self.updates.disable_monitor()
        self._partings.close()
        self.updates.close()
        self.status.close()
        self.context.term()


@dataclass
class OutletProcess:
    """A running outlet."""

    child: Program
    page: str  # http://…
    endpoint: str  # tcp://…

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.child.send_signal(number)
        try:
            return self.child.wait(60)
        finally:
            self.child.close()


def start_outlet(
    server: str, folder: Path, page: str = "", endpoint: str = "tcp://127.0.0.1:0", more: Sequence[str] = ()
) -> OutletProcess:
    """Forked by this server (tests/support/processes/programs.py). Warnings are errors in the process, too."""
    port = page.rsplit(":", 1)[-1] if page else "0"
    words = (f"ipc://{folder}/u", f"ipc://{folder}/s", endpoint, "--port", port, *more)
    child = Program(server, "fake_outlet", *words, strict=True)
    if child.stdout.readline() != "ready\n":
        pytest.fail(f"the outlet did not start: {child.stderr.read()}")
    found = re.search(r"page (\S+)  updates (\S+)", child.stderr.readline())
    assert found
    return OutletProcess(child, found[1], found[2])


@pytest.fixture
def outlet(tmp_path: Path, program_server: str) -> Iterator[OutletProcess]:
    process = start_outlet(program_server, tmp_path)
    yield process
    if process.child.poll() is None:
        assert process.stop() == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, program_server: str) -> Iterator[OutletProcess]:
    """One without a publisher, for everything that leaves no trace in it."""
    process = start_outlet(program_server, tmp_path_factory.mktemp("shared"))
    yield process
    assert process.stop() == 0


@pytest.fixture
def core(tmp_path: Path) -> Iterator[FakeCore]:
    fake = FakeCore(tmp_path)
    yield fake
    fake.close()


@pytest.fixture
def restart(program_server: str) -> Iterator[Callable[..., OutletProcess]]:
    """Starts outlets and ends those that the test left."""
    started: list[OutletProcess] = []

    def start(*arguments: object, **more: object) -> OutletProcess:
        started.append(start_outlet(program_server, *arguments, **more))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for process in started:
        if process.child.poll() is None:
            process.stop()


@pytest.fixture(scope="session")
def wait() -> Callable[..., None]:
    return until


@pytest.fixture
def make_estimate() -> Callable[..., Estimate]:
    return an_estimate


@pytest.fixture(scope="session")
def make_core() -> type[FakeCore]:
    return FakeCore


@pytest.fixture(scope="session")
def make_outlet(program_server: str) -> Callable[..., OutletProcess]:
    """Starts an outlet; who calls it stops it."""
    return partial(start_outlet, program_server)
