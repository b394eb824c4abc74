"""The tool behind `make mutants`, tried on a tree of a few lines."""

import json
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.mutants import report, seen
from tests.support.mutants.draw import draw
from tests.support.mutants.kernels import is_compiled
from tests.support.mutants.operators import Mutant, mutants
from tests.support.mutants.processes.forkers import Worker
from tests.support.mutants.report import Result
from tests.support.mutants.runner import tried
from tests.support.mutants.seen import Seen, observed

BOX = """\
    LARGE = 3


    def is_large(size):
        return size > LARGE


    def sides(count):
        while count < 4:
            count += 1
        return count


    def weight():
        return 2 + 2


    def nobody(size):
        return size + 1
    """
TESTS = """\
    import subprocess
    import sys

    import pytest

    from daq.box import is_large, sides


    @pytest.fixture(scope="module")
    def four():
        return sides(0)


    def test_large():
        assert is_large(5)
        assert not is_large(2)


    def test_sides_are_a_number(four):
        assert isinstance(four, int)


    def test_sides_are_four(four):
        assert four == 4


    def test_a_program():
        program = "from daq.box import weight; print(weight())"
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, env={"PYTHONPATH": "."})
        assert said.stdout == b"4\\n"
    """

BUSY = """\
    import json
    import os
    import subprocess
    import sys
    import time
    from pathlib import Path

    EVERYWHERE = os.sched_getaffinity(0)
    ONE = {min(EVERYWHERE)}
    OTHERS = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(3)]
    for other in OTHERS:
        os.sched_setaffinity(other.pid, ONE)


    def test_busy():
        os.sched_setaffinity(0, ONE)
        began, worked, waited = time.perf_counter(), 0.0, 0.0
        before = time.process_time()
        while waited < 0.5:
            worked = time.process_time() - before
            waited = time.perf_counter() - began - worked
        os.sched_setaffinity(0, EVERYWHERE)
        Path("busy.json").write_text(json.dumps([worked, waited]))


    def test_end():
        for other in OTHERS:
            other.kill()
            other.wait()
    """


def changes(source: str) -> set[str]:
    """The lines that a mutant of the last line has instead."""
    return {one.after for one in mutants("file.py", textwrap.dedent(source).encode())}


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("x = 3", {"x = 4", "x = 6", "x = -3"}),
        ("x = 0", {"x = 1"}),
        ("x = 1", {"x = 2", "x = -1"}),
        ("x = 0xC0", {"x = 0x180", "x = -0xc0"}),
        ("x = -2.5", {"x = 2.5", "x = -3.5", "x = -5.0"}),
        ("x = True", {"x = False"}),
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a >= b", {"x = a > b", "x = a < b"}),
        ("x = a == b", {"x = a != b"}),
        ("x = a is None", {"x = a is not None"}),
        ("x = a is not None", {"x = a is None"}),
        ("x = a in b", {"x = a not in b"}),
        ("x = a not in b", {"x = a in b"}),
        ("x = a and b or c", {"x = a or b or c", "x = a and b and c"}),
        ("x = not a", {"x = a"}),
        ("x = -a", {"x = a"}),
        ("x = a + b", {"x = a - b"}),
        ("x = (a) - (b)", {"x = (a) + (b)"}),
        ("x = a * b", {"x = a / b"}),
        ("x = a / b", {"x = a * b"}),
        ("x = σ + σ", {"x = σ - σ"}),
        ("x += a", {"x -= a", "pass"}),
        ("x -= a", {"x += a", "pass"}),
        ("x.y = a", {"pass"}),
        ("x[i] = a", {"pass"}),
        ("x.append(a)", {"pass"}),
        ("raise ValueError(1 + 1)", {"pass"}),
        ("x = min(a, b)", {"x = max(a, b)"}),
        ("x = np.maximum(a, b)", {"x = np.minimum(a, b)"}),
        ("x = abs(a)", {"x = (a)"}),
        ("x = np.abs(a)", {"x = (a)"}),
        ("x = a if c else b", {"x = b if c else a"}),
        ("x = f(a, b)", {"x = f(b, a)"}),
        ("x = f(a.b, c, d)", {"x = f(c, a.b, d)"}),
        ("x = f(a, 'b')", set()),
        ("x = a[0]", {"x = a[1]", "x = a[-1]"}),
        ("x = a[-1]", {"x = a[1]", "x = a[0]", "x = a[-2]"}),
        ("x = a[:n]", {"x = a[:n + 1]", "x = a[:n - 1]"}),
        ("x = a[1:]", {"x = a[2:]", "x = a[-1:]"}),
    ],
)
def test_what_could_be_wrong(line: str, others: set[str]) -> None:
    assert changes(line) == others


