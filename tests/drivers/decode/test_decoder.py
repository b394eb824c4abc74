"""Batch decoding against cantools, over random layouts and payloads; order, multiplexers and counted losses."""

from pathlib import Path

import cantools
import numpy as np
import pytest
from cantools.database.can import Database, Message, Signal
from cantools.database.conversion import BaseConversion

from drivers.base import Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, FrameLayout, Frames
from drivers.layout.frame import Signal as LayoutSignal

LAYOUTS = 250


def frames(*given: tuple[int, bytes], times: list[int] | None = None) -> Frames:
    width = max([8, *(len(payload) for _, payload in given)])
    rows = b"".join(payload.ljust(width, b"\xa5") for _, payload in given)
    return Frames(
        np.array([one for one, _ in given], np.uint32),
        np.frombuffer(rows, np.uint8).reshape(-1, width),
        np.array([len(payload) for _, payload in given], np.int64),
        np.array(times if times is not None else range(len(given)), np.int64),
    )


def bits_of(start: int, length: int, order: str) -> list[int]:
    """Walk from the start bit as the DBC's saw-tooth numbering does."""
    walked = [start]
    while len(walked) < length:
        here = walked[-1]
        walked.append(here + 1 if order == "little_endian" else here - 1 if here % 8 else here + 15)
    return walked


class RandomBus:
    """Messages with random signals that do not overlap, some of them multiplexed, written as a DBC."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.messages: list[Message] = []
        for number in range(self.random.integers(1, 5)):
            extended = bool(self.random.integers(2))
            ident = int(self.random.integers(0x1FFF_FFFF if extended else 0x7FF))
            if (ident, extended) not in [(m.frame_id, m.is_extended_frame) for m in self.messages]:
                self.messages.append(self.message(f"M{number}", ident, extended))
        self.database = Database(self.messages)

    def message(self, name: str, ident: int, extended: bool) -> Message:
        length = int(self.random.choice([1, 2, 3, 5, 8, 8, 8, 12, 24, 64]))
        free = set(range(8 * length))
        signals: list[Signal] = []
        if length > 1 and self.random.integers(3) == 0:
            selector = self.signal("SELECTOR", length, free, plain=int(self.random.integers(1, 4)), is_multiplexer=True)
            signals.append(selector)
            left = set(free)
            for value in range(1 << min(2, selector.length)):
                here = set(left)
                mux = {"multiplexer_ids": [value], "multiplexer_signal": "SELECTOR"}
                count = self.random.integers(1, 4)
                signals += [self.signal(f"X{value}_{number}", length, here, **mux) for number in range(count)]
                free &= here
        signals += [self.signal(f"S{number}", length, free) for number in range(self.random.integers(1, 9))]
        placed = [one for one in signals if one is not None]
        return Message(ident, name, length, placed, is_extended_frame=extended, is_fd=length > 8)

    def signal(self, name: str, length: int, free: set[int], plain: int = 0, **multiplexing: object) -> Signal | None:
        for _ in range(30):
            is_float = not plain and self.random.integers(5) == 0
            bits = plain or int(self.random.choice([32, 64]) if is_float else self.random.integers(1, 65))
            order = ("little_endian", "big_endian")[self.random.integers(2)]
            start = int(self.random.integers(8 * length))
            where = bits_of(start, bits, order)
            if free.issuperset(where):
                free.difference_update(where)
                scale, offset = (1, 0) if plain else (float(self.random.choice([1, 0.5, -0.001, 3])), 7.25)
                return Signal(
                    name,
                    start,
                    bits,
                    order,
                    bool(not plain and self.random.integers(2)),
                    conversion=BaseConversion.factory(scale, offset, is_float=is_float),
                    **multiplexing,
                )
        if plain:
            raise AssertionError("an empty message has room for a selector")
        return None

    def traffic(self, count: int) -> list[tuple[Message, bytes]]:
        chosen = self.random.integers(len(self.messages), size=count)
        return [(self.messages[i], self.random.bytes(self.messages[i].length)) for i in chosen]


@pytest.mark.parametrize("block", range(5))
def test_random_layouts_decode_as_cantools_does(block: int, tmp_path: Path) -> None:
    compare(range(block * LAYOUTS // 5, (block + 1) * LAYOUTS // 5), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_layouts_decode_as_cantools_does(block: int, tmp_path: Path) -> None:
    """.venv/bin/python -m pytest -m slow tests/drivers/decode/test_decoder.py"""
    compare(range(1000 * (block + 1), 1000 * (block + 2)), tmp_path)


def compare(seeds: range, tmp_path: Path) -> None:
    compared = 0
    for seed in seeds:
        bus = RandomBus(seed)
        file = tmp_path / f"{seed}.dbc"
        file.write_text(bus.database.as_dbc_string(), encoding="cp1252")
        layout = from_dbc(file, {}, limits=False)
        file.unlink()
        names = sorted(layout.signals)
        assert names == sorted(f"{m.name}.{s.name}" for m in bus.messages for s in m.signals)
        traffic = bus.traffic(20)
        given = [(m.frame_id | (EXTENDED if m.is_extended_frame else 0), payload) for m, payload in traffic]
        decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(names)])
        readings = decoder.decode(frames(*given))
        assert (np.diff(readings["time"]) >= 0).all()
        found = {(int(r["time"]), names[r["channel"]]): float(r["value"]) for r in readings}
        assert len(found) == len(readings)
        for time, (message, payload) in enumerate(traffic):
            delivered = {name: value for (when, name), value in found.items() if when == time}
            try:
                expected = message.decode(payload, decode_choices=False)
            except cantools.database.DecodeError:  # a selector value without signals
                assert all(message.get_signal_by_name(n.split(".")[1]).multiplexer_ids is None for n in delivered)
                continue
            assert delivered.keys() == {f"{message.name}.{name}" for name in expected}
            for name, value in expected.items():
                wanted = float(value) if np.isfinite(float(value)) else np.nan
                np.testing.assert_allclose(delivered[f"{message.name}.{name}"], wanted, rtol=1e-12, atol=1e-12)
                compared += 1
    assert compared > 2000


NESTED = """VERSION ""
BU_: X
BO_ 100 M: 8 X
 SG_ A M : 0|4@1+ (1,0) [0|0] "" X
 SG_ B m1M : 4|4@1+ (1,0) [0|0] "" X
 SG_ C m2 : 8|8@1+ (1,0) [0|0] "" X
 SG_ D m7 : 8|8@1- (1,0) [0|0] "" X
 SG_ E : 16|8@1+ (1,0) [0|0] "" X
