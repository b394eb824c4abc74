"""The distribution as a stranger gets it: installed into an empty environment, and every first command tried there.

Also its Debian package and its image. `make dist` runs this with the files that it has built (JOINTWATCH_DIST names
their folder); without them they are built here. It takes minutes: it installs everything, and compiles kernels.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from daq.subscriber import Subscriber
from hil_rig.ports import free_port
from tests.support.installation.containerfile import read
from tests.support.installation.distribution import CONSTRAINTS, ROOT, EmptyEnvironment, build, copy_of_tree
from tests.support.installation.layered_root import LayeredRoot, LayerError

pytestmark = pytest.mark.slow

EMPS = ROOT.parent / "shared" / "data"
INERTIA, VISCOUS, COULOMB, GRAVITY = 0.35, 0.6, 1.1, 4.0
URDF = """<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0.25 0 0"/><mass value="1.6"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" velocity="9" effort="90"/></joint></robot>
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and sdist."""
    named = os.environ.get("JOINTWATCH_DIST")
    if named:
        return Path(named).resolve()
    place = tmp_path_factory.mktemp("built")
    tree = copy_of_tree(place / "tree")
    for kind in ("sdist", "wheel"):
        build(tree, place, kind)
    return place


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (file,) = built.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> EmptyEnvironment:
    """An environment with the wheel, and a recording of a joint in its folder."""
    place = EmptyEnvironment(tmp_path_factory.mktemp("empty"))
    place.install(wheel)
    write_motion(place.folder / "arm.csv", 1)
    write_motion(place.folder / "other.csv", 2)
    (place.folder / "arm.urdf").write_text(URDF)
    (place.folder / "signal.py").write_text("raise SystemExit('a module of the folder was imported')\n")
    return place


def write_motion(file: Path, seed: int) -> None:
    """40 s of a joint whose truth is known, as a logger writes it: 250 Hz, degrees, N·m."""
    random = np.random.default_rng(seed)
    t = np.arange(0, 40, 0.004)
    w = 2 * np.pi * np.array([0.21, 0.53, 1.1]) * (1 + 0.1 * (seed - 1))
    a = np.array([0.9, 0.35, 0.08])
    q, v = np.sin(np.outer(t, w)) @ a, np.cos(np.outer(t, w)) @ (a * w)
    acceleration = -np.sin(np.outer(t, w)) @ (a * w**2)
    torque = INERTIA * acceleration + VISCOUS * v + COULOMB * np.tanh(v / 0.005) + GRAVITY * np.sin(q)
    torque += random.normal(0, 0.05, t.size)
    table = np.column_stack([t, np.rad2deg(q), torque])
    head = "time_s,elbow_position_deg,elbow_torque_Nm"
    np.savetxt(file, table, delimiter=",", header=head, comments="", fmt="%.6f")


def contents(file: Path) -> dict[str, str]:
    """Name → digest of all that a wheel installs; RECORD lists just that, and WHEEL who built it."""
    with zipfile.ZipFile(file) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith((".dist-info/RECORD", ".dist-info/WHEEL"))]
        return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in names}


def test_the_sdist_builds_a_wheel_equal_in_content(built: Path, wheel: Path, tmp_path: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.glob("jointwatch-*")
    for needed in ("tests/conftest.py", "docs/tutorial.md", "deploy/install.sh", "constraints.txt", "Makefile"):
        assert (tree / needed).is_file(), needed
    assert not list(tree.rglob("*.pyc"))
    assert contents(build(tree, tmp_path / "out", "wheel")) == contents(wheel)


def test_what_it_needs_is_what_it_says_it_needs(empty: EmptyEnvironment) -> None:
    done = empty.run("python", "-m", "pip", "check")
    assert done.returncode == 0, done.stdout
    assert empty.run("python", "-m", "pip", "list").stdout.count("pytest") == 0, "nothing of our tests is there"


def test_the_version_is_the_wheels(empty: EmptyEnvironment, wheel: Path) -> None:
    done = empty.run("jointwatch", "--version")
    assert (done.returncode, done.stdout.strip()) == (0, wheel.name.split("-")[1])


def test_the_public_api_can_be_imported(empty: EmptyEnvironment) -> None:
    names = re.findall(r"^::: ([\w.]+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    assert len(names) > 5
    program = "import pkgutil, sys\nfor name in sys.argv[1:]: pkgutil.resolve_name(name)"
    done = empty.run("python", "-P", "-c", program, *names)
    assert (done.returncode, done.stderr) == (0, "")


def test_columns_and_replay(empty: EmptyEnvironment) -> None:
    table = empty.run("jointwatch", "columns", "arm.csv", "--names", "elbow")
    assert "next:" in table.stderr
    (empty.folder / "arm.columns.toml").write_text(table.stdout)
    assert "ASK" not in table.stdout, table.stdout
    done = empty.run("jointwatch", "replay", "arm.csv", "arm.columns.toml")
    assert done.returncode == 0, done.stderr
    for name, true in (("inertia", INERTIA), ("viscous", VISCOUS), ("coulomb", COULOMB), ("gravity_sin", GRAVITY)):
        found = re.search(rf"^ +{name} +(\S+) ± (\S+)", done.stdout, re.MULTILINE)
        assert found, done.stdout
        assert abs(float(found[1]) - true) < 6 * float(found[2])


def test_identify(empty: EmptyEnvironment) -> None:
    """The elbow's axis is vertical to gravity, its mass 1.6 kg at 0.25 m: 3.9 N·m of gravity by the description."""
    table = '[joints.elbow]\nposition = { column = "elbow_position_deg", unit = "deg" }\n'
    table = f'time = "time_s"\n{table}torque = {{ column = "elbow_torque_Nm" }}\n'
    (empty.folder / "robot.columns.toml").write_text(table)
    done = empty.run(
        "jointwatch", "identify", "arm.urdf", "arm.csv", "--test", "other.csv", "--columns", "robot.columns.toml",
        "--out", "arm.model.toml", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["parameters"]["coulomb.elbow"]["value"] == pytest.approx(COULOMB, rel=0.05)
    assert said["test"]["joints"]["elbow"]["error"] < 2.0, "per cent of the torque of another motion"
    assert (empty.folder / "arm.model.toml").exists()


def test_emps_without_its_recording_says_where_it_is_got(empty: EmptyEnvironment) -> None:
    done = empty.run("jointwatch", "reproduce", "emps")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--data FOLDER" in done.stderr
    assert "nonlinearbenchmark.org" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not (EMPS / "emps").is_dir(), reason=f"needs the EMPS recording in {EMPS}")
