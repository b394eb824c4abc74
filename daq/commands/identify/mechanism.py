"""`jointwatch identify MECHANISM.toml …`: a mechanism with loops from recordings of its drives.

MECHANISM.toml lists links and cuts, or names a URDF and the cuts that close its loops (docs/mechanisms.md). The command
prints the unexplained torque of each drive, and friction by the joints' constraint forces. --out writes a mechanism
file with the results, --forces the load of every joint over time. Without TRAIN the file is only applied.
"""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.commands.codes import EXIT_USAGE, fail
from daq.config.robots.mechanism_file import read_mechanism
from daq.recording.columns import Columns, load_columns
from daq.recording.reader import RecordingError
from daq.replay.robot_runs import read_aligned
from daq.state.files import replace
from daq.state.toml_text import toml_text
from estimators.models.mechanisms.description import Description
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL, RUB
from estimators.models.mechanisms.mechanism import Mechanism
from estimators.offline.mechanism_residuals import DriveRecording, undisturbed
from estimators.offline.mechanism_run import (
    IdentifiedMechanism,
    MechanismRun,
    carried,
    identified,
    prepared,
    unexplained,
)
from estimators.offline.robot.motion import pieces
from estimators.quantities import Floats

CARRIED: Final = {"radial": RADIAL, "axial": AXIAL, "bending": BENDING, "friction": RUB}


def identify_mechanism(options: argparse.Namespace) -> int:
    """Run the command for a mechanism. Raises RecordingError, MotionError, ConfigError."""
    mechanism = read_mechanism(options.robot)
    if not options.train and not options.test:
        return fail(
            "identify: expected recordings to learn from, or --test FILE to apply the mechanism to; found none",
            EXIT_USAGE,
        )
    columns = None if options.columns is None else load_columns(options.columns)
    learnt, held_out = (_recordings(mechanism, files, columns) for files in (options.train, options.test))
    train, tests = ([pieces(*one, f"{file}: ") for file, one in read.items()] for read in (learnt, held_out))
    found = identified(mechanism, prepared(mechanism, [one for part in train for one in part])) if train else None
    own = Mechanism(found.description) if found is not None else mechanism
    transition = own.description.transition
    runs = [prepared(own, part) for part in tests]
    errors = [unexplained(run, carried(own, run, transition)[0]) for run in runs]
    if options.out is not None and found is not None:
        residuals = undisturbed(found.description, [*learnt.values(), *held_out.values()])
        description = found.description.model_copy(update={"residuals": residuals})
        replace(options.out, _text(description, options).encode(), 0o644)
    if options.forces is not None:
        run = runs[0] if runs else prepared(own, [one for part in train for one in part])
        _write_forces(options.forces, own, run, transition)
    said = _document(mechanism, found, errors)
    if options.json:
        print(json.dumps(said, indent=1, ensure_ascii=False))
    else:
        _tell(said, [file for file in (options.out, options.forces) if file is not None])
    return 0


def _recordings(mechanism: Mechanism, files: Sequence[Path], columns: Columns | None) -> dict[Path, DriveRecording]:
    """Position and torque of the drives; in a recording of one joint, this is the only drive, whatever its name."""
    names = [name for name, drive in zip(mechanism.names, mechanism.drive, strict=True) if drive]
    found = {}
    for file in files:
        joints = read_aligned(file, columns)
        if len(names) == 1 and len(joints) == 1:
            joints = {names[0]: next(iter(joints.values()))}
        lacking = [
            f"{name}.{role}" for name in names for role in ("position", "torque") if role not in joints.get(name, {})
        ]
        if lacking:
            what = ", ".join(f"{name} ({', '.join(roles)})" for name, roles in joints.items())
            raise RecordingError(f"{file}: expected {', '.join(lacking)} of the drives, found {what}")
        time = joints[names[0]]["position"].time
        q, tau = (
            np.column_stack([np.interp(time, joints[name][role].time, joints[name][role].values) for name in names])
            for role in ("position", "torque")
        )
        found[file] = DriveRecording(time, q, tau)
    return found


def _document(mechanism: Mechanism, found: IdentifiedMechanism | None, errors: list[Floats]) -> dict[str, Any]:
    """The results as plain data."""
    names = [name for name, drive in zip(mechanism.names, mechanism.drive, strict=True) if drive]
    said: dict[str, Any] = {"tests": [dict(zip(names, map(float, one), strict=True)) for one in errors]}
    if found is None:
        return said
    fit = found.fit
    rows = zip(fit.names, fit.friction, fit.deviations, fit.units, strict=True)
    friction = {
        name: {"value": float(x), "deviation": float(d), "unit": unit} for name, x, d, unit in rows if np.isfinite(x)
    }
    learnt = dict(zip(names, map(float, found.error), strict=True))
    return said | {
        "unexplained": learnt, "transition": found.transition, "friction": friction, "remarks": list(fit.remarks),
    }  # fmt: skip


def _tell(said: dict[str, Any], files: list[Path]) -> None:
    for name, error in said.get("unexplained", {}).items():
        print(f"{name}: {100 * error:.2f} % of the torque is not explained (learnt from)")
    for number, test in enumerate(said["tests"], 1):
        for name, error in test.items():
            print(f"{name}: {100 * error:.2f} % of the torque is not explained (test {number})")
    for name, one in said.get("friction", {}).items():
        print(f"{name}: {one['value']:.4g} ± {one['deviation']:.2g} {one['unit']}")
    for text in said.get("remarks", []):
        print(f"jointwatch: {text}", file=sys.stderr)
    for file in files:
        print(file)


def _text(description: Description, options: argparse.Namespace) -> str:
    """A mechanism file with the results: friction as products with μ = 1."""
    content = description.model_dump(mode="json", exclude_none=True)
    head = f"# A mechanism, written by `jointwatch identify {options.robot.name}` from "
    text = [head + ", ".join(file.name for file in options.train) + ".\n"]
    text.append(
        "# Arms are products with the friction coefficient, which motion cannot separate, except for slides.\n\n"
    )
    text.append(toml_text({"gravity": content["gravity"], "transition": content["transition"]}))
    for kind in ("links", "cuts", "residuals"):
        for one in content[kind]:
            bearing = one.pop("bearing", {})
            inline = ", ".join(f"{key} = {value!r}" for key, value in bearing.items())
            text.append(f"\n[[{kind}]]\n{toml_text(one)}" + (f"bearing = {{ {inline} }}\n" if bearing else ""))
    return "".join(text)


def _write_forces(file: Path, mechanism: Mechanism, run: MechanismRun, transition: float) -> None:
    """Write the load of every joint at 50 Hz as a table: N, N·m."""
    torque, solution = carried(mechanism, run, transition)
    left = run.torque - torque
    names = [name for name, drive in zip(mechanism.names, mechanism.drive, strict=True) if drive]
    head = ["t", *(f"{name}.residual" for name in names)]
    head += [f"{joint}.{what}" for joint in mechanism.joints for what in CARRIED]
    loads = run.rows.plain(solution.loads)[:, :, list(CARRIED.values())]
    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(head)
        for time, own, each in zip(run.time, left, loads, strict=True):
            writer.writerow([f"{value:.9g}" for value in (time, *own, *each.ravel())])
