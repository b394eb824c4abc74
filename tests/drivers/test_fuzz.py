"""Every parser on streams made of right, damaged and random pieces, cut anywhere, beside a plain reader of each format.

Streams: slcan, candump, packets in every framing; SocketCAN's records from a socket; files: CSV, ASC, BLF, TRC, DBC.

Some hundred streams here; ten minutes of them (JOINTWATCH_FUZZ=600 seconds is the default) with
`.venv/bin/python -m pytest -m slow tests/drivers/test_fuzz.py`.
"""

import functools
import os
import re
import socket
import struct
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import can
import pytest
from crccheck.crc import Crc16CcittFalse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drivers.base import DriverError, LayoutError, Wanted
from drivers.can import recvmmsg as bulk
from drivers.can import slcan
from drivers.decode.decoder import Decoder
from drivers.files import candump
from drivers.files.can_log import LogFile
from drivers.files.player import CsvFile, FileSettings
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import EXTENDED, REMOTE, Frames
from drivers.serial.deframer import Deframer
from drivers.serial.packets import Framing, encode

FUZZ = float(os.environ.get("JOINTWATCH_FUZZ", "600"))  # s
SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64]
LENGTHS = {1: 11, 2: 4, 0xC0: 7}
FRAMINGS = {
    "cobs": Framing(),
    "slip": Framing(kind="slip"),
    "hdlc": Framing(kind="hdlc"),
    "fixed": Framing(kind="fixed", start=(0xAA, 0x55), end=(13,)),
}

Found = list[tuple[int, bytes]]


def unpacked(parts: list[Frames]) -> Found:
    return [
        (int(ident), row[:size].tobytes())
        for part in parts
        for ident, row, size in zip(part.ids, part.payload, part.lengths, strict=True)
    ]


# -- a plain reader of each format

_SHORT, _LONG = rb"([trdb])([0-7][0-9A-Fa-f]{2})", rb"([xTRDB])([01][0-9A-Fa-f]{7})"
_LINE = re.compile(rb"(?:" + _SHORT + rb"|" + _LONG + rb")([0-9A-Fa-f])((?:[0-9A-Fa-f]{2})*)")
_LOG = re.compile(
    rb"[ \t]*(?:\(\d{1,9}(?:\.\d*)?\)[ \t]*)?[^ \t(][^ \t]*[ \t]+([0-9A-Fa-f]{8}|[0-7][0-9A-Fa-f]{2})#"
    rb"(?:(R|r)(?![0-9A-Fa-f]).*|(#[0-9A-Fa-f])?((?:[0-9A-Fa-f]{2}){0,64})(?:[ \t'].*)?)"
)


def read_slcan(stream: bytes) -> Found:
    found = []
    for line in re.split(rb"[\r\a]", stream)[:-1]:
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        letter, ident, code = (match[1] or match[3]), int(match[2] or match[4], 16), int(match[5], 16)
        data = bytes.fromhex(match[6].decode())
        size = 0 if letter in b"rR" else SIZES[code]
        if (code > 8 and letter in b"txTrR") or len(data) not in (size, size + 2):
            continue
        flags = (EXTENDED if letter.isupper() or letter == b"x" else 0) | (REMOTE if letter in b"rR" else 0)
        found.append((ident | flags, data[:size]))
    return found


def read_candump(stream: bytes) -> Found:
    found = []
    for line in stream.split(b"\n")[:-1]:
        match = _LOG.fullmatch(line.removesuffix(b"\r"))
        if match is None or line.lstrip(b" \t").startswith(b"#"):
            continue
        ident = int(match[1], 16)
        if ident > 0x3FFF_FFFF:
            continue
        ident |= EXTENDED if len(match[1]) == 8 and ident <= 0x1FFF_FFFF else 0
        found.append((ident | REMOTE, b"") if match[2] else (ident, bytes.fromhex(match[4].decode())))
    return found


