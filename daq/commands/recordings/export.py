"""`jointwatch export RECORDING…`: writes messages and readings as tables in CSV or Parquet."""

import argparse
import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from daq.commands.codes import fail, tell_breaks
from daq.commands.progress import Progress
from daq.config.routes import routes
from daq.config.sections import Config
from daq.recording.reader import RecordingError, blocks, configuration, said
from daq.stream.reasons import in_words
from daq.stream.schema import WINDOW
from daq.stream.transcript import TurnBlock
from daq.stream.update import Map
from estimators.models.joints.lost_motion import PARAMETERS

ROWS: Final = 50_000  # written at once
TEXTS: Final = frozenset(("joint", "phase", "status", "reasons", "unit", "kind", "text", "drifted", "channel"))
INTEGERS: Final = frozenset(("seq", "boot", "monotonic_ns"))  # every other column is a number

Columns = dict[str, list[Any]]  # lists of the same length; None for unknown values


class ExportError(Exception):
    """The tables cannot be written; the text is shown to the user as it is."""


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
        """Append rows."""
        self._writer.writerows(zip(*columns.values(), strict=True))

    def close(self) -> None:
        """Done."""
        self._file.close()


class ParquetTable:
    """A Parquet file; unknown values are null."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        import pyarrow
        from pyarrow import parquet

        kinds = {name: pyarrow.string() if name in TEXTS else pyarrow.float64() for name in names}
        kinds |= {name: pyarrow.int64() for name in names if name in INTEGERS}
        self._schema, self._table = pyarrow.schema(list(kinds.items())), pyarrow.table
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, columns: Columns) -> None:
        """Append rows."""
        self._writer.write_table(self._table(columns, schema=self._schema))

    def close(self) -> None:
        """Done."""
        self._writer.close()


FORMATS: Final[dict[str, type[CsvTable] | type[ParquetTable]]] = {"csv": CsvTable, "parquet": ParquetTable}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recording", nargs="+", type=Path, help=".mcap, consecutive ones in order")
    parser.add_argument("--to", choices=["csv", "parquet"], default="csv", help="parquet needs pyarrow")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="named as the first recording by default")


def run(options: argparse.Namespace) -> int:
    """Write the tables, and print their file names."""
    files: list[Path] = options.recording
    folder: Path = options.out or files[0].with_suffix("")
    try:
        with Progress("export") as progress:
            progress.stage("writing tables", 2 * sum(file.stat().st_size for file in files), "B")
            paths = export(files, folder, options.to)
        for path in paths:
            print(path)
        tell_breaks(files)
    except (RecordingError, ExportError) as error:
        return fail(error)
    except OSError as error:
        return fail(f"{error.filename or folder}: {error.strerror}")
    return 0


def export(files: Sequence[Path], folder: Path, kind: str) -> list[Path]:
    """Tables estimate.JOINT, residual.JOINT, drift.JOINT, event and readings of consecutive recordings.

    kind: of FORMATS. Raises RecordingError, ExportError, OSError.
    """
    configs = [configuration(file) for file in files]
    if any(config.joints != configs[0].joints for config in configs):
        raise RecordingError(f"{files[0]}: expected recordings of the same joints with the same models")
    if kind == "parquet":
        _needs_pyarrow()
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[Path, Table] = {}
    try:
        for name, columns in _gathered(files, configs[0]):
            path = folder / f"{name}.{kind}"
            if path not in tables:
                tables[path] = FORMATS[kind](path, list(columns))
            tables[path].add(columns)
    finally:
        for table in tables.values():
            table.close()
    return sorted(tables)


def _gathered(files: Sequence[Path], config: Config) -> Iterator[tuple[str, Columns]]:
    """Yield parts of tables, of ROWS rows at most."""
    names = {name: [one.name for one in joint.model.build().parameters] for name, joint in config.joints.items()}
    for name, joint in config.joints.items():
        names[name] += [one.name for one in joint.model.build().nonlinear]
    waiting: dict[str, list[Map]] = {}
    readings: list[Columns] = []
    for file in files:
        for topic, _, update in said(file):
            family, _, joint_name = topic.partition("/")
            if joint_name not in names:
                continue
            table = family if family == "event" else topic.replace("/", ".")
            rows = waiting.setdefault(table, [])
            rows.append(_row(family, update, names[joint_name]))
            if len(rows) >= ROWS:
                yield table, _columns(waiting.pop(table))
        for block in blocks(file):
            readings.append(_readings(block, config))
            if sum(len(part["value"]) for part in readings) >= ROWS:
                yield "readings", _joined(readings)
                readings = []
    if readings:
        yield "readings", _joined(readings)
    for table, rows in waiting.items():
        yield table, _columns(rows)


def _columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _row(family: str, update: Map, names: Sequence[str]) -> Map:
    """One row of an update; all updates of a joint have the same columns."""
    row: Map = {key: update.get(key) for key in ("timestamp", "joint", "seq", "boot")}
    if family == "estimate":
        health = update["health"]
        row |= {"phase": update["phase"], "status": health["status"], "reasons": in_words(health["reasons"])}
        row |= {key: update.get(key) for key in ("error", "forgetting", "progress", "condition", "latency")}
        row |= {name: update["parameters"].get(name) for name in names}
        row |= {f"{name}.deviation": update["deviations"].get(name) for name in names}
    elif family == "residual":
        row |= {key: update.get(key) for key in ("measured", "predicted", "residual", "unit")}
    elif family == "lost_motion":
        row |= {"reasons": in_words(update["reasons"])}
        told = ("known", "reversals", "rarer", "imitated", "progress", "soft", "grown")
        row |= {key: float(update.get(key, False)) for key in told}
        row |= {one.name: update["parameters"].get(one.name) for one in PARAMETERS}
        row |= {f"{one.name}.deviation": update["deviations"].get(one.name) for one in PARAMETERS}
    elif family == "drift":
        row |= {"since": update["since"]}
        row |= {f"{name}.{key}": update[key].get(name) for name in names for key in ("baseline", "percent", "z")}
        row |= {"drifted": " ".join(update["drifted"])}
    else:
        row |= {key: update.get(key) for key in ("kind", "text", *WINDOW)}
    return row


def _readings(block: TurnBlock, config: Config) -> Columns:
    """The readings of a block; monotonic_ns: arrival of the frame; timestamp: arrival in Unix s."""
    table = routes(config)
    rows = block.readings
    joints, roles = np.array([route.joint for route in table]), np.array([route.role for route in table])
    return {
        "monotonic_ns": rows["time"].tolist(),
        "timestamp": ((rows["time"] + block.batches[-1].epoch) / 1e9).tolist(),
        "joint": joints[rows["channel"]].tolist(),
        "channel": roles[rows["channel"]].tolist(),
        "value": [None if math.isnan(value) else value for value in rows["value"].tolist()],
    }


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def _needs_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ExportError("Parquet needs pyarrow: pip install 'jointwatch[parquet]', or take --to csv") from None
