"""Reads the messages of a ROS 2 bag in SQLite (.db3, or .db3.zstd if rosbag2 compresses whole files)."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import zstandard

SUFFIXES: Final = (".db3", ".db3.zstd")


class Stored(NamedTuple):
    """One message: type without /msg/, topic, time of reception (ns), CDR, and definition or nothing."""

    kind: str
    topic: str
    received: int
    data: bytes
    definition: str


def is_database(file: Path) -> bool:
    """Whether the name of a file belongs to a bag in SQLite."""
    return file.name.lower().endswith(SUFFIXES)


def stored(file: Path, kinds: tuple[str, ...]) -> Iterator[Stored]:
    """Yield every message of these types in order of time. Raises OSError, ValueError."""
    with _opened(file) as database:
        yield from _selected(database, kinds)


def stored_topics(file: Path) -> dict[str, str]:
    """Topic → type of every topic. Raises OSError, ValueError."""
    with _opened(file) as database:
        return {str(name): str(kind) for name, kind in database.execute("SELECT name, type FROM topics")}


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the database, decompressed if necessary. Raises OSError, ValueError."""
    if file.suffix.lower() == ".zstd":
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / file.stem
            with file.open("rb") as packed, plain.open("wb") as unpacked:
                try:
                    zstandard.ZstdDecompressor().copy_stream(packed, unpacked)
                except zstandard.ZstdError as error:
                    raise ValueError(str(error)) from error
            with _opened(plain) as database:
                yield database
        return
    with file.open("rb") as opened:  # SQLite would create a missing file
        if not opened.read(16).startswith(b"SQLite format 3"):
            raise ValueError("no database of SQLite")
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            yield database
    except sqlite3.Error as error:
        raise ValueError(str(error)) from error


def _selected(database: sqlite3.Connection, kinds: tuple[str, ...]) -> Iterator[Stored]:
    topics = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
    definitions = _definitions(database)
    chosen: dict[int, Callable[[int, bytes], Stored]] = {}
    for one, topic, kind, form in topics:
        short = str(kind).replace("/msg/", "/")
        if short not in kinds:
            continue
        if form != "cdr":
            raise ValueError(f"{topic} is encoded as {form}, expected cdr")
        text = definitions.get(str(kind), "")
        chosen[one] = lambda at, data, s=short, t=topic, d=text: Stored(s, t, at, data, d)  # type: ignore[misc]
    if not chosen:
        return
    marks = ",".join("?" * len(chosen))
    rows = database.execute(
        f"SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({marks}) ORDER BY timestamp, id",
        tuple(chosen),
    )
    for one, received, data in rows:
        yield chosen[one](int(received), bytes(data))


def _definitions(database: sqlite3.Connection) -> Mapping[str, str]:
    """Return the definitions of types, which bags contain since the release Iron."""
    try:
        rows = database.execute("SELECT topic_type, encoded_message_definition FROM message_definitions").fetchall()
    except sqlite3.Error:
        return {}
    return {str(kind): str(text) for kind, text in rows}
