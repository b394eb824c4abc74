"""Layouts: real DBC files, tables, units; and what is said of one that cannot be used."""

import math
from pathlib import Path

import cantools
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from drivers import AnyDriver
from drivers.base import LayoutError, Wanted
from drivers.can.bus import CanBusSettings
from drivers.decode.decoder import Decoder
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import Frames
from drivers.units import QuantitySettings

DATA = Path(__file__).parents[3] / "../shared/data/can"
ODRIVE = DATA / "odrive/odrive-cansimple.dbc"
MOTEC = DATA / "motec/sample_can_spec.dbc"
LOG = DATA / "motec/can_sample.log"
needs_data = pytest.mark.skipif(not MOTEC.exists(), reason=f"real CAN data not found under {DATA}")


def settings(**changes: object) -> CanBusSettings:
    plain = {"kind": "can", "interface": "virtual", "channel": "layout"}
    found: CanBusSettings = TypeAdapter(AnyDriver).validate_python(plain | changes)
    return found


def signal(start: int = 0, bits: int = 16, **changes: object) -> dict[str, object]:
    return {"start": start, "bits": bits} | changes


def frame(name: str = "AXIS", ident: int = 0x181, **changes: object) -> dict[str, object]:
    return {"name": name, "id": ident, "signals": {"position": signal()}} | changes


@needs_data
def test_the_real_log_decodes_as_with_cantools_and_every_other_frame_is_counted() -> None:
    lines = [line.split()[2].split("#") for line in LOG.read_text().splitlines()]
    database = cantools.database.load_file(MOTEC)
    units = {"m/s": 1, "m/s/s": 1, "rad/s": 1, "deg": math.pi / 180, "%": 0.01, "rpm": math.pi / 30, "C": 1}
    names = {
        f"{m.name}.{s.name}": units.get(s.unit or "", {"kPa": 1000, "": 1}.get(s.unit or ""))
        for m in database.messages
        for s in m.signals
        if s.unit != "litre"
    }
    payloads = [bytes.fromhex(data) for _, data in lines]
    batch = Frames(
        np.array([int(ident, 16) for ident, _ in lines], np.uint32),
        np.frombuffer(b"".join(p.ljust(8, b"\0") for p in payloads), np.uint8).reshape(-1, 8),
        np.array([len(p) for p in payloads], np.int64),
        np.arange(len(lines), dtype=np.int64),
    )
    decoder = Decoder(from_dbc(MOTEC, {}, limits=False), [Wanted(i, name) for i, name in enumerate(names)])
    readings = decoder.decode(batch)
    assert (decoder.counts["frames"], decoder.counts["unmatched"], decoder.counts["truncated"]) == (82558, 44543, 0)
    known = {message.frame_id: message for message in database.messages}
    expected = [
        (time, channel, message.decode(payload, decode_choices=False)[signal.name] * factor)
        for time, ((ident, _), payload) in enumerate(zip(lines, payloads, strict=True))
        if (message := known.get(int(ident, 16))) is not None
        for channel, (name, factor) in enumerate(names.items())
        for signal in message.signals
        if name == f"{message.name}.{signal.name}"
    ]
    assert len({time for time, _, _ in expected}) <= 38015
    np.testing.assert_array_equal(readings["time"], [time for time, _, _ in expected])
    np.testing.assert_array_equal(readings["channel"], [channel for _, channel, _ in expected])
    np.testing.assert_allclose(readings["value"], [value for _, _, value in expected], rtol=1e-12)


@needs_data
def test_the_real_odrive_layout_in_si() -> None:
    driver = settings(dbc=ODRIVE)
    position, velocity = "Axis3_Get_Encoder_Estimates.Pos_Estimate", "Axis3_Get_Encoder_Estimates.Vel_Estimate"
    assert driver.signals()[position] == "rad"
    assert driver.signals()[velocity] == "rad/s"
    assert driver.signals()["Axis3_Get_Iq.Iq_Measured"] == "A"
    count = "Axis3_Get_Encoder_Count.Shadow_Count"
    assert count not in driver.signals()
    with pytest.raises(LayoutError, match=rf'"{count}" cannot be used: unit "counts" needs counts_per_rev'):
        driver.check([Wanted(0, count)])
    told = settings(dbc=ODRIVE, corrections={count: {"counts_per_rev": 8192, "type": "signed"}})
    assert told.signals()[count] == "rad"
    decoder = Decoder(from_dbc(ODRIVE, told.corrections, False), [Wanted(0, position, 1 / 9), Wanted(1, count)])
    payloads = np.array([0.25, -2.0], "<f4").tobytes(), np.array([-4096, 5], "<i4").tobytes()
    batch = Frames(
        np.array([(3 << 5) | 0x9, (3 << 5) | 0xA], np.uint32),
        np.frombuffer(b"".join(payloads), np.uint8).reshape(2, 8),
        np.array([8, 8]),
        np.array([1, 2]),
    )
    np.testing.assert_allclose(decoder.decode(batch)["value"], [math.pi / 18, -math.pi], rtol=1e-15)


