"""Tables in CSV and Parquet, to which columns of rows are appended; every number comes back to the bit."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

TEXTS: Final = frozenset(("joint", "phase", "status", "reasons", "unit", "kind", "text", "drifted", "channel"))
INTEGERS: Final = frozenset(("seq", "boot", "monotonic_ns"))  # every other column is a number
MUCH: Final = 2  # rows for each different number, from which a column's texts are made once for each number
QUOTED: Final = frozenset(',"\r\n')  # characters for which RFC 4180 wants quotes


class Repeated(NamedTuple):
    """A column of few different values; row i has values[places[i]]."""

    values: Sequence[Any] | NDArray[Any]
    places: NDArray[np.integer[Any]]

    def rows(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.object_]:
        """These values, one for each of its own, as they stand in the rows."""
        table = np.empty(len(values), object)
        table[:] = values
        return np.asarray(table[self.places])


def repeated(values: NDArray[np.float64]) -> "Repeated | NDArray[np.float64]":
    """A column of numbers that an encoder or a converter of few bits has said again and again; else as it is."""
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
        self._file = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file)
        self._writer.writerow(names)

    def add(self, columns: Columns) -> None:
        """Append rows; what is not in lists is made text column by column, several times as fast as by row."""
        lists = [column for column in columns.values() if isinstance(column, list)]
        if len(lists) == len(columns):
            self._writer.writerows(zip(*lists, strict=True))
            return
        fields = list(_fields(columns.values()))
        text = [""] * (len(fields) * len(fields[0]))  # the fields of a row, one after the other
        for place, field in enumerate(fields):
            text[place :: len(fields)] = field
        self._file.write("".join(text))

    def close(self) -> None:
        """Done."""
        self._file.close()


def _fields(columns: Iterable[Column]) -> Iterator[list[str]]:
    """The fields of the columns, each with what follows it in its row.

    Neighbours that repeat their values at the same rows have one field for all.
    """
    groups = [list(several) for _, several in groupby(columns, lambda one: id(getattr(one, "places", one)))]
    for number, group in enumerate(groups, 1):
        end = "\r\n" if number == len(groups) else ","
        if isinstance(first := group[0], Repeated):
            texts = zip(*(_texts(one.values) for one in group if isinstance(one, Repeated)), strict=True)
            yield first.rows([",".join(row) + end for row in texts]).tolist()
        else:
            assert not isinstance(first, Repeated)
            yield [text + end for text in _texts(first)]


def _texts(values: Sequence[Any] | NDArray[Any]) -> Iterable[str]:
    """Fields of one column; numbers with as many digits as tell them apart."""
    if not isinstance(values, np.ndarray):
        return map(_text, values)
    texts = list(map(repr, values.tolist()))
    if values.dtype.kind == "f":
        for row in np.flatnonzero(np.isnan(values)).tolist():
            texts[row] = ""
    return texts


def _text(value: Any) -> str:
    """One field."""
    if isinstance(value, str):
        return value if QUOTED.isdisjoint(value) else '"' + value.replace('"', '""') + '"'
    return "" if value is None else repr(value)


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
