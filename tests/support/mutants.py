"""`make mutants`: a sample of small errors put into the code one at a time, and whether the room's tests notice.

Outside the gate: hours for everything. Each room is a part of the code with its tests; N mutants of it are drawn (with
a seed) out of all that cosmic-ray finds, in a copy of the tree, and interpreted, since every kernel is Python first. A
mutant that no test notices is told with its place: either a test is missing, or the change means nothing.
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
LONGEST: Final = 240.0  # s for the tests of one mutant; a loop without end is noticed
UNLIKELY: Final = (  # operators whose mutants fail by their type, or mean nothing while nothing is compiled
    *("Bit", "Shift", "FloorDiv", "Mod", "Pow", "Invert", "USub_Not", "_Is", "RemoveDecorator"),
)


class Room(NamedTuple):
    """Files, and the tests that answer for them."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    compiled: bool = False  # tests that are too slow interpreted: each mutant compiles what it changes


FRICTION: Final = "estimators/models/friction/"
ONLINE: Final = "estimators/online/"
RECURSIVE: Final = "estimators/recursive/"
ROOMS: Final = {
    "friction": Room(
        tuple(
            f"{FRICTION}{law}.py"
            for law in (
                *("arctangent", "cubic_viscous", "cyclic", "directional", "load_dependent", "position_dependent"),
                *("prandtl_ishlinskii", "tanh_stribeck", "viscous_coulomb"),
            )
        ),
        ("tests/estimators/models/test_friction_formulas.py",),
    ),
    "terms": Room(
        ("estimators/models/ripple.py", "estimators/refit/box.py", "estimators/online/standstill.py"),
        (
            "tests/estimators/models/test_ripple.py",
            "tests/estimators/refit/test_box.py",
            "tests/estimators/online/test_standstill.py",
        ),
    ),
    "online": Room(
        ("estimators/online/gate.py", "estimators/online/validity.py", "estimators/online/checkpoint.py"),
        (
            "tests/estimators/online/test_gate.py",
            "tests/estimators/online/test_validity.py",
            "tests/estimators/online/test_kept.py",
        ),
    ),
    "recursive": Room(
        ("estimators/recursive/kernel.py", "estimators/recursive/cusum.py", "estimators/recursive/learner.py"),
        ("tests/estimators/recursive",),
    ),
    "evidence": Room(
        tuple(f"{RECURSIVE}{file}.py" for file in ("grain", "long_run", "misfit", "reversals", "witnesses")),
        tuple(f"tests/{RECURSIVE}test_{file}.py" for file in ("grain", "long_run", "misfit", "reversals", "witnesses")),
    ),
    "priors": Room(
        tuple(f"{RECURSIVE}{file}.py" for file in ("faded_evidence", "prior_bounded", "wander")),
        tuple(f"tests/{RECURSIVE}test_{file}.py" for file in ("faded_evidence", "prior_bounded", "wander")),
        compiled=True,
    ),
    "steps": Room(
        ("estimators/numerics/symmetric.py", f"{ONLINE}steps.py", f"{ONLINE}reread.py"),
        (
            "tests/estimators/numerics/test_symmetric.py",
            f"tests/{ONLINE}test_steps.py",
            f"tests/{ONLINE}test_reread.py",
        ),
    ),
    "parcel": Room(
        ("estimators/numerics/parcel.py", "estimators/models/filler.py", f"{ONLINE}eta/shaping.py"),
        ("tests/estimators/numerics/test_parcel.py", f"tests/{ONLINE}test_shaping.py"),
        compiled=True,
    ),
    "eta": Room(
        tuple(f"{ONLINE}eta/{file}.py" for file in ("in_force", "lookback", "refits", "search")),
        (
            f"tests/{ONLINE}monitor",
            f"tests/{ONLINE}start",
            f"tests/{ONLINE}test_shaping.py",
            f"tests/{ONLINE}test_search.py",
        ),
        compiled=True,
    ),
    "pass": Room(
        (f"{ONLINE}walk.py", f"{ONLINE}normal_loop.py"),
        (f"tests/{ONLINE}test_normal_loop.py", f"tests/{ONLINE}test_steady.py", "tests/daq/core/test_walk.py"),
        compiled=True,
    ),
    "fit": Room(
        (f"{ONLINE}fit.py", f"{ONLINE}phases.py"),
        (f"tests/{ONLINE}test_phases.py", f"tests/{ONLINE}test_fit.py", f"tests/{ONLINE}test_coarse_encoder.py"),
        compiled=True,
    ),
    "robot": Room(
        tuple(
            f"{ONLINE}robot/{file}.py" for file in ("block", "causes", "compensation", "contact", "encoders", "reread")
        ),
        (f"tests/{ONLINE}robot",),
        compiled=True,
    ),
    "conditioning": Room(
        ("estimators/conditioning/stops.py", "estimators/conditioning/physical_range.py"),
        ("tests/estimators/conditioning/test_stops.py", "tests/estimators/conditioning/test_physical_range.py"),
    ),
    "alignment": Room(
        tuple(
            f"estimators/alignment/{file}.py"
            for file in ("clock_rate", "device_clock", "held_frames", "resampler", "ring_buffers", "unwrap")
        ),
        ("tests/estimators/alignment/test_clock_reference.py", "tests/estimators/alignment/test_resampler.py"),
    ),
    "units": Room(("drivers/units.py",), ("tests/drivers/test_units.py",)),
    "frames": Room(
        (
            *(f"drivers/layout/{file}.py" for file in ("can_frames", "checksum", "dbc", "integrity")),
            *("drivers/decode/decoder.py", "drivers/decode/extract.py"),
        ),
        ("tests/drivers/layout", "tests/drivers/decode"),
    ),
    "can": Room(
        tuple(f"drivers/can/{file}.py" for file in ("arrival_time", "burst", "bus_errors", "packed_frame", "slcan")),
        ("tests/drivers/can", "tests/drivers/test_links.py"),
    ),
    "files": Room(
        tuple(f"drivers/files/{file}.py" for file in ("can_log", "candump", "player", "reading_block", "recording")),
        ("tests/drivers/files",),
    ),
    "serial": Room(
        ("drivers/drain.py", "drivers/serial/deframer.py", "drivers/serial/packets.py"),
        ("tests/drivers/serial", "tests/drivers/test_links.py"),
    ),
    "stream": Room(
        tuple(f"daq/stream/{file}.py" for file in ("channel", "keys", "priority", "subscriptions", "transcript")),
        ("tests/daq/stream", "tests/daq/processes/test_priority.py"),
        compiled=True,
    ),
}


