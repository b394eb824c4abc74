"""`jointwatch init [PATH]`: writes a commented configuration to start from."""

import argparse
import sys
from pathlib import Path
from typing import Final

from daq.commands.codes import EXIT_USAGE, fail
from drivers.catalogue import PluginError, named

TEMPLATE: Final = Path(__file__).parents[1] / "jointwatch.toml"
DRIVERS: Final = "# One [drivers.NAME] table per bus or port."  # where they begin in the template


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", nargs="?", type=Path, default=Path("jointwatch.toml"))
    parser.add_argument("--kind", help="of a driver: with its tables in place of a CAN bus (docs/drivers.md)")
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
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return fail(f"{path}: {error.strerror}")
    print(path)
    print(f"edit it, then: jointwatch check {path}", file=sys.stderr)
    return 0


def _text(kind: str | None) -> str:
    """The template; with another kind's example behind the general tables. Raises PluginError, ValueError."""
    template = TEMPLATE.read_text(encoding="utf-8")
    if kind is None:
        return template
    example = named(kind).example
    if not example:
        raise ValueError(f'the driver "{kind}" has no example: jointwatch init without --kind shows every table')
    return template[: template.index(DRIVERS)] + example
