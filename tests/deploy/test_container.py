"""The Containerfile: whole, of files that are there, and without rights that the service does not need."""

import fnmatch
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.installation.containerfile import ContainerfileError, Instruction, instruction, read

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"
INSTRUCTIONS = read(FILE)


def named(name: str) -> list[Instruction]:
    return [one for one in INSTRUCTIONS if one.name == name]


def test_every_file_that_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / "deploy" / "Containerfile.dockerignore").read_text("utf-8").split()
    stages = {one.words[2] for one in named("FROM") if one.words[1:2] == ["AS"]}
    assert len(named("COPY")) == 3
    for copy in named("COPY"):
        if "from" in copy.options:
            assert copy.options["from"] in stages
            continue
        for source in copy.words[:-1]:
            assert (ROOT / source).exists(), source
            assert not any(fnmatch.fnmatch(source, pattern) for pattern in ignored), source


def test_what_a_build_needs_is_not_ignored() -> None:
    ignored = (ROOT / "deploy" / "Containerfile.dockerignore").read_text("utf-8").split()
    for wanted in (
        "pyproject.toml",
        "constraints.txt",
        "README.md",
        "LICENSE",
        "daq",
        "drivers",
        "estimators",
        "hil_rig",
    ):
        assert (ROOT / wanted).exists()
        assert not any(fnmatch.fnmatch(wanted, pattern.removeprefix("**/")) for pattern in ignored), wanted


def test_both_stages_have_one_python_since_an_environment_does_not_move() -> None:
    assert len({one.words[0] for one in named("FROM")}) == 1
    assert ":" in named("FROM")[0].words[0], "a tag says which"


def test_the_service_is_no_root_and_its_process_is_the_first() -> None:
    names = [one.name for one in INSTRUCTIONS]
    user = named("USER")[-1]
    assert user.words[0] not in ("root", "0")
    assert not [one for one in INSTRUCTIONS[names.index("USER") :] if one.name in ("RUN", "COPY")]
    assert user.words[0] in [one for run in named("RUN") for one in run.words]
    for name in ("ENTRYPOINT", "CMD"):
        assert named(name)[-1].text.startswith("["), "by a shell it would get no signal"


def test_state_and_kernels_are_in_var_and_the_configuration_in_etc() -> None:
    environment = dict(word.split("=", 1) for one in named("ENV") for word in one.words)
    volumes = named("VOLUME")[0].words
    assert environment["STATE_DIRECTORY"] == named("WORKDIR")[-1].words[0]
    assert {environment["STATE_DIRECTORY"], environment["NUMBA_CACHE_DIR"]} == set(volumes)
    assert named("CMD")[0].words == ["run", "/etc/jointwatch/jointwatch.toml"]
    assert ["deploy/jointwatch.toml", "/etc/jointwatch/jointwatch.toml"] in [one.words for one in named("COPY")]


@pytest.mark.parametrize("text", ["INSTALL numpy", "RUN", 'CMD ["a", b]'])
def test_what_is_no_instruction_is_refused(text: str) -> None:
    with pytest.raises(ContainerfileError, match="line 3"):
        instruction(text, 3)


def test_a_line_that_goes_on_is_one_instruction(tmp_path: Path) -> None:
    file = tmp_path / "Containerfile"
    file.write_text("# first\nFROM a:1 AS b\nRUN x \\\n    && y\nCOPY --from=b /c /d\n")
    assert [(one.name, one.words, one.options) for one in read(file)] == [
        ("FROM", ["a:1", "AS", "b"], {}),
        ("RUN", ["x", "&&", "y"], {}),
        ("COPY", ["/c", "/d"], {"from": "b"}),
    ]


def test_the_package_is_laid_out_as_debians_are(tmp_path: Path) -> None:
    """Without the program, whose installation takes a minute: tests/deploy/test_installed.py has it whole."""
    words = [ROOT / "deploy" / "install.sh", "--package", "none.whl", tmp_path]
    quick = tmp_path / "python3"
    quick.write_text('#!/bin/sh\ncase "$1" in -m) ;; *) echo 3.11;; esac\n')
    quick.chmod(0o755)
    subprocess.run(words, check=True, capture_output=True, env={"PYTHON": str(quick), "PATH": "/usr/bin:/bin"})
    quick.unlink()
    assert {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()} == {
        "etc/jointwatch/jointwatch.toml",
        "usr/bin/jointwatch",
        "usr/lib/systemd/system/jointwatch.service",
        "usr/lib/sysctl.d/99-jointwatch-can.conf",
        "usr/lib/udev/rules.d/70-jointwatch-serial.rules",
        "usr/share/doc/jointwatch/CHANGELOG.md",
        "usr/share/doc/jointwatch/README.md",
        "usr/share/doc/jointwatch/SECURITY.md",
        "usr/share/doc/jointwatch/copyright",
        "usr/share/jointwatch/network.conf",
        "usr/share/jointwatch/realtime.conf",
    }
    unit = (tmp_path / "usr/lib/systemd/system/jointwatch.service").read_text()
    assert "/opt/" not in unit
    assert "ExecStart=/usr/bin/jointwatch run /etc/jointwatch/jointwatch.toml" in unit
    assert "StateDirectory=jointwatch" in unit, "which is /var/lib/jointwatch"
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is missing: apt-get install systemd")
    (tmp_path / "jointwatch.service").write_text(
        unit.replace("/usr/bin/jointwatch", "/bin/true").replace("file:///usr", "file:///")
    )
    done = subprocess.run(
        [program, "verify", tmp_path / "jointwatch.service"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_destdir_is_the_root(tmp_path: Path) -> None:
    environment = {"DESTDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([ROOT / "deploy" / "install.sh"], check=True, capture_output=True, env=environment)
    assert (tmp_path / "etc/systemd/system/jointwatch.service").is_file()
