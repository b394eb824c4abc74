"""A driver of another package: installed into an environment of its own, put to the kit's rules there, and used."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = """
[drivers.arm]
kind = "udp_state"
port = 7777
[joints.elbow]
rate = 1000
model = { kind = "rigid" }
counter = { signal = "arm.STATE.number", modulo = 4294967296 }
channels = { position = { signal = "arm.STATE.position" }, torque = { signal = "arm.STATE.torque" } }
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that borrows our packages, with the example package installed by pip."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    libraries = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    borrowed = [
        sysconfig.get_path("purelib"),
        *(path for path in sys.path if path.endswith("site-packages")),
        str(ROOT),
    ]
    lines = [f"import site; site.addsitedir({path!r})" for path in dict.fromkeys(borrowed)]
    (libraries / "borrowed.pth").write_text("\n".join(lines))
    package = shutil.copytree(ROOT / "tests" / "drivers" / "plugin", folder / "source")  # building writes beside it
    words = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(libraries)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(package)], check=True)
    return folder


def run(environment: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [environment / "bin" / "python", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=environment,
        env=os.environ | {"PYTHONPATH": ""},
    )


def test_the_kit_runs_on_it_from_outside(environment: Path) -> None:
    done = run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/test_contract.py")
    assert done.returncode == 0, done.stdout + done.stderr
    counted = re.search(r"(\d+) passed, 1 skipped", done.stdout)
    assert counted, done.stdout
    assert int(counted[1]) >= 11, "every rule but the one of a wire that can be pulled"


def test_a_rule_that_is_broken_is_found(environment: Path) -> None:
    """The kit notices a driver that forgets a scale, one that keeps its totals, and one that swallows rubbish."""
    source = (environment / "source" / "jointwatch_udp_state.py").read_text()
    broken = environment / "broken"
    broken.mkdir()
    shutil.copy(environment / "source" / "test_contract.py", broken)
    for right, wrong, rule in (
        ("one.scale * values[place]", "values[place]", "scaled_and_in_order"),
        ("self.counts = dict.fromkeys(self.counts, 0)", "self.socket = None", "opened_again"),
        ('self.counts["malformed"] += 1', "pass", "rubbish_is_counted"),
        ("self.check(wanted)", "list(wanted)", "unknown_ones_refused"),
    ):
        assert right in source
        (broken / "jointwatch_udp_state.py").write_text(source.replace(right, wrong))
        program = (
            "import sys, pytest; sys.path.insert(0, 'broken'); "
            f"sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', {rule!r}, 'broken/test_contract.py']))"
        )
        # without bytecode: a text as long as the one before, written within the same second, would run as that one
        done = run(environment, "-B", "-c", program)
        assert done.returncode == 1, done.stdout
        assert re.search(rf"^FAILED .*{rule}", done.stdout, re.MULTILINE), (right, done.stdout)


def test_a_configuration_selects_it_and_check_says_whose_code_it_is(environment: Path) -> None:
    file = environment / "jointwatch.toml"
    file.write_text(CONFIGURATION)
    done = run(environment, "-m", "daq", "check", str(file))
    assert done.returncode == 0, done.stderr
    assert "elbow.position <- arm.STATE.position" in done.stdout
    assert "arm: its driver comes from jointwatch-udp-state 1.2.3, whose code runs as the service" in done.stderr
    init = run(environment, "-m", "daq", "init", "--kind", "udp_state", "made.toml")
    assert init.returncode == 0, init.stderr
    assert run(environment, "-m", "daq", "check", "made.toml").returncode == 0


CHECK_EACH = """
import contextlib, io, json, sys
from daq.__main__ import main
found = []
for file in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        found.append([main(["check", file]), said.getvalue()])
print(json.dumps(found))
"""


def test_mistakes_are_reported_with_their_line(environment: Path) -> None:
    """Each in a file of its own, checked by one process."""
    mistakes = [
        ('"udp_state"', '"udp_stat"', '2: drivers.arm: unknown kind "udp_stat"'),
        ('"udp_state"', '"udp_stat"', 'did you mean "udp_state"?'),
        ("port = 7777", "port = 77777", "4: drivers.arm.port: expected less than or equal to 65535, found 77777"),
        ("port = 7777", "prot = 7777", '4: drivers.arm.prot: unknown key "prot"'),
        ("STATE.torque", "STATE.troque", 'unknown signal "STATE.troque", did you mean "STATE.torque"?'),
        (
            '"udp_state"',
            '"broken_state"',
            'the driver "broken_state" of jointwatch-udp-state 1.2.3 cannot be loaded: found ModuleNotFoundError',
        ),
        ('"udp_state"', '"old_state"', "it is written for edition 0 of the contract for drivers, and found edition 1"),
        ('"udp_state"', '"can"', '4: drivers.arm.port: unknown key "port"'),
    ]
    files = [environment / f"wrong{number}.toml" for number in range(len(mistakes))]
    for file, (old, new, _) in zip(files, mistakes, strict=True):
        file.write_text(CONFIGURATION.replace(old, new, 1))
    done = run(environment, "-c", CHECK_EACH, *map(str, files))
    assert done.returncode == 0, done.stderr
    for (code, told), (_, _, said) in zip(json.loads(done.stdout), mistakes, strict=True):
        assert code == 78
        assert said in told


def test_importing_the_catalogue_loads_no_driver_and_costs_little() -> None:
    """Less than half of the processor time and of the memory that it takes with every driver loaded; it is a third."""
    program = (
        "import time, sys, drivers; from pkgutil import resolve_name; "
        "cost = lambda: (time.process_time(), "
        "int(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))); "
        "light, loaded = cost(), [name for name in ('can', 'cantools', 'numba', 'serial') if name in sys.modules]; "
        "from drivers.catalogue import OURS; list(map(resolve_name, OURS.values())); "
        "print(*(2 * one <= other for one, other in zip(light, cost())), *loaded)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"], done.stdout
