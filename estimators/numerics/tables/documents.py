"""Columns in JSON: a list of rows, lists by name, either of them anywhere inside of objects, or a row a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.tables.named_columns import NamedColumns, numbered_texts

_DEEPEST: Final = 12  # levels of objects
_NAMES: Final = ("name", "joint", "joint_name", "axis", "id")  # keys of an object by which it is called


def read_json(file: Path) -> NamedColumns:
    """Read a .json, .jsonl or .ndjson. Raises OSError, ValueError."""
    text = file.read_text(encoding="utf-8-sig")
    found = NamedColumns({})
    try:
        document = json.loads(text)
    except ValueError:
        rows = [line for line in text.splitlines() if line.strip()]
        if len(rows) < 2 or not rows[0].lstrip().startswith(("{", "[")):
            raise
        document = [json.loads(line) for line in rows]
        found.notes.append("a row a line")
    for name, values in _leaves("", document, found.texts, 0):
        found.columns[name] = values
    return found


def _leaves(prefix: str, node: Any, texts: dict[str, str], depth: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every array below a node, by the path of names that leads to it."""
    if depth > _DEEPEST:
        raise ValueError(f"objects inside of objects, more than {_DEEPEST} deep")
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(f"{prefix}.{key}" if prefix else str(key), value, texts, depth + 1)
    elif isinstance(node, list) and node and all(isinstance(row, Mapping) for row in node):
        yield from _rows(prefix, node, texts, depth + 1)
    elif isinstance(node, list) and node:
        values = _array(node)
        if values is not None:
            yield prefix or "data", values
        elif all(isinstance(one, str) for one in node):
            texts.update(numbered_texts(prefix, node))
    elif isinstance(node, (int, float)):
        yield prefix, np.asarray(float(node))
    elif isinstance(node, str):
        texts[prefix] = node


def _rows(
    prefix: str, rows: Sequence[Mapping[str, Any]], texts: dict[str, str], depth: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of a list of rows; a key that a row lacks is NaN there."""
    for key in dict.fromkeys(key for row in rows for key in row):
        name = f"{prefix}.{key}" if prefix else key
        cells: list[Any] = [row.get(key) for row in rows]
        if any(isinstance(cell, Mapping) for cell in cells):
            yield from _rows(name, [cell if isinstance(cell, Mapping) else {} for cell in cells], texts, depth + 1)
            continue
        if any(isinstance(cell, list) and cell and all(isinstance(one, Mapping) for one in cell) for cell in cells):
            yield from _objects_of_rows(name, cells, texts, depth + 1)
            continue
        lists = [cell for cell in cells if isinstance(cell, list)]
        if lists and all(cell == lists[0] and cell and isinstance(cell[0], str) for cell in lists):
            texts.update(numbered_texts(name, list(map(str, lists[0]))))
            continue
        width = next((len(cell) for cell in cells if isinstance(cell, list)), 0)
        if width:
            cells = [cell if isinstance(cell, list) and len(cell) == width else [None] * width for cell in cells]
        if all(cell == cells[0] and isinstance(cell, str) for cell in cells):
            texts[name] = cells[0]
            continue
        values = _array(cells)
        if values is not None:
            yield name, values


def _objects_of_rows(
    prefix: str, cells: Sequence[Any], texts: dict[str, str], depth: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of rows in which each cell is a list of objects, as one for each joint: by their names, or places."""
    rows: list[dict[str, Mapping[str, Any]]] = []
    for cell in cells:
        objects = [one for one in cell if isinstance(one, Mapping)] if isinstance(cell, list) else []
        rows.append({_label(one, place): one for place, one in enumerate(objects)})
    for label in dict.fromkeys(label for row in rows for label in row):
        yield from _rows(f"{prefix}{label}", [row.get(label, {}) for row in rows], texts, depth)


def _label(one: Mapping[str, Any], place: int) -> str:
    """What tells one object of a list from the others."""
    name = next((one[key] for key in _NAMES if isinstance(one.get(key), str)), "")
    return f".{name}" if name else f"[{place}]"


def _array(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Numbers as (rows,) or (rows, n); None for what has other cells or rows of several lengths."""
    try:
        found = np.array(values, np.float64)  # null becomes NaN
    except (TypeError, ValueError):
        return None
    return found if found.ndim <= 2 and found.size else None
