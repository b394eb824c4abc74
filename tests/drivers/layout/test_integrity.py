"""Counters, checksums and time-outs of frames: against independent libraries, with frames lost, damaged and late."""

import logging
from pathlib import Path
from typing import Any

import cantools.autosar
import numpy as np
import pytest
from crccheck.crc import Crc8Maxim, Crc8SaeJ1850, Crc16CcittFalse, Crc16Modbus, Crc16Xmodem, CrcBase
from pydantic import ValidationError

from drivers.base import LayoutError, Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.can_frames import FrameSettings, from_table
from drivers.layout.checksum import CHECKSUMS, compute
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import Frames
from drivers.layout.integrity import GuardSettings


def settings(**guard: Any) -> FrameSettings:
    signals = {
        "value": {"start": 0, "bits": 16},
        "count": {"start": 16, "bits": 8},
        "nibble": {"start": 24, "bits": 4},
        "sum": {"start": 56, "bits": 8},
        "wide": {"start": 47, "bits": 16, "order": "motorola"},
    }
    return FrameSettings.model_validate({"name": "AXIS", "id": 0x10, "length": 8, "signals": signals} | guard)


def decoder(**guard: Any) -> Decoder:
    return Decoder(from_table([settings(**guard)]), [Wanted(0, "AXIS.value")])


def frames(*payloads: bytes, times: list[int] | None = None) -> Frames:
    rows = np.frombuffer(bytearray(b"".join(payloads)), np.uint8).reshape(-1, 8)
    stamps = np.array(times if times is not None else range(len(payloads)), np.int64)
    return Frames(np.full(len(payloads), 0x10, np.uint32), rows, np.full(len(payloads), 8), stamps)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("crc8-j1850", Crc8SaeJ1850),
        ("crc8-maxim", Crc8Maxim),
        ("crc16-ccitt", Crc16CcittFalse),
        ("crc16-modbus", Crc16Modbus),
        ("crc16-xmodem", Crc16Xmodem),
    ],
)
def test_the_checksums_are_those_of_another_library(name: str, reference: type[CrcBase]) -> None:
    random = np.random.default_rng(0)
    for size in range(1, 40):
        data = random.bytes(size)
        assert compute(name, data) == reference.calc(data)


def test_the_plain_ones() -> None:
    assert compute("sum8", b"\x80\x90\x01") == 0x11
    assert compute("xor8", b"\x80\x90\x01") == 0x11
    assert compute("crc8-h2f", b"123456789") == 0xDF  # check value of the catalogue


def test_autosars_end_to_end_profiles_as_cantools_has_them() -> None:
    for value in range(50):
        payload = bytes([0, value % 16, *np.random.default_rng(value).bytes(6)])
        crc = cantools.autosar.compute_profile2_crc(payload, 0x37)
        second = compute("crc8-h2f", payload[1:] + bytes([0x37]))
        assert crc == second
        crc = cantools.autosar.compute_profile5_crc(payload, 0x1234)
        assert crc == compute("crc16-ccitt", payload[2:] + bytes([0x34, 0x12]))


