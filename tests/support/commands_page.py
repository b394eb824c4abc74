#!/usr/bin/env python3
"""Writes docs/commands.md, every command with its examples, from the catalogues that `--help` prints as well."""

import argparse
import sys
from pathlib import Path
from typing import Final

from daq.__main__ import COMMANDS
from daq.commands.examples import EXAMPLES

PAGE: Final = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD: Final = """# Commands

`jointwatch COMMAND --help` lists every option with its text. Exit codes: 0 good, 1 it failed while running, 2 the
command line is wrong, 78 the configuration is wrong. Results go to stdout, progress and questions to stderr. This page
is written by `python tests/support/commands_page.py --write`.
"""


def page() -> str:
    """The page, as Markdown."""
    parts = [HEAD]
    for command, (_, text) in COMMANDS.items():
        lines = "\n".join(f"    {line}    # {meaning}" for line, meaning in EXAMPLES[command])
        parts.append(f"## {command}\n\n{text[0].upper()}{text[1:]}.\n\n{lines}\n")
    return "\n".join(parts)


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="the page into docs/commands.md")
    if parser.parse_args().write:
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