def test_a_loop_goes_on_where_it_should_end_and_ends_where_it_should_go_on() -> None:
    assert {"break", "continue"} <= changes("for x in y:\n    if a:\n        continue\n    break")


@pytest.mark.parametrize(
    "source",
    [
        '"""A text of 3 words, a < b."""',
        'x = "3 < 4" + f"{a + 1}"',
        "x: Annotated[int, 3]",
        "def f(a: Vector[3]) -> Matrix[3, 3]: ...",
        "from a import b",
        "if TYPE_CHECKING:\n    x = 1",
        "if __name__ == '__main__':\n    x = 1",
        "assert a < 3",
        "log.warning('%d', a + 1)",
        "__all__ = ['a', 'b'][0:1]",
        "@f(3)\ndef g(): ...",
        "A, B = range(2)",
        "x = ', '.join(a) + b",
        "x = np.full(n, np.nan)",
    ],
)
def test_what_is_left_alone(source: str) -> None:
    assert changes(source) == set()


def test_the_rest_of_the_text_stays_as_it_is() -> None:
    text = "def f(a):  # σ\n    return (a  +  1)  # one more\n".encode()
    assert {one.applied(text).decode() for one in mutants("file.py", text)} == {
        "def f(a):  # σ\n    return (a  -  1)  # one more\n",
        "def f(a):  # σ\n    return (a  +  2)  # one more\n",
        "def f(a):  # σ\n    return (a  +  -1)  # one more\n",
    }


def test_a_default_is_met_where_its_function_runs_and_a_constant_by_its_name() -> None:
    default, constant = mutants("file.py", b"def f(a=True):\n    b = a\n    return b\nX: Final = False\n")
    assert (default.lines, default.names) == ((2, 3), ())
    assert constant.names == ("X",)


def test_the_seed_alone_decides_what_is_drawn() -> None:
    texts = {"a.py": b"x = a + b * 3\ny = a - 1\nz = a[0] < 4\n"}
    assert draw(texts, 3, "1 room") == draw(texts, 3, "1 room")
    assert len({tuple(draw(texts, 3, f"{seed} room")) for seed in range(20)}) > 1


def test_no_line_has_two_before_each_has_one() -> None:
    texts = {"a.py": b"x = a + b * 3 - c / d + e\ny = a - 1\nz = a[0] < 4\n"}
    for seed in range(20):
        assert sorted(one.line for one in draw(texts, 3, str(seed))) == [1, 2, 3]
        assert len(draw(texts, 5, str(seed))) == 5


def test_at_a_place_one_thing_is_wrong() -> None:
    assert len(draw({"a.py": b"x = a < b\n"}, 9, "1")) == 1


