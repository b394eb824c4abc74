"""`jointwatch model show | diff | export`: shows a model of a whole robot, compares two, or exports one."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from daq.commands.codes import fail, refuse
from daq.commands.model import isaac, mjcf, urdf
from daq.commands.model.compare import Change, differences, parameters
from daq.commands.model.simulated import SimulatedRobot, simulated
from daq.config.robots.robot_model import load_model
from daq.config.words import ConfigError
from daq.state.files import BaselineError, replace

WRITERS: Final = {"mjcf": mjcf.document, "urdf": urdf.document, "usd-isaac-json": isaac.document}
ENDINGS: Final = {"mjcf": ".xml", "urdf": ".urdf", "usd-isaac-json": ".json"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(required=True, metavar="show | diff | export", dest="action")
    show = actions.add_parser("show", help="show every parameter with its standard deviation")
    show.add_argument("model", type=Path, metavar="MODEL", help="written by jointwatch identify --out")
    diff = actions.add_parser("diff", help="compare two models of one robot, with standard deviations")
    diff.add_argument("model", type=Path, metavar="A", help="the earlier model")
    diff.add_argument("other", type=Path, metavar="B", help="the later model")
    diff.add_argument("--all", action="store_true", help="also show what did not change")
    export = actions.add_parser(
        "export", help="write a file for a simulator: inertias, friction, armature, ranges for randomisation"
    )
    export.add_argument("model", type=Path, metavar="MODEL", help="written by jointwatch identify --out")
    export.add_argument("--to", choices=tuple(WRITERS), required=True, help="the format")
    export.add_argument("--out", type=Path, metavar="FILE", help="by default in the model's folder, with its name")
    for one in (show, diff):
        one.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Show, compare or export."""
    try:
        if options.action == "export":
            return _export(options)
        return _show(options) if options.action == "show" else _diff(options)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except BaselineError as error:
        return fail(error)


def _export(options: argparse.Namespace) -> int:
    robot: SimulatedRobot = simulated(load_model(options.model))
    name = options.model.name.removesuffix(".toml").removesuffix(".model")
    file: Path = options.out or options.model.with_name(name + ENDINGS[options.to])
    replace(file, WRITERS[options.to](robot).encode(), 0o644)
    for text in (*robot.cannot, *(urdf.cannot(robot) if options.to == "urdf" else ())):
        print(f"jointwatch: not expressed: {text}", file=sys.stderr)
    print(file)
    return 0


def _show(options: argparse.Namespace) -> int:
    found = load_model(options.model)
    rows = parameters(found)
    if options.json:
        print(json.dumps({"robot": found.robot.name, "learnt_from": found.source, "parameters": [
            one._asdict() for one in rows]}, indent=1, ensure_ascii=False))  # fmt: skip
        return 0
    files = ", ".join(map(str, found.source.get("files", []))) or "unknown recordings"
    print(f"{found.robot.name}: {len(found.robot.joints)} joints, {len(rows)} parameters, learnt from {files}")
    for key in ("test_error", "validation_error", "train_error"):
        if found.source.get(key):
            print(f"error on rows of {key.partition('_')[0]}: {found.source[key]:.2f} %")
            break
    print(f"{'parameter':28} {'value':>12}   {'± σ':10} unit")
    for one in rows:
        print(f"{one.name:28} {one.value:12.5g} ± {one.deviation:<10.2g} {one.unit}")
    file = options.model
    print(f'next: jointwatch model export {file} --to mjcf, or [robot] model = "{file}" in a configuration')
    return 0


def _diff(options: argparse.Namespace) -> int:
    changes, alone = differences(load_model(options.model), load_model(options.other))
    if options.json:
        rows = [one._asdict() | {"sigmas": one.sigmas, "changed": one.changed} for one in changes]
        print(json.dumps({"parameters": rows, "alone": alone}, indent=1, ensure_ascii=False))
        return 0
    shown = [one for one in changes if options.all or one.changed]
    if shown:
        print(f"{'parameter':28} {'before':>12} {'after':>12} {'change':>12}   {'± σ':10} unit")
    for one in sorted(shown, key=lambda one: -abs(one.sigmas)):
        print(_line(one))
    for text in alone:
        print(text)
    count = sum(one.changed for one in changes)
    print(f"{count} of {len(changes)} parameters changed by three standard deviations or more")
    return 0


def _line(one: Change) -> str:
    change = one.after - one.before
    percent = f" ({100 * change / abs(one.before):+.3g} %)" if one.before else ""
    mark = " changed" if one.changed else ""
    return (
        f"{one.name:28} {one.before:12.5g} {one.after:12.5g} {change:+12.4g} ± {one.deviation:<10.2g} {one.unit}"
        f"{percent}{mark}"
    )
