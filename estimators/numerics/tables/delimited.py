"""Tables in text: CSV of any usual form, and numbers between spaces.

What varies is found from the first lines: encoding, what stands between columns, decimal commas, lines of comment,
names over one line or two, a row of units, or no names. Cells may hold instants and lists of numbers.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.tables.bytes_read import note
from estimators.numerics.tables.header import BETWEEN, MARKS, SCOPE_TIME, cells, header_of
from estimators.numerics.tables.instants import instants_of
from estimators.numerics.tables.named_columns import UNNAMED, NamedColumns, numbered_texts, unnamed_texts

LEAST: Final = 3  # rows, of which the last may be one that was being written
_SPOKEN: Final = re.compile(r"(?m)^position: ?(?:\[|$)(?:.|\n)*^---$")  # messages as ROS prints them
HEAD: Final = 400  # lines that are looked at
PART: Final = 20_000  # lines between two words of how far it is, and looks whether it is interrupted
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_COMMA: Final = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_POINTED: Final = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+")  # 1.234,5
_LIST: Final = re.compile(r"""(?:array\(\s*['"]?\w?['"]?,?\s*)?[\[(]([^\[\]()]*)[\])]\)?""")
_TRUTH: Final = {"true": 1.0, "false": 0.0}


class TextForm(NamedTuple):
    """How a table is written."""

    between: str | None  # None: spaces
    decimal_comma: bool
    begin: int  # line of the first numbers
    width: int  # columns


def read_delimited(file: Path) -> NamedColumns:
    """Read a table in text. Raises OSError, ValueError."""
    raw = file.read_bytes()
    text, encoding = _decoded(raw)
    if _SPOKEN.search(text[:20_000]):
        raise ValueError(
            "messages as ROS prints them: echo them with --csv (ros2 topic) or -p (rostopic), or record a bag"
        )
    lines = [line for line in text.splitlines() if line.strip()]
    form = _form(lines[:HEAD])
    if form is None:
        return NamedColumns({})
    names, units, used = header_of(lines[: form.begin], form.width, form.between)
    if not names and not used and form.begin and not lines[0].lstrip().startswith(MARKS):
        first = max(len(cells(lines[0], mark)) for mark in BETWEEN if mark is None or mark in lines[0])
        if form.begin == 1 and first != form.width:
            raise ValueError(f"the first line names {first} columns, the others have {form.width}")
    for number, line in enumerate(lines[: form.begin], 1):
        row = cells(line, form.between)
        if len(row) > 1 and names != row and all(_NUMBER.fullmatch(cell) for cell in row) and not _counts(row):
            raise ValueError(f"row {number} has {len(row)} columns, the others have {form.width}")
    body = [line for line in lines[form.begin :] if not line.startswith(MARKS)]
    notes = _notes(form, encoding, lines, used)
    if len(body) > LEAST and len(cells(body[-1], form.between)) < form.width:
        body, notes = body[:-1], [*notes, "its last row breaks off, and is left out"]
    try:
        table = _numbers(body, form, len(raw))
    except ValueError:
        return _mixed(body, form, names, units, notes, len(raw))
    if not names:
        return NamedColumns({UNNAMED: table}, notes=[*notes, "its columns have no names"])
    _one_time(names, table)
    return NamedColumns(dict(zip(names, table.T, strict=True)), units, notes=notes)


def _one_time(names: Sequence[str], table: NDArray[np.float64]) -> None:
    """Raise ValueError where the channels of a scope were not sampled together."""
    times = [table[:, i] for i, name in enumerate(names) if name.startswith(SCOPE_TIME)]
    if any(not np.array_equal(one, times[0]) for one in times[1:]):
        raise ValueError("its channels have times of their own: export it with one sample time for all")


def _decoded(raw: bytes) -> tuple[str, str]:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16"), "UTF-16"
    try:
        return raw.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "Latin-1"


def _form(head: Sequence[str]) -> TextForm | None:
    """The form in which most cells are numbers; nothing where no line has any."""
    best: tuple[float, TextForm] | None = None
    rows = [line for line in head if not line.lstrip().startswith(MARKS)]
    sample = rows[len(rows) // 2 :]
    if not sample:
        return None
    for between in BETWEEN:
        if between is not None and not any(between in line for line in sample):
            continue
        if between is None and best is not None and any(re.search(r'"[^"]*\s[^"]*"', line) for line in sample):
            continue  # the spaces are inside quoted cells
        parts = [cells(line, between) for line in sample]
        widths = [len(one) for one in parts]
        width = max(set(widths), key=lambda one: (widths.count(one), one))
        alike = [one for one in parts if len(one) == width]
        comma = between != "," and any(_COMMA.fullmatch(cell) for one in alike for cell in one)
        numbers = sum(_is_number(cell, comma) for one in alike for cell in one) / len(parts)
        if numbers and (best is None or numbers > best[0]):
            begin = _begin(head, between, width, comma, alike)
            best = numbers, TextForm(between, comma, begin, width)
    return None if best is None or best[1].begin == len(head) else best[1]


def _begin(head: Sequence[str], between: str | None, width: int, comma: bool, alike: Sequence[Sequence[str]]) -> int:
    """The first line that is written as the numbers are."""
    usual = [2 * sum(_is_number(one[i], comma) for one in alike) >= len(alike) for i in range(width)]
    least = max(1, sum(usual) / 2)
    for i, line in enumerate(head):
        if line.lstrip().startswith(MARKS):
            continue
        row = cells(line, between)
        if len(row) != width:
            continue
        hits = sum(_is_number(cell, comma) for cell, one in zip(row, usual, strict=True) if one)
        words = any(re.search(r"[^\W\d_]{2,}", cell) and not _is_number(cell, comma) for cell, one in
                    zip(row, usual, strict=True) if one)  # fmt: skip
        if hits >= least and not (words and hits < sum(usual)) and not _counts(row):
            return i
    return len(head)


def _counts(row: Sequence[str]) -> bool:
    """Whether a line numbers the columns: 0, 1, 2, … or nothing, 0, 1, …"""
    numbers = [str(i) for i in range(len(row))]
    return len(row) > 2 and (list(row) == numbers or (not row[0] and list(row[1:]) == numbers[:-1]))


def _is_number(cell: str, comma: bool) -> bool:
    if _NUMBER.fullmatch(cell) or cell.lower() in _TRUTH:
        return True
    return bool(comma and (_COMMA.fullmatch(cell) or _POINTED.fullmatch(cell))) or _list_of(cell) is not None


def _list_of(cell: str) -> list[float] | None:
    """The numbers of a cell as [0.1, 0.2], (0.1, 0.2) or array('d', [0.1, 0.2])."""
    match = _LIST.fullmatch(cell)
    words = re.split(r"[,\s]+", match[1].strip(", ")) if match else []
    if not words or not all(_NUMBER.fullmatch(one) for one in words):
        return None
    return [float(one) for one in words]


def _notes(form: TextForm, encoding: str, lines: Sequence[str], used: int) -> list[str]:
    between = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "", None: "spaces"}[form.between]
    comments = sum(line.lstrip().startswith(MARKS) for line in lines)
    said = [
        f"columns between {between}" if between else "",
        "decimal commas" if form.decimal_comma else "",
        f"{encoding} text" if encoding else "",
        f"{form.begin} lines above the numbers" if form.begin > 1 else "",
        f"{comments} lines of comment" if comments else "",
        f"names over {used} lines" if used > 1 else "",
    ]
    return [one for one in said if one]


def _numbers(body: list[str], form: TextForm, size: int) -> NDArray[np.float64]:
    """All cells as numbers; size: bytes of the file. Raises ValueError where one is none."""
    if form.decimal_comma:
        body = [line.replace(",", ".") for line in body]  # with thousands of points too it fails, and is read slowly
    if form.between is not None and body and body[0].rstrip().endswith(form.between):
        raise ValueError("the last column is empty")
    parts: list[NDArray[np.float64]] = []
    reported = 0.0
    try:
        for begin in range(0, max(len(body), 1), PART):
            lines = body[begin : begin + PART]
            parts.append(np.loadtxt(lines, delimiter=form.between, ndmin=2, comments=None))
            if parts[-1].shape[1] != form.width:
                raise ValueError(f"{parts[-1].shape[1]} columns")
            reported += (read := size * len(lines) / max(len(body), 1))
            note(read)
    except ValueError:
        note(-reported)  # it is read once more, cell by cell
        raise
    return np.concatenate(parts)


def _mixed(
    body: Sequence[str], form: TextForm, names: list[str], units: dict[str, str], notes: list[str], size: int
) -> NamedColumns:
    """Columns one by one: numbers with gaps, instants, lists, and texts. Raises ValueError."""
    rows: list[list[str]] = []
    for begin in range(0, len(body), PART):
        rows += (cells(line, form.between) for line in body[begin : begin + PART])
        note(0.5 * size * (len(rows) - begin) / len(body))  # half of the work
    width = form.width
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"row {form.begin + i + 1} has {len(row)} columns, the others have {width}")
    found = NamedColumns({}, units, notes=notes)
    loose: list[NDArray[Any]] = []
    for name, column in zip(names or [""] * width, zip(*rows, strict=True), strict=True):
        values = _values(column, form.decimal_comma)
        note(0.5 * size / width)
        if values is None:
            _note_text(found, name, column)
        elif name:
            found.columns[name] = values
        elif np.isfinite(values).any():
            loose.append(values)
        if name and name.startswith("column") and not np.isfinite(found.columns.get(name, np.zeros(1))).any():
            del found.columns[name]  # what stands after the last mark of a line
    if loose:
        found.columns[UNNAMED] = np.column_stack(loose)
        found.notes.append("its columns have no names")
    return found


def _values(column: Sequence[str], comma: bool) -> NDArray[np.float64] | None:
    """The numbers of a column, NaN where there is none; (rows, n) of lists; None for texts."""
    if comma:
        written = ("," in one and _is_number(one, comma) for one in column)
        column = [
            one.replace(".", "").replace(",", ".") if yes else one for one, yes in zip(column, written, strict=True)
        ]
    first = next((one for one in column if one), "")
    if _list_of(first) is not None:
        parts = [_list_of(one) for one in column]
        width = len(_list_of(first) or ())
        blank = [np.nan] * width
        return np.array([one if one is not None and len(one) == width else blank for one in parts])
    numbers = np.array([_number(one) for one in column])
    if np.isfinite(numbers).any() or not first:
        return numbers
    instants = instants_of(column)
    if np.isfinite(instants).any():
        origin: float = instants[np.isfinite(instants)][0]
        return np.asarray(instants - origin, np.float64)
    return None if any(re.search(r"[^\W\d_]", one) for one in column[:HEAD]) else numbers


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return _TRUTH.get(cell.lower(), np.nan)


def _note_text(found: NamedColumns, name: str, column: Sequence[str]) -> None:
    """Keep a text that is the same in every row; note a column that names another joint in each row."""
    different = set(column)
    if not name:
        if len(different) == 1 and column[0]:
            found.texts |= numbered_texts(UNNAMED, [*unnamed_texts(found.texts), column[0]])
        return
    listed = re.findall(r"""['"]([^'"]+)['"]""", column[0]) if column[0][:1] in "[(" else []
    if len(different) == 1 and listed:
        found.texts |= numbered_texts(name, listed)
    elif len(different) == 1:
        found.texts[name] = column[0]
    elif 1 < len(different) <= 64 and len(column) >= 2 * len(different) and column[0] != column[1]:
        found.long, found.labels = (found.long, found.labels) if found.long else (name, column)
    found.columns[name] = np.full(len(column), np.nan)
