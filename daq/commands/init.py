"""`jointwatch init [PATH]`: writes a commented configuration to start from."""

import argparse
import sys
from pathlib import Path
from typing import Final

from daq.commands.codes import fail

TEMPLATE: Final = Path(__file__).parents[1] / "jointwatch.toml"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", nargs="?", type=Path, default=Path("jointwatch.toml"))
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(options: argparse.Namespace) -> int:
    """Write the file, unless it exists."""
    path: Path = options.path
    if path.exists() and not options.force:
        return fail(f"{path} exists; --force overwrites it")
    try:
        path.write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        return fail(f"{path}: {error.strerror}")
    print(path)
    print(f"edit it, then: jointwatch check {path}", file=sys.stderr)
    return 0
