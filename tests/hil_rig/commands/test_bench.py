"""The page of figures: a benchmark's section is replaced, everything else stays; and every benchmark has one."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hil_rig.commands import bench
from hil_rig.commands.bench import benchmarks, machine, with_section

ROOT = Path(__file__).parents[3]
OLD = "old\n\n```text\n## no heading\n# nor this\n```"
PAGE = f"# Figures\n\nWords.\n\n## one\n\n{OLD}\n\n## two\n\nstays\n\n# Held by tests\n\nstays too\n"


def test_only_its_own_section_changes() -> None:
    once = with_section(PAGE, "one", "a  1\n# b  2\n", "here, today")
    assert once == PAGE.replace(
        "old\n\n```text\n## no heading\n# nor this\n```", "here, today\n\n```text\na  1\n# b  2\n```"
    )
    assert with_section(once, "one", "a  1\n# b  2\n", "here, today") == once
    last = with_section(PAGE, "two", "x", "here")
    assert last == PAGE.replace("stays\n\n#", "here\n\n```text\nx\n```\n\n#")


def test_a_section_that_is_not_there_is_made() -> None:
    page = with_section(PAGE, "twos", "\n     p50\nx  1.0\n\n", "here")
    assert page == PAGE + "\n## twos\n\nhere\n\n```text\n     p50\nx  1.0\n```\n", "columns stay below their heads"
    assert with_section("", "three", "x", "here").startswith("## three\n")


def test_a_section_that_is_made_stands_where_its_letters_put_it() -> None:
    page = "# figures\n"
    for name in ("m", "z", "a", "o"):
        page = with_section(page, name, "x", "here")
    assert re.findall("^##? (.+)$", page, re.MULTILINE) == ["figures", "a", "m", "o", "z"]


def test_every_benchmark_has_a_section_and_every_section_a_benchmark() -> None:
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert re.findall("^## (.+)$", page, re.MULTILINE) == sorted(benchmarks())


def test_the_command_writes_the_page_only_when_a_benchmark_ran(tmp_path: Path) -> None:
    page = tmp_path / "figures.md"
    page.write_text(PAGE)
    command = [sys.executable, "-m", "hil_rig.commands.bench", "acquisition", "--json", "--write", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "leave out --json" in done.stderr
    assert page.read_text() == PAGE


def test_a_benchmark_finds_its_parts_under_a_safe_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`jointwatch` sets one, so that a file of the user's folder is no module of the programs that it starts."""
    (tmp_path / "some" / "parts").mkdir(parents=True)
    (tmp_path / "some" / "parts" / "size.py").write_text("SIZE = 7")
    (tmp_path / "some" / "one.py").write_text("from parts.size import SIZE\nprint(SIZE)")
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setattr(sys, "argv", ["bench", "one"])
    assert bench.main() == 0
    assert capfd.readouterr().out == "7\n"


def test_figures_that_miss_a_limit_are_written_too_and_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "figures.md"
    page.write_text(PAGE)
    for name, body in (("one", "print('a  1')\nraise SystemExit(1)"), ("two", "raise SystemExit(1)")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(body)
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr("os.getloadavg", lambda: (1.25, 9.0, 9.0))
    monkeypatch.setattr(sys, "argv", ["bench", "one", "two", "--write", str(page)])
    assert bench.main() == 1
    assert page.read_text() == with_section(PAGE, "one", "a  1", machine() + bench.MISSED)
    assert ", load 1.2." in page.read_text(), "figures that were taken beside other work say so"


@pytest.mark.parametrize("what", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_benchmark_ends_what_it_has_begun(tmp_path: Path, what: signal.Signals) -> None:
    told = tmp_path / "told"
    body = (
        "import pathlib, sys, time\n"
        f"told = pathlib.Path({str(told)!r})\n"
        "try:\n    told.write_text('begun')\n    time.sleep(60)\n"
        "finally:\n    time.sleep(0.5)\n    told.write_text('ended')\n"  # longer than what Python waits by itself
    )
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "one.py").write_text(body)
    start = f"import sys, pathlib; from hil_rig.commands import bench; bench.FOLDER = pathlib.Path({str(tmp_path)!r})"
    command = [sys.executable, "-c", f"{start}; sys.argv = ['bench', 'one']; sys.exit(bench.main())"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as running:
        while not (told.exists() and told.read_text()):
            assert running.poll() is None, running.stderr
            time.sleep(0.05)
        running.send_signal(what)
        running.communicate(timeout=120)
    assert running.returncode == 130
    assert told.read_text() == "ended"


def test_the_machine_is_named_with_its_cores_and_the_day() -> None:
    assert re.fullmatch(r".+, \d+ cores, Python 3\.\d+\.\d+, 20\d\d-\d\d-\d\d, load \d+\.\d\.", machine())
