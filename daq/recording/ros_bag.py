"""Reads the joint states of a ROS 2 bag (.mcap, .db3, or its folder) as columns: JOINT.position, .velocity, .effort.

sensor_msgs/msg/JointState is decoded from CDR here: encapsulation (4 bytes, the second gives the byte order), then
stamp (s, ns), frame_id, names, positions, velocities, efforts; a sequence is its length and its elements, each aligned
to its size from the end of the encapsulation. The messages of ros2_control (control_msgs) are decoded by the definition
in the bag, since their fields change from release to release; they are used if a bag has no joint state with efforts. A
joint that occurs in several topics is read from one of them: not from a command, preferably with efforts, and with the
most messages.
"""

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from mcap.records import Attachment, Channel, Message, Metadata, Schema

from daq.recording.reader import SUFFIX, RecordingError
from daq.recording.ros_database import is_database, stored, stored_topics
from daq.recording.ros_messages import Definition
from drivers.files.mcap_records import records
from estimators.quantities import Floats

JOINT_STATE: Final = "sensor_msgs/JointState"
DYNAMIC: Final = "control_msgs/DynamicJointState"  # from the joint state broadcaster: all that a drive measures
CONTROLLER: Final = "control_msgs/JointTrajectoryControllerState"  # feedback of a trajectory controller
KINDS: Final = (JOINT_STATE, DYNAMIC, CONTROLLER)  # the first kind with efforts is used, else the first kind
FIELDS: Final = ("position", "velocity", "effort")

Rows = dict[str, list[tuple[float, ...]]]  # joint → rows of time (s) and its fields
Topics = dict[str, Rows]
# words in names of topics that carry commands
COMMANDS: Final = ("command", "cmd", "desired", "target", "goal", "reference", "setpoint", "plan")
JointState = tuple[float, list[str], list[tuple[float, ...]]]  # stamp, s, names, and each field of all
_MOST: Final = 10_000  # largest number of joints in a message; a larger number means that the message is damaged


def is_bag(path: Path) -> bool:
    """Whether this is a ROS 2 bag: an .mcap with joint states of any kind, or a folder with such files."""
    files = _files(path)
    try:
        return bool(files) and any(_joint_states(file, first=True) for file in files)
    except RecordingError:
        return False


def is_ours(file: Path) -> bool:
    """Whether a file is one of our own recordings: an .mcap file that is not a bag and contains its configuration."""
    return file.suffix.lower() == SUFFIX and (_begins_as_ours(file) or not is_bag(file))


def _begins_as_ours(file: Path) -> bool:
    """Whether our configuration comes before any message; then the rest need not be searched for joint states."""
    try:
        for record in records(file):
            if isinstance(record, Metadata) and record.name == "configuration":
                return "digest" in record.metadata
            if isinstance(record, Message | Attachment):
                return False
    except (OSError, ValueError):
        pass
    return False


def read_bag(path: Path) -> dict[str, tuple[Floats, dict[str, Floats]]]:
    """Return joint → times (rows,) in s since the first message, and columns (rows,). Raises RecordingError."""
    kinds: dict[str, Topics] = {kind: {} for kind in KINDS}
    for file in _files(path):
        for kind, topic, time, names, fields in _joint_states(file):
            mine = kinds[kind].setdefault(topic, {})
            for i, name in enumerate(names):
                values = (field[i] if i < len(field) else float("nan") for field in fields)
                mine.setdefault(name, []).append((time, *values))
    found_of = [rows for topics in kinds.values() if (rows := _chosen(topics))]
    if not found_of:
        raise RecordingError(f"{path}: found no {', no '.join(KINDS)} in it")
    rows = next((one for one in found_of if _has_efforts(one)), found_of[0])
    first = min(times[0][0] for times in rows.values())
    found = {}
    for name, parts in rows.items():
        table = np.array(parts, np.float64)
        table = table[np.argsort(table[:, 0], kind="stable")]
        columns = {field: table[:, 1 + k] for k, field in enumerate(FIELDS) if np.isfinite(table[:, 1 + k]).any()}
        found[name] = (table[:, 0] - first, columns)
    return found


def topics_of(path: Path) -> dict[str, str]:
    """Return topic → type (or encoding, if the type has no name) for all topics. Raises RecordingError."""
    found: dict[str, str] = {}
    for file in _files(path):
        try:
            if is_database(file):
                found |= stored_topics(file)
                continue
            types: dict[int, str] = {}
            for record in records(file):
                if isinstance(record, Schema):
                    types[record.id] = record.name
                elif isinstance(record, Channel):
                    found[record.topic] = types.get(record.schema_id) or record.message_encoding
        except OSError as error:
            raise RecordingError(f"{file}: {error.strerror}") from error
        except ValueError as error:
            raise RecordingError(f"{file}: not a recording, or damaged: {error}") from error
    return found


