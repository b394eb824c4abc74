"""Thresholds of the live estimators, as their source declares them: `python tests/support/thresholds.py --write`.

A threshold is a named constant, and the comment above it that begins with `#:` is its declaration:

    #: s, argued: A joint that is slower than standstill for this long is at rest; a reversal is shorter.
    REST: Final = 0.2

The unit comes first (1: none). The basis says where the number comes from: `derived` from noise, rounding or a formula,
`argued`, or `tuned` on data that the text names. `undeclared` finds what has no declaration; the two lists below name
what is no threshold.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "thresholds.md"
COMMAND: Final = "python tests/support/thresholds.py --write"
ROOMS: Final = {
    "shared by several rooms": "estimators/thresholds.py",
    "alignment": "estimators/alignment",
    "conditioning": "estimators/conditioning",
    "quantisation": "estimators/quantisation",
    "misfit": "estimators/misfit",
    "plausibility": "estimators/plausibility",
    "recursive": "estimators/recursive",
    "window": "estimators/window",
    "refit": "estimators/refit",
    "wear": "estimators/wear",
    "causes": "estimators/causes",
    "online": "estimators/online",
    "daq/core": "daq/core",
    "daq/config": "daq/config/physics.py",
}
BASES: Final = ("derived", "argued", "tuned")
DECLARATION: Final = re.compile(r"([^,]+), (derived|argued|tuned): (.+\.)")
# named numbers that are no thresholds, by file: codes, places in a table, versions, sentinels, what is nothing
NO_THRESHOLD: Final[dict[str, tuple[str, ...]]] = {
    "estimators/thresholds.py": ("ENDLESS", "NEVER"),
    "estimators/alignment/clock_state.py": ("OUT_OF_ORDER", "PLACED", "LATE", "SETTLING"),
    "estimators/alignment/resampler.py": ("COUNTER_BIT",),
    "estimators/causes/kinds/drive_train.py": ("BELT_SLACK",),
    "estimators/causes/kinds/friction.py": ("TEMPERATURE",),
    "estimators/causes/kinds/measurement.py": ("ENCODER_ECCENTRICITY", "ENCODER_SLIP", "TORQUE_MEASUREMENT"),
    "estimators/causes/kinds/outside.py": ("LOAD", "GRAVITY"),
    "estimators/conditioning/row_kernels.py": ("LOAD_CHANNEL", "MOTION_SCALE", "LOAD_SCALE"),
    "estimators/conditioning/stop.py": ("*",),
    "daq/core/batch_pass.py": ("NOTHING", "REPEATED_UPDATE", "DECISION", "LONG_DECISION"),
    "estimators/misfit/regressors.py": (
        "SPEED",
        "DIRECTION",
        "MEMORY",
        "ANGLE",
        "TORQUE",
        "ELASTIC",
        "ECCENTRIC",
        "LOAD",
        "PLACE",
        "SATURATION",
        "TURNS",
        "CAUSES",
    ),
    "estimators/online/clearance/bearing.py": ("VERSION",),
    "estimators/online/gear/rows.py": ("HEADER", "CHANNELS", "(DRY, VISCOUS)"),
    "estimators/online/judgement/block_end.py": ("NOW", "OFTEN"),
    "estimators/online/judgement/parameter_state.py": ("KNOWN", "NOT_IDENTIFIABLE", "UNMODELLED_TORQUE", "DOUBTFUL"),
    "estimators/online/mechanism/estimator.py": ("VERSION",),
    "estimators/online/mechanism/friction_level.py": ("COLUMNS", "FRICTION"),
    "estimators/online/reporting/report.py": ("FIGURES",),
    "estimators/online/robot/compensation.py": ("NOT_YET",),
    "estimators/online/robot/estimate.py": ("VERSION",),
    "estimators/online/robot/findings/carried.py": ("NO_PAYLOAD",),
    "estimators/online/robot/findings/causes/catalogue.py": ("EVERY",),
    "estimators/online/robot/findings/columns.py": ("TILTS",),
    "estimators/online/robot/findings/friction_discrepancy.py": ("SUMS",),
    "estimators/online/robot/residual_attribution.py": ("BESIDE_MODEL",),
    "estimators/plausibility/mistakes/fit.py": ("SIGNED",),
    "estimators/plausibility/mistakes/units.py": ("DEGREE", "TURN"),
    "estimators/plausibility/mistakes/times.py": ("FACTORS", "MILLI"),
    "estimators/quantisation/rounding.py": ("(STEP, TABLE)", "LENGTH"),
    "estimators/recursive/estimator.py": ("NEVER",),
    "estimators/recursive/forgetting.py": (
        *("ALARM", "VARIANCE_RATIO", "FORTESCUE", "PALEOLOGU", "RANDOM_WALK"),
        *("NOISE", "ALLOWANCE", "LIMIT", "ONSET"),
    ),
    "estimators/recursive/state.py": ("*",),
    "estimators/refit/box.py": ("POWERS",),
    "daq/core/reading_buffer.py": ("NEVER",),
    "daq/core/replayable_executor.py": ("LOOKS",),
}
# numbers in a function that are mathematics or a change of unit
USUAL: Final = (0.0, 0.5, 1.0, 2.0, 1e9, 1e6, 1e3, 100.0, 12.0)  # 12: a step of one has the variance 1/12
# and those of one formula, by file and function
FORMULAS: Final[dict[str, dict[str, tuple[float, ...]]]] = {
    "estimators/alignment/clock_rate.py": {"even": (0.25,)},  # critical damping
    "estimators/causes/answer.py": {"text": (99.0,)},  # per cent that are not all
    "estimators/causes/evidence.py": {"_ways": (1e-300,)},  # no division by zero, as below
    "estimators/causes/healthy_joint.py": {"of": (1e-300,)},
    "estimators/causes/kinds/outside.py": {"load_torque": (1e-9,)},  # no moment at all
    "estimators/causes/sample_rows.py": {"_rows": (1e-9,)},  # s per ns
    "estimators/causes/time_course.py": {"time_course": (1e-300,)},
    "estimators/conditioning/bandwidth_check.py": {"__init__": (6.0,)},  # noise of a second difference
    "estimators/misfit/scores.py": {"critical": (3.0, 4.0, 5.0, 16.0, 96.0)},  # Student's t about the normal
    "estimators/online/eta/in_force.py": {"recentre": (3.0,)},  # derivative of a cube, as below
    "estimators/online/eta/nonlinear_columns.py": {"fill_columns": (3.0,)},
    "estimators/online/gear/lost_motion.py": {"report": (99.9,)},  # per cent that are not all
    "estimators/online/start/robot_start.py": {"progress": (99.0,)},
    "estimators/online/start/plausibility_look.py": {"_motion": (1e-9,)},  # s per ns
    "estimators/plausibility/mistakes/units.py": {
        "find_position_wraps": (360.0,),  # a turn in degrees
        **dict.fromkeys(("find_torque_scale", "find_torque_beyond_limit", "find_current_as_torque"), (10.0,)),  # powers
    },
    "estimators/quantisation/encoder_steps.py": {
        "sample": (1e-9,),  # s per ns
        "half_width": (0.2, 4.0),  # noise of a smoothed acceleration
        "least_acceleration": (4.0,),
        "slopes_of": (1.5,),  # instants at which a law is tried
    },
    "estimators/quantisation/rounding.py": {"beats": (6.0,), "whiteness": (3.0,)},  # a sawtooth; uniform numbers
    "estimators/quantisation/shifted_quantiser.py": {"_interpolate": (1e-9,)},  # s per ns
    "estimators/refit/job.py": {"warm": (0.06, 0.13, 20.0, 70.0, 500.0)},  # a friction to compile with
}


class Threshold(NamedTuple):
    """One declared constant."""

    name: str  # Class.name for the default of a setting
    value: str  # as the source writes it
    unit: str
    basis: str
    why: str
    file: str


def declared(file: Path, tree: ast.Module | None = None) -> list[Threshold]:
    """Declarations of a file, in its order; raises ValueError where one cannot be read. tree: of its source."""
    source = file.read_text("utf-8")
    lines, found = source.splitlines(), []
    for name, statement in _constants((tree or ast.parse(source)).body):
        text = _comment(lines, statement.lineno - 1)
        if text:
            parts = DECLARATION.fullmatch(text)
            value = ast.get_source_segment(source, statement.value) if statement.value is not None else None
            if parts is None or value is None:
                raise ValueError(f"{file}: {name}: expected `#: unit, {'|'.join(BASES)}: Sentence.`, found: {text}")
            found.append(Threshold(name, " ".join(value.split()), *parts.groups(), str(file.relative_to(ROOT))))
    return found


def undeclared(file: Path) -> Iterator[str]:
    """Numeric constants without a declaration, and bare numbers in functions, that no list names."""
    tree, name = ast.parse(file.read_text("utf-8")), str(file.relative_to(ROOT))
    known = {one.name for one in declared(file, tree)}
    for constant, statement in _constants(tree.body):
        if constant not in known and not {constant, "*"} & {*NO_THRESHOLD.get(name, ())} and _numbers(statement.value):
            yield f"{name}:{statement.lineno}: {constant} has no declaration"
    for function in _functions(tree):
        for number in _floats(function):
            if number.value not in (*USUAL, *FORMULAS.get(name, {}).get(function.name, ())):
                yield f"{name}:{number.lineno}: {number.value} in {function.name} has no name"


def files() -> dict[str, list[Path]]:
    """The Python files of each room."""
    places = {room: ROOT / place for room, place in ROOMS.items()}
    return {room: [at] if at.is_file() else sorted(at.rglob("*.py")) for room, at in places.items()}


def page() -> str:
    """docs/thresholds.md as the source wants it."""
    rooms = {room: [one for file in inside for one in declared(file)] for room, inside in files().items()}
    every = [one for found in rooms.values() for one in found]
    counts = ", ".join(f"{sum(one.basis == basis for one in every)} {basis}" for basis in BASES)
    parts = [
        "# Thresholds of the live estimators\n",
        f"This page is generated by `{COMMAND}` from the declarations in the source; change them there. It lists each "
        "number that decides something while a robot runs: limits, time constants, defaults of settings, sizes of "
        "buffers. A number that several rooms share is declared once, in `estimators/thresholds.py`.\n",
        "*derived*: from noise, from rounding or by a formula. *argued*: chosen for the reason that is given. *tuned*: "
        "chosen by measurement, on the data that are named; where these are not known the text says so. The unit 1 "
        "means a ratio; v₀ is the residual variance of the start.\n",
        f"{len(every)} thresholds: {counts}.\n",
    ]
    for room, found in rooms.items():
        if found:
            parts.append(f"## {room}\n\n| name | value | unit | basis | why | file |\n|---|---|---|---|---|---|")
            parts += [
                f"| {one.name} | `{one.value}` | {one.unit} | {one.basis} | {one.why} | {one.file} |" for one in found
            ]
            parts[-1] += "\n"
    return "\n".join(parts)


def _constants(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    """Named values of a module, and defaults of its settings."""
    for statement in body:
        if isinstance(statement, ast.ClassDef) and "Settings" in map(ast.unparse, statement.bases):
            yield from _constants(statement.body, f"{statement.name}.")
        elif isinstance(statement, ast.AnnAssign):
            yield f"{within}{ast.unparse(statement.target)}", statement
        elif isinstance(statement, ast.Assign):
            yield f"{within}{ast.unparse(statement.targets[0])}", statement


def _comment(lines: list[str], at: int) -> str:
    """The declaration above a line, in one line; "" where there is none."""
    first = at
    while first > 0 and lines[first - 1].strip().startswith("#:"):
        first -= 1
    return " ".join(line.strip().removeprefix("#:").strip() for line in lines[first:at])


def _numbers(value: ast.expr | None) -> bool:
    """Whether a value is made of numbers: a literal but nought, or an expression with one."""
    if value is None or (isinstance(value, ast.Call) and ast.unparse(value.func) in ("Field", "range")):
        return False  # a setting with a description, or numbered places
    return any(_number(node) and node.value != 0 for node in ast.walk(value) if isinstance(node, ast.Constant))


def _number(node: ast.Constant) -> bool:
    return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _floats(function: ast.FunctionDef) -> Iterator[ast.Constant]:
    """Floats in a function's arguments and body."""
    for part in (*function.args.defaults, *function.args.kw_defaults, *function.body):
        for node in ast.walk(part) if part is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, float):
                yield node


def main() -> int:
    """Print the page, or write it; 1 where something is not declared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"the page into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    missing = [line for inside in files().values() for file in inside for line in undeclared(file)]
    for line in missing:
        print(line, file=sys.stderr)
    if options.write:
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
