"""`jointwatch export RECORDING…`: writes messages and readings as tables in CSV or Parquet."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.commands.codes import EXIT_INTERRUPTED, fail, tell_break
from daq.commands.progress import Progress
from daq.commands.recordings.only_ours import of_another_program
from daq.commands.recordings.table_beside import TableBeside
from daq.commands.recordings.tables import FORMATS, Columns, Repeated, Table, repeated
from daq.config.routes import routes
from daq.config.sections import Config
from daq.processes.child import without_collections
from daq.recording.reader import RecordingError, Said, configuration, contents
from daq.stream.reasons import in_words
from daq.stream.schema import WINDOW
from daq.stream.transcript import TurnBlock
from daq.stream.update import Map
from estimators.models.joints.lost_motion import PARAMETERS

ROWS: Final = 50_000  # readings that are written at once
MESSAGES: Final = 2_000  # messages of one table that are written at once, while they are in the processor's cache
# keys of messages that are columns
FIRST: Final = ("timestamp", "joint", "seq", "boot")  # of every table
ESTIMATE: Final = ("error", "forgetting", "progress", "condition", "latency")
RESIDUAL: Final = ("measured", "predicted", "residual", "unit")
LOST_MOTION: Final = ("known", "reversals", "rarer", "imitated", "progress", "soft", "grown")
LOST: Final = tuple(one.name for one in PARAMETERS)
DRIFT: Final = ("baseline", "percent", "z")
OTHER: Final = ("kind", "text", *WINDOW)


class ExportError(Exception):
    """The tables cannot be written; the text is shown to the user."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recording", nargs="+", type=Path, help="consecutive .mcap files in order")
    parser.add_argument("--to", choices=["csv", "parquet"], default="csv", help="parquet needs pyarrow")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder of the tables (default: named like the first recording)"
    )


def run(options: argparse.Namespace) -> int:
    """Write the tables, and print their file names."""
    files: list[Path] = options.recording
    folder: Path = options.out or files[0].with_suffix("")
    try:
        if wrong := of_another_program("export", files):
            return fail(wrong)
        with without_collections(), TableBeside() as beside, Progress("export") as progress:  # messages have no cycles
            progress.stage("writing tables", sum(file.stat().st_size for file in files), "B")
            paths, breaks = export(files, folder, options.to, beside)
        for path in paths:
            print(path)
        for words in breaks:
            tell_break(words)
    except KeyboardInterrupt:
        return fail(f"export: interrupted: the tables in {folder} are not complete", EXIT_INTERRUPTED)
    except (RecordingError, ExportError) as error:
        return fail(error)
    except OSError as error:
        return fail(f"{error.filename or folder}: {error.strerror}")
    return 0


def export(files: Sequence[Path], folder: Path, kind: str, beside: TableBeside) -> tuple[list[Path], list[str]]:
    """Write estimate.JOINT, residual.JOINT, drift.JOINT, event and readings; also returns words where recordings break.

    files: consecutive recordings. kind: of FORMATS. beside: writes the readings, which are most of the bytes. Raises
    RecordingError, ExportError, OSError.
    """
    configs = [configuration(file) for file in files]
    if any(config.joints != configs[0].joints for config in configs):
        raise RecordingError(f"{files[0]}: expected recordings of the same joints with the same models")
    if kind == "parquet":
        _needs_pyarrow()
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[Path, Table] = {}
    breaks: list[str] = []
    with contextlib.ExitStack() as opened:  # closes all tables even if one cannot be closed
        for name, columns in _gathered(files, configs[0], breaks):
            path = folder / f"{name}.{kind}"
            if path not in tables:
                make = partial(beside.open, kind) if name == "readings" else FORMATS[kind]
                tables[path] = make(path, list(columns))
                opened.callback(tables[path].close)
            tables[path].add(columns)
    return sorted(tables), breaks


