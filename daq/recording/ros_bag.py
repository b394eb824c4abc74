"""Joint states of a ROS 2 bag (.mcap, or the folder it came in) as named columns: JOINT.position, .velocity, .effort.

sensor_msgs/msg/JointState in CDR, read by hand: encapsulation (4 bytes, the second says which end comes first), then
stamp (s, ns), frame_id, names, positions, velocities, efforts; a sequence is its length and its elements, each on a
multiple of its size from the end of the encapsulation.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from mcap.records import Channel, Message, Schema

from daq.recording.reader import RecordingError
from drivers.files.mcap_records import records
from estimators.quantities import Floats

JOINT_STATE: Final = ("sensor_msgs/msg/JointState", "sensor_msgs/JointState")
FIELDS: Final = ("position", "velocity", "effort")
_MOST: Final = 10_000  # joints of one message, above which it is damaged


def is_bag(path: Path) -> bool:
    """Whether this is a ROS 2 bag: an .mcap with joint states, or a folder of such."""
    files = _files(path)
    try:
        return bool(files) and any(_joint_states(file, first=True) for file in files)
    except RecordingError:
        return False


def read_bag(path: Path) -> dict[str, tuple[Floats, dict[str, Floats]]]:
    """Joint → its times (rows,) in s since the first message, and its columns (rows,). Raises RecordingError."""
    rows: dict[str, list[tuple[float, ...]]] = {}
    for file in _files(path):
        for time, names, fields in _joint_states(file):
            for i, name in enumerate(names):
                values = (field[i] if i < len(field) else float("nan") for field in fields)
                rows.setdefault(name, []).append((time, *values))
    if not rows:
        raise RecordingError(f"{path}: found no sensor_msgs/msg/JointState in it")
    first = min(times[0][0] for times in rows.values())
    found = {}
    for name, parts in rows.items():
        table = np.array(parts, np.float64)
        table = table[np.argsort(table[:, 0], kind="stable")]
        columns = {field: table[:, 1 + k] for k, field in enumerate(FIELDS) if np.isfinite(table[:, 1 + k]).any()}
        found[name] = (table[:, 0] - first, columns)
    return found


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.mcap"))
    return [path] if path.suffix.lower() == ".mcap" else []


JointState = tuple[float, list[str], list[tuple[float, ...]]]


def _joint_states(file: Path, first: bool = False) -> list[JointState]:
    """Every joint state: time in s, names and the three fields; a broken file's, up to its last whole record."""
    found: list[JointState] = []
    try:
        for one in _messages(file):
            found.append(one)
            if first:
                break
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        raise RecordingError(f"{file}: not a recording, or damaged: {error}") from error
    return found


def _messages(file: Path) -> Iterator[JointState]:
    schemas: set[int] = set()
    channels: set[int] = set()
    for record in records(file):
        if isinstance(record, Schema) and record.name in JOINT_STATE:
            schemas.add(record.id)
        elif isinstance(record, Channel) and record.schema_id in schemas:
            if record.message_encoding != "cdr":
                raise ValueError(f"{record.topic} is encoded as {record.message_encoding}, expected cdr")
            channels.add(record.id)
        elif isinstance(record, Message) and record.channel_id in channels:
            stamp, names, fields = decode(record.data)
            yield stamp if stamp > 0 else record.log_time * 1e-9, names, fields


def decode(data: bytes) -> JointState:
    """One message: its stamp in s, the joints' names, and position, velocity and effort. Raises ValueError."""
    if len(data) < 16:
        raise ValueError("a joint state of less than 16 bytes")
    end = "<" if data[1] & 1 else ">"
    body, at = data[4:], 8
    seconds, nanoseconds = struct.unpack_from(f"{end}iI", body, 0)
    _, at = _string(body, at, end)
    count, at = _count(body, at, end)
    names = []
    for _ in range(count):
        name, at = _string(body, at, end)
        names.append(name)
    fields = []
    for _ in FIELDS:
        count, at = _count(body, at, end)
        if count:
            at = (at + 7) // 8 * 8
        fields.append(struct.unpack_from(f"{end}{count}d", body, at))
        at += 8 * count
    return seconds + nanoseconds * 1e-9, names, fields


def _count(body: bytes, at: int, end: str) -> tuple[int, int]:
    at = (at + 3) // 4 * 4
    (count,) = struct.unpack_from(f"{end}I", body, at)
    if count > _MOST:
        raise ValueError(f"a joint state with a sequence of {count}")
    return count, at + 4


def _string(body: bytes, at: int, end: str) -> tuple[str, int]:
    length, at = _count(body, at, end)
    return body[at : at + length].rstrip(b"\0").decode("utf-8", "replace"), at + length
