"""ROS 2 messages with the state of joints, from CDR: sensor_msgs/JointState and control_msgs/DynamicJointState.

CDR: encapsulation (4 bytes, the second gives the byte order), then the body, in which a number is aligned to its size;
a string is its length with a final zero and its bytes, a sequence its length and its elements. Messages of a publisher
differ only in their numbers, so the places of the numbers are found once for each form.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

BODY: Final = 4  # bytes before the body
MOST: Final = 10_000  # largest number of elements in a sequence; a larger number means that the message is damaged
JOINT_STATE: Final = "sensor_msgs/JointState"
DYNAMIC: Final = "control_msgs/DynamicJointState"
FIELDS: Final = ("position", "velocity", "effort")


class MessageForm(NamedTuple):
    """The common part of messages of one form: their fixed bytes, and the place of each number."""

    length: int  # length of the message, bytes
    big: bool  # byte order
    fixed: tuple[tuple[int, bytes], ...]  # (place, bytes) that are the same in all messages
    places: Mapping[str, int]  # "JOINT.FIELD" → byte of the body at which its double begins

    def fits(self, message: bytes) -> bool:
        """Whether a message has this form."""
        return len(message) == self.length and all(message.startswith(part, at) for at, part in self.fixed)


class _CdrReader:
    """A reading position in a message."""

    def __init__(self, message: bytes) -> None:
        if len(message) < BODY + 8 or message[0] or message[1] not in (0, 1):
            raise ValueError("a message that is not in plain CDR")
        self.message, self.at, self.order = message, BODY, "<" if message[1] else ">"

    def count(self) -> int:
        """Read the length of a sequence or string."""
        self.at += -(self.at - BODY) % 4
        (found,) = struct.unpack_from(f"{self.order}I", self.message, self.at)
        self.at += 4
        if found > MOST:
            raise ValueError(f"a message with a sequence of {found}")
        return int(found)

    def string(self) -> str:
        """Read a string."""
        length = self.count()
        self.at += length
        if self.at > len(self.message):
            raise ValueError("a message that breaks off")
        return self.message[self.at - length : self.at].rstrip(b"\0").decode("utf-8", "replace")

    def doubles(self) -> list[int]:
        """Return the place of each double of a sequence in the body."""
        count = self.count()
        if count:
            self.at += -(self.at - BODY) % 8
        first = self.at - BODY
        self.at += 8 * count
        if self.at > len(self.message):
            raise ValueError("a message that breaks off")
        return [first + 8 * number for number in range(count)]


def stamp(message: bytes) -> float:
    """Return the stamp of the header, s."""
    seconds, nanoseconds = struct.unpack_from("<iI" if message[1] else ">iI", message, BODY)
    return float(seconds) + 1e-9 * float(nanoseconds)


def form_of(message: bytes, kind: str) -> MessageForm:
    """Return the form of a message of this kind. Raises ValueError or struct.error if the message is invalid."""
    cursor = _CdrReader(message)
    cursor.at += 8  # the stamp
    places: dict[str, int] = {}
    fixed: list[tuple[int, bytes]] = []
    start = cursor.at
    cursor.string()  # the frame's id
    names = [cursor.string() for _ in range(cursor.count())]
    if kind == DYNAMIC:
        groups = list(_interfaces(cursor, names, start, fixed))
    else:
        groups = []
        for field in FIELDS:
            values = cursor.doubles()
            end = BODY + values[0] if values else cursor.at
            fixed.append((start, message[start:end]))
            start = cursor.at
            if values and len(values) != len(names):
                raise ValueError(f"{len(names)} names, but {len(values)} of {field}")
            groups += [(f"{name}.{field}", at) for name, at in zip(names, values, strict=False)]
    places = dict(groups)
    return MessageForm(len(message), not message[1], ((0, message[:BODY]), *fixed), places)


def _interfaces(
    cursor: _CdrReader, names: list[str], start: int, fixed: list[tuple[int, bytes]]
) -> Iterator[tuple[str, int]]:
    """Return the places of the values in a DynamicJointState: each joint has names of interfaces and as many values."""
    count = cursor.count()
    if count != len(names):
        raise ValueError(f"{len(names)} joints, but interfaces of {count}")
    for joint in names:
        interfaces = [cursor.string() for _ in range(cursor.count())]
        values = cursor.doubles()
        if len(values) != len(interfaces):
            raise ValueError(f"{len(interfaces)} interfaces of {joint}, but {len(values)} values")
        end = BODY + values[0] if values else cursor.at
        fixed.append((start, cursor.message[start:end]))
        start = cursor.at
        yield from ((f"{joint}.{one}", at) for one, at in zip(interfaces, values, strict=True))
