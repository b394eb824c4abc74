"""Joint states of ROS 2 over zenoh: another session publishes what rosbags serialised, by way of a router."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed (pip install jointwatch[zenoh])")
pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")

import zenoh
import zenoh.ext as zext
from rosbags import typesys

from daq.config.load import load
from drivers.base import LinkError, Wanted
from drivers.network import zenoh_topic
from drivers.network.ros2_zenoh import ZenohSettings
from drivers.network.zenoh_topic import MessageNumber, key_of, message_number
from drivers.testing import collect
from hil_rig.ports import free_port
from hil_rig.wire.network.ros2_zenoh import attachment, joint_state
from tests.support.processes.answering import Answering
from tests.support.processes.waiting import wait_until

JOINTS = [f"joint_{number}" for number in range(1, 8)]
# as `ros2` of Jazzy declares it; https://github.com/ros2/rmw_zenoh/issues/479 has the form
KEY = "3/arm/joint_states/sensor_msgs::msg::dds_::JointState_/RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f1"
STORE = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
GID = bytes(range(16))


def rosbags_message(stamp: int, names: list[str], *columns: Any, big: bool = False) -> bytes:
    types = STORE.types
    head = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), "base_link")
    message = types["sensor_msgs/msg/JointState"](head, names, *(np.array(one, float) for one in columns))
    return bytes(STORE.serialize_cdr(message, "sensor_msgs/msg/JointState", little_endian=not big))


def unlabelled(number: int, gid: bytes = GID) -> bytes:
    """As rmw_zenoh writes it since 0.2.4, by zenoh's own serialiser."""
    return zext.z_serialize((zext.Int64(number), zext.Int64(time.time_ns()), gid)).to_bytes()


def labelled(number: int, gid: bytes = GID) -> bytes:
    """As rmw_zenoh wrote it up to 0.2.3."""
    values = ("sequence_number", zext.Int64(number), "source_timestamp", zext.Int64(time.time_ns()), "source_gid", gid)
    return zext.z_serialize(values).to_bytes()


def session(mode: str, place: str, endpoint: str, more: dict[str, str] | None = None) -> Any:
    config = zenoh.Config()
    config.insert_json5("mode", json.dumps(mode))
    config.insert_json5(f"{place}/endpoints", json.dumps([endpoint]))
    config.insert_json5("scouting/multicast/enabled", "false")
    for name, value in (more or {}).items():
        config.insert_json5(name, json.dumps(value))
    return zenoh.open(config)


class Robot:
    """A router, and a session of its own that publishes through it."""

    def __init__(self, more: dict[str, str] | None = None, login: dict[str, str] | None = None) -> None:
        self.endpoint = f"tcp/127.0.0.1:{free_port()}"
        self.more = more
        self.router = session("router", "listen", self.endpoint, more)
        self.client = session("client", "connect", self.endpoint, login)
        self.publish(zenoh.CongestionControl.BLOCK)

    def publish(self, congestion: zenoh.CongestionControl) -> None:
        """Waiting for a router that is busy, or as rmw_zenoh does: dropping what that does not take at once."""
        self.publisher = self.client.declare_publisher(KEY, congestion_control=congestion)

    def settings(self, **more: Any) -> ZenohSettings:
        given = {"kind": "zenoh", "router": self.endpoint, "domain": 3, "topic": "/arm/joint_states", "joints": JOINTS}
        return ZenohSettings.model_validate(given | more)

    def matched(self) -> None:
        end = time.monotonic() + 60
        while not self.publisher.matching_status.matching:
            assert time.monotonic() < end, "there is no subscriber"
            time.sleep(0.001)

    def close(self) -> None:
        self.client.close()
        self.router.close()


@pytest.fixture
def robot() -> Iterator[Robot]:
    made = Robot()
    yield made
    made.close()


@pytest.mark.parametrize(("attach", "big"), [(unlabelled, False), (labelled, True)])
def test_every_value_is_the_one_that_was_sent_bit_by_bit(
    robot: Robot, attach: Callable[[int], bytes], big: bool
) -> None:
    """Seven joints at 1 kHz for a second, each number any double, from either edition of rmw_zenoh."""
    count = 1000
    bits = np.random.default_rng(3).integers(0, 1 << 64, (count, 3, 7), np.uint64).view(np.float64)
    values = np.where(np.isfinite(bits), bits, 1 / 3)
    wanted = [Wanted(3 * j + k, f"{name}.{f}") for j, name in enumerate(JOINTS)
              for k, f in enumerate(("position", "velocity", "effort"))]  # fmt: skip
    wanted.append(Wanted(21, "joint_1.stamp"))
    with robot.settings().open(wanted) as driver:
        robot.matched()
        parts, began = [], time.monotonic()
        for number, columns in enumerate(values):
            stamp = 1_700_000_000 * 10**9 + 1_000_000 * number
            message = rosbags_message(stamp, JOINTS, *columns, big=big)
            robot.publisher.put(message, attachment=attach(number + 1))
            parts.append(driver.read(max(0.0, began + number * 1e-3 - time.monotonic())))
        parts.append(collect(driver, 22 * count - sum(map(len, parts))))
        counters = driver.counters()
    readings = np.concatenate(parts)
    assert {name: one for name, one in counters.items() if one} == {"frames": count}
    got = np.stack([readings["value"][readings["channel"] == channel] for channel in range(21)], 1)
    assert got.tobytes() == values.transpose(0, 2, 1).reshape(count, 21).tobytes()
    stamps = readings["value"][readings["channel"] == 21]
    assert stamps.tolist() == [1_700_000_000 + 1e-9 * (1_000_000 * n) for n in range(count)]