def test_emps_with_its_recording(empty: EmptyEnvironment) -> None:
    done = empty.run("jointwatch", "reproduce", "emps", "--data", str(EMPS), "--json")
    assert done.returncode == 0, done.stderr
    figures = {one["name"]: one["ours"] for one in json.loads(done.stdout)["figures"]}
    assert figures["mass"] == pytest.approx(95.1, rel=0.01)


def test_a_reproduction_that_reads_a_description(empty: EmptyEnvironment) -> None:
    done = empty.run("jointwatch", "reproduce", "closed-chain", "--json")
    assert done.stderr.count("Error") == 0, done.stderr
    assert json.loads(done.stdout)["figures"]


def test_bench_says_that_it_needs_a_checkout(empty: EmptyEnvironment) -> None:
    done = empty.run("jointwatch", "bench", "rls")
    assert done.returncode == 1
    assert "needs a source checkout" in done.stderr


def until_valid(endpoint: str, seconds: float) -> None:
    """Listen until an estimate is valid."""
    with Subscriber(endpoint, ("estimate/",), timeout=seconds) as updates:
        end = time.monotonic() + seconds
        for _, update in updates:
            if update["health"]["status"] == "valid":
                return
            assert time.monotonic() < end, update


def page_and_its_files(page: str) -> list[str]:
    """What the page loads, each of which has to come."""
    text = urllib.request.urlopen(page, timeout=60).read().decode()
    names = re.findall(r'(?:src|href)="([^":#]+)"', text)
    for name in names:
        with urllib.request.urlopen(f"{page}/{name.lstrip('/')}", timeout=60) as answer:
            assert answer.status == 200
            assert len(answer.read()) > 100, name
    return names


