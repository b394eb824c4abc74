"""slcan text: against a line-by-line reader, fed three ways, with rubbish around."""

import re
from itertools import pairwise

import numpy as np
import pytest

from drivers.can.slcan import SlcanParser
from drivers.layout.frame import EXTENDED, REMOTE, Frames

SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64]
HEX = "[0-9a-fA-F]"


def pattern(short: str, long: str, code: str) -> re.Pattern[str]:
    ident = rf"(?:([{short}])([0-7]{HEX}{{2}})|([{long}])([01]{HEX}{{7}}))"
    return re.compile(rf"{ident}({code})((?:{HEX}{{2}})*)")


CLASSIC, FLEXIBLE = pattern("tr", "TRx", "[0-8]"), pattern("db", "DB", HEX)


def read_line(line: str) -> tuple[int, bytes] | None:
    """One line as the protocol's description has it, or None where it is no frame."""
    letter = line[:1]
    found = (CLASSIC if letter in "tTrRx" else FLEXIBLE).fullmatch(line)
    if not found or letter not in (found[1], found[3]):
        return None
    ident = int(found[2] or found[4], 16) | (EXTENDED if letter in "TRDBx" else 0)
    size = 0 if letter in "rR" else SIZES[int(found[5], 16)]
    data = bytes.fromhex(found[6])
    if len(data) not in (size, size + 2):  # a time stamp of two bytes may follow
        return None
    return ident | (REMOTE if letter in "rR" else 0), data[:size]


def unpacked(frames: Frames) -> list[tuple[int, bytes]]:
    return [(int(i), row[:n].tobytes()) for i, row, n in zip(frames.ids, frames.payload, frames.lengths, strict=True)]


def random_line(random: np.random.Generator) -> str:
    letter = str(random.choice(list("ttttTTxrRdDbB")))
    ident = f"{random.integers(0x20000000):08X}" if letter in "TRDBx" else f"{random.integers(0x800):03X}"
    code = int(random.integers(16 if letter in "dDbB" else 9))
    data = "" if letter in "rR" else random.bytes(SIZES[code]).hex()
    line = f"{letter}{ident}{code:X}{data}{'12cd' if random.integers(3) == 0 else ''}"
    damage = random.integers(12)
    at = int(random.integers(len(line)))
    if damage == 0:
        return line[:at] + line[at + 1 :]
    if damage == 1:
        return line[:at] + chr(random.integers(1, 128)).replace("\r", "!").replace("\a", "?") + line[at + 1 :]
    if damage == 2:
        return line + line
    return line


@pytest.mark.parametrize("seed", range(20))
def test_whole_byte_by_byte_or_in_pieces_as_read_line_by_line(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = [random_line(random) for _ in range(80)] + ["t" * 600, "t1231ff", "", "z", "V1013", "N12AB"]
    expected = [frame for line in lines if (frame := read_line(line)) is not None]
    assert len(expected) > 50
    malformed = sum(read_line(line) is None and bool(line) and line not in ("z", "V1013", "N12AB") for line in lines)
    stream = "\r".join(lines).encode() + b"\r\a\r"
    cuts = [0, *sorted(random.integers(0, len(stream), 15).tolist()), len(stream)]
    cut = [stream[a:b] for a, b in pairwise(cuts)]
    for pieces in ([stream], [bytes([byte]) for byte in stream], cut):
        parser = SlcanParser()
        assert [frame for piece in pieces for frame in unpacked(parser.feed(piece, 0))] == expected
        assert parser.counts == {"malformed": malformed}


def test_a_frame_cut_in_two_is_stamped_when_it_is_whole() -> None:
    parser = SlcanParser()
    assert len(parser.feed(b"t12321", 10).ids) == 0
    frames = parser.feed(b"1ab\rT1ABCDEF00\r", 20)
    assert unpacked(frames) == [(0x123, b"\x11\xab"), (0x1ABCDEF0 | EXTENDED, b"")]
    assert frames.times.tolist() == [20, 20]


def test_a_line_without_an_end_is_given_up_before_its_end_comes() -> None:
    parser = SlcanParser()
    parser.feed(b"t" * 200, 0)
    assert parser.counts == {"malformed": 1}
    parser.feed(b"t" * 10_000, 0)
    assert unpacked(parser.feed(b"tt\rt0011ee\r", 0)) == [(1, b"\xee")]
    assert parser.counts == {"malformed": 1}


def test_arbitrary_bytes_never_raise() -> None:
    random = np.random.default_rng(5)
    parser = SlcanParser()
    for _ in range(300):
        parser.feed(
            random.choice(np.frombuffer(b"tTrRdDbBzV0123456789abcdefF\r\r\r\a\xff\x00", np.uint8), 200).tobytes(), 0
        )
        parser.feed(random.bytes(50), 0)
    assert parser.counts["malformed"] > 100
    assert unpacked(parser.feed(b"\rt0011ee\r", 0))[-1] == (1, b"\xee")