def test_what_makes_another_kernel_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "drivers").mkdir()
    (tmp_path / "drivers/rates.py").write_text("FAST = 3\nSLOW = 1\n")
    (tmp_path / "drivers/steps.py").write_text(
        "from drivers.rates import FAST, SLOW\n"
        "def plain():\n    return SLOW\n"
        "TABLE = FAST + 1\n"
        "@inline\ndef step():\n    return TABLE\n"
    )
    found = [("rates", 1), ("rates", 2), ("steps", 3), ("steps", 4), ("steps", 7)]
    assert [is_compiled(f"drivers/{file}.py", line, tmp_path) for file, line in found] == [
        True,
        False,
        False,
        True,
        True,
    ]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ends at its limit only because the machine is busy."""
    monkeypatch.setattr(seen, "SPARE", 600.0)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    root, folder = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("copies")
    code = {"daq/__init__.py": "", "daq/box.py": BOX, "tests/test_box.py": TESTS, "pyproject.toml": "[tool.pytest]\n"}
    for place, text in code.items():
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text(textwrap.dedent(text))
    worker = Worker(folder, root, ())
    yield worker
    worker.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def known(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return observed(worker, ["tests/test_box.py"], ["daq/box.py"], False, tmp_path_factory.mktemp("kept"))


def one(before: str, after: str) -> Mutant:
    (found,) = [
        one
        for one in mutants("daq/box.py", textwrap.dedent(BOX).encode())
        if (one.before, one.after) == (before, after)
    ]
    return found


def names(tests: set[str]) -> set[str]:
    return {test.partition("::")[2] for test in tests}


def test_every_test_passes_as_it_is(known: Seen) -> None:
    assert (len(known.every), known.failed) == (4, {})


def test_a_line_is_known_by_the_tests_that_run_it(known: Seen) -> None:
    assert names(known.first(one("return size > LARGE", "return size >= LARGE"))) == {"test_large"}


def test_a_constant_is_known_by_the_tests_that_use_it(known: Seen) -> None:
    assert "test_large" in names(known.first(one("LARGE = 3", "LARGE = 4")))
    assert "test_sides_are_four" not in names(known.first(one("LARGE = 3", "LARGE = 4")))


def test_what_a_shared_fixture_runs_each_of_its_tests_runs(known: Seen) -> None:
    two = {"test_sides_are_a_number", "test_sides_are_four"}
    assert names(known.first(one("while count < 4:", "while count <= 4:"))) == two


def test_what_a_program_runs_its_test_runs(known: Seen) -> None:
    assert names(known.first(one("return 2 + 2", "return 2 - 2"))) == {"test_a_program"}


@pytest.mark.parametrize(
    ("before", "after", "test"),
    [
        ("return size > LARGE", "return size <= LARGE", "test_large"),
        ("LARGE = 3", "LARGE = 6", "test_large"),
        ("while count < 4:", "while count <= 4:", "test_sides_are_four"),
        ("return 2 + 2", "return 3 + 2", "test_a_program"),
    ],
)
def test_a_test_notices(worker: Worker, known: Seen, before: str, after: str, test: str) -> None:
    assert tried(worker, one(before, after), known, False)[:2] == (True, f"tests/test_box.py::{test}")


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("return size > LARGE", "return size >= LARGE", "survived"),
        ("return size + 1", "return size - 1", "no test runs this line"),
    ],
)
def test_no_test_notices(worker: Worker, known: Seen, before: str, after: str, why: str) -> None:
    assert tried(worker, one(before, after), known, False)[:2] == (False, why)


def test_a_loop_without_end_is_noticed(worker: Worker, known: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "SPARE", 1.0)
    assert tried(worker, one("count += 1", "count -= 1"), known, False)[:2] == (True, "time limit")


def test_a_test_that_changed_is_looked_at_again_and_others_are_not(worker: Worker, tmp_path: Path) -> None:
    for _ in range(2):
        observed(worker, ["tests/test_box.py"], ["daq/box.py"], False, tmp_path)
        assert len(list(tmp_path.iterdir())) == 1
    (worker.tree / "tests/test_more.py").write_text("def test_more():\n    assert 3\n")
    assert (
        len(observed(worker, ["tests/test_box.py", "tests/test_more.py"], ["daq/box.py"], False, tmp_path).every) == 5
    )
    assert len(list(tmp_path.iterdir())) == 2


def test_a_test_that_waits_for_a_processor_takes_as_long_as_on_a_quiet_machine(worker: Worker, tmp_path: Path) -> None:
    """It works while three others want the same processor, until it has waited for half a second."""
    (worker.tree / "tests/test_busy.py").write_text(textwrap.dedent(BUSY))
    seen = observed(worker, ["tests/test_busy.py"], ["daq/box.py"], False, tmp_path)
    worked, waited = json.loads((worker.tree / "busy.json").read_text())
    # the kernel's two clocks, of work and of waiting, differ by some milliseconds at each change of the process
    assert abs(seen.seconds["tests/test_busy.py::test_busy"] - worked) < 0.5 * waited


def a_result(after: str, noticed: bool, room: str = "daq", seed: str = "1", since: bool = False) -> Result:
    what = room, "daq/box.py", 4, "return size > LARGE", after, ">", noticed, "survived", 1.0, 0.5
    return Result(*what, seed, "2026-01-02", since)


def test_a_survivor_that_means_nothing_is_reported_with_its_reason_and_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "known", lambda: {("daq/box.py", "return size > LARGE", "same"): "it is the same"})
    told = report.page([a_result("other", True), a_result("same", False), a_result("worse", False)])
    assert "| daq | 1 | 2026-01-02 | 3 | 1 | 2 | 1 | 50 % | 0 |" in told
    assert "`` same `` (equivalent: it is the same)" in told
    assert "`` worse ``\n" in told


def test_a_page_keeps_what_was_drawn_before_and_lists_the_survivors_of_each_rooms_last_draw() -> None:
    first = report.page([a_result("old", False), a_result("b", False, "daq/inner"), a_result("c", True, "daq/inner")])
    second = report.page([a_result("new", False, seed="2"), a_result("other", True, seed="2")], first)
    assert [line for line in second.splitlines() if line.startswith(("| daq", "| **"))] == [
        "| daq | 1 | 2026-01-02 | 1 | 0 | 1 | 0 | 0 % | 0 |",
        "| daq | 2 | 2026-01-02 | 2 | 1 | 1 | 0 | 50 % | 0 |",
        "| daq/inner | 1 | 2026-01-02 | 2 | 1 | 1 | 0 | 50 % | 0 |",
        "| **the last draw of each** | | | 4 | 2 | 2 | 0 | 50 % | 0 |",
    ]
    assert [line.split("`` ")[-1] for line in second.splitlines() if line.startswith("- daq")] == ["new ``", "b ``"]
    assert report.page([], second) == second
    again = report.page([a_result("new", False, seed="2", since=True)], second)
    assert "| daq | 2 | 2026-01-02 | 1 | 0 | 1 | 0 | 0 % | 1 |" in again
    assert "since then noticed by survived" in again


def test_a_list_that_is_stale_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text("x = (\n    1 + 2  # three\n)\n")
    text = '[[equivalent]]\nfile = "box.py"\nline = "{}"\nchanged = "x"\nreason = "y"\n'
    assert report.equivalent(text.format("1 + 2"), tmp_path) == {("box.py", "1 + 2", "x"): "y"}
    with pytest.raises(ValueError, match="2 \\+ 1"):
        report.equivalent(text.format("2 + 1"), tmp_path)


def test_a_test_that_takes_for_ever_is_left_out_and_not_tried_again(worker: Worker, tmp_path: Path) -> None:
    (worker.tree / "tests/conftest.py").write_text("import plugins\nplugins.LONGEST = 0.3\n")
    (worker.tree / "tests/test_long.py").write_text("def test_long():\n    while True: pass\ndef test_short(): pass\n")
    found = observed(worker, ["tests/test_long.py"], ["daq/box.py"], False, tmp_path)
    assert (names(found.every), names(set(found.failed))) == ({"test_short"}, {"test_long"})
    assert len(list(tmp_path.iterdir())) == 1
