"""Every rig × every wire: starts, says what it is, plays, and leaves nothing behind.

Each plays in real time. So `make test` has every rig on one wire, every wire with one rig, and every refusal once: what
a rig plays does not know its wire, and a wire knows messages only. All pairs are in `make test-slow`.
"""

import itertools
import json
import signal
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import wanted
from drivers.base import TRAFFIC, Wanted
from hil_rig.plants import RIGS
from hil_rig.wire import WIRES

Play = Callable[..., tuple[Any, dict[str, Any]]]

pytestmark = pytest.mark.compiled  # the plants must keep up with the clock


@pytest.fixture(params=RIGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rig `recording` plays: no data set is needed."""
    path = tmp_path_factory.mktemp("recording") / "run.npz"
    t = np.arange(20_000) / 1000
    np.savez(path, t=t, qm=0.1 * np.sin(t), vir=np.cos(t))
    return path


@pytest.fixture
def play(start_program: Callable[..., Any], file: Path) -> Play:
    """play(name, *arguments): a rig that has said what it is, and that."""

    def start(name: str, *more: str) -> tuple[Any, dict[str, Any]]:
        rig = start_program("hil_rig", name, "--json", *(["--file", file] if name == "recording" else []), *more)
        return rig, json.loads(rig.stdout.readline())

    return start


# rigs that a kind of robot cannot be
CANNOT = {
    ("rtde", "arm"): "a UR has 6 joints",
    ("rtde", "lwr4"): "a UR has 6 joints",
    ("rtde", "pointing"): "found ['m']",
    ("rtde", "recording"): "found ['m', 'V']",
    ("servo", "two_mass"): "in rad and A on servo",
    ("servo", "pointing"): "in rad and A on servo",
    ("servo", "tree5"): "in rad and A on servo",
    ("servo", "leg"): "in rad and A on servo",
    ("servo", "four_bar"): "in rad and A on servo",
    ("servo", "lwr4"): "in rad and A on servo",
    ("servo", "recording"): "in rad and A on servo",
}
CANNOT |= {("servo_polled", name): words for (wire, name), words in CANNOT.items() if wire == "servo"}

MECHANISM = Path(__file__).parents[3] / "docs" / "four_bar.toml"
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}  # of a device's time
# the wire on which each rig is played in `make test`
ON = {
    "two_mass": "slcan",
    "rigid": "servo",
    "arm": "serial",
    "gear": "rtde",
    "pointing": "udp",
    "tree5": "zenoh",
    "leg": "serial",
    "four_bar": "ros2",
    "double_encoder_robot": "servo",
    "er16": "servo_polled",
    "lwr4": "udp",
    "recording": "slcan",
}
REFUSED = {(wire, words): name for (wire, name), words in CANNOT.items()}  # one rig for each refusal


def is_quick(name: str, wire: str) -> bool:
    """Whether `make test` has this pair."""
    return ON[name] == wire or REFUSED.get((wire, CANNOT.get((wire, name), ""))) == name


def test_every_rig_and_every_wire_is_in_the_quick_run() -> None:
    assert ON.keys() == RIGS.keys()
    assert set(ON.values()) == WIRES.keys()
    assert not [name for name, wire in ON.items() if (wire, name) in CANNOT]


def _still(channels: Sequence[Wanted], batches: Sequence[np.ndarray], wire: str) -> list[str]:
    """Signals that have said the same all the time: coarse registers of a servo need a while."""
    readings = np.concatenate(batches)
    values = {one.signal: readings["value"][readings["channel"] == one.channel] for one in channels}
    still = [signal for signal, value in values.items() if len(value) == 0 or np.ptp(value) == 0]
    # a register of a servo's current has steps of 1 mA: a small robot's may stay within one
    return [signal for signal in still if not (wire.startswith("servo") and signal.endswith("current"))]


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        pytest.param(name, wire, marks=[] if is_quick(name, wire) else [pytest.mark.slow])
        for name, wire in itertools.product(RIGS, WIRES)
    ],
)
def test_it_plays_what_its_configuration_listens_to(
    name: str, wire: str, play: Play, file: Path, tmp_path: Path, run_program: Callable[..., Any]
) -> None:
    config, link = tmp_path / "rig.toml", tmp_path / "robot"
    where = ["--link", str(link)] if wire in ("slcan", "serial", "servo", "servo_polled") else []
    words = [name, "--wire", wire, "--config", str(config), *where]
    if (wire, name) in CANNOT:
        done = run_program("hil_rig", *words, *(["--file", str(file)] if name == "recording" else []))
        assert done.returncode == 1
        assert CANNOT[wire, name] in done.stderr
        return
    rig, hello = play(*words)
    assert {"rig": name, "wire": wire, "config": str(config)}.items() <= hello.items()
    assert link.is_symlink() == bool(where)
    assert hello["device"] == (str(link) if where else hello["device"])
    settings = load(config)
    assert list(settings.joints) == list(hello["truth"]) == [f"joint{n + 1}" for n in range(RIGS[name].joints)]
    for joint, truth in hello["truth"].items():
        named = {parameter.name for parameter in settings.joints[joint].model.build().parameters}
        assert truth.keys() == (named if truth else set()), "the truth in the estimator's own names"
        assert settings.joints[joint].rate == hello["rate"]
    channels, units = wanted(settings, "wire"), settings.drivers["wire"].signals()
    assert getattr(settings.drivers["wire"], "rate", hello["rate"]) == hello["rate"], "of a wire that asks for one"
    batches, still = [], []
    with settings.drivers["wire"].open(channels) as driver:
        deadline = time.monotonic() + 180
        while sum(map(len, batches)) < 300 * len(channels) or (still := _still(channels, batches, wire)):
            assert time.monotonic() < deadline, f"no frames, or these signals stay: {still}"
            batches.append(driver.read(0.5))
        counts = driver.counters()
    assert counts["frames"] > 0
    # answers to polls come late where the rig, a process of this machine, gets no processor
    late = {"skipped", "unanswered", "unmatched"} if wire == "servo_polled" else set()
    if wire in (
        "zenoh",
        "ros2",
    ):  # a middleware drops some where it gets none; that they are counted is tested beside it
        late = {"lost"}
        assert counts["lost"] < counts["frames"] / 2
    lost = [cause for cause, count in counts.items() if count and cause not in {*TRAFFIC, *late}]
    readings = np.concatenate(batches)
    for channel in channels:
        mine = readings[readings["channel"] == channel.channel]
        assert np.isfinite(mine["value"]).all()
        if channel.signal.endswith(("timestamp", "stamp")):
            steps = np.diff(mine["value"])
            assert (steps > 0).all()
            assert np.median(steps) * hello["rate"] * SECONDS[units[channel.signal]] == pytest.approx(1.0, rel=0.01)
        elif channel.signal.endswith(("counter", "sequence")):
            # only datagrams get lost or overtake each other, where their sender is moved to another processor
            numbers = np.sort(mine["value"]) if wire == "udp" else mine["value"]
            steps = np.diff(numbers)
            assert (steps >= 1).all()
            lost += [f"{channel.signal}: {steps.max()}"] if wire != "udp" and steps.max() > 1 else []
    rig.send_signal(signal.SIGTERM)
    out, _ = rig.communicate()
    assert rig.returncode == 0
    farewell = json.loads(out)
    assert farewell["truth"] == hello["truth"]
    assert farewell["samples"] >= 299
    assert not lost or farewell["refused"] > 0, f"{lost}: but what a wire had no room for whose reader starved"
    assert not link.is_symlink()


def test_the_configuration_is_toml_that_says_where_it_came_from(name: str, play: Play, tmp_path: Path) -> None:
    config = tmp_path / "rig.toml"
    publish = {"endpoint": "tcp://127.0.0.1:7001", "page": "http://127.0.0.1:7002"}
    words = ["--endpoint", publish["endpoint"], "--page", publish["page"], "--config", str(config)]
    rig, hello = play(name, *words, "--model", str(MECHANISM), "--duration", "0.2")
    assert rig.wait() == 0, "--duration ends it, reader or none"
    text = config.read_text()
    assert text.startswith(f"# Written by the rig {name}")
    read = tomllib.loads(text)
    assert read["publish"] == publish
    assert read["robot"] == {"name": name, "mechanism": str(MECHANISM)}, "what the robot is watched with"
    assert read["drivers"]["wire"]["channel"] == hello["device"]


def test_the_list_names_them_all(run_program: Callable[..., Any]) -> None:
    done = run_program("hil_rig", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(RIGS)
