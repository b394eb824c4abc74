"""A gateway as a real process, beside a real outlet to which a stand-in for the core publishes."""

import re
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from daq.stream.update import Introduction
from daq.subscriber import Subscriber
from tests.support.processes.programs import Program
from tests.support.processes.waiting import wait_until

ROOT = Path(__file__).parents[3]
PARAMETERS = {
    name: {"unit": unit, "low": 0.0, "high": 10.0, "equation": "(1)", "meaning": name, "needs": "motion"}
    for name, unit in (("inertia", "kg·m²"), ("viscous", "N·m·s/rad"))
}


class Scene:
    """An outlet, a core that publishes to it, and gateways that are started beside them."""

    def __init__(self, server: str, folder: Path, outlet: Any, core: Any) -> None:
        self._server, self.folder, self.outlet, self.core = server, folder, outlet, core
        self.last: Any = None  # the estimate that ends a series
        joint = {"model": "rigid", "unit": "N·m", "rate": 1000.0, "parameters": PARAMETERS}
        self._meta = Introduction("robot", core.boot, "0" * 16, {"elbow": joint, "base": joint})
        self._children: list[Program] = []

    def introduce(self, now: float) -> None:
        """Publish `meta`."""
        self.core.updates.send_multipart(self._meta.message(now))

    def start(self, name: str, *lines: str) -> Program:
        """Start the gateway whose table has these lines; returns when it is ready."""
        config = self.folder / f"{name}.toml"
        template = (ROOT / "daq" / "jointwatch.toml").read_text("utf-8").replace('name = "arm"', 'name = "robot"')
        config.write_text("\n".join([template, f"[gateways.{name}]", *lines]) + "\n", "utf-8")
        child = Program(self._server, "fake_gateway", config, self.folder, name, strict=True)
        self._children.append(child)
        if child.stdout.readline() != "ready\n":
            pytest.fail(f"the gateway did not start: {child.stderr.read()}")
        return child

    def forget(self, child: Program) -> None:
        """One that a test has killed."""
        self._children.remove(child)
        child.close()

    def close(self) -> None:
        """End the gateways that run; each has to end by itself."""
        for child in self._children:
            child.terminate()
            try:
                code, words = child.wait(60), child.stderr.read()
            finally:
                child.close()
            assert code == 0, words
            assert "Traceback" not in words


def sum_of(page: str, name: str, gateway: str = "") -> float:
    """The sum of one metric over its labels; 0 where it is not there yet."""
    with urllib.request.urlopen(f"{page}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    named = rf'jointwatch_{name}(\{{gateway="{gateway}"\}})\s' if gateway else rf"jointwatch_{name}(\{{|\s)"
    return sum(float(line.rpartition(" ")[2]) for line in lines if re.match(named, line))


def publish_and_receive(
    scene: Scene, count: int, rate: float, behind: Callable[[], bool] = lambda: False
) -> list[float]:
    """Publish as a core does; how long each estimate took to a subscriber of the stream, s. Fails where one is
    missing.

    behind: whether a client that is to miss nothing has so much to take that the next has to wait, since a machine that
    stands still would fill its queue.
    """
    taken: list[float] = []
    with Subscriber(scene.outlet.endpoint, ("estimate/",), timeout=60) as updates:
        next(updates)  # the last value: the subscription has arrived

        def receive() -> None:
            for _, update in updates:
                taken.append(time.time() - update["arrival"])
                if update["parameters"]["inertia"] == 9.0 and len(taken) > count:
                    return

        reader = threading.Thread(target=receive)
        reader.start()
        begin = time.monotonic()
        for number in range(count):
            scene.core.estimate("elbow")
            time.sleep(max(0.0, begin + number / rate - time.monotonic()))
            wait_until(lambda: not behind(), look=0.002)
        scene.core.estimate("elbow", scene.last)
        reader.join(60)
        assert not updates.gaps
        assert len(taken) > count
    return taken


@pytest.fixture(scope="session")
def metric() -> Callable[..., float]:
    return sum_of


@pytest.fixture(scope="session")
def latencies() -> Callable[..., list[float]]:
    return publish_and_receive


@pytest.fixture(scope="session")
def scene(
    program_server: str, tmp_path_factory: pytest.TempPathFactory, make_outlet: Callable[..., Any], make_core: type
) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "status").symlink_to(folder / "s")
    outlet = make_outlet(folder, more=("--inside", f"ipc://{folder}/stream"))
    core = make_core(folder)
    made = Scene(program_server, folder, outlet, core)
    with Subscriber(outlet.endpoint, ("meta",), timeout=0.1) as updates:
        while True:  # until the publisher knows of the outlet: what it sends before is lost
            made.introduce(time.time())
            try:
                next(updates)
                break
            except TimeoutError:
                continue
    try:
        yield made
    finally:
        made.close()
        core.close()
        assert outlet.stop() == 0
