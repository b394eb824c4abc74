"""A lake: Parquet files in a folder, or in any object store that pyarrow reads, by table and day.

    TABLE/day=2026-01-31/COLLECTOR.FIRST-END.parquet        first and end: Unix s of what is in it
    raw/day=2026-01-31/COLLECTOR.FIRST-END.WRITTEN.parquet  written: Unix ns

A file appears and is replaced as a whole: a reader never sees half of one. Files of
`minutes`, `hours` and `days` have one interval each, so that writing one again counts nothing twice.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

DAY: Final = 86_400
LATEST: Final = 250_000_000_000  # Unix s: before the year 9999, the last whose day has a name
RAW: Final = "raw"
NAME: Final = re.compile(r"([A-Za-z0-9_-]+)\.(\d+)-(\d+)(?:\.(\d+))?\.parquet")
LEVEL: Final = 3  # of zstd: stronger ones save a tenth and take four times as long


class LakeError(Exception):
    """The lake cannot be used; the text is shown to the user as it is."""


class LakeFile(NamedTuple):
    """One file of a table."""

    path: str  # inside the file system
    collector: str
    first: int  # Unix s of the earliest row
    end: int  # Unix s after the latest row
    written: int  # Unix ns, of raw files; else 0


class Lake:
    """A folder of tables."""

    def __init__(self, place: str) -> None:
        """place: a folder or a URL. Raises LakeError."""
        try:
            import pyarrow.fs
        except ImportError:
            raise LakeError("a lake needs pyarrow and DuckDB: pip install 'jointwatch[fleet]'") from None
        self.place = place
        try:
            self._system, root = pyarrow.fs.FileSystem.from_uri(
                place if "://" in place else str(Path(place).absolute())
            )
        except (ValueError, OSError, NotImplementedError) as error:
            raise LakeError(f"{place}: expected a folder, or a URL that pyarrow reads: {error}") from error
        self._root = root.rstrip("/")
        self.local = isinstance(self._system, pyarrow.fs.LocalFileSystem)

    def files(self, table: str, first: float, end: float, collector: str | None = None) -> list[LakeFile]:
        """Files of a table with rows from first to before end (Unix s), in order of time. Raises LakeError."""
        import pyarrow.fs

        # the partition is the day of a file's first row, and no file spans more than a day
        earliest, latest = (_day(int(min(max(one, 0), LATEST)) // DAY) for one in (first - DAY, end))
        found = []
        try:
            for day in self._days(table):
                if earliest <= day <= latest:
                    selector = pyarrow.fs.FileSelector(f"{self._root}/{table}/day={day}", allow_not_found=True)
                    found += [one.path for one in self._system.get_file_info(selector) if one.is_file]
        except OSError as error:
            raise LakeError(f"{self.place}: cannot be listed: {error}") from error
        known = (_named(path) for path in found)
        ours = [one for one in known if one is not None and one.first < end and one.end > first]
        return sorted(
            (one for one in ours if collector in (None, one.collector)), key=lambda one: (one.first, one.written)
        )

    def write(
        self, table: str, collector: str, first: int, end: int, rows: Any, metadata: Mapping[bytes, bytes] | None = None
    ) -> LakeFile:
        """Write rows (a pyarrow Table) as one file, or replace it; it is on the disk when this returns.

        first, end: Unix s of what is in it. Raises OSError.
        """
        from pyarrow import parquet

        written = f".{time.time_ns()}" if table == RAW else ""
        folder = f"{self._root}/{table}/day={_day(first // DAY)}"
        path = f"{folder}/{collector}.{first}-{end}{written}.parquet"
        if metadata:
            rows = rows.replace_schema_metadata({**(rows.schema.metadata or {}), **metadata})
        options = {"compression": "zstd", "compression_level": LEVEL, "row_group_size": 1 << 18}
        if not self.local:
            with self._system.open_output_stream(path) as out:  # appears when it is closed
                parquet.write_table(rows, out, **options)
        else:
            draft = Path(folder, f".{Path(path).name}.{os.getpid()}")
            draft.parent.mkdir(parents=True, exist_ok=True)
            try:
                with draft.open("wb") as out:
                    parquet.write_table(rows, out, **options)
                    out.flush()
                    os.fsync(out.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
        found = _named(path)
        assert found is not None
        return found

    def remove(self, files: Iterable[LakeFile]) -> None:
        """Remove files. Raises OSError."""
        for one in files:
            self._system.delete_file(one.path)

    def remove_drafts(self, collector: str) -> None:
        """Remove what a collector of this name has begun to write and was killed over. Raises OSError."""
        if self.local:
            for draft in Path(self._root).glob(f"*/day=*/.{collector}.*"):
                draft.unlink(missing_ok=True)

    def metadata(self, file: LakeFile) -> dict[bytes, bytes]:
        """The metadata that `write` was given with the rows. Raises LakeError."""
        from pyarrow import parquet

        try:
            found: dict[bytes, bytes] = parquet.read_schema(file.path, filesystem=self._system).metadata or {}
        except OSError as error:
            raise LakeError(f"{file.path}: cannot be read: {error}") from error
        return found

    def rows(self, file: LakeFile, columns: Sequence[str]) -> Any:
        """Columns of a file as a pyarrow Table of one chunk. Raises LakeError."""
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(file.path, filesystem=self._system) as opened:
                found = opened.read(columns=list(columns))
        except OSError as error:
            raise LakeError(f"{file.path}: cannot be read: {error}") from error
        return found if found[0].num_chunks == 1 else found.unify_dictionaries().combine_chunks()

    def view(self, database: Any, name: str, files: Iterable[LakeFile]) -> None:
        """Make rows of these files (at least one) a view of a DuckDB connection."""
        paths = [one.path for one in files]
        if self.local:
            listed = ", ".join(f"'{path.replace(chr(39), chr(39) * 2)}'" for path in paths)
            database.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{listed}], "
                             "hive_partitioning = false)")  # fmt: skip
            return
        import pyarrow.dataset

        database.execute(f"DROP VIEW IF EXISTS {name}")
        database.register(name, pyarrow.dataset.dataset(paths, filesystem=self._system, format="parquet"))

    def _days(self, table: str) -> list[str]:
        import pyarrow.fs

        selector = pyarrow.fs.FileSelector(f"{self._root}/{table}", allow_not_found=True)
        return sorted(
            one.base_name.removeprefix("day=")
            for one in self._system.get_file_info(selector)
            if one.base_name.startswith("day=")
        )


def database(threads: int) -> Any:
    """A DuckDB connection in memory that fetches nothing from elsewhere. Raises LakeError."""
    try:
        import duckdb
    except ImportError:
        raise LakeError("a lake needs DuckDB: pip install 'jointwatch[fleet]'") from None
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": threads, "memory_limit": "1GB", "preserve_insertion_order": False,
        "autoinstall_known_extensions": False, "autoload_known_extensions": False,
    }  # fmt: skip
    return duckdb.connect(config=settings)


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY, UTC).strftime("%Y-%m-%d")


def _named(path: str) -> LakeFile | None:
    found = NAME.fullmatch(path.rpartition("/")[2])
    if found is None:
        return None
    return LakeFile(path, found[1], int(found[2]), int(found[3]), int(found[4] or 0))
