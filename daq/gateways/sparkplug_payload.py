"""The payload of Sparkplug B (protobuf): as much of it as births, data, deaths and the rebirth command need.

Field numbers: https://github.com/eclipse-tahu/tahu/blob/master/sparkplug_b/sparkplug_b.proto; data types: the Sparkplug
specification 3.0, section 6.4.16.
"""

import math
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Final, NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types of protobuf
UNIT: Final = "engUnit"
QUALITY: Final = "Quality"


class DataType(IntEnum):
    """Sparkplug's data types that are used here."""

    INT32 = 3
    INT64 = 4
    DOUBLE = 10
    BOOLEAN = 11
    STRING = 12


# data type → field of Payload.Metric that carries its value
CARRIERS: Final = {
    DataType.INT32: 10,
    DataType.INT64: 11,
    DataType.DOUBLE: 13,
    DataType.BOOLEAN: 14,
    DataType.STRING: 15,
}


class Quality(IntEnum):
    """The values of the property Quality, section 6.4.17: whether a metric's value counts."""

    BAD = 0
    GOOD = 192
    STALE = 500


class PayloadMetric(NamedTuple):
    """One metric: a birth names it and gives its alias, data have the alias only."""

    name: str
    kind: DataType
    value: float | bool | str
    alias: int | None = None
    unit: str = ""
    quality: Quality | None = None  # None: nothing is said of it, which means that it is good
    timestamp: int | None = None  # Unix ms of the value; None: that of the payload


def payload(timestamp: int, metrics: Iterable[PayloadMetric], seq: int | None, birth: bool) -> bytes:
    """A payload. timestamp: Unix ms, also of metrics without one; seq: None in a death; birth: with names."""
    parts = [_whole(1, timestamp)]
    parts += [_bytes(2, _metric(metric, timestamp, birth)) for metric in metrics]
    return b"".join([*parts, *([] if seq is None else [_whole(3, seq)])])


def _metric(metric: PayloadMetric, timestamp: int, birth: bool) -> bytes:
    parts = [_bytes(1, metric.name.encode())] if birth or metric.alias is None else []
    parts += [_whole(2, metric.alias)] if metric.alias is not None else []
    parts += [_whole(3, timestamp if metric.timestamp is None else metric.timestamp), _whole(4, metric.kind)]
    null = isinstance(metric.value, float) and not math.isfinite(metric.value)  # Sparkplug knows no NaN
    parts += [_whole(7, 1)] if null else []
    properties = {}
    if birth and metric.unit:
        properties[UNIT] = _whole(1, DataType.STRING) + _bytes(8, metric.unit.encode())
    if metric.quality is not None:
        properties[QUALITY] = _whole(1, DataType.INT32) + _whole(3, metric.quality)
    if properties:
        keys = [_bytes(1, name.encode()) for name in properties]
        parts.append(_bytes(9, b"".join([*keys, *(_bytes(2, one) for one in properties.values())])))
    return b"".join(parts if null else [*parts, _value(metric)])


def _value(metric: PayloadMetric) -> bytes:
    field, value = CARRIERS[metric.kind], metric.value
    if isinstance(value, str):
        return _bytes(field, value.encode())
    if metric.kind != DataType.DOUBLE:
        return _whole(field, int(value))
    return _varint(field << 3 | FIXED64) + struct.pack("<d", value)


def _whole(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def asks_for(body: bytes, name: str) -> bool:
    """Whether a command's payload sets the metric of this name to true. Raises ValueError where it is none."""
    for field, metric in list(_fields(body)):  # a command that is cut asks for nothing
        if field == 2 and isinstance(metric, bytes):
            found = dict(_fields(metric))
            if found.get(1) == name.encode() and found.get(CARRIERS[DataType.BOOLEAN]) == 1:
                return True
    return False


def _fields(body: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of a protobuf message. Raises ValueError where it is cut."""
    at = 0
    while at < len(body):
        key, at = _read_varint(body, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _read_varint(body, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, at = _read_varint(body, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"expected a wire type of protobuf, found {kind}")
        if at + length > len(body):
            raise ValueError(f"expected {length} bytes, found {len(body) - at}")
        yield key >> 3, body[at : at + length]
        at += length


def _read_varint(body: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        if at + place >= len(body):
            break
        value |= (body[at + place] & 0x7F) << 7 * place
        if body[at + place] < 0x80:
            return value, at + place + 1
    raise ValueError("expected a varint, found none that ends")
