"""Tables in CSV and Parquet, to which rows are appended as columns; every number is read back exactly."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

TEXTS: Final = frozenset(("joint", "phase", "status", "reasons", "unit", "kind", "text", "drifted", "channel"))
INTEGERS: Final = frozenset(("seq", "boot", "monotonic_ns"))  # every other column is a number
MUCH: Final = 2  # rows per different number, from which each different number of a column is formatted only once
NUMBERS: Final = frozenset((float, int, type(None)))  # types of a column of numbers
WRITTEN: Final[Mapping[str, str]] = {"null": "", "NaN": "", "Infinity": "inf"}  # text in JSON → field
QUOTED: Final = frozenset(',"\r\n')  # characters for which RFC 4180 requires quotes


class Repeated(NamedTuple):
    """A column with few different values: row i has values[places[i]]."""

    values: Sequence[Any] | NDArray[Any]
    places: NDArray[np.integer[Any]]

    def rows(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.object_]:
        """Return the given values expanded to one for each row."""
        table = np.empty(len(values), object)
        table[:] = values
        return np.asarray(table[self.places])


def repeated(values: NDArray[np.float64]) -> "Repeated | NDArray[np.float64]":
    """A Repeated column if its numbers repeat often, as those of encoders and converters do; else the column itself."""
    bits, places = np.unique(values.view(np.int64), return_inverse=True)  # bits: 0.0 and -0.0 are two texts
    return Repeated(bits.view(np.float64), places) if MUCH * len(bits) <= len(values) else values


Column = list[Any] | NDArray[np.float64] | Repeated  # unknown values are None in lists, NaN in arrays
Columns = dict[str, Column]  # of the same length


class Table(Protocol):
    """A file to which rows can be appended."""

    def add(self, columns: Columns) -> None: ...

    def close(self) -> None: ...


class CsvTable:
    """A CSV file; unknown values are empty."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._file = path.open("wb")
        self._file.write((",".join(map(_text, names)) + "\r\n").encode())

    def add(self, columns: Columns) -> None:
        """Append rows; they are formatted column by column, which is several times as fast as by row."""
        fields = [_fields(group) for group in _groups(columns.values())]
        step = 2 * len(fields)  # a field, and what follows it
        text = [","] * (step * len(fields[0]))
        for place, field in enumerate(fields):
            text[2 * place :: step] = field
        text[step - 1 :: step] = ["\r\n"] * len(fields[0])
        self._file.write("".join(text).encode())

    def close(self) -> None:
        """Done."""
        self._file.close()


def _groups(columns: Iterable[Column]) -> list[list[Column]]:
    """Neighbours that are formatted together: columns with the same repetitions, and columns of numbers."""
    return [list(several) for _, several in groupby(columns, _kind)]


def _kind(column: Column) -> int | bool:
    """A key that is equal for neighbours of one group."""
    return id(column.places) if isinstance(column, Repeated) else True if _numbers(column) else id(column)


def _numbers(column: Sequence[Any] | NDArray[Any]) -> bool:
    """Whether a column has only numbers, some of which may be unknown."""
    return isinstance(column, np.ndarray) or set(map(type, column)) <= NUMBERS


def _fields(group: Sequence[Column]) -> list[str]:
    """One text for each row of a group's columns."""
    first = group[0]
    if not isinstance(first, Repeated):
        return _texts([one for one in group if not isinstance(one, Repeated)])
    each = _texts([one.values for one in group if isinstance(one, Repeated)])
    return cast(list[str], first.rows(each).tolist())


def _texts(columns: Sequence[Sequence[Any] | NDArray[Any]]) -> list[str]:
    """One text for each row of neighbouring columns, with as many digits as are needed to read numbers back exactly.

    JSON's numbers are the same and take a quarter of the time.
    """
    plain = [one.tolist() if isinstance(one, np.ndarray) else one for one in columns]
    if not len(plain[0]) or not all(map(_numbers, columns)):
        texts = [list(map(_text, one)) for one in plain]
        return texts[0] if len(texts) == 1 else list(map(",".join, zip(*texts, strict=True)))
    rows = list(zip(*plain, strict=True))
    text = to_json(rows).decode()[2:-2]
    for word, written in WRITTEN.items():
        text = text.replace(word, written)
    return text.split("],[")


def _text(value: Any) -> str:
    """One field."""
    return _quoted(value) if isinstance(value, str) else "" if value is None else repr(value)


@lru_cache(maxsize=1024)  # messages repeat the same texts
def _quoted(text: str) -> str:
    """A text, in quotes if necessary."""
    return text if QUOTED.isdisjoint(text) else '"' + text.replace('"', '""') + '"'


class ParquetTable:
    """A Parquet file; unknown values are null."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        import pyarrow
        from pyarrow import parquet

        kinds = {name: pyarrow.string() if name in TEXTS else pyarrow.float64() for name in names}
        kinds |= {name: pyarrow.int64() for name in names if name in INTEGERS}
        self._schema, self._table, self._array = pyarrow.schema(list(kinds.items())), pyarrow.table, pyarrow.array
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, columns: Columns) -> None:
        """Append rows."""
        arrays = [
            self._array(one.values, kind.type, from_pandas=True).take(self._array(one.places))
            if isinstance(one, Repeated)
            else self._array(one, kind.type, from_pandas=True)
            for one, kind in zip(columns.values(), self._schema, strict=True)
        ]
        self._writer.write_table(self._table(arrays, schema=self._schema))

    def close(self) -> None:
        """Done."""
        self._writer.close()


FORMATS: Final[dict[str, type[CsvTable] | type[ParquetTable]]] = {"csv": CsvTable, "parquet": ParquetTable}
