"""The disk cache of a kernel is tied to the content of all the sources that it is made of, in every package alike."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from jointwatch_numba.compiled import stamp
from tests.support.processes.programs import completed, serving

ROOT = Path(__file__).parents[1]
KERNEL = "from jointwatch_numba.jit import kernel\n\n\n@kernel('i8()')\ndef answer():\n    return number()\n"
INLINE = "from jointwatch_numba.jit import inline\n\n\n@inline\ndef number():\n    return {}\n"

Run = Callable[[str], str]


@pytest.fixture
def beside(tmp_path: Path) -> None:
    """A copy of our package lies beside what a test writes."""
    name = "jointwatch_numba"
    shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def alone(tmp_path: Path, beside: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program finds in its folder what the test has written, and no kernels but those beside it."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def compiling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a process that has compiled something with numba, and none of our packages' kernels."""
    address = str(tmp_path_factory.mktemp("compiling") / "s")
    with serving(address, "numba_warm"):
        yield address


@pytest.fixture
def run(alone: None, compiling: str) -> Run:
    """What a program prints in a process of its own, which has compiled with numba and imported no package of ours."""
    return lambda program: printed(completed(compiling, "afresh", program))


@pytest.fixture
def run_cold(alone: None, run_program: Callable[..., "CompletedProcess[str]"]) -> Run:
    """What a program prints in a process of its own, which has imported numba and compiled nothing."""
    return lambda program: printed(run_program("afresh", program))


