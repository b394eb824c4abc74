"""The ready layouts, on frames that real devices sent (or their documentation shows) and against ODrive's own DBC."""

import math
import re
import struct
from pathlib import Path
from typing import Any

import cantools.database
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from drivers.base import Wanted
from drivers.can.bus import CanBusSettings
from drivers.decode.decoder import Decoder
from drivers.layout.frame import Frames
from drivers.layout.ready import AnyLayout

DATA = Path(__file__).parents[4] / "shared/data/can"
REV = 2 * math.pi


def bus(**layout: Any) -> CanBusSettings:
    return CanBusSettings.model_validate({"kind": "can", "interface": "virtual", "channel": "x", "layouts": [layout]})


def decoded(settings: CanBusSettings, *given: tuple[int, bytes]) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Signal → its values in these frames, and the counters."""
    names = list(settings.signals())
    decoder = Decoder(settings.layout, [Wanted(channel, name) for channel, name in enumerate(names)])
    rows = bytearray(b"".join(data.ljust(64, b"\xee") for _, data in given))
    frames = Frames(
        np.array([ident for ident, _ in given], np.uint32),
        np.frombuffer(rows, np.uint8).reshape(-1, 64),
        np.array([len(data) for _, data in given]),
        np.arange(len(given)),
    )
    found: dict[str, list[float]] = {}
    for reading in decoder.decode(frames):
        found.setdefault(names[reading["channel"]].split(".")[1], []).append(float(reading["value"]))
    return found, {cause: count for cause, count in decoder.counts.items() if count}


def published(section: str) -> list[tuple[int, bytes]]:
    """Frames of one section of the collection of real ones."""
    file = DATA / "frames/real_frames_untimed.txt"
    if not file.exists():
        pytest.skip(f"needs the recorded frames {file}")
    text = file.read_text().split(f"# [{section}]")[1].split("\n# [")[0]
    lines = re.findall(r"can0\s+([0-9A-F]+)\s+\[\d\]\s*([0-9A-F ]*)$", text, re.MULTILINE)
    return [(int(ident, 16), bytes.fromhex(data)) for ident, data in lines]


def test_every_ready_layout_is_here() -> None:
    kinds = TypeAdapter(AnyLayout).json_schema()["discriminator"]["mapping"].keys()
    assert kinds == {"odrive", "mit", "cia402", "moteus"}
    text = (Path(__file__).parents[3] / "docs/layouts.md").read_text()
    for kind in kinds:
        assert f'kind = "{kind}"' in text


def test_odrive_is_as_in_its_own_dbc() -> None:
    file = DATA / "odrive/odrive-cansimple.dbc"
    if not file.exists():
        pytest.skip(f"needs the database {file}")
    database = cantools.database.load_file(file)
    settings = bus(kind="odrive", name="knee", node=3)
    data = struct.pack("<ff", 0.25, -1.5)
    for command, message, renamed in (
        (0x09, "Get_Encoder_Estimates", {"position": ("Pos_Estimate", REV), "velocity": ("Vel_Estimate", REV)}),
        (0x14, "Get_Iq", {"setpoint": ("Iq_Setpoint", 1.0), "measured": ("Iq_Measured", 1.0)}),
        (0x17, "Get_Bus_Voltage_Current", {}),
    ):
        theirs = database.get_message_by_name(f"Axis3_{message}")
        assert theirs.frame_id == 3 << 5 | command
        found, counts = decoded(settings, (theirs.frame_id, data))
        assert counts == {"frames": 1}
        expected = theirs.decode(data)
        for name, (original, scale) in renamed.items():
            assert found[name] == [pytest.approx(expected[original] * scale)]
    heartbeat = database.get_message_by_name("Axis3_Heartbeat")
    found, _ = decoded(settings, (heartbeat.frame_id, b"\x01\x02\x00\x00\x08\x00\x00\x80"))
    expected = heartbeat.decode(b"\x01\x02\x00\x00\x08\x00\x00\x80", decode_choices=False)
    assert (found["error"], found["state"]) == ([expected["Axis_Error"]], [expected["Axis_State"]])


def test_real_replies_of_damiao_motors() -> None:
    layout = {"kind": "mit", "name": "DM", "dialect": "damiao", "position": 12.5, "velocity": 30, "torque": 10}
    replies = [frame for frame in published("B") if 0x11 <= frame[0] <= 0x15]
    assert len(replies) == 5
    for number, (ident, data) in enumerate(replies, 1):
        found, counts = decoded(bus(**layout, id=ident, motors={"a": number, "b": 15}), (ident, data))
        assert counts == {"frames": 1}
        position, packed = struct.unpack_from(">HI", data[1:7], 0) if len(data) == 8 else (0, 0)
        velocity, torque = packed >> 20, packed >> 8 & 0xFFF
        assert found["a_position"] == [pytest.approx(25 * position / 65535 - 12.5)]
        assert found["a_velocity"] == [pytest.approx(60 * velocity / 4095 - 30)]
        assert found["a_torque"] == [pytest.approx(20 * torque / 4095 - 10)]
        assert abs(found["a_velocity"][0]) < 0.3  # the arm stood still
        assert abs(found["a_torque"][0]) < 0.3
        assert (found["a_temperature"], found["a_motor_temperature"]) == ([data[6]], [data[7]])
        assert 25 < data[6] < 35
        assert not any(name.startswith("b_") for name in found)


def test_several_mini_cheetah_motors_share_an_id() -> None:
    layout = bus(kind="mit", name="LEG", motors={"hip": 1, "knee": 2}, position=12.5, velocity=65, torque=18)
    found, counts = decoded(
        layout,
        (0, bytes.fromhex("01 ffff fff fff".replace(" ", ""))),
        (0, bytes.fromhex("02 0000 000 000".replace(" ", ""))),
        (0, bytes.fromhex("03 0000 000 000".replace(" ", ""))),
        (0, bytes.fromhex("01 ffff")),
    )
    assert counts == {"frames": 4, "truncated": 1}
    assert found == {
        "motor": [1, 2, 3],
        "hip_position": [pytest.approx(12.5)],
        "hip_velocity": [pytest.approx(65)],
        "hip_torque": [pytest.approx(18)],
        "knee_position": [pytest.approx(-12.5)],
        "knee_velocity": [pytest.approx(-65)],
        "knee_torque": [pytest.approx(-18)],
    }


def test_real_process_data_of_a_cia_402_drive() -> None:
    file = DATA / "frames/real_frames.log"
    if not file.exists():
        pytest.skip(f"needs the recorded frames {file}")
    sent = [(int(i, 16), bytes.fromhex(d)) for i, d in re.findall(r"can0 (\w+)#(\w+)", file.read_text())]
    settings = bus(
        kind="cia402",
        name="x",
        node=5,
        pdos={"1": ["statusword", "position", "mode"], "2": ["velocity", "torque"]},
        counts_per_rev=65536,
        rated_torque=2.0,
    )
    found, counts = decoded(settings, *sent)
    assert counts == {"frames": 4, "unmatched": 1}  # what the master sent
    assert found["statusword"] == [0x0250] * 2
    assert found["position"] == [pytest.approx(745 * REV / 65536)] * 2
    assert found["mode"] == [8, 0]  # cyclic synchronous position, then none
    assert found["velocity"] == [0]
    assert found["torque"] == [pytest.approx(-7 / 1000 * 2.0)]


def test_a_statusword_alone_and_a_second_encoder() -> None:
    settings = bus(kind="cia402", name="x", node=2, pdos={"1": ["statusword"]}, counts_per_rev=1)
    found, _ = decoded(settings, *[frame for frame in published("F") if frame[0] == 0x182])
    assert found["statusword"] == [0x0740, 0x0721, 0x0723, 0x0737]  # switched off … operation enabled
    settings = bus(
        kind="cia402",
        name="x",
        node=2,
        pdos={"3": ["second_position", "position"], "4": ["second_velocity", "current"]},
        counts_per_rev=65536,
        second_counts_per_rev=524288,
        rated_current=8.5,
    )
    found, _ = decoded(settings, (0x382, struct.pack("<ii", -524288, 32768)), (0x482, struct.pack("<ih", 262144, -500)))
    assert found["second_position"] == [pytest.approx(-REV)]
    assert found["position"] == [pytest.approx(REV / 2)]
    assert found["second_velocity"] == [pytest.approx(REV / 2)]
    assert found["current"] == [pytest.approx(-4.25)]


REPLY = [
    {"type": "int16", "registers": ["mode", "position", "velocity", "torque"]},
    {"type": "int8", "registers": ["voltage", "temperature", "fault"]},
]


def test_the_documented_reply_of_moteus() -> None:
    settings = bus(kind="moteus", name="leg", node=1, reply=REPLY)
    data = bytes.fromhex("2404000a005000000170ff230d181400")
    found, _ = decoded(settings, (0x100, data))
    named = {name: values for name, values in found.items() if not name.startswith("format")}
    assert named == {
        "mode": [10],
        "position": [pytest.approx(math.radians(2.88))],
        "velocity": [pytest.approx(math.radians(23.04))],
        "torque": [pytest.approx(-1.44)],
        "voltage": [12],
        "temperature": [20],
        "fault": [0],
    }
    no_value = bytearray(data)
    no_value[5:7] = b"\x00\x80"
    found, counts = decoded(settings, (0x100, bytes(no_value)))
    assert math.isnan(found["position"][0])
    assert counts == {"frames": 1, "invalid": 1}


def test_a_reply_to_another_query_is_not_taken_for_this_one() -> None:
    settings = bus(kind="moteus", name="leg", node=1, reply=REPLY)
    found, _ = decoded(settings, (0x100, bytes.fromhex("2404010a005000000170ff230d181400")))
    assert found.keys() == {"format0"}
    found, _ = decoded(settings, (0x100, bytes.fromhex("2404000a005000000170ff230c181400")))
    assert found.keys() == {"format0", "mode", "position", "velocity", "torque", "format1"}


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({"kind": "odrive", "name": "a", "node": 64}, "less than or equal to 63"),
        (
            {"kind": "mit", "name": "a", "motors": {"x": 1, "y": 1}, "position": 1, "velocity": 1, "torque": 1},
            "its own",
        ),
        (
            {"kind": "cia402", "name": "a", "node": 1, "pdos": {"5": ["mode"]}, "counts_per_rev": 1},
            "'1', '2', '3' or '4'",
        ),
        (
            {"kind": "cia402", "name": "a", "node": 1, "pdos": {"1": ["second_position"]}, "counts_per_rev": 1},
            "needs second_counts_per_rev",
        ),
        (
            {"kind": "moteus", "name": "a", "node": 1, "reply": [{"type": "int8", "registers": ["speed"]}]},
            "found speed",
        ),
        (
            {"kind": "moteus", "name": "a", "node": 1, "reply": [{"type": "int8", "registers": ["mode", "torque"]}]},
            "registers that follow each other",
        ),
        ({"kind": "odrve"}, "does not match any of the expected tags"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(layout: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        bus(**layout)
    assert said in str(refused.value)


def test_two_devices_on_one_id_are_refused() -> None:
    with pytest.raises(
        ValidationError,
        match=r'layout "b" \(odrive\), found node 0, which speaks under ids of the layout "a" \(odrive, node 0\): 0x1',
    ):
        CanBusSettings.model_validate(
            {
                "kind": "can",
                "interface": "virtual",
                "channel": "x",
                "layouts": [{"kind": "odrive", "name": name, "node": 0} for name in "ab"],
            }
        )