def unstuffed(kind: str, piece: bytes) -> bytes | None:
    if kind == "cobs":
        parts, at = [], 0
        while at < len(piece):
            if at + piece[at] > len(piece):
                return None
            parts.append(piece[at + 1 : at + piece[at]])
            at += piece[at]
        return b"\0".join(parts)
    out, escaped = bytearray(), False
    for byte in piece:
        if escaped and kind == "slip" and byte not in (0xDC, 0xDD):
            return None
        if escaped:
            out.append({0xDC: 0xC0, 0xDD: 0xDB}[byte] if kind == "slip" else byte ^ 0x20)
            escaped = False
        elif byte == (0xDB if kind == "slip" else 0x7D):
            escaped = True
        else:
            out.append(byte)
    return None if escaped else bytes(out)


def read_packets(kind: str) -> Callable[[bytes], Found]:
    """Good packets of known ids and right length."""
    delimiter = {"cobs": b"\0", "slip": b"\xc0", "hdlc": b"\x7e"}[kind]

    def read(stream: bytes) -> Found:
        found = []
        for piece in stream.split(delimiter)[:-1]:
            packet = unstuffed(kind, piece) if piece else None
            if (
                packet
                and len(packet) > 4
                and Crc16CcittFalse.calc(packet[:-2]) == int.from_bytes(packet[-2:], "little")
            ):
                found.append((packet[0], packet[:-2]))
        return found

    return read


# -- streams


@st.composite
def damaged(draw: st.DrawFn, right: st.SearchStrategy[bytes]) -> bytes:
    """A right piece, or one with a byte changed, cut, doubled, or replaced by anything."""
    piece = draw(right)
    kind = draw(st.integers(0, 7))
    at = draw(st.integers(0, max(0, len(piece) - 1)))
    if kind == 0:
        return piece[:at] + bytes([draw(st.integers(0, 255))]) + piece[at + 1 :]
    if kind == 1:
        return piece[:at]
    if kind == 2:
        return piece[:at] + draw(st.binary(max_size=20)) + piece[at:]
    if kind == 3:
        return draw(st.binary(max_size=400))
    return piece


@st.composite
def slcan_line(draw: st.DrawFn) -> bytes:
    letter = draw(st.sampled_from("txTrRdDbB"))
    ident = f"{draw(st.integers(0, 0x1FFFFFFF)):08X}" if letter in "xTRDB" else f"{draw(st.integers(0, 0x7FF)):03X}"
    code = draw(st.integers(0, 15 if letter in "dDbB" else 8))
    size = 0 if letter in "rR" else SIZES[code]
    data = draw(st.binary(min_size=size, max_size=size)).hex()
    return f"{letter}{ident}{code:X}{data}{draw(st.sampled_from(['', '12cd']))}\r".encode()


@st.composite
def log_line(draw: st.DrawFn) -> bytes:
    ident = draw(st.sampled_from([f"{draw(st.integers(0, 0x7FF)):03X}", f"{draw(st.integers(0, 0x3FFFFFFF)):08X}"]))
    data = draw(st.binary(max_size=64)).hex()
    mark = draw(st.sampled_from(["#", "##1", "#R"]))
    return f"({draw(st.integers(0, 10**9))}.{draw(st.integers(0, 10**6)):06}) can0 {ident}{mark}{data}\n".encode()


@st.composite
def packet(draw: st.DrawFn, kind: str) -> bytes:
    ident = draw(st.sampled_from([1, 1, 2, 0xC0, 77]))
    size = LENGTHS.get(ident, 5) - 3
    return encode(ident, draw(st.integers(0, 70000)), draw(st.binary(min_size=size, max_size=size)), FRAMINGS[kind])


def streams(right: st.SearchStrategy[bytes]) -> st.SearchStrategy[tuple[bytes, list[int]]]:
    """A stream and where to cut it."""
    whole = st.lists(damaged(right), min_size=1, max_size=12).map(b"".join)
    return st.tuples(whole, st.lists(st.integers(0, 2000), max_size=8))


