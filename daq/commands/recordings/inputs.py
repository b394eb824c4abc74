"""Checks the files of a command before they are read, and tells how to get missing ones."""

import shlex
import sys
from pathlib import Path
from typing import Final

from daq.recording.questions import open_questions

TABLES: Final = (".dbc", ".kcd", ".arxml", ".sym", ".urdf", ".xml")
FRAMES: Final = (".log", ".candump", ".asc", ".blf", ".trc")


def missing(*files: Path | None) -> str:
    """Lines for files that do not exist; empty if all exist."""
    return "\n".join(f"{file}: No such file or directory" for file in files if file is not None and not file.exists())


def no_configuration(config: Path) -> str:
    """Why a file is no configuration of a service, by its suffix; empty if it may be one."""
    kind = config.suffix.lower()
    if kind == ".urdf":
        return f"{config} is a description of a robot, not a configuration: it goes with jointwatch identify"
    if kind in TABLES:
        return (
            f"{config} says what is in the frames ({kind}), not which signal is which joint's: the second argument is "
            f"a configuration. Make one: jointwatch init --from {shlex.quote(str(config))} jointwatch.toml"
        )
    if kind and kind != ".toml":
        return f"{config}: the second argument is a configuration or a table of columns (.toml), found {kind}"
    return ""


def swapped(recording: Path, config: Path | None) -> str:
    """A sentence if a configuration is given in place of the recording, and the recording after it; else empty."""
    if config is None or recording.suffix.lower() != ".toml" or config.suffix.lower() == ".toml":
        return ""
    right = f"{shlex.quote(str(config))} {shlex.quote(str(recording))}"
    return f"{recording} is not a recording: expected the recording first, {right}"


def of_columns(file: Path) -> bool:
    """Whether a .csv has columns, not frames of python-can, by its first line; False if it does not exist."""
    if file.suffix.lower() != ".csv" or not file.is_file():
        return False
    with file.open(encoding="utf-8", errors="replace") as lines:
        return "arbitration_id" not in next(lines, "")


def how_to_configure(file: Path) -> str:
    """How to get the configuration or table that a recording of another program needs."""
    name = shlex.quote(str(file))
    if file.suffix.lower() in FRAMES:
        return (
            f"{file} has frames of a bus, which a configuration describes. With a DBC: jointwatch init --from "
            f"FILE.dbc jointwatch.toml; then: jointwatch replay {name} jointwatch.toml"
        )
    return (
        f"{file} has columns, which a table describes. Propose a table: jointwatch columns {name} > table.toml; then: "
        f"jointwatch replay {name} table.toml"
    )


def tell_open_questions(*files: Path | None) -> int:
    """Report lines of proposals that are still marked ASK, which are guesses, on stderr; returns their number."""
    count = 0
    for file in filter(None, files):
        for number, question in open_questions(file.read_text(encoding="utf-8", errors="replace")):
            print(f"note: {file}:{number}: still marked ASK: {question}", file=sys.stderr)
            count += 1
    if count:
        print("note: answer them and remove the marks; until then the values are uncertain", file=sys.stderr)
    return count