def main() -> int:
    """Exit 0: it says, it does not judge."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", action="append", choices=ROOMS, metavar="ROOM", help=f"one of: {', '.join(ROOMS)}")
    parser.add_argument("--each", type=int, default=20, metavar="N", help="mutants a room")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    noticed = made = 0
    for name in options.only or ROOMS:
        with tempfile.TemporaryDirectory() as folder:
            found = _room(ROOMS[name], Path(folder) / "tree", options.each, options.seed)
        alive = [place for place, survived in found if survived]
        noticed, made = noticed + len(found) - len(alive), made + len(found)
        print(f"{name:14}{len(found) - len(alive):4} of {len(found)} noticed", *alive, sep="\n    ", flush=True)
    print(f"{'together':14}{noticed:4} of {made} noticed, {100.0 * noticed / max(made, 1):.0f} %")
    return 0


def copied(tree: Path) -> Path:
    """The code, its tests and its kernels."""
    left = shutil.ignore_patterns(".git", "build", ".venv", "*.pyc", ".*_cache", "docs")
    shutil.copytree(ROOT, tree, ignore=left)
    (tree / "docs").symlink_to(ROOT / "docs")
    return tree


def _room(room: Room, tree: Path, each: int, seed: int) -> list[tuple[str, bool]]:
    """Where each mutant was, and whether nobody noticed."""
    copied(tree)
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    tests += ["-m", "not slow" if room.compiled else "not slow and not compiled", *room.tests]
    lines = [
        "[cosmic-ray]",
        f"module-path = {json.dumps(room.files)}",
        f"timeout = {LONGEST}",
        f"test-command = {json.dumps(' '.join(repr(word) if ' ' in word else word for word in tests))}",
        "[cosmic-ray.distributor]",
        'name = "local"',
    ]
    (tree / "mutants.toml").write_text("\n".join(lines), "utf-8")
    environment = os.environ | {"NUMBA_DISABLE_JIT": str(int(not room.compiled)), "PYTHONPATH": str(tree)}
    tool = shutil.which("cosmic-ray") or "cosmic-ray"

    def say(*words: str) -> None:
        subprocess.run([tool, *words], cwd=tree, env=environment, check=True, stdout=sys.stderr)

    say("baseline", "mutants.toml")
    say("init", "mutants.toml", "mutants.sqlite")
    _draw(tree / "mutants.sqlite", each, seed)
    say("exec", "mutants.toml", "mutants.sqlite")
    return _outcome(tree / "mutants.sqlite")


def _draw(session: Path, each: int, seed: int) -> None:
    """Keep some of the mutants, of those that could pass for a slip of the pen."""
    with sqlite3.connect(session) as data:
        order = "module_path, start_pos_row, start_pos_col, operator_name, occurrence"
        every = data.execute(f"SELECT job_id, operator_name FROM mutation_specs ORDER BY {order}").fetchall()
        likely = [job for job, operator in every if not any(part in operator for part in UNLIKELY)]
        kept = set(random.Random(seed).sample(likely, min(each, len(likely))))
        for table in ("mutation_specs", "work_items"):
            data.executemany(f"DELETE FROM {table} WHERE job_id = ?", [(job,) for job, _ in every if job not in kept])


def _outcome(session: Path) -> list[tuple[str, bool]]:
    with sqlite3.connect(session) as data:
        rows = data.execute(
            "SELECT module_path, start_pos_row, operator_name, diff, test_outcome FROM mutation_specs "
            "JOIN work_results ON mutation_specs.job_id = work_results.job_id ORDER BY module_path, start_pos_row"
        ).fetchall()
    told = []
    for path, line, operator, diff, outcome in rows:
        changed = [one[1:].strip() for one in (diff or "").splitlines() if one.startswith("+") and one[:3] != "+++"]
        told.append((f"{path}:{line} {operator.removeprefix('core/')}: {' '.join(changed)}", outcome == "SURVIVED"))
    return told


if __name__ == "__main__":
    sys.exit(main())
