"""Kernels that a first start compiles while the service runs: none of them is needed before it is there."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.core.process import CoreProcess
from daq.processes import kernels
from daq.processes.heartbeat import COMPILED, Heartbeats, Life
from daq.processes.kernels import FIRST, SERVICE, STAGES, LaterKernels, ahead, cache_folder, jobs, postpone
from daq.processes.supervisor import may_wait
from daq.stream.channel import CoreReceiver
from drivers.can.bus import CanBusSettings
from drivers.catalogue import MODULES, OURS, settings_class

ROOT = Path(__file__).parents[3]
PLAYED = """
import json
from pathlib import Path
from daq.processes.kernels import STAGES, load_one_of
from jointwatch_numba.compiled import postpone, postponed
from estimators.online.compiled import ENDING, LEARNING
postpone(one for stage in STAGES for one in stage)
from daq.config.load import load
from daq.core.pipeline import Pipeline
from tests.daq.core.test_pipeline import readings
pipeline, said = Pipeline(load(Path("daq/jointwatch.toml")), 1), []
phases = pipeline.joints[0].estimator.phases
batches, at, waiting = readings(33.0).reshape(-1, 30), 0, []
for stage, until in enumerate((3.0, 20.0, 33.0)):
    while at < len(batches) and at < until * 100:
        pipeline.set_compiled(stage)
        said += [body.hex() for _, body in pipeline.absorb(batches[at], 0, lambda: 0)]
        at += 1
    waiting.append([str(phases.phase), len(postponed(LEARNING)), len(postponed(ENDING))])
    while stage < len(STAGES) and load_one_of(stage):
        pass
print(json.dumps(waiting))
"""


@pytest.mark.compiled
def test_no_joint_needs_a_kernel_before_its_stage() -> None:
    """Else the core would stop and compile it."""
    done = subprocess.run(
        [sys.executable, "-c", PLAYED],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    waits, starts, runs = json.loads(done.stdout)
    assert waits[0] == "waiting"
    assert waits[1] > 10
    assert starts == ["starting", 0, waits[2]]
    assert waits[2] > 5
    assert runs == ["normal", 0, 0]


def test_what_is_compiled_later_is_what_comes_first_and_the_rest() -> None:
    later = {one for stage in STAGES for one in stage}
    assert later <= {one for job in jobs(SERVICE) for one in job}, "each has kernels, and a service imports it"
    assert len(later) == sum(map(len, STAGES))


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first start, of two modules in place of the service's."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(kernels, "STAGES", (("hil_rig.plants.base",), ("hil_rig.messages",)))
    monkeypatch.setattr(kernels, "jobs", lambda roots: {frozenset({one}): set() for one in roots})


@pytest.mark.usefixtures("cold")
def test_stages_are_told_one_by_one_and_kept(wait: Callable[..., None]) -> None:
    shared = Heartbeats(1)
    assert shared.compiled == COMPILED, "where nothing is compiled later"
    shared.compiled = 0
    later = LaterKernels(["hil_rig.messages"])
    later.begin(shared)
    wait(lambda: later.check() or any(cache_folder().glob("compiled-*-hil_rig.messages")), 300.0)
    assert shared.compiled == COMPILED
    later.stop()


@pytest.mark.usefixtures("cold")
def test_what_cannot_be_compiled_holds_up_no_joint(
    monkeypatch: pytest.MonkeyPatch, wait: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kernels, "STAGES", (("hil_rig.no_such_module",), ()))
    shared = Heartbeats(1)
    shared.compiled = 0
    later = LaterKernels(["hil_rig.messages"])
    later.begin(shared)
    wait(lambda: later.check() or shared.compiled == COMPILED, 300.0)
    assert "were not compiled" in caplog.text
    assert [*cache_folder().glob("compiled-*")] == []


@pytest.mark.usefixtures("cold")
def test_a_service_that_ends_ends_what_compiles(wait: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LaterKernels, "_compile", lambda _: time.sleep(600.0) or 0)
    later = LaterKernels([])
    later.begin(Heartbeats(1))
    [pid] = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()[-1:]
    assert Path(f"/proc/{pid}").exists()
    later.stop()
    wait(lambda: later.check() or not Path(f"/proc/{pid}").exists())


@pytest.mark.usefixtures("cold")
def test_a_start_that_was_interrupted_goes_on_with_what_comes_later(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    loads = {"root": {"hil_rig.messages"}, "other": set[str]()}
    monkeypatch.setattr(kernels, "_sources", lambda: ({}, {}, loads))
    monkeypatch.setattr(kernels, "jobs", lambda roots: {frozenset({"estimators.base"}): set()})
    ahead(["root", "other"], later=["hil_rig.messages"])
    assert "1 of 1  estimators.base" in capfd.readouterr().err
    names = sorted(file.name.split("-", 2)[2] for file in cache_folder().glob("compiled-*"))
    assert names == [FIRST + "root", "other"] or names == ["other", FIRST + "root"]
    ahead(["root", "other"], later=["hil_rig.messages"])
    assert capfd.readouterr().err == "", "it is there"
    ahead(["root"])
    assert "1 of 1" in capfd.readouterr().err, "all of it is wanted now"


def test_the_core_loads_a_kernel_a_turn_and_then_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages, loaded, heartbeats = list[int](), list[int](), Heartbeats(1)
    monkeypatch.setattr(Pipeline, "set_compiled", lambda _, stage: stages.append(stage))
    monkeypatch.setattr(kernels, "load_one_of", lambda stage: loaded.append(stage) or loaded.count(stage) < 3)
    heartbeats.compiled = 0
    core = CoreProcess(load(ROOT / "daq" / "jointwatch.toml"), tmp_path, Life(heartbeats, 0))
    with CoreReceiver(f"ipc://{tmp_path}/readings", tmp_path / "readings.heard") as receiver:
        for compiled in (0, 1, COMPILED):
            heartbeats.compiled = compiled
            deadline = time.monotonic() + 300.0
            while stages[-1] < compiled:
                assert time.monotonic() < deadline
                core.turn(receiver, True)
    core.close()
    assert stages == [0, 1, 2]
    assert loaded == [0, 0, 0, 1, 1, 1]


CONFIGURATION = """
[drivers.bus]
kind = "can"
interface = "slcan"
channel = "/dev/ttyACM0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
signals.torque = { start = 32, bits = 16, type = "signed", scale = 1e-2, unit = "N·m" }
[joints.one]
rate = 1000.0
model = { kind = "rigid"%s }
channels.position = { signal = "bus.STATE.position" }
channels.torque = { signal = "bus.STATE.torque" }
"""


@pytest.mark.parametrize(
    ("law", "more", "waits"),
    [
        ("", "", True),
        (', friction = { kind = "tanh_stribeck" }', "", False),
        ("", "lost_motion = { encoders = 1, inertia_motor = 0.1 }", False),
    ],
)
def test_only_plain_joints_wait(law: str, more: str, waits: bool, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(CONFIGURATION % law + more)
    assert may_wait(load(file)) is waits


def test_where_all_is_compiled_nothing_is_postponed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_missing", lambda *_: [])
    assert postpone() == ()


@pytest.mark.parametrize("kind", OURS)
def test_modules_of_a_driver_are_known_before_its_settings_can_be_read(kind: str) -> None:
    settings = settings_class(kind)
    made = [settings.model_construct()]
    if settings is CanBusSettings:
        made = [settings.model_construct(interface=one) for one in ("slcan", "socketcan", "udp_multicast", "pcan")]
    for one in made:
        assert set(one.modules()) <= set(MODULES.get(kind, ()))
