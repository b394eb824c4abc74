"""The examples do what they say, with a running service; PlotJuggler finds every curve of its layout."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.subscriber import Subscriber
from hil_rig.live import Live

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "deploy" / "examples"
LINE = re.compile(r"joint1 \w+ \(\w+\): inertia \S+ ± \S+, viscous ")


@pytest.fixture(scope="module")
def live(forked_programs: None) -> Iterator[Live]:
    with Live(["rigid", "--wire", "slcan"]) as started:
        yield started


def run(*words: object) -> list[str]:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_python(live: Live) -> None:
    lines = run(sys.executable, "-W", "error", EXAMPLES / "listen.py", "--endpoint", live.endpoint, "--count", "20")
    assert len(lines) == 20
    assert all(LINE.match(line) for line in lines), lines


def test_cpp(live: Live, tmp_path: Path) -> None:
    source = EXAMPLES / "listen.cpp"
    compiler = shutil.which("g++")
    headers = [Path("/usr/include", name) for name in ("zmq.hpp", "msgpack.hpp")]
    if compiler is None or not all(header.exists() for header in headers):
        pytest.skip("the C++ example needs: apt-get install g++ cppzmq-dev libmsgpack-cxx-dev")
    told = re.search(r"^//     (g\+\+ .*)$", source.read_text(), re.MULTILINE)
    assert told, "how to compile it stands in it"
    words = told[1].replace("g++", compiler, 1).replace("-O2", "-O0 -Wall -Wextra -Werror")
    done = subprocess.run(
        words.replace("listen.cpp", str(source)).replace("-o listen", f"-o {tmp_path}/listen").split(),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = run(tmp_path / "listen", "--endpoint", live.endpoint, "--topic", "", "--count", "40")
    assert len(lines) == 40
    estimates = [line for line in lines if line.startswith("estimate/joint1 at 1")]
    assert estimates
    assert all(re.search(r" \w+:  coulomb \S+ ± \S+ .* inertia \S+ ± ", line) for line in estimates), estimates


def series(topic: str, update: Any) -> Iterator[str]:
    """The names that PlotJuggler's parser gives: topic, then keys, with slashes; strings and lists of them are none."""
    if isinstance(update, dict):
        for key, value in update.items():
            yield from series(f"{topic}/{key}", value)
    elif isinstance(update, (int, float)):
        yield topic


def curves(root: ElementTree.Element) -> set[str]:
    return {curve.attrib["name"] for curve in root.iter("curve")}


def test_plotjuggler_finds_every_curve(live: Live) -> None:
    lines = run(sys.executable, "-W", "error", EXAMPLES / "plotjuggler_layout.py", "--endpoint", live.endpoint)
    wanted = curves(ElementTree.fromstring("\n".join(lines)))
    assert len(wanted) > 7
    found: set[str] = set()
    with Subscriber(live.endpoint, timeout=60) as updates:
        for topic, update in updates:
            assert isinstance(update["timestamp"], float), "every message has one, in seconds"
            found |= set(series(topic, update))
            if wanted <= found:
                break


def paths(layout: dict[str, Any]) -> set[str]:
    """The message paths of every plot of a Foxglove layout."""
    return {path["value"] for panel in layout["configById"].values() for path in panel.get("paths", ())}


def test_foxglove_finds_every_path_and_every_panel(live: Live) -> None:
    text = run(sys.executable, "-W", "error", EXAMPLES / "foxglove_layout.py", "--endpoint", live.endpoint)
    layout = json.loads("\n".join(text))
    wanted = paths(layout)
    assert len(wanted) > 7
    found: set[str] = set()
    with Subscriber(live.endpoint, timeout=60) as updates:
        for topic, update in updates:
            found |= {name.replace(f"{topic}/", f"{topic}.").replace("parameters/", "parameters.")
                      for name in series(topic, update)}  # fmt: skip
            if wanted <= found:
                break
    shown: list[str] = []
    waiting = [layout["layout"], *(tab["layout"] for tab in layout["configById"]["Tab!joints"]["tabs"])]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            shown.append(one)
        else:
            assert one["direction"] in ("row", "column")
            waiting += one["first"], one["second"]
    assert sorted(shown) == sorted(layout["configById"]), "each panel stands in one place"


def test_the_shipped_layout_of_foxglove_is_the_templates() -> None:
    layout = runpy.run_path(str(EXAMPLES / "foxglove_layout.py"))["layout"]
    pipeline = Pipeline(load(ROOT / "daq" / "jointwatch.toml"), boot=1)
    assert json.loads((EXAMPLES / "foxglove.json").read_text("utf-8")) == layout(pipeline._introduction.joints)


def test_the_shipped_layout_is_the_templates() -> None:
    layout = runpy.run_path(str(EXAMPLES / "plotjuggler_layout.py"))["layout"]
    pipeline = Pipeline(load(ROOT / "daq" / "jointwatch.toml"), boot=1)
    fresh = ElementTree.tostring(layout(pipeline._introduction.joints), encoding="unicode")
    shipped = (EXAMPLES / "plotjuggler.xml").read_text()
    assert shipped == f'<?xml version="1.0" encoding="UTF-8"?>\n{fresh}\n'


def test_the_layout_is_what_plotjuggler_reads() -> None:
    """Its own rules (plotjuggler_app: PlotDocker, PlotWidget::xmlLoadState): splitters count what they hold."""
    root = ElementTree.parse(EXAMPLES / "plotjuggler.xml").getroot()
    assert root.tag == "root"
    tabs = root.find("tabbed_widget")
    assert tabs is not None
    assert tabs.attrib == {"name": "Main Window", "parent": "main_window"}
    assert [tab.attrib["tab_name"] for tab in tabs.findall("Tab")] == ["elbow"]
    for container in tabs.iter("Container"):
        assert [child.tag for child in container] == ["DockSplitter"]
    for splitter in tabs.iter("DockSplitter"):
        children = [child.tag for child in splitter]
        assert set(children) <= {"DockSplitter", "DockArea"}
        assert int(splitter.attrib["count"]) == len(children) == len(splitter.attrib["sizes"].split(";"))
        assert splitter.attrib["orientation"] in "|-"
    for area in tabs.iter("DockArea"):
        plot = area.find("plot")
        assert plot is not None
        assert plot.attrib["mode"] == "TimeSeries"
        assert {child.tag for child in plot} == {"range", "limitY", "curve"}
    assert {plugin.attrib["ID"] for plugin in root.findall("Plugins/plugin")} == {"ZMQ Subscriber"}