SG_MUL_VAL_ 100 B A 1-1, 3-4;
SG_MUL_VAL_ 100 C B 2-2, 5-6;
SG_MUL_VAL_ 100 D A 7-7;
"""


def test_nested_multiplexers_with_ranges(tmp_path: Path) -> None:
    file = tmp_path / "nested.dbc"
    file.write_text(NESTED)
    layout = from_dbc(file, {}, limits=False)
    names = list(layout.signals)
    decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(names)])
    for first in range(256):
        a, b = first & 15, first >> 4
        expected = {"M.A": a, "M.E": 9}
        if a in (1, 3, 4):
            expected["M.B"] = b
            if b in (2, 5, 6):
                expected["M.C"] = 200
        if a == 7:
            expected["M.D"] = 200 - 256
        readings = decoder.decode(frames((100, bytes([first, 200, 9, 0, 0, 0, 0, 0]))))
        assert {names[r["channel"]]: r["value"] for r in readings} == expected, first


WORD = FrameLayout(
    {0x10: 2, 0x10 | EXTENDED: 2, 0x11: 8},
    {
        "STANDARD.word": LayoutSignal(0x10, 0, 16),
        "EXTENDED.word": LayoutSignal(0x10 | EXTENDED, 0, 16),
        "FLOAT.value": LayoutSignal(0x11, 0, 32, kind="float"),
        "FLOAT.marked": LayoutSignal(0x11, 32, 16, kind="signed", invalid=0x8000, low=-1000, high=1000),
    },
)


def test_every_loss_is_counted_by_cause() -> None:
    decoder = Decoder(WORD, [Wanted(1, "STANDARD.word"), Wanted(2, "EXTENDED.word")])
    readings = decoder.decode(
        frames(
            (0x10, b"\x01\x00"),
            (0x10 | EXTENDED, b"\x02\x00\xff"),
            (0x10, b"\x03"),  # truncated
            (0x12, b"\x04\x00"),  # unmatched
            (0x11 | EXTENDED, b"\x05\x00"),  # unmatched: the standard id is known, the extended is not
            (0x10 | REMOTE, b""),
            (0x20 | ERROR, bytes(8)),
            (0x11, bytes(8)),  # known, nothing wanted of it
        )
    )
    assert readings[["channel", "value"]].tolist() == [(1, 1.0), (2, 2.0)]
    counts = {cause: count for cause, count in decoder.counts.items() if count}
    assert counts == {"frames": 8, "truncated": 1, "unmatched": 2, "remote_frames": 1, "error_frames": 1}


def test_marks_limits_and_what_is_not_finite_become_nan_and_are_counted_once() -> None:
    decoder = Decoder(WORD, [Wanted(0, "FLOAT.value", scale=2.0, offset=1.0), Wanted(1, "FLOAT.marked")])
    rows = [
        (1.5, 1000),
        (float("nan"), -1000),
        (float("inf"), 1001),
        (-float("inf"), -32768),
    ]
    batch = frames(*((0x11, np.float32(v).tobytes() + np.int16(m).tobytes() + b"\0\0") for v, m in rows))
    values = decoder.decode(batch)["value"].reshape(-1, 2)
    np.testing.assert_array_equal(values[:, 0], [4.0, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(values[:, 1], [1000, -1000, np.nan, np.nan])
    assert (decoder.counts["non_finite"], decoder.counts["out_of_range"], decoder.counts["invalid"]) == (3, 1, 1)


def test_a_batch_comes_out_in_order_of_time_with_each_frames_signals_together() -> None:
    decoder = Decoder(WORD, [Wanted(4, "FLOAT.marked"), Wanted(7, "STANDARD.word"), Wanted(9, "FLOAT.value")])
    batch = frames((0x10, b"\1\0"), (0x11, bytes(8)), (0x10, b"\2\0"), (0x11, bytes(8)), times=[30, 10, 10, 20])
    readings = decoder.decode(batch)
    assert readings["time"].tolist() == [10, 10, 10, 20, 20, 30]
    assert readings["channel"].tolist() == [4, 9, 7, 4, 9, 7]  # equal times: in order of arrival


def test_cutting_a_batch_anywhere_changes_nothing() -> None:
    random = np.random.default_rng(3)
    wanted = [Wanted(channel, name) for channel, name in enumerate(WORD.signals)]
    ids = random.choice([0x10, 0x11, 0x10 | EXTENDED, 0x99], 200)
    batch = frames(*((int(one), random.bytes(random.integers(0, 9))) for one in ids))
    whole, single = Decoder(WORD, wanted), Decoder(WORD, wanted)
    together = whole.decode(batch)
    apart = np.concatenate([single.decode(Frames(*(part[i : i + 1] for part in batch))) for i in range(200)])
    np.testing.assert_array_equal(together.view("V24"), apart.view("V24"))
    assert whole.counts == single.counts


def test_one_signal_can_feed_two_channels_and_nothing_wanted_gives_nothing() -> None:
    both = Decoder(WORD, [Wanted(1, "STANDARD.word", 2.0), Wanted(0, "STANDARD.word", 1.0, -1.0)])
    assert both.decode(frames((0x10, b"\5\0")))[["channel", "value"]].tolist() == [(1, 10.0), (0, 4.0)]
    assert len(Decoder(WORD, []).decode(frames((0x10, b"\5\0")))) == 0
    assert len(both.decode(frames())) == 0


def test_scale_and_offset_of_a_channel_come_behind_those_of_the_signal() -> None:
    layout = FrameLayout({0x10: 1}, {"F.s": LayoutSignal(0x10, 0, 8, scale=0.25, offset=-40.0)})
    decoder = Decoder(layout, [Wanted(0, "F.s", scale=-2.0, offset=0.5)])
    values = decoder.decode(frames((0x10, b"\x00"), (0x10, b"\xa4")))["value"]
    assert values.tolist() == [80.5, -2.0 * (0.25 * 0xA4 - 40.0) + 0.5]
