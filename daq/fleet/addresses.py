"""Finds the recordings of a fleet: in local folders, or wherever fsspec can read (s3://, sftp://, …)."""

import contextlib
import importlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from daq.recording.reader import RecordingError

SUFFIXES: Final = (".mcap", ".csv", ".npz", ".mat", ".log", ".asc", ".blf", ".trc", ".mf4")


class Address(NamedTuple):
    """The address of a recording, and its robot as far as the address shows it."""

    text: str
    robot: str  # the folder below the one that was named, or the file's own name


def find(places: Sequence[str]) -> list[Address]:
    """Every recording in these folders, and named files, in order of their addresses. Raises RecordingError."""
    found: dict[str, Address] = {}
    problems = []
    for place in places:
        try:
            mine = _remote(place) if "://" in place else _local(Path(place))
        except RecordingError as error:
            problems.append(str(error))
            continue
        except (OSError, ValueError) as error:
            problems.append(f"{place}: {getattr(error, 'strerror', None) or error}")
            continue
        if not mine:
            problems.append(f"{place}: found no recording, expected {', '.join(SUFFIXES)}")
        found.update({one.text: one for one in mine})
    if problems:
        raise RecordingError("\n".join(problems))
    return [found[text] for text in sorted(found)]


@contextlib.contextmanager
def at_hand(address: str) -> Iterator[Path]:
    """The recording as a local file; a remote one is copied. Raises RecordingError."""
    if "://" not in address:
        yield Path(address)
        return
    system, path = _system(address)
    with tempfile.TemporaryDirectory(prefix="jointwatch-fleet-") as folder:
        copy = Path(folder, Path(path).name)
        try:
            system.get_file(path, str(copy))
        except Exception as error:  # every kind of storage has errors of its own
            raise RecordingError(f"{address}: cannot be read: {error}") from error
        yield copy


def _local(place: Path) -> list[Address]:
    if place.is_file():
        return [Address(str(place.resolve()), place.stem)]
    if not place.is_dir():
        raise ValueError("found no such folder or file")
    folder = place.resolve()
    files = sorted(one for one in folder.rglob("*") if one.suffix.lower() in SUFFIXES and one.is_file())
    return [Address(str(one), _robot(one.relative_to(folder))) for one in files]


def _remote(place: str) -> list[Address]:
    system, path = _system(place)
    try:
        if system.isfile(path):
            return [Address(place, Path(path).stem)]
        files = sorted(one for one in system.find(path) if Path(one).suffix.lower() in SUFFIXES)
    except Exception as error:
        raise ValueError(f"cannot be listed: {error}") from error
    root = path.rstrip("/")
    return [Address(system.unstrip_protocol(one), _robot(Path(one.removeprefix(root).lstrip("/")))) for one in files]


def _robot(inside: Path) -> str:
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def _system(address: str) -> tuple[Any, str]:
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError:
        raise RecordingError(f"{address}: needs fsspec: pip install 'jointwatch[fleet]'") from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise RecordingError(f"{address}: {error}") from error
    return system, path