def printed(done: "CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


@pytest.fixture
def run_anew(tmp_path: Path, beside: None) -> Run:
    """What a program prints in an interpreter that has imported nothing."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}

    def output(program: str) -> str:
        command = [sys.executable, "-c", program]
        environment["PYTHONPATH"] = str(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    return output


def write(folder: Path, files: dict[str, str]) -> None:
    """With an empty __init__.py in every folder of a package; without bytecode of what was written before, which Python
    takes for that of a file of the same size and second."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        for kept in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            kept.unlink()
        for parent in Path(name).parents[:-1]:
            (folder / parent / "__init__.py").touch()


ANSWER = "from {} import answer; print(answer(), answer.stats.cache_hits.total())"


@pytest.mark.parametrize(
    "imports",
    [
        "from top.low.deep.leaf import number",
        "from top.low.deep import leaf\nnumber = leaf.number",
        "import top.low.deep.leaf as leaf\nnumber = leaf.number",
        "from ..low.deep.leaf import (\n    number,  # of its own\n)",
        "from top.middle import number",
    ],
)
def test_what_is_imported_two_rooms_away_is_in_the_stamp(tmp_path: Path, imports: str) -> None:
    stamps = []
    for value in (1, 1, 2):
        folder = tmp_path / str(len(stamps))
        middle = {"top/middle.py": "from top.low.deep import leaf\n\nnumber = leaf.number\n"}
        leaf = {"top/low/deep/leaf.py": INLINE.format(value)}
        write(folder, {"top/high/user.py": imports + "\n" + KERNEL} | middle | leaf)
        stamps.append(stamp(folder / "top/high/user.py"))
    assert stamps[0] == stamps[1] != stamps[2]


@pytest.mark.compiled
def test_a_change_of_time_alone_compiles_nothing(tmp_path: Path, run: Run) -> None:
    write(tmp_path, {"top/user.py": "from top.help import number\n" + KERNEL, "top/help.py": INLINE.format(1)})
    assert run(ANSWER.format("top.user")) == "1 0"
    for file in tmp_path.rglob("*.py"):
        os.utime(file, (1e9, 1e9))
    assert run(ANSWER.format("top.user")) == "1 1"


@pytest.mark.compiled
def test_a_postponed_kernel_is_compiled_when_it_is_wanted_or_first_used(tmp_path: Path, run: Run) -> None:
    twice = "\n\n@kernel('i8()')\ndef twice():\n    return 2 * answer()\n"
    write(tmp_path, {"top/user.py": "from top.help import number\n" + KERNEL + twice, "top/help.py": INLINE.format(1)})
    program = (
        "from jointwatch_numba.compiled import postpone, postponed\n"
        "postpone(['top.user'])\n"
        "from top.user import answer, twice\n"
        "def waiting(): return len(postponed(['top.user', 'top.help']))\n"
        "before = waiting()\n"
        "{}\n"
        "between = waiting()\n"
        "print(before, between, twice(), answer(), waiting(), answer.stats.cache_hits.total())"
    )
    assert run(program.format("pass")) == "2 2 2 1 0 0", "the kernel that another one calls is compiled with it"
    assert run(program.format("postponed(['top.user'])[0]()")) == "2 1 2 1 0 1"
    assert run(program.format("[finish() for finish in postponed(['top.user'])]")) == "2 0 2 1 0 1"
    assert run(program.format("answer.nopython_signatures")) == "2 1 2 1 0 1"


@pytest.mark.compiled
def test_a_change_of_an_other_package_compiles_nothing(tmp_path: Path, run: Run) -> None:
    top = {"top/user.py": "import other\nfrom top.help import number\n" + KERNEL, "top/help.py": INLINE.format(1)}
    write(tmp_path, top | {"other/__init__.py": "x = 1\n"})
    assert run(ANSWER.format("top.user")) == "1 0"
    write(tmp_path, {"other/__init__.py": "x = 2\n"})
    assert run(ANSWER.format("top.user")) == "1 1"


@pytest.mark.compiled
def test_a_change_of_a_package_of_ours_is_in_the_kernels_of_all_others(tmp_path: Path, run: Run) -> None:
    """As daq's pass over all joints calls that of a joint, which estimators compile: the old one knew older arrays."""
    user = {"daq/user.py": "from daq.between import number\n" + KERNEL}
    between = {"daq/between.py": "from estimators.help import number\n"}
    write(tmp_path, user | between | {"estimators/help.py": INLINE.format(1)})
    assert run(ANSWER.format("daq.user")) == "1 0"
    write(tmp_path, {"estimators/help.py": INLINE.format(2)})
    assert [run(ANSWER.format("daq.user")) for _ in range(2)] == ["2 0", "2 1"]


@pytest.mark.compiled
@pytest.mark.parametrize("kept", ["*.nbi", "*.nbc"])
def test_a_kernel_kept_in_a_damaged_file_is_compiled_again(tmp_path: Path, run: Run, kept: str) -> None:
    write(tmp_path, {"top/user.py": "from top.help import number\n" + KERNEL, "top/help.py": INLINE.format(1)})
    assert run(ANSWER.format("top.user")) == "1 0"
    for file in tmp_path.rglob(kept):
        file.write_bytes(file.read_bytes()[:-7])
    assert [run(ANSWER.format("top.user")) for _ in range(2)] == ["1 0", "1 1"]


@pytest.mark.compiled
def test_an_index_that_names_a_type_which_moved_is_none(tmp_path: Path, run: Run) -> None:
    """As after an upgrade: what is kept is unpickled before its stamp is compared."""
    pair = "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    a: float\n    b: int\n"
    user = (
        "from numba import types\nfrom jointwatch_numba.jit import kernel\nfrom top.{} import Pair\n\n\n"
        "@kernel((types.NamedTuple((types.float64, types.int64), Pair),))\ndef first(pair):\n    return pair.a\n"
    )
    program = "from top.user import Pair, first; print(first(Pair(2.0, 1)), first.stats.cache_hits.total())"
    write(tmp_path, {"top/here.py": pair, "top/user.py": user.format("here")})
    assert run(program) == "2.0 0"
    (tmp_path / "top/here.py").unlink()
    write(tmp_path, {"top/there.py": pair, "top/user.py": user.format("there")})
    assert [run(program) for _ in range(2)] == ["2.0 0", "2.0 1"]


@pytest.mark.compiled
def test_a_plant_moves_as_its_sources_say(tmp_path: Path, run: Run) -> None:
    """The speed tripled in plants/trajectory.py, which every plant's kernel calls."""
    parts = ("messages.py", "plants/base.py", "plants/jit.py", "plants/trajectory.py", "plants/joints/rigid.py")
    write(tmp_path / "hil_rig", {name: (ROOT / "hil_rig" / name).read_text() for name in parts})
    (tmp_path / "hil_rig" / "__init__.py").touch()
    program = (
        "from hil_rig.plants.joints.rigid import RigidPlantSettings, _run\n"
        "motion = RigidPlantSettings().build(1, 0, ()).exact(2500)\n"
        "print(abs(motion[:, 1]).max(), _run.stats.cache_hits.total())"
    )
    (slow, compiled), (same, taken) = run(program).split(), run(program).split()
    assert (compiled, same, taken) == ("0", slow, "1")
    file = tmp_path / "hil_rig" / "plants" / "trajectory.py"
    before = "speed, half, ramp = constants[0],"
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, "speed, half, ramp = 3 * constants[0],"))
    fast, taken = run(program).split()
    assert taken == "0"
    assert float(fast) > 2.5 * float(slow)