@pytest.mark.parametrize("kind", sorted(CHECKSUMS))
@pytest.mark.parametrize("suffix", [(), (0x37, 0x12)])
def test_a_frame_with_any_wrong_bit_is_refused(kind: str, suffix: tuple[int, ...]) -> None:
    wide = CHECKSUMS[kind].bits == 16
    where = slice(5, 7) if wide else slice(7, 8)
    check = decoder(checksum={"signal": "wide" if wide else "sum", "kind": kind, "suffix": suffix})
    payload = bytearray(b"\x01\x02\x03\x04\x05\x06\x07\x08")
    del payload[where]
    right = compute(kind, bytes(payload) + bytes(suffix)).to_bytes(where.stop - where.start, "big")
    payload[where.start : where.start] = right
    assert check.decode(frames(bytes(payload)))["value"].tolist() == [0x201]
    for bit in range(64):
        wrong = bytearray(payload)
        wrong[bit // 8] ^= 1 << bit % 8
        assert len(check.decode(frames(bytes(wrong)))) == 0
    assert (check.counts["bad_checksum"], check.counts["frames"]) == (64, 65)


def test_gaps_of_the_counter_are_lost_frames() -> None:
    one = decoder(counter="count")
    counted = [bytes([0, 0, count % 256, 0, 0, 0, 0, 0]) for count in (250, 251, 254, 255, 256, 260, 260, 3, 4)]
    for cut in (3, 4):
        one.decode(frames(*counted[:cut]))
        one.decode(frames(*counted[cut:]))
        assert one.counts["lost"] == 2 + 3
        assert one.counts["restarted"] == 2  # stood still, went back
        one = decoder(counter="count")


def test_a_narrow_counter_loses_up_to_its_range() -> None:
    one = decoder(counter="nibble")
    one.decode(frames(*(bytes([0, 0, 0, count % 16, 0, 0, 0, 0]) for count in (0, 1, 15, 16, 31))))
    assert (one.counts["lost"], one.counts["restarted"]) == (13 + 14, 0)


def test_a_silent_frame_is_counted_and_named_once(caplog: pytest.LogCaptureFixture) -> None:
    one = decoder(timeout=0.5)
    second = 1_000_000_000
    with caplog.at_level(logging.WARNING, "jointwatch"):
        for now in range(0, 3 * second, second // 20):
            if now <= second or now > 2 * second:
                one.decode(frames(bytes(8), times=[now + 1]))
            one.watch(now + 2)
    assert one.counts["silent"] == 1
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert said[0].startswith("AXIS has been silent for 0.")
    assert said[1] == "AXIS is heard again"


def test_who_sends_nothing_but_damaged_frames_is_silent() -> None:
    one = decoder(timeout=0.5, checksum={"signal": "sum", "kind": "sum8"})
    for now in range(0, 2_000_000_000, 50_000_000):
        one.decode(frames(bytes(7) + b"\x01", times=[now + 1]))
        one.watch(now + 2)
    assert (one.counts["silent"], one.counts["bad_checksum"]) == (1, 40)


def test_a_frame_that_never_comes_is_named(caplog: pytest.LogCaptureFixture) -> None:
    one = decoder(timeout=0.5)
    with caplog.at_level(logging.WARNING, "jointwatch"):
        for tenth in range(1, 10):
            one.watch(tenth * 100_000_000)
    assert one.counts["silent"] == 1
    assert "AXIS has been silent" in caplog.text


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        ({"counter": "cuont"}, 'unknown signal "cuont" in AXIS, did you mean "count"?'),
        ({"checksum": {"signal": "sum", "kind": "crc16-ccitt"}}, "whole bytes, 16 bits, for the checksum crc16-ccitt"),
        ({"checksum": {"signal": "nibble", "kind": "sum8"}}, "whole bytes, 8 bits"),
        ({"checksum": {"signal": "sum", "kind": "crc32"}}, "Input should be 'sum8'"),
        ({"timeout": 0}, "greater than 0"),
    ],
)
def test_a_guard_that_cannot_be_is_refused(guard: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        settings(**guard)
    assert said in str(refused.value)


DBC = """VERSION ""
BU_: X
BO_ 16 AXIS: 8 X
 SG_ value : 0|16@1+ (1,0) [0|0] "" X
 SG_ alive : 16|4@1+ (1,0) [0|0] "" X
 SG_ sum : 56|8@1+ (1,0) [0|0] "" X
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
BA_DEF_ SG_ "GenSigFuncType" ENUM "NoFunction","Counter","Checksum";
BA_DEF_DEF_ "GenMsgCycleTime" 0;
BA_DEF_DEF_ "GenSigFuncType" "NoFunction";
BA_ "GenMsgCycleTime" BO_ 16 50;
BA_ "GenSigFuncType" SG_ 16 alive 1;
BA_ "GenSigFuncType" SG_ 16 sum 2;
"""


def test_a_fast_frame_is_waited_for_a_tenth_of_a_second_and_of_two_counters_none_is_known(tmp_path: Path) -> None:
    file = tmp_path / "guarded.dbc"
    file.write_text(DBC.replace("BO_ 16 50;", "BO_ 16 10;").replace("sum 2;", "sum 1;"))
    found = from_dbc(file, {}, False).guards[16]
    assert (found.counter, found.timeout) == (None, 100_000_000)


def test_a_dbc_names_counter_and_cycle_time_and_the_configuration_the_checksum(tmp_path: Path) -> None:
    file = tmp_path / "guarded.dbc"
    file.write_text(DBC)
    found = from_dbc(file, {}, False).guards[16]
    assert found.counter is not None
    assert (found.counter.start, found.modulo, found.timeout, found.checksum) == (16, 16, 250_000_000, "")
    given = {"AXIS": GuardSettings.model_validate({"checksum": {"signal": "sum", "kind": "sum8"}, "timeout": 2})}
    layout = from_dbc(file, {}, False, given)
    assert (layout.guards[16].checksum, layout.guards[16].start, layout.guards[16].timeout) == ("sum8", 7, 2 * 10**9)
    check = Decoder(layout, [Wanted(0, "AXIS.value")])
    good = [bytes([1, 0, alive, 0, 0, 0, 0, 1 + alive]) for alive in (0, 1, 4)]
    assert len(check.decode(frames(*good, bytes([1, 0, 5, 0, 0, 0, 0, 0])))) == 3
    assert (check.counts["lost"], check.counts["bad_checksum"]) == (2, 1)
    with pytest.raises(LayoutError, match='unknown message "AXES", did you mean "AXIS"'):
        from_dbc(file, {}, False, {"AXES": GuardSettings()})
