"""Arrays by name from files of columns (.mat, .npz, .csv), without units or roles, which the reader must know.

The one reader of such files: the experiments take the arrays as they are, daq/recording/columns.py makes channels of
joints of them, and through it the rig plays a recording.
"""

import itertools
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

SUFFIXES: Final = (".mat", ".npz", ".csv")
BETWEEN: Final = (",", ";", "\t", " ")  # columns of a .csv: the first of these that its header has


def arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Every number, column and matrix of a file by its name; in a .mat file a dot leads into a structure.

    A .csv begins with the names of its columns; what is no number there is NaN. Raises OSError, and ValueError in words
    for a file that is damaged or of another kind.
    """
    readers = {".mat": _mat, ".npz": _npz, ".csv": _csv}
    kind = file.suffix.lower()
    if kind not in readers:
        raise ValueError(f"expected one of {', '.join(SUFFIXES)}, found {file.suffix or 'no ending'}")
    try:
        return readers[kind](file)
    except OSError:
        raise
    except Exception as error:  # damaged files make readers raise whatever they like
        words = str(error) or type(error).__name__
        raise ValueError(f"cannot be read: {words.splitlines()[0]}") from error


def _mat(file: Path) -> dict[str, NDArray[Any]]:
    return dict(_leaves("", loadmat(str(file), simplify_cells=True)))


def _npz(file: Path) -> dict[str, NDArray[Any]]:
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
        return dict(_leaves("", data))


def _csv(file: Path) -> dict[str, NDArray[Any]]:
    with file.open(encoding="utf-8-sig") as lines:
        head = next(lines, "")
        between = next((mark for mark in BETWEEN if mark in head.strip()), ",")
        names = [name.strip().strip('"') for name in head.strip().split(None if between == " " else between)]
        first = next(lines, "")
        if not first.strip():
            return {}
        rows = _rows(itertools.chain([first], lines), file, None if between == " " else between)
    if rows.size == 0:
        return {}
    if rows.shape[1] != len(names):
        raise ValueError(f"the first line names {len(names)} columns, the others have {rows.shape[1]}")
    return dict(zip(names, rows.T, strict=True))


def _rows(lines: Iterator[str], file: Path, between: str | None) -> NDArray[np.float64]:
    """The numbers; the reader that takes what is no number for NaN is ten times as slow, and second."""
    try:
        return np.loadtxt(lines, delimiter=between, ndmin=2, comments=None)
    except ValueError:
        with file.open(encoding="utf-8-sig") as again, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the caller reports an empty file
            next(again)
            return np.genfromtxt(again, delimiter=between, ndmin=2, dtype=np.float64)


def _leaves(prefix: str, node: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    for key, value in node.items():
        if key.startswith("__"):
            continue
        if isinstance(value, Mapping):
            yield from _leaves(f"{prefix}{key}.", value)
            continue
        found = np.asarray(value)
        if found.dtype.kind in "fiu" and found.ndim <= 2 and found.size:
            yield prefix + key, found