def cut(stream: bytes, places: list[int]) -> Iterator[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return (stream[a:b] for a, b in pairwise(edges))


def both_ways(
    make: Callable[[], object], feed: Callable[[object, bytes], Frames], stream: bytes, at: list[int]
) -> Found:
    """What is found, the same in counts and frames however the stream is cut."""
    whole, pieces = make(), make()
    found = unpacked([feed(whole, stream)])
    assert unpacked([feed(pieces, piece) for piece in cut(stream, at)]) == found
    assert pieces.counts == whole.counts  # type: ignore[attr-defined]
    return found


def check_slcan(case: tuple[bytes, list[int]]) -> None:
    found = both_ways(slcan.SlcanParser, lambda parser, data: parser.feed(data, 0), *case)
    assert found == read_slcan(case[0])


def check_candump(case: tuple[bytes, list[int]]) -> None:
    found = both_ways(candump.CandumpParser, lambda parser, data: parser.feed(data), *case)
    strict = read_candump(case[0])
    # the screen's format is read too: what the log's pattern finds is there, in order
    rest = iter(found)
    assert all(one in rest for one in strict)


def check_packets(kind: str) -> Callable[[tuple[bytes, list[int]]], None]:
    def check(case: tuple[bytes, list[int]]) -> None:
        found = both_ways(
            lambda: Deframer(LENGTHS, FRAMINGS[kind]), lambda deframer, data: deframer.feed(data, 0), *case
        )
        right = [one for one in found if len(one[1]) == LENGTHS.get(one[0])]
        for ident, data in right:  # never a corrupt packet: its bytes stand in the stream with their CRC
            if kind == "fixed":
                crc = Crc16CcittFalse.calc(data).to_bytes(2, "little")
                assert b"\xaa\x55" + data + crc + b"\r" in case[0]
            assert data[0] == ident
        if kind != "fixed":
            assert right == [one for one in read_packets(kind)(case[0]) if len(one[1]) == LENGTHS.get(one[0])]

    return check


DBC = """VERSION ""
BU_: X
BO_ 100 M: 8 X
 SG_ A M : 0|4@1+ (1,0) [0|0] "" X
 SG_ B m1 : 4|12@1- (0.5,0) [-1|1] "rpm" X
 SG_ C m2 : 23|16@0+ (1,0) [0|0] "deg" X
BO_ 2147483749 N: 64 X
 SG_ D : 0|32@1- (1,0) [0|0] "A" X
SIG_VALTYPE_ 2147483749 D : 1;
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
BA_ "GenMsgCycleTime" BO_ 100 50;
"""


def check_dbc(case: tuple[list[tuple[int, str]], Path]) -> None:
    changes, folder = case
    text = DBC
    for at, with_ in changes:
        at %= len(text)
        text = text[:at] + with_ + text[at + max(1, len(with_)) :]
    file = folder / "fuzzed.dbc"
    file.write_text(text, encoding="utf-8")
    try:
        layout = from_dbc(file, {}, limits=True)
    except LayoutError:
        return
    decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(layout.signals)])
    frames = slcan.SlcanParser().feed(b"t06481122334455667788\rT00000065800112233445566\r", 0)
    decoder.decode(frames)


def check_records(datagrams: list[bytes]) -> None:
    """Datagrams of any size and content, as a CAN socket would deliver them."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
    ):
        near.bind(("127.0.0.1", 0))
        bulk.prepare(near)
        far.connect(near.getsockname())
        for datagram in datagrams:
            far.send(datagram)
        receiver = bulk.BulkReceiver(near.fileno())
        found = unpacked([receiver.receive(1.0)])
    right = []
    for data in datagrams:
        ident, size = (int.from_bytes(data[:4], "little"), data[4]) if len(data) in (16, 72) else (0, 255)
        if size <= len(data) - 8:
            right.append((ident, b"" if ident & REMOTE else data[8 : 8 + size]))
    assert found == right
    assert receiver.malformed == len(datagrams) - len(right)


def check_csv(case: tuple[str, Path]) -> None:
    text, folder = case
    file = folder / "fuzzed.csv"
    file.write_text("t,a,b\n" + text, encoding="utf-8")
    settings = FileSettings.model_validate(
        {"kind": "file", "path": file, "columns": {"a": {}, "b": {}}, "time": "t", "speed": 0}
    )
    recording, rows = CsvFile(settings), 0
    try:
        for block in recording.blocks():
            rows += len(block.ids)
            assert block.payload.shape == (len(block.ids), 16)
    except DriverError:
        return
    assert rows + recording.counts["malformed"] <= text.count("\n") + text.count("\r") + 1


@functools.cache
def written(suffix: str) -> bytes:
    """A file as python-can writes it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"written{suffix}")
        with can.Logger(str(file)) as logger:
            for number in range(30):
                data = bytes(number % 9)
                logger(can.Message(timestamp=1e9 + number / 100, arbitration_id=number, data=data, channel=1))
        return file.read_bytes()