def _chosen(topics: Topics) -> Rows:
    """Choose for every joint the best topic that contains it."""

    def order(topic: str) -> tuple[bool, bool, int]:
        rows = topics[topic]
        commands = any(word in topic.lower() for word in COMMANDS)
        return commands, not _has_efforts(rows), -max(map(len, rows.values()), default=0)

    found: Rows = {}
    for topic in sorted(topics, key=order):
        for joint, rows in topics[topic].items():
            found.setdefault(joint, rows)
    return found


def _has_efforts(rows: Rows) -> bool:
    return any(math.isfinite(row[1 + FIELDS.index("effort")]) for one in rows.values() for row in one)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.iterdir() if one.suffix.lower() == SUFFIX or is_database(one))
    return [path] if path.suffix.lower() == SUFFIX or is_database(path) else []


def _joint_states(file: Path, first: bool = False) -> list[tuple[str, str, *JointState]]:
    """Yield every joint state: kind, topic, time in s, names, the three fields; first: only the first one."""
    found: list[tuple[str, str, *JointState]] = []
    try:
        for one in _in_database(file) if is_database(file) else _messages(file):
            found.append(one)
            if first:
                break
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        raise RecordingError(f"{file}: not a recording, or damaged: {error}") from error
    return found


def _messages(file: Path) -> Iterator[tuple[str, str, *JointState]]:
    schemas: dict[int, tuple[str, Callable[[bytes], JointState]]] = {}
    channels: dict[int, tuple[str, str, Callable[[bytes], JointState]]] = {}
    for record in records(file):
        if isinstance(record, Schema) and (kind := record.name.replace("/msg/", "/")) in KINDS:
            with suppress(ValueError):  # a definition that cannot be parsed: other topics may be usable
                schemas[record.id] = kind, decode if kind == JOINT_STATE else _decoder(kind, record.data.decode())
        elif isinstance(record, Channel) and record.schema_id in schemas:
            if record.message_encoding != "cdr":
                raise ValueError(f"{record.topic} is encoded as {record.message_encoding}, expected cdr")
            kind, read = schemas[record.schema_id]
            channels[record.id] = kind, record.topic, read
        elif isinstance(record, Message) and record.channel_id in channels:
            kind, topic, read = channels[record.channel_id]
            stamp, names, fields = read(record.data)
            yield kind, topic, stamp if stamp > 0 else record.log_time * 1e-9, names, fields


def _in_database(file: Path) -> Iterator[tuple[str, str, *JointState]]:
    readers: dict[str, Callable[[bytes], JointState]] = {JOINT_STATE: decode}
    for one in stored(file, KINDS):
        if one.kind not in readers:
            if not one.definition:
                continue  # bags before Iron have no definitions, and those of control_msgs differ between releases
            readers[one.kind] = _decoder(one.kind, one.definition)
        stamp, names, fields = readers[one.kind](one.data)
        yield one.kind, one.topic, stamp if stamp > 0 else one.received * 1e-9, names, fields


def _decoder(kind: str, text: str) -> Callable[[bytes], JointState]:
    """Make the decoder for a message of control_msgs with this definition. Raises ValueError."""
    definition = Definition(text)
    fields = _dynamic if kind == DYNAMIC else _controller

    def read(data: bytes) -> JointState:
        message = definition.decode(data)
        try:
            stamp = message["header"]["stamp"]
            return stamp["sec"] + stamp["nanosec"] * 1e-9, list(message["joint_names"]), fields(message)
        except (KeyError, TypeError) as error:
            raise ValueError(f"a {kind} without {error}") from error

    return read


def _dynamic(message: dict[str, Any]) -> list[tuple[float, ...]]:
    """Return the fields of a DynamicJointState, in which each joint has its own named interfaces."""
    own = [dict(zip(one["interface_names"], one["values"], strict=False)) for one in message["interface_values"]]
    return [tuple(one.get(field, math.nan) for one in own) for field in FIELDS]


def _controller(message: dict[str, Any]) -> list[tuple[float, ...]]:
    """Return the fields of a controller's state: `feedback`, or `actual` in releases before Iron."""
    point = message["feedback"] if "feedback" in message else message["actual"]
    return [point["positions"], point["velocities"], point["effort"]]


def decode(data: bytes) -> JointState:
    """Decode one JointState: stamp in s, names of joints, and position, velocity and effort. Raises ValueError."""
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
