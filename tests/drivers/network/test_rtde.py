"""RTDE: packages to readings, bit for bit; what the controller skips; what is said when it is not as expected.

The controller is the rig's; that it speaks RTDE is checked by `ur_rtde`, a client of other people (a process of its
own, since it holds the interpreter's lock while it connects).
"""

import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import randrange
from typing import Any

import numpy as np
import pytest

from daq.config.load import load
from drivers.base import LinkError, Wanted
from drivers.network.rtde import RtdeSettings
from drivers.testing import collect
from hil_rig.wire.network.rtde import TYPES, RtdeController, message
from tests.support.processes.answering import Answering

FIELDS = ["actual_q", "actual_current", "target_moment", "actual_TCP_pose", "speed_scaling"]


@pytest.fixture
def controller() -> Iterator[RtdeController]:
    made = RtdeController()
    yield made
    made.close()


@pytest.fixture
def answering(controller: RtdeController) -> Iterator[Answering]:
    made = Answering(controller.poll)
    yield made
    made.close()


def settings(controller: RtdeController, **more: Any) -> RtdeSettings:
    given = {"kind": "ur_rtde", "host": "127.0.0.1", "port": controller.port, "fields": FIELDS}
    return RtdeSettings.model_validate(given | more)


def any_doubles(seed: int, count: int) -> np.ndarray:
    """Doubles of every size, sign and exponent, finite."""
    bits = np.random.default_rng(seed).integers(0, 1 << 64, count, np.uint64, endpoint=False).view(np.float64)
    return np.where(np.isfinite(bits), bits, 1 / 3)


def test_every_value_is_the_one_that_was_sent_bit_by_bit_and_nothing_is_lost(
    controller: RtdeController, answering: Answering
) -> None:
    chosen = settings(controller)
    names = list(chosen.signals())
    wanted = [Wanted(place, name) for place, name in enumerate(names)]
    sent, count = [], 2000
    values = any_doubles(7, count * 25).reshape(count, 25)
    with chosen.open(wanted) as driver:
        parts = []
        for number, row in enumerate(values):
            stamp = number / 500
            with answering.lock:
                fields = {"actual_q": row[:6], "actual_current": row[6:12], "target_moment": row[12:18]}
                controller.send(
                    fields | {"actual_TCP_pose": row[18:24], "speed_scaling": row[24:], "timestamp": [stamp]}
                )
            by_name = {f"{joint}.timestamp": stamp for joint in (*chosen.joints, "robot", "tool")}
            for place, joint in enumerate(chosen.joints):
                for start, field in enumerate(FIELDS[:3]):
                    by_name[f"{joint}.{field}"] = row[6 * start + place]
            for place, axis in enumerate(("x", "y", "z", "rx", "ry", "rz")):
                by_name[f"tool.actual_TCP_pose_{axis}"] = row[18 + place]
            by_name["robot.speed_scaling"] = row[24]
            sent.append([by_name[name] for name in names])
            if number % 50 == 0:
                parts.append(driver.read(0.0))
        parts.append(collect(driver, count * len(names) - sum(map(len, parts))))
        counters = driver.counters()
    readings = np.concatenate(parts)
    got = np.full((count, len(names)), np.nan)
    row = np.cumsum(readings["channel"] == 0) - 1 if readings["channel"][0] == 0 else None
    assert row is not None
    got[row, readings["channel"]] = readings["value"]
    assert got.tobytes() == np.array(sent).tobytes()
    assert {name: amount for name, amount in counters.items() if amount} == {"frames": count}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 1000])
