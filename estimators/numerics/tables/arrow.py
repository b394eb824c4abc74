"""Columns in Parquet and Feather files, with pyarrow, which is not installed by default."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.tables.named_columns import NamedColumns, numbered_texts


def read_parquet(file: Path) -> NamedColumns:
    """Read a .parquet or .feather file. Raises OSError, ValueError."""
    try:
        from pyarrow import ArrowInvalid, feather, parquet, types
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'jointwatch[parquet]'") from None
    try:
        reader = parquet.read_table if file.suffix.lower() in (".parquet", ".pq") else feather.read_table
        with file.open("rb") as stream:
            table = reader(stream)
    except ArrowInvalid as error:
        raise ValueError(str(error)) from error
    found = NamedColumns({})
    while any(types.is_struct(column.type) for column in table.columns):
        table = table.flatten()  # a field of a structure becomes STRUCTURE.FIELD
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = _values(column)
        if values is not None:
            found.columns[name] = values
        elif len(set(map(str, texts := column.to_pylist()[:400]))) == 1 and isinstance(texts[0], str):
            found.texts[name] = texts[0]
        elif len(set(map(str, texts))) == 1 and isinstance(texts[0], list):
            found.texts |= numbered_texts(name, list(map(str, texts[0])))
        elif 1 < len(set(map(str, texts))) <= 64 and texts[0] != texts[1] and not found.long:
            found.long, found.labels = name, list(map(str, column.to_pylist()))
    return found


def _values(column: Any) -> NDArray[Any] | None:
    """(rows,) numbers, or (rows, n) of lists of one length; None for texts."""
    from pyarrow import types

    kind = column.type
    if types.is_timestamp(kind):
        instants = column.combine_chunks().to_numpy(zero_copy_only=False)
        return np.asarray((instants - instants[0]) / np.timedelta64(1, "s")) if len(instants) else None
    if types.is_duration(kind):
        return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False) / np.timedelta64(1, "s"))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        rows = [row for row in column.to_pylist() if row is not None]
        try:
            matrix = np.array(rows, np.float64)
        except (TypeError, ValueError):
            return None
        return matrix if matrix.ndim == 2 and len(matrix) == len(column) else None
    if types.is_integer(kind):
        return np.asarray(column.to_numpy())
    if types.is_boolean(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.to_numpy(), np.float64)
    return None
