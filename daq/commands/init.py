"""`jointwatch init [PATH] [--from FILE]`: writes a commented configuration, or one proposed from what the user has."""

import argparse
import sys
from pathlib import Path
from typing import Final

from daq.commands.codes import EXIT_USAGE, fail, refuse, to_answer
from drivers.catalogue import PluginError, named

TEMPLATE: Final = Path(__file__).parents[1] / "jointwatch.toml"
DRIVERS: Final = "# One [drivers.NAME] table per bus or port."  # where they begin in the template


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path("jointwatch.toml"), help="file to write (%(default)s)"
    )
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="a DBC, a URDF or a CSV to propose from"
    )
    parser.add_argument("--columns", type=Path, metavar="TABLE", help="table of a CSV's columns, with your answers")
    parser.add_argument("--kind", help="write the tables of this kind of driver instead of a CAN bus (docs/drivers.md)")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(options: argparse.Namespace) -> int:
    """Write the file, unless it exists."""
    path: Path = options.path
    try:
        text = _text(options.kind)
    except (PluginError, ValueError) as error:
        return fail(error, EXIT_USAGE)
    if path.exists() and not options.force:
        return fail(f"{path} exists; --force overwrites it")
    if options.columns is not None and options.source is None:
        return fail(f"init: expected --from FILE.csv together with --columns {options.columns}", EXIT_USAGE)
    try:
        if options.source is not None:
            from daq.commands.init_from import LayoutError, RobotError, proposed
            from daq.config.words import ConfigError
            from daq.recording.reader import RecordingError

            if not options.source.exists():
                return fail(f"{options.source}: No such file or directory")
            try:
                text = proposed(options.source, path, options.columns)
            except ConfigError as mistakes:
                return refuse(mistakes)
            except (LayoutError, RobotError, RecordingError) as error:
                return fail(error)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return fail(f"{error.filename or path}: {error.strerror}")
    print(path)
    count = text.count("ASK: ") if options.source is not None else 0
    unasked = "edit it" if options.source is None else "check names, units and signs"
    todo = to_answer(count) if count else unasked
    print(f"next: {todo}, then: jointwatch check {path}", file=sys.stderr)
    return 0


def _text(kind: str | None) -> str:
    """The template; with another kind's example after the general tables. Raises PluginError, ValueError."""
    template = TEMPLATE.read_text(encoding="utf-8")
    if kind is None:
        return template
    example = named(kind).example
    if not example:
        raise ValueError(f'the driver "{kind}" has no example: jointwatch init without --kind shows every table')
    return template[: template.index(DRIVERS)] + example
