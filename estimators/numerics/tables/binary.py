"""Arrays in files of MATLAB (.mat, version 7 and older) and numpy (.npz, .npy)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.tables.named_columns import UNNAMED, NamedColumns, numbered_texts

_HDF5: Final = b"\x89HDF\r\n\x1a\n"


def read_mat(file: Path) -> NamedColumns:
    """Read a .mat; a dot leads into a structure, [i] to an element of an array of structures. Raises OSError, …"""
    with file.open("rb") as stream:
        head = stream.read(520)
    if head[:8] == _HDF5 or head[512:520] == _HDF5:
        raise ValueError("a file of MATLAB 7.3 (HDF5): save it once more with save(…, '-v7')")
    from scipy.io import loadmat  # half a second that only a .mat needs

    found = NamedColumns({})
    found.columns.update(_leaves("", loadmat(str(file), simplify_cells=True), found.texts))
    if not found.columns and "__function_workspace__" in head.decode("latin-1"):
        found.notes.append("objects of MATLAB classes cannot be read")
    return found


def read_npz(file: Path) -> NamedColumns:
    """Read a .npz or .npy; named fields are columns. Raises OSError, ValueError."""
    with file.open("rb") as stream:
        data = np.load(stream, allow_pickle=False)
        found = NamedColumns({})
        whole = {UNNAMED: data} if isinstance(data, np.ndarray) else dict(data)
        found.columns.update(_leaves("", whole, found.texts))
    return found


def _leaves(prefix: str, node: Mapping[str, Any], texts: dict[str, str]) -> Iterator[tuple[str, NDArray[Any]]]:
    for key, value in node.items():
        if key.startswith("__"):
            continue
        name = prefix + key
        if isinstance(value, Mapping):
            yield from _leaves(f"{name}.", value, texts)
        elif isinstance(value, str):
            texts[name] = value
        else:
            yield from _array(name, value, texts)


def _array(name: str, value: Any, texts: dict[str, str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """An array of numbers, of named fields, of structures, or of arrays of one length."""
    try:
        found = np.asarray(value)
    except ValueError:  # a list of arrays of several lengths
        found = np.array(list(value), object)
    if found.dtype.names:
        yield from _leaves("" if name == UNNAMED else f"{name}.", {key: found[key] for key in found.dtype.names}, texts)
    elif found.dtype.kind in "fiub" and found.size:
        squeezed = found if found.ndim <= 2 else np.squeeze(found)
        if squeezed.ndim <= 2:
            yield name, squeezed.astype(np.float64) if found.dtype.kind == "b" else squeezed
    elif found.dtype.kind == "M" and found.size:
        yield name, (found - found.ravel()[0]) / np.timedelta64(1, "s")
    elif found.dtype.kind in "US" and found.ndim == 1:
        texts.update(numbered_texts(name, [str(one) for one in found]))
    elif found.dtype.kind == "O" and found.ndim == 1 and found.size:
        yield from _objects(name, list(found), texts)


def _objects(name: str, parts: list[Any], texts: dict[str, str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """An array of structures, or a cell array, whose columns of one length are a matrix.

    Structures with a number in each are a column, with fewer numbers in each than there are structures a matrix, and
    else each has its own name.
    """
    if all(isinstance(one, Mapping) for one in parts):
        keys = dict.fromkeys(key for one in parts for key in one)
        for key in keys:
            cells = [one.get(key, np.nan) for one in parts]
            if len(parts) > 2 and all(np.isscalar(one) and not isinstance(one, str) for one in cells):
                yield f"{name}.{key}", np.array(cells, np.float64)
                continue
            widths = {one.size if isinstance(one, np.ndarray) and one.dtype.kind in "fiu" else 0 for one in cells}
            if len(widths) == 1 and 0 < max(widths) < len(parts):  # a structure for each instant
                yield f"{name}.{key}", np.array([one.ravel() for one in cells], np.float64)
                continue
            for i, cell in enumerate(cells):
                label = parts[i].get("label", "")  # of a scope's signal: values alone say nothing
                middle = f"{label}." if isinstance(label, str) and label and key == "values" else ""
                yield from _leaves(f"{name}[{i}].{middle}", {key: cell}, texts)
        return
    if all(isinstance(one, str) for one in parts):
        texts.update(numbered_texts(name, parts))
        return
    try:
        matrix = np.array(parts, np.float64)
    except (TypeError, ValueError):
        return
    if matrix.ndim == 2:
        yield name, matrix
