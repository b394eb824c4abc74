"""What is in a Containerfile: its instructions, with continuation lines joined and variables of ENV not expanded."""

import json
import re
from pathlib import Path
from typing import NamedTuple

KNOWN = (
    "FROM", "RUN", "CMD", "EXPOSE", "ENV", "COPY", "ENTRYPOINT", "VOLUME", "USER", "WORKDIR", "ARG", "HEALTHCHECK",
)  # fmt: skip


class Instruction(NamedTuple):
    """One instruction of a build."""

    name: str
    options: dict[str, str]  # --from=build
    words: list[str]  # of a JSON list, or between spaces
    text: str
    line: int


class ContainerfileError(Exception):
    """A line is no instruction; the text says which."""


def read(file: Path) -> list[Instruction]:
    """All instructions in order. Raises ContainerfileError."""
    found: list[Instruction] = []
    pending, began = "", 0
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("#") or not (line.strip() or pending):
            continue
        began = began or number
        if line.endswith("\\"):
            pending += line[:-1].strip() + " "
            continue
        found.append(instruction((pending + line.strip()), began))
        pending, began = "", 0
    if pending:
        raise ContainerfileError(f"line {began}: nothing follows the last \\")
    if not found or found[0].name != "FROM":
        raise ContainerfileError("expected FROM as the first instruction")
    return found


def instruction(text: str, line: int) -> Instruction:
    """One joined line. Raises ContainerfileError."""
    name, _, rest = text.partition(" ")
    if name not in KNOWN or not rest.strip():
        raise ContainerfileError(f"line {line}: no instruction: {text}")
    options: dict[str, str] = {}
    rest = rest.strip()
    while option := re.match(r"--([\w-]+)=(\S+)\s+", rest):
        options[option[1]] = option[2]
        rest = rest[option.end() :]
    if rest.startswith("["):
        try:
            words = [str(one) for one in json.loads(rest)]
        except json.JSONDecodeError as error:
            raise ContainerfileError(f"line {line}: a list that is no JSON: {rest}") from error
    else:
        words = rest.split()
    return Instruction(name, options, words, rest, line)
