"""`jointwatch doctor` on real wires: slcan and serial devices on ptys, a multicast bus; and on a host's files."""

import json
import os
import re
import threading
import time
import tomllib
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import can
import numpy as np
import pytest

from daq.__main__ import main
from daq.commands.doctor.bus import GuessedField, fields, nominal
from daq.commands.doctor.bus import load as bus_load
from daq.commands.doctor.host import BAD, GOOD, NOTE, WARN, host, serial_port
from daq.commands.doctor.losses import CAUSES, losses, tell_causes
from daq.commands.doctor.proposal import port_proposal
from daq.config.load import load
from drivers.can.bus_errors import CAUSES as BUS_CAUSES
from drivers.decode import decoder as decode
from drivers.layout.frame import EXTENDED, Frames
from drivers.serial import deframer as deframe
from drivers.serial.deframer import Deframer
from drivers.serial.packets import Framing, encode, layout
from drivers.serial.port import SerialPortSettings
from estimators.alignment.clock_state import Totals


def state(number: int) -> bytes:
    """Position i32, current i16, counter u16: the template's frame."""
    position, current = round(400_000 * np.sin(number * 0.02)), round(900 * np.cos(number * 0.017))
    return np.array([position], "<i4").tobytes() + np.array([current, number % 65536], "<i2").tobytes()


@contextmanager
def pty(say: Callable[[int], bytes], rate: float = 500.0) -> Iterator[str]:
    """A device on a pseudo-terminal that says its words at a rate, Hz, until it is left."""
    master, slave = os.openpty()
    tty.setraw(master)
    tty.setraw(slave)
    os.set_blocking(master, False)
    done = threading.Event()

    def talk() -> None:
        begin, number = time.monotonic(), 0
        while not done.wait(0.002):
            while number < (time.monotonic() - begin) * rate:
                try:
                    os.write(master, say(number))
                except BlockingIOError:
                    break
                number += 1
            with suppress(BlockingIOError):
                os.read(master, 4096)

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        yield os.ttyname(slave)
    finally:
        done.set()
        talker.join()
        os.close(master)
        os.close(slave)


def slcan_line(number: int) -> bytes:
    text = b"t1818" + state(number).hex().upper().encode() + b"\r"
    return text + (b"T1ABCDEF02AA55\r" if number % 10 == 0 else b"")


def test_an_unknown_bus_is_described_and_a_configuration_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pty(slcan_line) as port:
        words = ["doctor", "--interface", "slcan", "--channel", port, "--bitrate", "1000000", "--seconds", "1.2"]
        for _ in range(10):  # where a thread got no processor: once more
            capsys.readouterr()
            code = main(words)
            out, err = capsys.readouterr()
            if code == 0 and "0x181: 8 bytes" in err and "i16_4" in out and "counter_6" in out:
                break
        assert code == 0, err
        rates: list[float] = []
        while not rates or (not 350 < rates[-1] < 650 and len(rates) < 20):
            assert main([*words, "--json", "--explain"]) == 0
            found = json.loads(capsys.readouterr().out)
            rates += [one["rate"] for one in found["ids"] if one["id"] == 0x181]
    assert "load" in err
    assert "0x181: 8 bytes" in err
    assert "0x1abcdefx: 2 bytes" not in err  # 0x1ABCDEF0
    (tmp_path / "c.toml").write_text(out)
    config = load(tmp_path / "c.toml")
    assert {"ID_181.i32_0", "ID_181.i16_4", "ID_181.counter_6"} <= set(config.drivers["bus"].signals())
    joint = config.joints["joint1"]
    assert joint.channels["position"].signal == "bus.ID_181.i32_0"
    assert joint.counter is not None
    ids = {(one["id"], one["extended"]): one for one in found["ids"]}
    assert set(ids) == {(0x181, False), (0x1ABCDEF0, True)}
    assert ids[0x181, False]["rate"] == pytest.approx(500, rel=0.3)
    assert ids[0x181, False]["frames"] / ids[0x1ABCDEF0, True]["frames"] == pytest.approx(10, rel=0.1)
    assert ids[0x1ABCDEF0, True]["moving"] == []


