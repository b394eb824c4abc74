"""Joint states of ROS 2 over DDS on loopback: values bit for bit, what is lost, and CDR that other people wrote."""

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cyclonedds", reason="cyclonedds is not installed (pip install jointwatch[ros2])")

from daq.config.load import load
from drivers.base import LinkError, Wanted
from drivers.layout.joint_state import DYNAMIC, JOINT_STATE, form_of, stamp
from drivers.network.ros2 import Ros2Settings
from drivers.testing import collect
from hil_rig.ports import free_domain
from hil_rig.wire.network.ros2 import publisher
from tests.support.processes.waiting import wait_until

JOINTS = [f"joint_{number}" for number in range(1, 8)]
TOPIC = "/joint_states"


def settings(domain: int, **more: Any) -> Ros2Settings:
    given = {"kind": "ros2", "domain": domain, "interface": "lo", "peers": ["127.0.0.1"], "joints": JOINTS}
    return Ros2Settings.model_validate(given | more)


def matched(writer: Any, driver: Any = None) -> None:
    """Until either end has found the other; None: a driver of another process, which says so itself."""
    wait_until(writer.get_matched_subscriptions, look=0.01)
    if driver is not None:
        wait_until(driver._topic._open["reader"].get_matched_publications, look=0.01)


def test_every_value_is_the_one_that_was_sent_bit_by_bit_and_none_is_lost() -> None:
    """Seven joints at 1 kHz for two seconds, each number any double, from a writer with the rig's own types."""
    count, where = 2000, free_domain()
    bits = np.random.default_rng(3).integers(0, 1 << 64, (count, 21), np.uint64).view(np.float64)
    values = np.where(np.isfinite(bits), bits, 1 / 3)
    wanted = [Wanted(3 * j + k, f"{name}.{f}") for j, name in enumerate(JOINTS)
              for k, f in enumerate(("position", "velocity", "effort"))]  # fmt: skip
    wanted.append(Wanted(21, "joint_1.stamp"))
    writer, state, head = publisher(where, TOPIC)
    with settings(where).open(wanted) as driver:
        matched(writer, driver)
        parts, began = [], time.monotonic()
        for number, row in enumerate(values):
            row = row.reshape(7, 3)
            writer.write(state(head(1_700_000_000, 1_000_000 * (number % 1000)), JOINTS, *row.T.tolist()))
            parts.append(driver.read(max(0.0, began + number * 1e-3 - time.monotonic())))
        parts.append(collect(driver, 22 * count - sum(map(len, parts))))
        counters = driver.counters()
    readings = np.concatenate(parts)
    assert {name: one for name, one in counters.items() if one} == {"frames": count}
    got = np.stack([readings["value"][readings["channel"] == channel] for channel in range(21)], 1)
    assert got.tobytes() == values.tobytes()
    stamps = readings["value"][readings["channel"] == 21]
    assert stamps.tolist() == [1_700_000_000 + 1e-9 * (1_000_000 * (n % 1000)) for n in range(count)]


READER = """
import sys, time
from drivers.base import Wanted
from tests.drivers.network.test_ros2 import settings

with settings(int(sys.argv[1])).open([Wanted(0, "joint_1.stamp")]) as driver:
    while not driver._topic._open["reader"].get_matched_publications():
        time.sleep(0.01)
    print("open", flush=True)
    end = int(sys.argv[2]) * 1e-3
    newest = 0.0
    while newest < end:
        found = driver.read(20.0)
        if not len(found):
            break
        newest = found["value"][-1]
    print(driver.counters()["frames"], flush=True)
"""