def test_gaps_repetitions_and_messages_without_a_number_are_counted(robot: Robot) -> None:
    other = bytes(16)
    sent = [(5, GID), (6, GID), (9, GID), (1, other), (7, GID), (9, GID), (10, GID), (4, other)]
    with robot.settings().open([Wanted(0, "joint_1.position")]) as driver:
        robot.matched()
        for place, (number, gid) in enumerate(sent):
            robot.publisher.put(rosbags_message(1, ["joint_1"], [place], [], []), attachment=unlabelled(number, gid))
        robot.publisher.put(rosbags_message(1, ["joint_1"], [8.0], [], []))
        robot.publisher.put(b"no message", attachment=unlabelled(11))
        robot.publisher.put(rosbags_message(1, ["joint_1"], [9.0], [], []), attachment=b"strange")
        readings = collect(driver, 8)
        counters = driver.counters()
    assert readings["value"].tolist() == [0, 1, 2, 3, 6, 7, 8, 9], "what comes again or too late is left out"
    known = {"frames": 8, "lost": 2 + 2, "stale": 2, "unnumbered": 2, "malformed": 1}
    assert {name: one for name, one in counters.items() if one} == known


READER = """
import sys
from drivers.base import Wanted
from drivers.network import zenoh_topic
from drivers.network.ros2_zenoh import ZenohSettings

settings = ZenohSettings.model_validate_json(sys.argv[1])
with settings.open([Wanted(0, "joint_1.stamp")]) as driver:
    print("open", flush=True)
    newest = 0.0
    while newest < 3.0:
        found = driver.read(20.0)
        newest = found["value"][-1] if len(found) else 3.0
    print(*(driver.counters()[one] for one in ("frames", "lost", "refused")), flush=True)
"""


def test_a_reader_that_gets_no_processor_for_three_seconds_loses_nothing_unseen(robot: Robot) -> None:
    """Stopped while three thousand messages of seven joints come: they wait in sockets and in the router, which drops
    some where it gets no processor itself."""
    robot.publish(zenoh.CongestionControl.DROP)  # it waits for no reader
    command = [sys.executable, "-c", READER, robot.settings().model_dump_json()]
    values = [[0.1] * len(JOINTS)] * 3
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as reader:
        assert reader.stdout is not None
        try:
            assert reader.stdout.readline() == "open\n"
            robot.matched()
            os.kill(reader.pid, signal.SIGSTOP)
            for number in range(1, 3001):
                message = rosbags_message(1_000_000 * number, JOINTS, *values)
                robot.publisher.put(message, attachment=unlabelled(number))
            os.kill(reader.pid, signal.SIGCONT)
            frames, lost, refused = map(int, reader.stdout.readline().split())
            assert (frames + lost, refused) == (3000, 0)
            assert frames > 500, "it took what waited"
        finally:
            reader.kill()


def test_what_the_queue_has_no_room_for_is_counted_once(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zenoh_topic, "QUEUE", 100)
    with robot.settings().open([Wanted(0, "joint_1.position")]) as driver:
        robot.matched()
        for number in range(1, 301):
            message = rosbags_message(1, ["joint_1"], [number], [], [])
            robot.publisher.put(message, attachment=unlabelled(number))
        end = time.monotonic() + 60
        while driver.counters()["refused"] < 200 and time.monotonic() < end:
            time.sleep(0.01)
        readings = collect(driver, 100)
        robot.publisher.put(rosbags_message(1, ["joint_1"], [302.0], [], []), attachment=unlabelled(302))
        last = collect(driver, 1)
        counters = driver.counters()
    assert readings["value"].tolist() == list(range(1, 101))
    assert last["value"].tolist() == [302]
    assert {name: one for name, one in counters.items() if one} == {"frames": 101, "refused": 200, "lost": 1}


def test_a_router_that_ends_is_said_and_found_again(robot: Robot) -> None:
    driver = robot.settings().open([Wanted(0, "joint_1.position")])
    with driver:
        robot.close()
        time.sleep(zenoh_topic.ASK_EVERY)
        with pytest.raises(
            LinkError, match=r"_states in domain 3 by tcp/127\S+: the connection to the router was lost"
        ):
            wait_until(lambda: driver.read(0.1) is None)  # it hears of it soon
    with pytest.raises(LinkError, match=r"Unable to connect to any of \S+: is a router running \(`ros2 run"):
        driver.__enter__()
    robot.router = session("router", "listen", robot.endpoint)
    robot.client = session("client", "connect", robot.endpoint)
    robot.publisher = robot.client.declare_publisher(KEY)
    with driver:
        robot.matched()
        robot.publisher.put(rosbags_message(1, ["joint_1"], [0.5], [], []), attachment=unlabelled(1))
        assert collect(driver, 1)["value"].tolist() == [0.5]