def test_a_configured_bus_is_judged_by_what_its_joints_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    with pty(slcan_line) as port:
        text = template.replace("/dev/ttyACM0", port).replace("rate = 1000.0 ", "rate = 2000.0 ")
        text += '\n[[drivers.bus.frames]]\nname = "FAR"\nid = 0x300\nsignals.torque = { start = 0, bits = 16 }\n'
        text = text.replace("bus.STATE.current", "bus.FAR.torque")
        frames = text[text.index('\n[[drivers.bus.frames]]\nname = "FAR"') :]
        text = text.replace(frames, "").replace("# A serial line", frames + "# A serial line")
        (tmp_path / "c.toml").write_text(text)
        for _ in range(10):  # where a thread got no processor: once more
            assert main(["doctor", str(tmp_path / "c.toml"), "--seconds", "1", "--explain"]) == 1
            err = capsys.readouterr().err
            if "bus.STATE.position: moves, -0." in err and "configured are 2000 Hz" in err:
                break
    assert "elbow.torque: bus.FAR.torque is not received" in err
    assert "elbow.position: comes at" in err
    assert "but 2000 Hz are configured" in err
    assert "unmatched = " in err
    assert "bus.STATE.position: moves, -0." in err


@pytest.mark.parametrize(
    ("counts", "given", "told"),
    [
        (1534, "", (NOTE, "steps of 0.0015 rad want a kernel of half_width = 0.13 s, and get it")),
        (1534, "conditioning = { half_width = 0.02 }", (WARN, "half_width = 0.13 s would do")),
        (6, "", None),
    ],
)
def test_an_encoder_that_was_seen_to_be_too_coarse_is_a_finding(
    counts: int, given: str, told: tuple[str, str] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts of a microradian that come in steps: 1534 are 12 bits a turn, 6 are 20."""

    def steps(number: int) -> bytes:
        position = counts * round(400_000 * np.sin(number * 0.02) / counts)
        return b"t1818" + (np.array([position], "<i4").tobytes() + state(number)[4:]).hex().upper().encode() + b"\r"

    template = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    with pty(steps) as port:
        text = template.replace("/dev/ttyACM0", port)
        text = text.replace("rate = 1000.0 ", f"{given}\nrate = 1000.0 ")
        (tmp_path / "c.toml").write_text(text)
        for _ in range(10):  # it sees little where it had no processor for most of its second
            main(["doctor", str(tmp_path / "c.toml"), "--seconds", "1", "--json"])
            found = json.loads(capsys.readouterr().out)["findings"]
            mine = [one for one in found if one["subject"] == "elbow.position" and "steps of" in one["text"]]
            if mine or told is None:
                break
    assert [one["level"] for one in mine] == ([] if told is None else [told[0]]), found
    assert told is None or told[1] in mine[0]["text"]


def test_each_unsound_message_of_a_dbc_is_named_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its faults are those of public databases: what overlaps, does not fit, stands on two ids, or stands twice."""
    messages = {
        "BO_ 1 GOOD: 8 X": ['q : 0|8@1+ (1,0) [0|0] "deg" X', 'tau : 8|8@1+ (1,0) [0|0] "Nm" X'],
        "BO_ 2 OVERLAP: 8 X": ['a : 0|8@1+ (1,0) [0|0] "" X', 'b : 7|8@1+ (1,0) [0|0] "" X'],
        "BO_ 3 SHORT: 1 X": ['a : 4|8@1+ (1,0) [0|0] "" X'],
        "BO_ 4 TWICE: 1 X": ['a : 0|8@1+ (1,0) [0|0] "" X'],
        "BO_ 5 TWICE: 1 X": ['a : 0|8@1+ (1,0) [0|0] "" X'],
    }
    lines = [line for message, signals in messages.items() for line in (message, *(f" SG_ {one}" for one in signals))]
    (tmp_path / "arm.dbc").write_text("\n".join(['VERSION ""', "BU_: X", *lines, ""]))
    text = """
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "nobody"
dbc = "arm.dbc"
[joints.knee]
rate = 1000
model = { kind = "rigid" }
channels.position = { signal = "bus.GOOD.q" }
channels.torque = { signal = "bus.GOOD.tau" }
"""
    (tmp_path / "c.toml").write_text(text)
    assert main(["doctor", str(tmp_path / "c.toml"), "--seconds", "0.2"]) == 1
    err = capsys.readouterr().err
    assert "bus.OVERLAP: left out: The signals b and a are overlapping in message OVERLAP" in err
    assert "bus.SHORT: left out: The signal a does not fit in message SHORT" in err
    assert "bus.TWICE: left out: the name stands on 2 ids: say TWICE@0x4, TWICE@0x5" in err
    assert "bus.GOOD: left out" not in err


def test_an_unknown_serial_line_is_described_and_a_configuration_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def packet(number: int) -> bytes:
        fields = np.array([3.0 * np.sin(number * 0.02), np.cos(number * 0.03)], "<f4").tobytes()
        return encode(7, number % 65536, fields) + (encode(9, number, b"\x01\x00") if number % 5 == 0 else b"")

    with pty(packet) as port:
        for _ in range(10):  # where a thread got no processor: once more
            code = main(["doctor", "--port", port, "--baudrate", "1000000", "--seconds", "1"])
            out, err = capsys.readouterr()
            if code == 0 and "packet 9: 2 bytes of fields" in err and "f32_4" in out:
                break
    assert code == 0, err
    assert "packet 7: 8 bytes of fields" in err
    assert "packet 9: 2 bytes of fields" in err
    (tmp_path / "c.toml").write_text(out + JOINT)
    assert {"PACKET_7.f32_0", "PACKET_7.f32_4", "PACKET_9.u8_0"} <= set(
        load(tmp_path / "c.toml").drivers["port"].signals()
    )


@pytest.mark.parametrize(
    "framing",
    [
        {},
        {"kind": "slip", "checksum": "crc16-modbus"},
        {"kind": "hdlc", "checksum": "crc8-j1850", "sequence": "u8"},
        {"kind": "slip", "sequence": "none", "order": "big"},
        {"kind": "cobs", "id": False, "sequence": "none", "checksum": "sum8"},
        {"kind": "hdlc", "id": False, "sequence": "u16", "order": "big"},
    ],
)
def test_other_framings_are_found(framing: dict[str, object], tmp_path: Path) -> None:
    given = Framing.model_validate(framing)
    angle = 1000 * np.sin(np.arange(300) * 0.05)
    fields = np.stack([angle, angle[::-1], 3 * angle], 1).astype("<i2")
    text = b"".join(encode(5, number, row.tobytes(), given) for number, row in enumerate(fields))
    found, _, proposal = port_proposal("/dev/ttyUSB7", 115200, text[7:], 1.0)
    assert [one["length"] - given.head for one in found] == [6]
    assert given.kind in proposal or given == Framing()
    file = tmp_path / "c.toml"
    file.write_text(proposal)
    settings = SerialPortSettings.model_validate(tomllib.loads(file.read_text())["drivers"]["port"])
    packets = Deframer(layout(settings.packets, settings.framing).lengths, settings.framing)
    assert len(packets.feed(text, 0).ids) == 300


JOINT = """
[joints.a]
rate = 500
model = { kind = "rigid" }
channels.position = { signal = "port.PACKET_7.f32_0" }
channels.torque = { signal = "port.PACKET_7.f32_4" }
"""


def test_a_line_that_speaks_otherwise_and_one_that_is_silent_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pty(lambda number: b"12.5,13.7\r\n") as port:
        for _ in range(10):  # where a thread got no processor: once more
            code = main(["doctor", "--port", port, "--seconds", "0.3"])
            out, err = capsys.readouterr()
            if code == 0 and "no COBS" in err:
                break
    assert code == 0, err
    assert (out, "no COBS, SLIP or HDLC packets" in err) == ("", True)
    with pty(lambda number: b"") as port:
        assert main(["doctor", "--port", port, "--seconds", "0.3"]) == 1
        assert "no byte in 0.3 s" in capsys.readouterr().err
        assert main(["doctor", "--interface", "slcan", "--channel", port, "--seconds", "0.3"]) == 1
        assert "no frame in 0.3 s" in capsys.readouterr().err
    assert main(["doctor", "--interface", "slcan", "--channel", "/dev/ttyNONE"]) == 1
    assert "there is no such port" in capsys.readouterr().err


def test_a_multicast_bus(capsys: pytest.CaptureFixture[str]) -> None:
    done = threading.Event()

    def talk() -> None:
        with can.Bus("239.74.163.11", interface="udp_multicast", port=43113) as bus:
            number = 0
            while not done.wait(0.005):
                bus.send(can.Message(arbitration_id=0x201, data=state(number), is_extended_id=False))
                number += 1

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        words = ["doctor", "--interface", "udp_multicast", "--channel", "239.74.163.11", "--seconds", "0.5", "--json"]
        for _ in range(10):  # where a thread got no processor: once more
            code, out = main(words), capsys.readouterr().out
            if code == 0:
                break
    finally:
        done.set()
        talker.join()
    assert code == 0
    found = json.loads(out)
    assert [one["id"] for one in found["ids"]] == [0x201]


def bits(count: int) -> np.ndarray:
    return np.array([np.frombuffer(state(number), np.uint8) for number in range(count)])


def test_fields_are_guessed_from_what_is_smooth() -> None:
    assert fields(bits(300)) == [
        GuessedField("i32_0", 0, 32, "signed", False, False),
        GuessedField("i16_4", 4, 16, "signed", False, False),
        GuessedField("counter_6", 6, 16, "unsigned", False, True),
    ]
    n = np.arange(200)
    pair = np.stack([np.sin(n * 0.05), 20 * np.cos(n * 0.03)], 1).astype(">f4").view(np.uint8).reshape(200, 8)
    assert [(one.byte, one.kind, one.motorola) for one in fields(pair)] == [(0, "float", True), (4, "float", True)]
    shorts = np.stack([1000 * np.sin(n * 0.05), 90 * np.cos(n * 0.03), n % 7 * 0], 1).astype("<i2")
    text = np.concatenate([shorts.view(np.uint8).reshape(200, 6), (n % 256).astype(np.uint8)[:, None]], 1)
    assert [(one.byte, one.bits, one.counter) for one in fields(text)] == [(0, 16, False), (2, 16, False), (6, 8, True)]
    assert fields(np.random.default_rng(1).integers(0, 256, (300, 8), dtype=np.uint8)) == []
    assert fields(np.zeros((300, 8), np.uint8)) == []


def test_load_is_that_of_the_standard() -> None:
    """135 bits: the longest classic standard frame (Davis, Burns et al. 2007, eq. 1: 8·8 + 47 + ⌊(34 + 64 − 1)/4⌋)."""
    frames = Frames(
        np.array([1, EXTENDED | 1], np.uint32), np.zeros((2, 8), np.uint8), np.array([8, 8]), np.zeros(2, np.int64)
    )
    bare, stuffed = bus_load(frames, 1.0, 1000)
    assert bare == pytest.approx((111 + 131) / 1000)
    assert stuffed == pytest.approx((135 + 160) / 1000)
    assert [nominal(one) for one in (998.0, 251.0, 333.3, 12.6, 0.0)][:4] == [1000, 250, 333, 12.5]


def test_load_of_flexible_frames_counts_both_rates() -> None:
    """Fields of ISO 11898-1:2015 one by one: a standard and an extended id, 64 and 8 bytes."""
    ids = np.array([1, EXTENDED | 1], np.uint32)
    frames = Frames(ids, np.zeros((2, 64), np.uint8), np.array([64, 8]), np.zeros(2, np.int64))
    ending = (1 + 1) + 7 + 3  # acknowledgement and its delimiter, end of frame, interframe space
    arbitration = np.array([1 + 11 + 1 + 1 + 1 + 1 + 1, 1 + 11 + 1 + 1 + 18 + 1 + 1 + 1 + 1])  # SOF … BRS
    quick = np.array([1 + 4 + 512 + (4 + 21) + 7 + 1, 1 + 4 + 64 + (4 + 17) + 6 + 1])  # ESI … CRC delimiter
    slow = (arbitration + ending).sum()
    assert bus_load(frames, 1.0, 1000)[0] == pytest.approx((slow + quick.sum()) / 1000)
    bare, stuffed = bus_load(frames, 2.0, 1000, 4000)
    assert bare == pytest.approx((slow / 1000 + quick.sum() / 4000) / 2)
    most = [(17 - 1) // 4, (36 - 1) // 4, (17 + 5 + 512 - 1) // 4, (36 + 5 + 64 - 1) // 4]
    early = sum(most[:2])
    assert stuffed == pytest.approx(bare + (early / 1000 + (sum(most[2:]) - early) / 4000) / 2)


def test_every_cause_that_a_driver_counts_has_plain_words() -> None:
    others = {"silent", "malformed", "dropped", "own_frames", "restamped", "other_channels"}
    assert {*decode.CAUSES, *deframe.CAUSES, *others} - CAUSES.keys() == set()


def test_every_loss_that_the_guide_names_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "acquisition.md").read_text(encoding="utf-8")
    section = page.split("## Every loss has a name")[1].split("\n## ")[0]
    table = "".join(line for line in section.splitlines() if line.startswith("|"))
    names = set(re.findall(r"`(\w+)`", table))
    assert names >= {"dropped", "bus_off", "unmatched", "readings_lost_total", *(one.name for one in Totals.fields())}
    assert names - CAUSES.keys() - BUS_CAUSES.keys() == set()
    tell_causes()
    told = capsys.readouterr().err
    assert {name for name in names if not re.search(rf"^ +{name}: \w.*", told, re.MULTILINE)} == set()
    assert {name for name, (meaning, remedy) in CAUSES.items() if not meaning or not remedy} == set()


def a_host(root: Path, rmem: int, clock: str) -> Path:
    for path, text in {
        "proc/sys/net/core/rmem_max": str(rmem),
        "sys/devices/system/clocksource/clocksource0/current_clocksource": clock,
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
        "sys/bus/usb-serial/devices/ttyUSB3/latency_timer": "16",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_what_the_host_lacks_is_said_with_its_remedy(tmp_path: Path) -> None:
    poor = {one.subject: one for one in host(a_host(tmp_path / "poor", 212992, "hpet"))}
    assert [poor[name].level for name in ("socket queue", "clock source")] == [WARN, WARN]
    assert "554 frames, 69 ms" in poor["socket queue"].text
    assert "sysctl -w net.core.rmem_max=8388608" in poor["socket queue"].remedy
    assert "clocksource=tsc" in poor["clock source"].remedy
    rich = {one.subject: one.level for one in host(a_host(tmp_path / "rich", 8388608, "tsc"))}
    assert rich == {"socket queue": GOOD, "clock source": GOOD}
    assert list(host(tmp_path / "nothing")) == []


def test_a_port_that_sits_on_its_bytes_or_is_not_ours_is_said(tmp_path: Path) -> None:
    root = a_host(tmp_path, 212992, "tsc")
    port = tmp_path / "dev" / "ttyUSB3"
    port.parent.mkdir()
    port.touch()
    found = {one.text: one for one in serial_port(str(port), root)}
    assert "latency_timer" in found["latency_timer = 16 ms"].remedy
    missing = list(serial_port(str(tmp_path / "dev" / "ttyUSB4"), root))
    assert [one.level for one in missing] == [BAD]
    assert str(port) in missing[0].text
    if os.geteuid() != 0:
        port.chmod(0)
        [refused] = serial_port(str(port), root)
        assert "usermod -aG" in refused.remedy


def test_what_a_bus_carries_is_no_loss() -> None:
    """A warning said "busy_us = 332889:", and nothing else."""
    assert list(losses("wire", {"frames": 3000, "packets": 2, "busy_us": 332_889})) == []
    (found,) = losses("wire", {"frames": 3000, "lost": 2})
    assert found.text == "lost = 2: frames missing by their counter"