def test_a_reader_that_gets_no_processor_for_three_seconds_loses_nothing() -> None:
    """Stopped while three thousand messages of seven joints come; Cyclone's own socket holds half of them."""
    room = int(Path("/proc/sys/net/core/rmem_max").read_text())
    if room < 4 << 20:
        pytest.skip(f"needs net.core.rmem_max of 4 MiB, found {room}")
    where, count = free_domain(), 3000
    writer, state, head = publisher(where, TOPIC)
    values = [[0.1] * len(JOINTS)] * 3
    words = [sys.executable, "-c", READER, str(where), str(count)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as reader:
        assert reader.stdout is not None
        try:
            assert reader.stdout.readline() == "open\n"
            matched(writer)
            os.kill(reader.pid, signal.SIGSTOP)
            for number in range(1, count + 1):
                writer.write(state(head(*divmod(1_000_000 * number, 10**9)), JOINTS, *values))
            os.kill(reader.pid, signal.SIGCONT)
            assert int(reader.stdout.readline()) == count
        finally:
            reader.kill()


def test_another_device_on_the_topic_missing_efforts_and_rubbish_are_counted() -> None:
    where = free_domain()
    writer, state, head = publisher(where, TOPIC)
    with settings(where).open([Wanted(0, "joint_2.position"), Wanted(1, "joint_2.effort")]) as driver:
        matched(writer, driver)
        writer.write(state(head(1, 0), ["joint_1", "joint_2"], [0.5, 0.25], [], []))
        writer.write(state(head(2, 0), ["finger"], [0.1], [], [1.0]))
        writer.write(state(head(3, 0), ["joint_1", "joint_2"], [0.5], [], []))  # one position for two joints
        writer.write(state(head(4, 0), ["joint_2"], [0.75], [], [float("nan")]))
        readings = collect(driver, 3)
        counters = driver.counters()
    assert readings["channel"].tolist() == [0, 0, 1]
    assert readings["value"][:2].tolist() == [0.25, 0.75]
    assert np.isnan(readings["value"][2])
    known = {"frames": 3, "unmatched": 1, "malformed": 1, "non_finite": 1}
    assert {name: one for name, one in counters.items() if one} == known


def test_a_wrong_interface_is_said() -> None:
    driver = settings(free_domain(), interface="nosuch0", peers=[]).open([])
    with pytest.raises(LinkError, match="is `interface` one of `ip -br link`"):
        driver.__enter__()


def test_doctor_proposes_the_joints_that_are_there(tmp_path: Path) -> None:
    where = free_domain()
    writer, state, head = publisher(where, TOPIC)
    from tests.support.processes.answering import Answering

    numbers = iter(range(1 << 20))

    def play() -> None:
        if writer.get_matched_subscriptions():
            n = next(numbers)
            writer.write(state(head(n // 500, 2_000_000 * (n % 500)), ["elbow", "wrist"], [0.1, 0.2], [], [1.0, 2.0]))

    answering = Answering(play)
    try:
        for _ in range(20):  # again where it has hardly found the publisher in this time
            found = Ros2Settings.probe("lo", 1.0, {"domain": str(where), "peers": "127.0.0.1"})
            if "500 Hz by their stamps" in found.said[0]:
                break
    finally:
        answering.close()
    assert "500 Hz by their stamps" in found.said[0]
    file = tmp_path / "proposed.toml"
    file.write_text(found.proposal)
    config = load(file)
    assert list(config.joints) == ["elbow", "wrist"]


@pytest.mark.parametrize("big", [False, True])
def test_cdr_that_rosbags_wrote_is_read(big: bool) -> None:
    stores = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")
    store = stores.get_typestore(stores.Stores.ROS2_HUMBLE)
    types = store.types
    values = np.random.default_rng(1).normal(size=(3, 3))
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](1_700_000_123, 456_789_012), "base_link")
    message = types["sensor_msgs/msg/JointState"](header, ["a", "joint_b", "c"], values[0], values[1], values[2])
    data = bytes(store.serialize_cdr(message, "sensor_msgs/msg/JointState", little_endian=not big))
    form = form_of(data, JOINT_STATE)
    order = ">d" if big else "<d"
    for row, field in enumerate(("position", "velocity", "effort")):
        for column, joint in enumerate(("a", "joint_b", "c")):
            (found,) = struct.unpack_from(order, data, 4 + form.places[f"{joint}.{field}"])
            assert found == values[row, column]
    assert stamp(data) == 1_700_000_123 + 1e-9 * 456_789_012
    assert form.fits(data)
    assert not form.fits(data.replace(b"joint_b", b"joint_d"))
    register = stores.get_types_from_msg
    store.register(register("string[] interface_names\nfloat64[] values", "control_msgs/msg/InterfaceValue"))
    text = "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values"
    store.register(register(text, "control_msgs/msg/DynamicJointState"))
    one = store.types["control_msgs/msg/InterfaceValue"]
    interfaces = [
        one(["position", "effort", "current"], np.array([1.5, -2.0, 0.1])),
        one(["position"], np.array([3.25])),
    ]
    dynamic = store.types["control_msgs/msg/DynamicJointState"](header, ["a", "long_name"], interfaces)
    data = bytes(store.serialize_cdr(dynamic, "control_msgs/msg/DynamicJointState", little_endian=not big))
    places = form_of(data, DYNAMIC).places
    numbers = {name: struct.unpack_from(order, data, 4 + at)[0] for name, at in places.items()}
    assert numbers == {"a.position": 1.5, "a.effort": -2.0, "a.current": 0.1, "long_name.position": 3.25}


@pytest.mark.parametrize("cut", range(0, 150, 7))
def test_a_message_that_breaks_off_is_no_form(cut: int) -> None:
    stores = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")
    store = stores.get_typestore(stores.Stores.ROS2_HUMBLE)
    types = store.types
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](1, 2), "base_link")
    numbers = np.arange(3.0)
    message = types["sensor_msgs/msg/JointState"](header, ["a", "b", "c"], numbers, numbers, numbers)
    data = bytes(store.serialize_cdr(message, "sensor_msgs/msg/JointState"))
    assert cut < len(data)
    with pytest.raises((ValueError, struct.error)):
        form_of(data[:cut], JOINT_STATE)
