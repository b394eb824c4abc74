"""The wheel has what the program needs at run time, and nothing that was generated; it names itself once.

tests/deploy/test_installed.py installs it and tries it, which takes minutes.
"""

import email
import re
import shlex
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support.installation.distribution import ROOT, build, copy_of_tree

PACKAGES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    place = tmp_path_factory.mktemp("distribution")
    return zipfile.ZipFile(build(copy_of_tree(place / "tree"), place, "wheel"))


def test_the_wheel_has_every_file_of_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    ours = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.name != "pyproject.toml"
    }
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == ours


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    about = f"jointwatch-{PROJECT['version']}.dist-info"
    metadata = email.message_from_bytes(wheel.read(f"{about}/METADATA"))
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert (ROOT / "README.md").read_bytes() in wheel.read(f"{about}/METADATA")
    assert f"{about}/licenses/daq/outlet/dashboard/vendor/uPlot-LICENSE" in wheel.namelist()
    assert "jointwatch = daq.__main__:main" in wheel.read(f"{about}/entry_points.txt").decode()


def test_files_are_found_from_the_packages_alone() -> None:
    """A path upwards out of a package leads nowhere in a wheel; those that look for a checkout say so."""
    looking = {Path("hil_rig/commands/bench.py"), Path("hil_rig/plants/recording.py")}
    outside = set()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            inside = file.relative_to(ROOT)
            for depth in re.findall(r"__file__\)(?:\.resolve\(\))?\.parents\[(\d)\]", file.read_text("utf-8")):
                if int(depth) >= len(inside.parents) - 1:
                    outside.add(inside)
    assert outside == looking


def test_the_version_is_written_once() -> None:
    """In pyproject.toml, and nowhere that would have to follow it."""
    version = re.compile(rf"(?<![\d.]){re.escape(PROJECT['version'])}(?![\d.])")
    places = [ROOT / "README.md", ROOT / "CITATION.cff", ROOT / "SECURITY.md", ROOT / "Makefile"]
    places += [file for file in (ROOT / "deploy").rglob("*") if file.is_file()]
    places += [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    places += list((ROOT / "docs").rglob("*.md"))
    assert [str(file) for file in places if version.search(file.read_text("utf-8"))] == []


def test_every_dependency_has_the_version_that_everything_was_measured_with() -> None:
    pinned = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower()
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    wanted = [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]
    names = {re.sub(r"[-_.]+", "-", re.split(r"[\[<>=~! ]", one)[0]).lower() for one in wanted}
    assert names <= pinned


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("target", ["demo", "check", "bench", "docs", "dist"])
def test_make_installs_by_words_that_a_shell_and_an_installer_understand(target: str, tmp_path: Path) -> None:
    """Both installers are asked for the same: this tree, with extras that it has."""
    done = subprocess.run(
        ["make", "--dry-run", target, f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if "--editable" in line]
    assert lines
    for line in lines:
        words = shlex.split(line)
        asked = [words[place + 1].rstrip(";") for place, word in enumerate(words) if word == "--editable"]
        assert len(asked) == 2, "uv, and pip where it could not"
        assert len(set(asked)) == 1
        extras = re.fullmatch(r"\.(?:\[([\w,]+)\])?", asked[0])
        assert extras, asked[0]
        assert set((extras[1] or "").split(",")) <= {"", *PROJECT["optional-dependencies"]}