@pytest.mark.parametrize(
    ("quantity", "value", "si"),
    [
        ({"unit": "deg"}, 180, (math.pi, "rad")),
        ({"unit": "turns"}, 0.5, (math.pi, "rad")),
        ({"unit": "rpm"}, 60, (2 * math.pi, "rad/s")),
        ({"unit": "rev/s^2"}, 1, (2 * math.pi, "rad/s²")),
        ({"unit": "counts", "counts_per_rev": 4096}, 1024, (math.pi / 2, "rad")),
        ({"unit": "counts/s", "counts_per_rev": 4096}, 1024, (math.pi / 2, "rad/s")),
        ({"unit": "mA"}, 1500, (1.5, "A")),
        ({"unit": "%"}, 50, (0.5, "1")),
        ({"unit": "permille", "rated": 3.2, "rated_unit": "Nm"}, 500, (1.6, "N·m")),
        ({"unit": "%", "rated": 4000, "rated_unit": "mA"}, 25, (1.0, "A")),
        ({"unit": "mm"}, 3, (0.003, "m")),
        ({"unit": "μm"}, 3, (3e-6, "m")),  # Greek letter, not the micro sign
        ({"unit": "N*m"}, 2, (2, "N·m")),
        ({"unit": "m/s/s"}, 2, (2, "m/s²")),
        ({"unit": "°C"}, 40, (40, "°C")),
        ({"unit": "K"}, 273.15, (0, "°C")),
        ({"unit": "°F"}, 212, (100, "°C")),
        ({}, 7, (7, "1")),
    ],
)
def test_units_in_si(quantity: dict[str, object], value: float, si: tuple[float, str]) -> None:
    unit, factor, offset = QuantitySettings(**quantity).conversion("")
    assert (pytest.approx(factor * value + offset, abs=1e-12), unit) == si


def test_a_table_says_the_same_as_a_dbc(tmp_path: Path) -> None:
    table = settings(
        frames=[
            frame(
                extended=True,
                signals={
                    "position": signal(7, 24, order="motorola", type="signed", scale=0.5, unit="deg"),
                    "torque": signal(24, 16, type="signed", unit="permille", rated=40, rated_unit="Nm", invalid=-32768),
                    "load": signal(40, 8, scale=0.4, unit="%", maximum=100),
                },
            )
        ]
    )
    assert table.signals() == {"AXIS.position": "rad", "AXIS.torque": "N·m", "AXIS.load": "1"}
    assert table._layout.lengths == {0x181 | 0x8000_0000: 6}  # just enough, as none is given
    batch = Frames(
        np.full(2, 0x181 | 0x8000_0000, np.uint32),
        np.frombuffer(bytes.fromhex("ffff38 18fc fa") + bytes.fromhex("000168 0080 fb"), np.uint8).reshape(2, 6),
        np.full(2, 6),
        np.arange(2),
    )
    decoder = Decoder(table._layout, [Wanted(i, name) for i, name in enumerate(table.signals())])
    expected = [math.radians(-100), -40, 1.0, math.radians(180), np.nan, np.nan]
    np.testing.assert_allclose(decoder.decode(batch)["value"], expected)
    assert (decoder.counts["invalid"], decoder.counts["out_of_range"]) == (1, 1)


def test_a_dbc_stands_beside_the_configuration_and_survives_the_way_to_another_process(tmp_path: Path) -> None:
    (tmp_path / "arm.dbc").write_text('VERSION ""\nBU_: X\nBO_ 5 M: 8 X\n SG_ S : 0|8@1+ (1,0) [0|9] "deg" X\n')
    plain = {"kind": "can", "interface": "virtual", "channel": "x", "dbc": "arm.dbc"}
    found: CanBusSettings = TypeAdapter(AnyDriver).validate_python(plain, context={"folder": tmp_path})
    assert found.signals() == {"M.S": "rad"}
    assert CanBusSettings.model_validate_json(found.model_dump_json()).signals() == found.signals()
    believing = TypeAdapter(AnyDriver).validate_python(plain | {"limits": True}, context={"folder": tmp_path})
    assert (found._layout.signals["M.S"].high, believing._layout.signals["M.S"].high) == (math.inf, pytest.approx(9))