def test_demo_to_a_valid_update_and_to_its_end(empty: EmptyEnvironment) -> None:
    endpoint, page = f"tcp://127.0.0.1:{free_port()}", free_port()
    demo = empty.start(
        "jointwatch", "demo", "--no-browser", "--rig", "rigid", "--endpoint", endpoint, "--page", str(page)
    )
    try:
        until_valid(endpoint, 1200.0)
        loaded = page_and_its_files(f"http://127.0.0.1:{page}")
        assert [name for name in loaded if "uPlot" in name]
        demo.send_signal(signal.SIGINT)
        assert demo.wait(120) == 0
    finally:
        demo.send_signal(signal.SIGINT)  # which ends rig and service, too; killed, it would leave them
        demo.wait(60)
    assert "Traceback" not in (empty.folder / "started.log").read_text("utf-8")
    with socket.socket() as probe, contextlib.suppress(ConnectionRefusedError):
        probe.connect(("127.0.0.1", page))
        pytest.fail("the page still answers: something of the demo runs on")


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[LayeredRoot]:
    try:
        made = LayeredRoot(tmp_path / "layer")
    except (LayerError, OSError) as error:
        pytest.skip(f"needs the right to mount an overlay, as root has it: {error}")
    with made:
        yield made


def test_the_debian_package_installs_runs_and_goes(wheel: Path, tmp_path: Path, layer: LayeredRoot) -> None:
    """Built here; installed by dpkg in a layer, for the system's own Python, and purged."""
    python = Path("/usr/bin/python3")
    if not (shutil.which("dpkg-deb") and python.exists()):
        pytest.skip("needs Debian: dpkg-deb and /usr/bin/python3")
    builder = tmp_path / "builder"  # the system's Python has no pip of its own everywhere
    if subprocess.run([python, "-m", "venv", builder], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs pip for the system's Python: apt-get install python3-venv")
    done = subprocess.run(
        [ROOT / "deploy" / "debian.sh", wheel, tmp_path], capture_output=True, text=True, timeout=900, check=False,
        env=os.environ | {"PYTHON": str(builder / "bin" / "python")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    package = Path(done.stdout.strip())
    layer.copy_in(package, "/tmp/jointwatch.deb")
    layer.copy_in(CONSTRAINTS.parent / "tests" / "support" / "installation" / "layered_root.py", "/tmp/play/signal.py")
    layer.sh("dpkg --install --force-depends /tmp/jointwatch.deb")
    assert layer.sh("jointwatch --version").strip() == wheel.name.split("-")[1]
    assert "x.toml: good" in layer.sh("jointwatch init x.toml && jointwatch check x.toml", "/tmp/play")
    assert "rigid" in layer.sh("jointwatch rig --list", "/tmp/play")
    layer.sh("systemd-analyze verify /usr/lib/systemd/system/jointwatch.service")
    layer.sh("echo '# mine' >> /etc/jointwatch/jointwatch.toml && dpkg --remove jointwatch")
    assert "# mine" in layer.sh("cat /etc/jointwatch/jointwatch.toml")
    layer.sh("dpkg --purge jointwatch && test ! -e /etc/jointwatch && test ! -e /usr/lib/jointwatch")


def test_the_image_builds_step_by_step(tmp_path: Path, layer: LayeredRoot) -> None:
    """Every RUN in order at its own paths, with this machine as the base image, then the first command as its user.

    Not checked: the base image itself, layers, and the engine's own reading of the file.
    """
    if not Path("/usr/bin/python3").exists():
        pytest.skip("needs a Python that every user may run: /usr/bin/python3")
    layer.sh("ln -sf /usr/bin/python3 /usr/local/bin/python")  # which the base image has
    folder, environment, user = "/", {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin"}, ""
    tree = copy_of_tree(tmp_path / "tree")
    layer.copy_in(tree, "/tmp/context")
    shutil.rmtree(tree)
    for step in read(ROOT / "deploy" / "Containerfile"):
        match step.name:
            case "WORKDIR":
                folder = step.words[0]
                layer.sh(f"mkdir -p {folder}")
            case "COPY" if "from" not in step.options:  # one layer is both stages: what is copied between them is there
                source, target = step.words
                layer.sh(f"mkdir -p $(dirname {target}) && cp -r /tmp/context/{source} {target}", folder)
            case "RUN":
                layer.sh(step.text, folder, user=user, **environment)
            case "ENV":
                environment |= dict(word.split("=", 1) for word in step.words)
            case "USER":
                user = step.words[0]
            case "ENTRYPOINT":
                entry = " ".join(step.words)
    assert layer.sh("id -un", user=user).strip() == user
    del environment["PATH"]
    program = f"/opt/jointwatch/.venv/bin/{entry}"
    said = layer.sh(f"{program} check /etc/jointwatch/jointwatch.toml", folder, user=user, **environment)
    assert "jointwatch.toml: good" in said
    layer.sh("touch mine && touch $NUMBA_CACHE_DIR/mine", folder, user=user, **environment)
