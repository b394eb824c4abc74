"""The lines above the numbers of a text table: which one names the columns, which one gives their units."""

import csv
import re
from collections.abc import Sequence
from typing import Final

MARKS: Final = ("#", "%", "//")  # that begin a line of comment
SCOPE_TIME: Final = "time of the scope"  # TwinCAT's name of it is a key
BETWEEN: Final = (";", "\t", ",", "|", None)  # None: spaces
_UNIT: Final = re.compile(
    r"(?:[mµun]?s|sec(?:onds?)?|rad|deg(?:rees?)?|grad|°|[mµ]?m|[mk]?N[·*. ]?m?|m?A|amps?|m?V|volts?|°?C|K|%|-|rpm"
    r"|1/min|Hz|rev|(?:rad|deg|grad|°|m|mm|rev)/s(?:[²2]|\^2)?)?",
    re.IGNORECASE,
)


def cells(line: str, between: str | None) -> list[str]:
    """The cells of one line without quotes and spaces around them."""
    if between is None:
        return [one.strip("\"'") for one in line.split()]
    if '"' not in line:
        return [one.strip() for one in line.split(between)]
    return [one.strip() for one in next(csv.reader([line], delimiter=between, skipinitialspace=True), [])]


def uncommented(line: str) -> str:
    """The line without the mark of a comment."""
    text = line.strip()
    while mark := next((one for one in MARKS if text.startswith(one)), None):
        text = text[len(mark) :].lstrip()
    return text


def header_of(lines: Sequence[str], width: int, between: str | None) -> tuple[list[str], dict[str, str], int]:
    """Names of the columns, units by name, and how many lines speak of columns; no names: an empty list.

    lines: all lines above the numbers; width: number of columns.
    """
    exported = _of_scope([cells(line, between) for line in lines], width)
    if exported is not None:
        return *exported, 1
    rows = [row for line in lines if (row := _row(line, width, between))]
    if not rows:
        return [], {}, 0
    names, units, used = rows[-1], [""] * width, 1
    if len(rows) > 1 and is_units(names):
        names, units, used = rows[-2], [one.strip("[]() ") for one in rows[-1]], 2
    above = rows[-1 - used] if len(rows) > used else None
    if above is not None and len(set(names)) < len(names):  # a group's name above the names in it
        names = _grouped(above, names)
        used += 1
    if names == [str(i) for i in range(width)] or names == ["", *(str(i) for i in range(width - 1))]:
        return [], {}, used  # a program's own numbers, no names
    names = _distinct(names)
    return names, {name: unit for name, unit in zip(names, units, strict=True) if unit not in ("", "-")}, used


def _of_scope(rows: Sequence[Sequence[str]], width: int) -> tuple[list[str], dict[str, str]] | None:
    """Names and units in the header of TwinCAT's Scope: a row for each property, its key above each column of times."""
    whole = {row[0]: row for row in rows if len(row) == width and row[0]}
    names, period = whole.get("Name", ()), whole.get("SampleTime[ms]", ())
    starts = [i for i, cell in enumerate(names) if cell == "Name"]
    if not names or (len(starts) < 2 and not period):
        return None
    found = _distinct([SCOPE_TIME if i in starts else cell for i, cell in enumerate(names)])
    given = whole.get("Unit", [""] * width)
    return found, {
        name: unit for name, unit in zip(found, given, strict=True) if unit not in ("", "-", "Unit", "(None)")
    }


def _row(line: str, width: int, between: str | None) -> list[str]:
    """The cells of a line of the header that has one for each column, or nothing."""
    text = uncommented(line)
    if width == 1 and re.search(r"[,;\t|]", text):
        return []
    for mark in (between, *(one for one in BETWEEN if one != between)):
        found = cells(text, mark)
        if len(found) == width + 1 and not found[-1]:
            found = found[:-1]
        if len(found) == width - 1 and width > 2 and mark == between and not _wordless(found):
            found = ["", *found]  # as R writes it: the numbers of rows have no name
        if len(found) == width and not _wordless(found):
            return found
    apart = re.split(r"\s{2,}", text)  # names with single spaces in them, and more between them
    return apart if between is None and len(apart) == width and not _wordless(apart) else []


def _wordless(row: Sequence[str]) -> bool:
    """Whether no cell has a letter (numbers of columns aside)."""
    numbered = [str(i) for i in range(len(row))]
    return not any(re.search(r"[^\W\d_]|[°%]", one) for one in row) and list(row[1:]) not in (
        numbered[:-1],
        numbered[1:],
    )


def is_units(row: Sequence[str]) -> bool:
    """Whether all cells are units, and half of them at least are not empty."""
    plain = [one.strip("[]() ") for one in row]
    return all(_UNIT.fullmatch(one) for one in plain) and 2 * sum(one != "" for one in plain) >= len(plain)


def _grouped(above: Sequence[str], names: Sequence[str]) -> list[str]:
    found, group = [], ""
    for over, name in zip(above, names, strict=True):
        group = over or group
        found.append(".".join(one for one in (group, name) if one) if group != name else name)
    return found


def _distinct(names: Sequence[str]) -> list[str]:
    """Names that come twice get a number, those that are empty their place."""
    found: list[str] = []
    for i, name in enumerate(names):
        one = name or f"column{i}"
        count = found.count(one) + sum(other.startswith(f"{one}#") for other in found)
        found.append(f"{one}#{count + 1}" if one in found else one)
    return found