def test_a_router_with_passwords_is_joined_by_zenohs_own_configuration(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("watch:right\nrobot:secret\n")
    auth = "transport/auth/usrpwd"
    robot = Robot(
        {f"{auth}/dictionary_file": str(tmp_path / "users"), f"{auth}/user": "r", f"{auth}/password": "r"},
        {f"{auth}/user": "robot", f"{auth}/password": "secret"},
    )
    try:
        file = tmp_path / "zenoh.json5"
        wanted = [Wanted(0, "joint_1.position")]
        file.write_text('{transport: {auth: {usrpwd: {user: "watch", password: "wrong"}}}}')
        with pytest.raises(LinkError):
            robot.settings(zenoh_config=str(file)).open(wanted).__enter__()
        file.write_text('{transport: {auth: {usrpwd: {user: "watch", password: "right"}}}}')
        with robot.settings(zenoh_config=str(file)).open(wanted) as driver:
            robot.matched()
            robot.publisher.put(rosbags_message(1, ["joint_1"], [0.5], [], []), attachment=unlabelled(1))
            assert collect(driver, 1)["value"].tolist() == [0.5]
        with pytest.raises(LinkError):
            robot.settings(zenoh_config=str(tmp_path / "none.json5")).open(wanted).__enter__()
    finally:
        robot.close()


def test_doctor_proposes_the_joints_that_are_there(robot: Robot, tmp_path: Path) -> None:
    numbers = iter(range(1, 1 << 20))

    def play() -> None:
        if robot.publisher.matching_status.matching:
            n = next(numbers)
            message = rosbags_message(2_000_000 * n, ["elbow", "wrist"], [0.1, 0.2], [], [1.0, 2.0])
            robot.publisher.put(message, attachment=unlabelled(n))

    answering = Answering(play)
    try:
        options = {"domain": "3", "topic": "/arm/joint_states"}
        for _ in range(20):  # again where a thread got no processor in this time
            found = ZenohSettings.probe(robot.endpoint, 0.5, options)
            if "500 Hz by their stamps" in found.said[0]:
                break
        nothing = ZenohSettings.probe(robot.endpoint, 0.1, {"domain": "4"})
    finally:
        answering.close()
    assert "500 Hz by their stamps" in found.said[0]
    assert nothing.said == ("nothing on /joint_states in domain 4 within 0.1 s",)
    file = tmp_path / "proposed.toml"
    file.write_text(found.proposal)
    config = load(file)
    assert list(config.joints) == ["elbow", "wrist"]
    assert config.drivers["ros"] == robot.settings(joints=["elbow", "wrist"])


def test_the_rig_writes_what_rosbags_writes() -> None:
    """But for the frame's id, which the rig leaves empty."""
    columns = np.random.default_rng(5).normal(size=(3, 2)).tolist()
    ours = joint_state(1_700_000_000_123_456_789, ["a", "long_joint"], columns)
    found = STORE.deserialize_cdr(ours, "sensor_msgs/msg/JointState")
    stamp = found.header.stamp
    assert (stamp.sec, stamp.nanosec, found.header.frame_id) == (1_700_000_000, 123_456_789, "")
    assert found.name == ["a", "long_joint"]
    assert [found.position.tolist(), found.velocity.tolist(), found.effort.tolist()] == columns
    assert bytes(STORE.serialize_cdr(found, "sensor_msgs/msg/JointState")) == ours
    assert attachment(7, 8, GID) == zext.z_serialize((zext.Int64(7), zext.Int64(8), GID)).to_bytes()


def test_numbers_of_both_editions_and_of_neither() -> None:
    for attach in (labelled, unlabelled):
        told = message_number(attach(-(1 << 40)))
        assert told is not None
        assert told.number == -(1 << 40)
        assert told.publisher.endswith(GID)
        for cut in range(0, len(attach(1)) - len(GID), 3):
            assert message_number(attach(1)[:cut]) is None
    assert message_number(None) is None
    assert message_number(labelled(1).replace(b"source_gid", b"source_xyz")) is None
    first, second = message_number(unlabelled(1, GID)), message_number(unlabelled(1, bytes(16)))
    assert isinstance(first, MessageNumber)
    assert isinstance(second, MessageNumber)
    assert first.publisher != second.publisher


def test_the_key_is_rmw_zenohs() -> None:
    expression = zenoh.KeyExpr(key_of(3, "/arm/joint_states", "sensor_msgs/JointState"))
    assert expression.includes(zenoh.KeyExpr(KEY))
    assert not expression.includes(zenoh.KeyExpr(KEY.replace("3/", "0/", 1)))
    dynamic = key_of(0, "/dynamic_joint_states", "control_msgs/DynamicJointState")
    assert dynamic == "0/dynamic_joint_states/control_msgs::msg::dds_::DynamicJointState_/*"