@pytest.mark.compiled
def test_named_tuples_are_arguments(tmp_path: Path, run: Run) -> None:
    write(
        tmp_path,
        {
            "top/user.py": "from typing import NamedTuple\nimport numpy as np\nfrom numba import types\n"
            "from jointwatch_numba.jit import kernel\n\n\n"
            "class Pair(NamedTuple):\n    a: float\n    b: np.ndarray\n\n\n"
            "PAIR = types.NamedTuple((types.float64, types.float64[::1]), Pair)\n\n\n"
            "@kernel((PAIR,))\ndef total(pair):\n    return pair.a + pair.b.sum()\n"
        },
    )
    program = (
        "import numpy as np; from top.user import Pair, total;"
        "print(total(Pair(1.0, np.ones(3))), total.stats.cache_hits.total())"
    )
    assert [run(program), run(program)] == ["4.0 0", "4.0 1"]


def test_what_our_kernels_are_made_of_is_in_their_stamps(tmp_path: Path) -> None:
    """One of each package, and a file that it imports through others."""
    for name, part in (
        ("estimators/models/joints/rigid.py", "estimators/models/friction/viscous_coulomb.py"),
        ("drivers/can/slcan.py", "drivers/layout/frame.py"),
        ("hil_rig/plants/joints/two_mass.py", "hil_rig/plants/trajectory.py"),
    ):
        top = name.partition("/")[0]
        shutil.copytree(ROOT / top, tmp_path / "before" / top, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(tmp_path / "before" / top, tmp_path / "after" / top)
        with (tmp_path / "after" / part).open("a") as file:
            file.write("# changed\n")
        assert stamp(ROOT / name) == stamp(tmp_path / "before" / name) != stamp(tmp_path / "after" / name)


CALLER = KERNEL.replace("\n\n\n", "\nfrom leaf.mod import answer\n\n\n", 1).replace("def answer", "def more")
CALLER = CALLER.replace("number()", "answer() + 1")
LEAF = {
    "leaf/number.py": INLINE.format(7),
    "leaf/mod.py": KERNEL.replace("\n\n\n", "\nfrom leaf.number import number\n\n\n", 1),
}
PARSED = """
from leaf.mod import answer
library = answer.overloads[answer.signatures[0]].library
print(answer(), library._shared_module is not None, end=" ")
{}
print(library._shared_module is not None)
"""


def test_the_intermediate_code_of_a_kept_kernel_is_parsed_when_another_one_is_compiled_with_it(
    tmp_path: Path, run: Run
) -> None:
    write(tmp_path, {**LEAF, "top/mod.py": CALLER})
    run("import leaf.mod")
    assert run(PARSED.format("")) == "7 False False"
    assert run(PARSED.format("from top.mod import more; print(more(), end=' ')")) == "7 False 8 True"
    assert run(PARSED.format("from top.mod import more; print(more(), end=' ')")) == "7 False 8 False", (
        "it is kept, too"
    )


def test_a_kept_kernel_holds_no_intermediate_code(tmp_path: Path, run: Run) -> None:
    """One with a constant of 131 kB in it: neither its code for others nor numba's report stays in memory."""
    constant = "import numpy as np\nfrom jointwatch_numba.jit import kernel\n\nTABLE = np.arange(16384.0)\n\n\n"
    write(tmp_path, {"top/mod.py": constant + "@kernel('f8(i8)')\ndef answer(at):\n    return TABLE[at]\n"})
    program = (
        "import gc; from top.mod import answer; print(answer(7), answer.stats.cache_hits.total(), end=' ')\n"
        "library = answer.overloads[answer.signatures[0]].library\n"
        "print(len(library._intermediate()) > 1e5 if library._intermediate else 'made here', end=' ')\n"
        "gc.collect(); print([len(one) > 1e5 for one in gc.get_referents(library.__dict__) if isinstance(one, bytes)])"
    )
    run(program)
    assert run(program) == "7.0 1 True []"


def test_a_kept_kernel_is_loaded_without_the_modules_of_numba_that_it_was_compiled_from(
    tmp_path: Path, run_anew: Run
) -> None:
    made = (
        "import numpy as np\nfrom jointwatch_numba.jit import kernel\n\n\n@kernel('f8(f8[::1])')\ndef answer(values):\n"
    )
    write(tmp_path, {"top/mod.py": made + "    return np.median(values) + np.mean(values)\n"})
    program = "import sys, numpy; from top.mod import answer; print(answer(numpy.array([1.0, 2.0, 6.0])), {})"
    assert run_anew(program.format("'numba.np.arraymath' in sys.modules")) == "5.0 True", (
        "to compile it they are needed"
    )
    assert run_anew(program.format("[name in sys.modules for name in ('numba.np.arraymath', 'scipy.linalg')]")) == (
        "5.0 [False, False]"
    )


def test_kernels_that_were_brought_along_are_used_where_their_sources_are_the_same(tmp_path: Path, run: Run) -> None:
    write(tmp_path, LEAF)
    carried = tmp_path / "jointwatch_kernels"
    program = "import leaf.mod, pathlib; from jointwatch_numba.compiled import carry; print(carry(pathlib.Path({!r})))"
    assert run(program.format(str(carried))) == "1", "what it calls is compiled into it"
    for kept in (tmp_path / "leaf" / "__pycache__").glob("*.nb?"):
        kept.unlink()
    assert run(ANSWER.format("leaf.mod")) == "7 1"
    write(tmp_path, {"leaf/number.py": INLINE.format(8)})
    assert run(ANSWER.format("leaf.mod")) == "8 0", "of other sources"


ASSEMBLY = """
import re, jointwatch_numba.compiled
{}
from leaf.mod import answer
print(re.sub(r"B[0-9]+v[0-9]+|[.]size.*", "", answer.inspect_asm(answer.signatures[0])))
"""
TWICE = """
from numba.core import event
with event.install_recorder("numba:compile") as first: jointwatch_numba.compiled.warm()
with event.install_recorder("numba:compile") as second: jointwatch_numba.compiled.warm()
print(len(first.buffer) > 0, len(second.buffer))"""


@pytest.mark.compiled
def test_what_is_loaded_for_every_kernel_changes_none_and_is_not_kept(tmp_path: Path, run_cold: Run) -> None:
    write(tmp_path, LEAF)
    cold = run_cold(ASSEMBLY.format(""))
    assert "answer" in cold
    shutil.rmtree(tmp_path / "leaf" / "__pycache__")
    seen, warm = run_cold(ASSEMBLY.format(TWICE)).split("\n", 1)
    assert (seen, warm.strip()) == ("True 0", cold)
    assert {file.name.partition(".")[0] for file in tmp_path.rglob("*.nb?")} == {"mod", "number"}


BORROWED = """
from llvmlite import ir
from numba.core import types
from numba.core.registry import cpu_target
from jointwatch_numba.library import prepare

context, array = cpu_target.target_context, types.Array(types.float64, 1, "C")
prepare(context)
for result in (types.none, types.float64, types.UniTuple(types.float64, 2), array, types.UniTuple(array, 2)):
    function = ir.Function(ir.Module(), context.call_conv.get_function_type(result, (array,)), "function")
    builder = ir.IRBuilder(function.append_basic_block())
    (found,) = context.call_conv.decode_arguments(builder, (array,), function)
    print(str(found).endswith("null, 0"))
"""


@pytest.mark.compiled
def test_arrays_that_a_function_is_given_are_counted_only_where_it_may_return_them(run: Run) -> None:
    assert run(BORROWED).split() == ["True"] * 3 + ["False"] * 2


RETURNED = """
import numpy as np
from jointwatch_numba.jit import inline, kernel

@inline
def front(values):
    return values[:2]

@kernel("f8[::1](f8[::1])")
def tail(values):
    return values[1:]

@kernel("f8[::1](i8)")
def front_of_its_own(count):
    return front(np.arange(count) + 0.5)
"""


@pytest.mark.compiled
def test_what_a_kernel_returns_outlives_what_it_is_a_part_of(tmp_path: Path, run: Run) -> None:
    write(tmp_path, {"leaf/mod.py": RETURNED})
    program = (
        "import gc; import numpy as np; from leaf.mod import front_of_its_own, tail\n"
        "given = np.arange(1000.0); left = tail(given); del given; gc.collect(); other = np.zeros(1000)\n"
        "own = front_of_its_own(1000); another = np.zeros(1000)\n"
        "print(left.sum(), own.tolist())"
    )
    assert run(program) == "499500.0 [0.5, 1.5]"


@pytest.mark.compiled
def test_a_function_that_kernels_call_has_no_machine_code_of_its_own_but_python_may_call_it(
    tmp_path: Path, run: Run
) -> None:
    write(tmp_path, LEAF)
    program = (
        "from leaf.mod import answer; from leaf.number import number; import pickle, pathlib\n"
        "(kept,) = pathlib.Path('leaf/__pycache__').glob('number.number-*-part.*.nbc')\n"
        "print(answer(), number(), pickle.loads(kept.read_bytes())[0][1])"
    )
    assert [run(program) for _ in range(2)] == ["7 7 bitcode"] * 2


@pytest.mark.compiled
def test_an_error_raised_in_what_a_kernel_calls_has_its_words(tmp_path: Path, run: Run) -> None:
    """They are made with the help of the module's environment, compiled and kept."""
    part = "from jointwatch_numba.jit import inline\n\n\n@inline\ndef number(one):\n    raise ValueError('not', one)\n"
    whole = (
        "from jointwatch_numba.jit import kernel\nfrom top.part import number\n\n\n"
        "@kernel('i8(i8)')\ndef answer(one):\n    return number(one) if one else 0\n"
    )
    write(tmp_path, {"top/part.py": part, "top/whole.py": whole})
    program = "from top.whole import answer\ntry: answer(5)\nexcept ValueError as error: print(error.args)"
    assert [run(program) for _ in range(2)] == ["('not', 5)"] * 2


FASTER = """
import pathlib, subprocess, sys
from jointwatch_numba import compiled
save, kept = compiled._Files.save, {}

def late(files, key, data):
    compiled._Files.save = save
    subprocess.run([sys.executable, "-c", "import leaf.mod"], check=True)
    kept.update({one: one.read_bytes() for one in pathlib.Path("leaf").rglob("*.nbc")})
    save(files, key, data)

compiled._Files.save = late
import leaf.mod
print(len(kept), [one.name for one, content in kept.items() if one.read_bytes() != content])
"""


@pytest.mark.compiled
def test_of_two_processes_that_compile_the_same_what_the_first_has_kept_stays(tmp_path: Path, run: Run) -> None:
    """A third one that has loaded it would be killed by LLVM: it reads its intermediate code later, and calls what is
    in there by the name that the first has given it."""
    write(tmp_path, LEAF)
    assert run(FASTER) == "2 []"


REPLACED = """
import shutil, subprocess, sys
import leaf.mod, leaf.number
shutil.rmtree("leaf/__pycache__")
anew = "import numba; numba.njit('i8(i8)')(lambda one: one); import leaf.mod"
subprocess.run([sys.executable, "-c", anew], check=True)
try:
    import top.mod
except ImportError as error:
    print(error)
"""


@pytest.mark.compiled
def test_kernels_that_were_replaced_after_a_process_loaded_them_are_not_linked_into_others(
    tmp_path: Path, run: Run
) -> None:
    """As where sources are changed and changed back meanwhile. What had the old names in it would be kept, and LLVM
    would end every process that loads it."""
    write(tmp_path, {**LEAF, "top/mod.py": CALLER})
    run("import leaf.mod")
    assert "answer: kernels on the disk have changed since this process began, restart it" in run(REPLACED)
    assert run("from top.mod import more; print(more())") == "8"


INLINED = re.compile(r"^@inline(?:_always)?\ndef (\w+)", re.MULTILINE)
IMPORTED = re.compile(r"^\s*from ([\w.]+) import", re.MULTILINE)


def decorators(function: ast.FunctionDef) -> set[str]:
    """Names of what a function is decorated with."""
    called = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return {one.id for one in called if isinstance(one, ast.Name)}


def calls_from_python(node: ast.AST, wanted: set[str]) -> Iterator[ast.Call]:
    """Calls of these functions outside kernels."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and decorators(child) & {"kernel", "inline", "inline_always"}:
            continue
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in wanted:
            yield child
        yield from calls_from_python(child, wanted)


def test_what_is_compiled_with_its_callers_is_called_by_kernels_alone() -> None:
    texts = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file.read_text()
        for package in ("daq", "drivers", "estimators", "hil_rig")
        for file in (ROOT / package).rglob("*.py")
    }
    inline = {module: set(INLINED.findall(text)) for module, text in texts.items()}
    where = {module for module, names in inline.items() if names}
    found = []
    for module, text in texts.items():
        if not inline[module] and where.isdisjoint(IMPORTED.findall(text)):
            continue
        tree = ast.parse(text)
        imports = [one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and one.module in inline]
        taken = {
            name.asname or name.name for one in imports for name in one.names if name.name in inline[str(one.module)]
        }
        if wanted := inline[module] | taken:
            found += [f"{module}: line {call.lineno}" for call in calls_from_python(tree, wanted)]
    assert found == [], "would be compiled by itself in the middle of a run: make it a kernel"
    assert sum(map(len, inline.values())) > 100