def test_an_unknown_signal_gets_the_nearest_name() -> None:
    driver = settings(frames=[frame()])
    with pytest.raises(LayoutError, match=r'unknown signal "AXIS.positon", did you mean "AXIS.position"\?'):
        driver.check([Wanted(0, "AXIS.position"), Wanted(1, "AXIS.positon")])
    with pytest.raises(LayoutError, match=r'"A\.B".*; .*"C\.D"'):
        driver.open([Wanted(0, "A.B"), Wanted(1, "C.D")])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "expected either dbc or frames and layouts, found none"),
        ({"dbc": "x.dbc", "frames": [frame()]}, "expected either dbc or frames and layouts, found both"),
        ({"dbc": "/no/such.dbc"}, "expected a readable DBC file, found /no/such.dbc: No such file"),
        ({"dbc": "/tmp"}, "expected a DBC file of at most 50 MB, found something else at /tmp"),
        ({"frames": [frame(), frame("OTHER")]}, "every frame name and id once, found the id 0x181 twice"),
        ({"frames": [frame(), frame(ident=2)]}, "every frame name and id once, found the name AXIS twice"),
        ({"frames": [frame(ident=0x800)]}, "Standard frame id 0x800 is more than 11 bits"),
        ({"frames": [frame(length=1)]}, "position does not fit in message AXIS"),
        ({"frames": [frame(signals={"p": signal(), "q": signal(15, 8)})]}, "signals q and p are overlapping"),
        ({"frames": [frame(signals={"p": signal(unit="dge")})]}, 'unknown unit "dge", did you mean "deg"?'),
        ({"frames": [frame(signals={"p": signal(unit="counts")})]}, 'unit "counts" needs counts_per_rev'),
        ({"frames": [frame(signals={"p": signal(unit="A", counts_per_rev=5)})]}, "goes with the unit"),
        ({"frames": [frame(signals={"p": signal(unit="%", rated=5)})]}, "rated and rated_unit together"),
        ({"frames": [frame(signals={"p": signal(unit="%", rated=5, rated_unit="Nmx")})]}, 'unknown rated_unit "Nmx"'),
        ({"frames": [frame(signals={"p": signal(unit="A", rated=5, rated_unit="A")})]}, "rated goes with the units"),
        ({"frames": [frame(signals={"p": signal(bits=24, type="float")})]}, "a float of 16, 32 or 64 bits, found 24"),
        ({"frames": [frame(signals={"p": signal(invalid=65536)})]}, "an invalid marker of 16 bits, found 65536"),
        (
            {"frames": [frame(signals={"p": signal(500, 16)})]},
            "expected at most 64 bytes in a frame, found signals up to byte 65",
        ),
        ({"frames": [frame()], "corrections": {"AXIS.position": {}}}, "corrections and messages only with a DBC"),
        ({"frames": [frame()], "interface": "slcanx"}, 'unknown interface "slcanx", did you mean "slcan"?'),
        ({"frames": [frame()], "interface": "socketcan", "bitrate": 500000}, "the host sets the bitrate of socketcan"),
        ({"frames": [frame()], "listen_only": True}, "virtual cannot be set to keep silent"),
        ({"frames": [frame()], "options": {"bitrate": 5}}, "expected bitrate as keys of the driver"),
        ({"frames": [frame()], "bitrat": 5}, "Extra inputs are not permitted"),
    ],
)
def test_bad_settings_are_refused_with_what_was_expected_and_found(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        settings(**changes)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\x00\x01 rubbish", "expected a valid DBC file"),
        ('BO_ 1 A: 8 X\n SG_ S : 0|8@1+ (1,0) "" X\n', "expected a valid DBC file"),
        ("BO_ 4096 A: 8 X\n", "Standard frame id 0x1000 is more than 11 bits in message A"),
    ],
)
def test_a_bad_dbc_is_refused_with_its_reason(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.dbc"
    file.write_text(text if "rubbish" in text else f'VERSION ""\nBU_: X\n{text}')
    with pytest.raises(ValidationError, match=said):
        settings(dbc=file)


UNSOUND = """\
VERSION ""
BU_: X
BO_ 1 GOOD: 8 X
 SG_ S : 0|8@1+ (1,0) [0|0] "deg" X
BO_ 2 OVERLAP: 8 X
 SG_ S : 0|8@1+ (1,0) [0|0] "" X
 SG_ T : 4|8@1+ (1,0) [0|0] "" X
BO_ 3 SHORT: 1 X
 SG_ S : 4|8@1+ (1,0) [0|0] "" X
BO_ 1 SECOND: 8 X
 SG_ S : 0|8@1+ (1,0) [0|0] "" X
BO_ 16 TWICE: 8 X
 SG_ S : 0|8@1+ (2,0) [0|0] "" X
BO_ 17 TWICE: 8 X
 SG_ S : 0|8@1+ (3,0) [0|0] "" X
"""


def test_what_is_sound_in_a_dbc_is_taken_and_the_rest_is_named_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "unsound.dbc"
    file.write_text(UNSOUND)
    layout = from_dbc(file, {}, False)
    assert layout.units() == {"GOOD.S": "rad", "TWICE@0x10.S": "1", "TWICE@0x11.S": "1"}
    assert [layout.signals[f"TWICE@{one}.S"].scale for one in ("0x10", "0x11")] == [2, 3]
    assert sorted(layout.lengths) == [1, 16, 17]
    assert dict(layout.unsound) == {
        "OVERLAP": "The signals T and S are overlapping in message OVERLAP",
        "SHORT": "The signal S does not fit in message SHORT",
        "SECOND": "its id 0x1 is already that of GOOD",
        "TWICE": "the name stands on 2 ids: say TWICE@0x10, TWICE@0x11",
    }
    driver = settings(dbc=file)
    driver.check([Wanted(0, "GOOD.S"), Wanted(1, "TWICE@0x11.S")])
    with pytest.raises(LayoutError, match=r'"OVERLAP\.T" cannot be used: .* overlapping.*"TWICE\.S" .* say TWICE@0x10'):
        driver.check([Wanted(0, "OVERLAP.T"), Wanted(1, "TWICE.S")])
    with pytest.raises(ValidationError, match='message "SHORT" cannot be used: The signal S does not fit'):
        settings(dbc=file, messages={"SHORT": {"timeout": 1}})


def test_a_message_said_twice_counts_once_and_a_degree_sign_is_one_in_any_encoding(tmp_path: Path) -> None:
    text = 'VERSION ""\nBU_: X\n' + 'BO_ 1 A: 8 X\n SG_ S : 0|8@1+ (1,0) [0|0] "°C" X\n' * 2
    for encoding in ("utf-8", "cp1252"):
        (tmp_path / f"{encoding}.dbc").write_bytes(text.encode(encoding))
        layout = from_dbc(tmp_path / f"{encoding}.dbc", {}, False)
        assert layout.units() == {"A.S": "°C"}
        assert dict(layout.unsound) == {"A": "it is there twice: the first is used"}
        layout.check([Wanted(0, "A.S")])


def test_a_dbc_may_hold_what_nobody_wants_but_not_deliver_it(tmp_path: Path) -> None:
    file = tmp_path / "odd.dbc"
    signals = 'FUEL : 0|8@1+ (1,0) [0|0] "furlong"', 'SERIAL : 8|72@1+ (1,0) [0|0] ""', 'S : 80|8@1+ (1,0) [0|0] ""'
    text = "".join(f" SG_ {one} X\n" for one in signals)
    file.write_text(f'VERSION ""\nBU_: X\nBO_ 1 A: 16 X\n{text}')
    driver = settings(dbc=file)
    assert driver.signals() == {"A.S": "1"}
    with pytest.raises(LayoutError, match=r'unknown unit "furlong".*corrections\."A\.FUEL".*at most 64 bits, found 72'):
        driver.check([Wanted(0, "A.FUEL"), Wanted(1, "A.SERIAL")])
    with pytest.raises(ValidationError, match=r'unknown signal "A\.FUELS", did you mean "A\.FUEL"'):
        settings(dbc=file, corrections={"A.FUELS": {"unit": "1"}})
    with pytest.raises(ValidationError, match=r'"A\.S" cannot be used as corrected: expected a float of 16, 32 or 64'):
        settings(dbc=file, corrections={"A.S": {"type": "float"}})