def test_packages_may_be_cut_anywhere(size: int) -> None:
    """A server that sends its bytes in pieces of any size."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        chosen = RtdeSettings.model_validate(
            {"kind": "ur_rtde", "host": "127.0.0.1", "port": server.getsockname()[1], "fields": ["actual_q"]}
        )
        answers = [b"\0\4V\1", message("hello") + struct.pack(">HBB", 19, ord("O"), 3) + b"DOUBLE,VECTOR6D"]
        data = b"".join(struct.pack(">HBB7d", 60, ord("U"), 3, n / 500, *(n + k for k in range(6))) for n in range(20))
        answers.append(b"\0\4S\1" + data)  # the first data come with the answer to the start

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for answer in answers:
                    connection.recv(4096)
                    for at in range(0, len(answer), size):
                        connection.sendall(answer[at : at + size])
                connection.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        with chosen.open([Wanted(0, "elbow.actual_q")]) as driver:
            readings = collect(driver, 20)
        thread.join()
    assert readings["value"].tolist() == [n + 2 for n in range(20)]


def test_what_the_controller_skips_shows_in_its_time_and_a_restart_too(
    controller: RtdeController, answering: Answering
) -> None:
    stamps = [0.0, 0.002, 0.004, 0.010, 0.012, 0.1, 0.102, 0.0, 0.002]  # 2 and 43 are missing; then it begins again
    with settings(controller).open([Wanted(0, "elbow.timestamp")]) as driver:
        for stamp in stamps:
            with answering.lock:
                controller.send({"timestamp": [stamp]})
        assert collect(driver, len(stamps))["value"].tolist() == stamps
        counters = driver.counters()
    assert (counters["lost"], counters["restarted"]) == (2 + 43, 1)


def test_it_asks_and_starts_and_sends_nothing_else(controller: RtdeController, answering: Answering) -> None:
    with settings(controller).open([Wanted(0, "elbow.actual_q")]) as driver:
        driver.read(0.05)
    assert controller.asked == ["V", "O", "S"]
    RtdeSettings.probe(f"127.0.0.1:{controller.port}", 0.1, {})
    assert set(controller.asked) <= {"V", "v", "O", "S"}, "no inputs (I), no data (U)"


def test_a_field_that_the_controller_lacks_is_named() -> None:
    old = RtdeController({name: kind for name, kind in TYPES.items() if name != "actual_current_as_torque"})
    answering = Answering(old.poll)
    try:
        driver = settings(old, fields=["actual_q", "actual_current_as_torque"]).open([])
        with pytest.raises(LinkError, match="this controller has no actual_current_as_torque: leave it out"):
            driver.__enter__()
    finally:
        answering.close()
        old.close()


def test_nobody_there_and_somebody_else_there_are_said(controller: RtdeController) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        driver = settings(controller, port=silent.getsockname()[1]).open([])
        with pytest.raises(LinkError, match="no answer within 1 s"):
            driver.__enter__()
        port = silent.getsockname()[1]
    with pytest.raises(LinkError, match="refused: is the controller on"):
        settings(controller, port=port).open([]).__enter__()


def test_doctor_proposes_what_the_controller_has(
    controller: RtdeController, answering: Answering, tmp_path: Path
) -> None:
    numbers = iter(range(1 << 20))

    def play() -> None:
        with answering.lock:
            controller.send({"timestamp": [next(numbers) / 500]})

    player = Answering(play)
    try:
        for _ in range(20):  # again where a thread got no processor in this time
            found = RtdeSettings.probe(f"127.0.0.1:{controller.port}", 0.5, {})
            if "500 Hz by their stamps" in found.said[-1]:
                break
    finally:
        player.close()
    assert "URControl 5.23.0.0; it has actual_q" in found.said[0]
    assert "500 Hz by their stamps, 0 skipped" in found.said[1]
    file = tmp_path / "proposed.toml"
    file.write_text(found.proposal)
    config = load(file)
    assert list(config.joints) == ["base", "shoulder", "elbow", "wrist1", "wrist2", "wrist3"]
    assert config.joints["elbow"].channels["torque"].signal == "ur.elbow.actual_current_as_torque"


CLIENT = """
import json, os, sys, time
import rtde_receive
client = rtde_receive.RTDEReceiveInterface(sys.argv[1], 500.0)
end = time.monotonic() + 60
while client.getTimestamp() < 0.1 and time.monotonic() < end:
    time.sleep(0.01)
print(json.dumps([client.getTimestamp(), client.getActualQ(), client.getActualCurrent()]), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(find_spec("rtde_receive") is None, reason="ur-rtde is not installed")
def test_a_client_of_other_people_reads_the_same_from_this_controller() -> None:
    # it knows no other port than 30004, so each run takes an address of its own
    host = f"127.{randrange(1, 255)}.{randrange(256)}.{randrange(1, 255)}"
    controller = RtdeController(address=(host, 30004))
    numbers = iter(range(1 << 20))

    def values(number: int) -> dict[str, list[float]]:
        return {
            "timestamp": [number / 500],
            "actual_q": [np.sin(number / 100 + k) for k in range(6)],
            "actual_current": [number / 3 + k for k in range(6)],
        }

    def play() -> None:
        if controller.poll():
            controller.send(values(next(numbers)))

    answering = Answering(play)
    try:
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, host], capture_output=True, text=True, timeout=120, check=False
        )
    finally:
        answering.close()
        controller.close()
    assert done.stdout, done.stderr
    stamp, q, current = json.loads(done.stdout)
    sent = values(round(stamp * 500))
    assert [stamp] == sent["timestamp"]
    assert stamp > 0
    # it may take the next package between two questions
    later = values(round(stamp * 500) + 1)
    assert q in (sent["actual_q"], later["actual_q"])
    assert current in (
        sent["actual_current"],
        later["actual_current"],
        values(round(stamp * 500) + 2)["actual_current"],
    )