def check_file(suffix: str) -> Callable[[tuple[list[tuple[int, bytes]], Path]], None]:
    def check(case: tuple[list[tuple[int, bytes]], Path]) -> None:
        changes, folder = case
        data = written(suffix)
        for at, piece in changes:
            at %= len(data) + 1
            data = data[:at] + piece + data[at + len(piece) :] if piece else data[:at]
        file = folder / f"fuzzed{suffix}"
        file.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for block in LogFile(file).blocks():
                    assert len(block.ids) == len(block.payload) == len(block.lengths) == len(block.times)
            except DriverError as error:
                assert str(file) in str(error)  # noqa: PT017 - most changes break nothing

    return check


CELLS = st.one_of(st.floats().map(repr), st.text('0123456789.-+eE," \t\rx', max_size=8))
RECORDS = st.one_of(
    st.builds(
        lambda ident, size, data: struct.pack("<IB3x8s", ident, size, data),
        st.integers(0, 2**32 - 1), st.integers(0, 9), st.binary(max_size=8),
    ),
    st.builds(
        lambda ident, size, data: struct.pack("<IB3x64s", ident, size, data),
        st.integers(0, 2**32 - 1), st.integers(0, 66), st.binary(max_size=64),
    ),
    st.binary(max_size=100),
)  # fmt: skip

CHECKS: dict[str, tuple[Callable[..., None], st.SearchStrategy[object]]] = {
    "slcan": (check_slcan, streams(slcan_line())),
    "candump": (check_candump, streams(log_line())),
    **{kind: (check_packets(kind), streams(packet(kind))) for kind in FRAMINGS},
    "records": (check_records, st.lists(RECORDS, max_size=20)),
}
FILES: dict[str, tuple[Callable[..., None], st.SearchStrategy[object]]] = {
    "csv": (check_csv, st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=20).map("\n".join)),
    **{
        suffix[1:]: (check_file(suffix), st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=6)), max_size=4))
        for suffix in (".blf", ".asc", ".trc")
    },
}
CHANGES = st.lists(
    st.tuples(st.integers(0, 2000), st.text('0123456789@|-+(),[]mM ";:_\n\0é', max_size=3)), min_size=1, max_size=4
)


FILES["dbc"] = (check_dbc, CHANGES)
NAMES = [*CHECKS, *FILES]


def fuzz(name: str, examples: int, folder: Path, seconds: float = 0.0) -> int:
    """Check so many examples, again until the time is over; returns how many there were."""
    check, cases = CHECKS.get(name) or FILES[name]
    if name in FILES:
        cases = st.tuples(cases, st.just(folder))
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    seen = 0

    same = not seconds  # each time: only a run for long draws anew

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=quiet, derandomize=same)
    @given(cases)
    def run(case: object) -> None:
        nonlocal seen
        seen += 1
        check(case)

    end = time.monotonic() + seconds
    run()
    while time.monotonic() < end:
        run()
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_no_stream_breaks_a_parser(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 60, tmp_path) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_stream_breaks_a_parser_for_long(name: str, tmp_path: Path) -> None:
    print(name, fuzz(name, 2000, tmp_path, FUZZ / len(NAMES)), "streams")