def _gathered(files: Sequence[Path], config: Config, breaks: list[str]) -> Iterator[tuple[str, Columns]]:
    """Yield parts of tables, of about ROWS rows at most; adds words to `breaks` if a recording breaks off."""
    names = {name: [one.name for one in joint.model.build().parameters] for name, joint in config.joints.items()}
    for name, joint in config.joints.items():
        names[name] += [one.name for one in joint.model.build().nonlinear]
    waiting: dict[str, list[list[Any]]] = {}
    headings: dict[str, list[str]] = {}
    read: list[TurnBlock] = []
    count = 0  # readings in these
    for file in files:
        for one in _noting(file, breaks):
            if isinstance(one, TurnBlock):
                read.append(one)
                count += len(one.readings)
                if count >= ROWS:
                    yield "readings", _readings(read, config)
                    read, count = [], 0
                continue
            family, _, joint_name = one.topic.partition("/")
            if joint_name not in names:
                continue
            table = family if family == "event" else one.topic.replace("/", ".")
            if table not in headings:
                headings[table] = _heading(family, names[joint_name])
            rows = waiting.setdefault(table, [])
            rows.append(_row(family, one.update, names[joint_name]))
            if len(rows) >= MESSAGES:
                yield table, _columns(headings[table], waiting.pop(table))
    if read:
        yield "readings", _readings(read, config)
    for table, rows in waiting.items():
        yield table, _columns(headings[table], rows)


def _noting(file: Path, breaks: list[str]) -> Iterator[Said | TurnBlock]:
    words = yield from contents(file)
    if words:
        breaks.append(words)


def _columns(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    return dict(zip(heading, map(list, zip(*rows, strict=True)), strict=True))


def _heading(family: str, names: Sequence[str]) -> list[str]:
    """Names of the columns of a family's rows; names: the joint's parameters and η."""
    if family == "estimate":
        own = ["phase", "status", "reasons", *ESTIMATE, *names, *(f"{name}.deviation" for name in names)]
    elif family == "residual":
        own = [*RESIDUAL]
    elif family == "lost_motion":
        own = ["reasons", *LOST_MOTION, *LOST, *(f"{name}.deviation" for name in LOST)]
    elif family == "drift":
        own = ["since", *(f"{name}.{key}" for name in names for key in DRIFT), "drifted"]
    else:
        own = [*OTHER]
    return [*FIRST, *own]


def _row(family: str, update: Map, names: Sequence[str]) -> list[Any]:
    """The row of an update, as `_heading` says."""
    row = [*map(update.get, FIRST)]
    if family == "estimate":
        health, known, deviations = update["health"], update["parameters"].get, update["deviations"].get
        row += update["phase"], health["status"], in_words(health["reasons"])
        row += [*map(update.get, ESTIMATE), *map(known, names), *map(deviations, names)]
    elif family == "residual":
        row += map(update.get, RESIDUAL)
    elif family == "lost_motion":
        row += in_words(update["reasons"]), *(float(update.get(key, False)) for key in LOST_MOTION)
        row += [*map(update["parameters"].get, LOST), *map(update["deviations"].get, LOST)]
    elif family == "drift":
        row += update["since"], *(update[key].get(name) for name in names for key in DRIFT)
        row.append(" ".join(update["drifted"]))
    else:
        row += map(update.get, OTHER)
    return row


def _readings(read: Sequence[TurnBlock], config: Config) -> Columns:
    """The readings of blocks; monotonic_ns: arrival of the frame; timestamp: arrival in Unix s."""
    table = routes(config)
    rows = np.concatenate([block.readings for block in read])
    epochs = np.repeat([block.batches[-1].epoch for block in read], [len(block.readings) for block in read])
    times, stamps = rows["time"], (rows["time"] + epochs) / 1e9
    first = np.ones(len(rows), bool)  # whether it is the first reading with its time; values of a frame share it
    first[1:] = (times[1:] != times[:-1]) | (epochs[1:] != epochs[:-1])
    place, channel = np.cumsum(first) - 1, rows["channel"]
    return {
        "monotonic_ns": Repeated(times[first], place),
        "timestamp": Repeated(stamps[first], place),
        "joint": Repeated([route.joint for route in table], channel),
        "channel": Repeated([route.role for route in table], channel),
        "value": repeated(np.ascontiguousarray(rows["value"])),
    }


def _needs_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ExportError("Parquet needs pyarrow: pip install 'jointwatch[parquet]', or use --to csv") from None
