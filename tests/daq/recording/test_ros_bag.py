"""Bags of ROS 2 whose joint states are those of ros2_control, written by the official library for such messages."""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.writer import Writer as PlainWriter
from mcap_ros2.writer import Writer

from daq.__main__ import main
from daq.recording.columns import load_columns, named, read
from daq.recording.proposal import propose
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import decode, is_bag, is_ours, read_bag
from daq.recording.ros_database import stored
from daq.recording.ros_messages import Definition
from tests.support.tables.table_files import joint_state as joint_state_data

BETWEEN = "=" * 80
HEADER = f"""{BETWEEN}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{BETWEEN}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
DYNAMIC = f"""# Provides the current state of robot's joints.
std_msgs/Header header
string[] joint_names
InterfaceValue[] interface_values
{HEADER}{BETWEEN}
MSG: control_msgs/InterfaceValue
string[] interface_names # lists
float64[] values
"""
POINT = f"""{BETWEEN}
MSG: trajectory_msgs/JointTrajectoryPoint
float64[] positions
float64[] velocities
float64[] accelerations
float64[] effort
builtin_interfaces/Duration time_from_start
{BETWEEN}
MSG: builtin_interfaces/Duration
int32 sec
uint32 nanosec
"""
BEFORE_IRON = f"""std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error  # Redundant, but useful
{HEADER}{POINT}"""
SINCE_IRON = f"""uint8 NONE=0
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
string<=64[<=8] multi_dof_joint_names
float64 speed_scaling_factor 1.0
bool[2] limits
{HEADER}{POINT}"""
JOINTS = ("hip", "knee")
TIMES = np.arange(40) * 0.002
POSITION = np.stack([np.sin(9.0 * TIMES), np.cos(7.0 * TIMES)])
EFFORT = np.stack([3.0 + TIMES, -2.0 - TIMES])


def some(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


def header(k: int) -> SimpleNamespace:
    nanoseconds = 500_000_000 + round(1e9 * TIMES[k])
    return some(stamp=some(sec=1_700_000_000, nanosec=nanoseconds), frame_id="base" + "x" * (k % 5))


def dynamic(k: int) -> SimpleNamespace:
    values = [some(interface_names=["effort", "position"], values=[EFFORT[i, k], POSITION[i, k]]) for i in range(2)]
    return some(header=header(k), joint_names=list(JOINTS), interface_values=values)


def point(positions: list[float], effort: list[float]) -> SimpleNamespace:
    nothing = some(sec=0, nanosec=0)
    return some(positions=positions, velocities=[], accelerations=[], effort=effort, time_from_start=nothing)


def controller(k: int, names: tuple[str, ...]) -> SimpleNamespace:
    mine, other = point(list(POSITION[:, k]), list(EFFORT[:, k])), point([9.0, 9.0], [])
    others = dict.fromkeys((*names, "error"), other)
    told = {"multi_dof_joint_names": ["a"], "speed_scaling_factor": 1.0, "limits": [True, False]}
    return some(header=header(k), joint_names=list(JOINTS), **{**others, names[-1]: mine}, **told, output=other)


def joint_state(k: int) -> SimpleNamespace:
    return some(header=header(k), name=list(JOINTS), position=list(POSITION[:, k]), velocity=[], effort=[])


STATE = f"std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n{HEADER}"


def bag(file: Path, *topics: tuple[str, str, Any]) -> Path:
    """topics: type, definition, message of a number."""
    with file.open("wb") as stream:
        writer = Writer(stream)
        for kind, text, message in topics:
            schema = writer.register_msgdef(kind, text)
            for k in range(len(TIMES)):
                at = 1_700_000_000_000_000_000 + round(1e9 * TIMES[k])
                writer.write_message(f"/{kind}", schema, message(k), log_time=at, publish_time=at)
        writer.finish()
    return file


KINDS = [
    ("control_msgs/msg/DynamicJointState", DYNAMIC, dynamic),
    ("control_msgs/msg/JointTrajectoryControllerState", BEFORE_IRON, lambda k: controller(k, ("desired", "actual"))),
    ("control_msgs/msg/JointTrajectoryControllerState", SINCE_IRON, lambda k: controller(k, ("reference", "feedback"))),
]


@pytest.mark.parametrize("kind", KINDS, ids=["dynamic", "before_iron", "since_iron"])
@pytest.mark.parametrize("beside", [False, True])
def test_what_ros2_control_says_is_read_where_no_joint_state_has_efforts(
    kind: tuple[str, str, Any], beside: bool, tmp_path: Path
) -> None:
    others = [("sensor_msgs/msg/JointState", STATE, joint_state)] if beside else []
    file = bag(tmp_path / "robot.mcap", *others, kind)
    assert is_bag(file)
    found = read_bag(file)
    assert list(found) == list(JOINTS)
    for i, (time, fields) in enumerate(found.values()):
        np.testing.assert_allclose(time, TIMES, atol=3e-7)  # a stamp in s holds 0.2 µs today
        assert list(fields) == ["position", "effort"]
        assert fields["position"].tolist() == POSITION[i].tolist()
        assert fields["effort"].tolist() == EFFORT[i].tolist()


def test_a_table_of_its_columns_is_proposed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["columns", str(bag(tmp_path / "robot.mcap", KINDS[0]))]) == 0
    said = capsys.readouterr().out
    assert 'torque = { column = "hip.effort" }' in said
    assert 'position = { column = "knee.position" }' in said


TABLE = """
time = "stamp"
[joints.a]
position = { column = "hip.position", unit = "deg", scale = -2.0, offset = 1.0, wrap = 0.5 }
torque = { column = "hip.effort", unit = "mN·m" }
[joints.b]
position = { column = "knee.position" }
"""


def turning(k: int) -> SimpleNamespace:
    """A hip that turns on, by an encoder that starts again after half a radian, told as a table describes it."""
    seen = np.mod(POSITION[0, k] + 20.0 * TIMES[k], 0.5)
    position = [np.rad2deg((seen - 1.0) / -2.0), POSITION[1, k]]
    return some(header=header(k), name=list(JOINTS), position=position, velocity=[], effort=list(1e3 * EFFORT[:, k]))


def test_a_table_says_units_scales_and_wraps_of_a_bag_too(tmp_path: Path) -> None:
    file = bag(tmp_path / "robot.mcap", ("sensor_msgs/msg/JointState", STATE, turning))
    (tmp_path / "columns.toml").write_text(TABLE)
    found = read(file, load_columns(tmp_path / "columns.toml"))
    assert {name: list(roles) for name, roles in found.items()} == {"a": ["position", "torque"], "b": ["position"]}
    np.testing.assert_allclose(found["a"]["position"].values, POSITION[0] + 20.0 * TIMES, atol=1e-12)
    np.testing.assert_allclose(found["a"]["torque"].values, EFFORT[0], rtol=1e-12)
    assert found["b"]["position"].values.tolist() == POSITION[1].tolist()
    np.testing.assert_allclose(found["a"]["torque"].time, TIMES, atol=3e-7)


def test_every_column_that_a_bag_has_not_is_said_with_the_nearest(tmp_path: Path) -> None:
    file = bag(tmp_path / "robot.mcap", ("sensor_msgs/msg/JointState", STATE, turning))
    (tmp_path / "columns.toml").write_text(TABLE.replace("hip.effort", "hip.effrt").replace("knee.pos", "kne.pos"))
    with pytest.raises(RecordingError) as caught:
        read(file, load_columns(tmp_path / "columns.toml"))
    first, second = str(caught.value).splitlines()
    assert first.startswith(f'{file}: found no column "hip.effrt", did you mean "hip.effort"')
    assert second.startswith(f'{file}: found no column "kne.position", did you mean "knee.position"')


def test_a_bag_without_a_table_has_its_own_fields_as_roles(tmp_path: Path) -> None:
    found = read(bag(tmp_path / "robot.mcap", ("sensor_msgs/msg/JointState", STATE, turning)), None)
    assert {name: list(roles) for name, roles in found.items()} == {name: ["position", "effort"] for name in JOINTS}
    assert found["knee"]["position"].values.tolist() == POSITION[1].tolist()
    np.testing.assert_allclose(found["knee"]["effort"].time, TIMES, atol=3e-7)


def test_a_message_that_is_cut_anywhere_is_no_crash_and_a_definition_without_its_types_is_said(tmp_path: Path) -> None:
    file = bag(tmp_path / "robot.mcap", KINDS[2])
    with pytest.raises(RecordingError, match="found no sensor_msgs/JointState, no control_msgs/DynamicJointState"):
        read_bag(bag(tmp_path / "other.mcap", ("std_msgs/msg/String", "string data", lambda k: some(data="x"))))
    definition = Definition(SINCE_IRON)
    whole = next(message for message in raw(file))
    assert definition.decode(whole)["limits"] == (True, False)
    for length in range(len(whole)):
        with pytest.raises((ValueError, struct.error)):
            definition.decode(whole[:length])
    with pytest.raises(ValueError, match="without its type InterfaceValue"):
        Definition(DYNAMIC.replace("MSG: control_msgs/InterfaceValue", "MSG: control_msgs/Other"))


def cdr(stamp: int, names: list[str], *fields: list[float], end: str = "<", frame: str = "x") -> bytes:
    """A JointState by hand, either end first; stamp: ns."""
    body = struct.pack(f"{end}iI", stamp // 10**9, stamp % 10**9)
    for words in ([frame], names):
        if words is names:
            body += bytes(-len(body) % 4) + struct.pack(f"{end}I", len(names))
        for word in words:
            body += bytes(-len(body) % 4) + struct.pack(f"{end}I", len(word) + 1) + word.encode() + bytes(1)
    for field in fields:
        body += bytes(-len(body) % 4) + struct.pack(f"{end}I", len(field))
        if field:
            body += bytes(-len(body) % 8) + struct.pack(f"{end}{len(field)}d", *field)
    return (b"\0\1\0\0" if end == "<" else bytes(4)) + body


@pytest.mark.parametrize("end", "<>")
@pytest.mark.parametrize("frame", ["", "a", "abc", "abcd", "abcdefg"])
def test_a_joint_state_is_read_whichever_end_comes_first_and_wherever_its_fields_fall(end: str, frame: str) -> None:
    names = ["a", "knee_joint", "xyz"]
    fields = [[1.0, 2.0, 3.0], [], [0.5]]
    found = decode(cdr(7_250_000_000, names, *fields, end=end, frame=frame))
    assert found == (7.25, names, [(1.0, 2.0, 3.0), (), (0.5,)])


def test_a_damaged_joint_state_is_said() -> None:
    with pytest.raises(ValueError, match="less than 16 bytes"):
        decode(bytes(15))
    whole = bytearray(cdr(1, ["a"], [1.0], [], []))
    place = whole.index(b"a\0") - 4 - 4
    whole[place : place + 4] = (10_001).to_bytes(4, "little")
    with pytest.raises(ValueError, match="a sequence of 10001"):
        decode(bytes(whole))


def plain(
    file: Path, *messages: tuple[int, bytes], kind: str = "sensor_msgs/msg/JointState", encoding: str = "cdr"
) -> Path:
    """A bag of these: instant of the log (ns), and bytes."""
    with file.open("wb") as stream:
        writer = PlainWriter(stream)
        writer.start()
        schema = writer.register_schema(kind, "ros2msg", b"")
        channel = writer.register_channel("/joint_states", encoding, schema)
        for time, data in messages:
            writer.add_message(channel, time, data, time)
        writer.finish()
    return file


def test_times_are_stamps_in_order_since_the_first_of_all_joints(tmp_path: Path) -> None:
    """Where a message has no stamp, it is when it was recorded."""
    file = plain(
        tmp_path / "x.mcap",
        (0, cdr(5_000_000_000, ["a"], [1.0], [], [])),
        (0, cdr(4_500_000_000, ["b"], [2.0], [], [])),
        (0, cdr(5_500_000_000, ["b"], [4.0], [], [])),
        (5_250_000_000, cdr(0, ["b"], [3.0], [], [])),
        kind="sensor_msgs/JointState",
    )
    found = read_bag(file)
    assert found["a"][0].tolist() == [0.5]
    assert found["b"][0].tolist() == [0.0, 0.75, 1.0]
    assert found["b"][1]["position"].tolist() == [2.0, 3.0, 4.0]


def test_a_field_that_is_shorter_than_the_names_is_missing_there_and_one_without_numbers_is_no_column(
    tmp_path: Path,
) -> None:
    file = plain(
        tmp_path / "x.mcap", (1, cdr(10**9, ["a", "b"], [1.0, 2.0], [], [3.0])), (2, cdr(2 * 10**9, ["b"], [5.0]))
    )
    with pytest.raises(RecordingError, match="not a recording, or damaged"):
        read_bag(file)
    file = plain(
        tmp_path / "y.mcap",
        (1, cdr(10**9, ["a", "b"], [1.0, 2.0], [], [3.0])),
        (2, cdr(2 * 10**9, ["b"], [5.0], [], [7.0])),
    )
    found = read_bag(file)
    assert {name: list(fields) for name, (_, fields) in found.items()} == {
        "a": ["position", "effort"],
        "b": ["position", "effort"],
    }
    np.testing.assert_array_equal(found["b"][1]["effort"], [np.nan, 7.0])
    assert found["b"][1]["position"].tolist() == [2.0, 5.0]


def test_a_bag_may_be_a_folder_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "bag"
    folder.mkdir()
    plain(folder / "bag_1.mcap", (1, cdr(3 * 10**9, ["a"], [3.0], [], [])))
    plain(folder / "bag_0.mcap", (1, cdr(10**9, ["a"], [1.0], [], [])), (2, cdr(2 * 10**9, ["a"], [2.0], [], [])))
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information:")
    assert is_bag(folder)
    assert not is_ours(folder)
    time, fields = read_bag(folder)["a"]
    assert (time.tolist(), fields["position"].tolist()) == ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])


def test_what_is_a_bag_and_what_is_ours(tmp_path: Path) -> None:
    whole = plain(tmp_path / "X.MCAP", (1, cdr(10**9, ["a"], [1.0], [], [])))
    assert is_bag(whole)
    assert not is_ours(whole)
    chatter = plain(tmp_path / "y.mcap", (1, b""), kind="std_msgs/msg/String")
    assert not is_bag(chatter)
    assert is_ours(chatter)
    (tmp_path / "z.csv").write_text("time\n")
    assert not is_bag(tmp_path / "z.csv")
    assert not is_ours(tmp_path / "z.csv")
    (tmp_path / "junk.mcap").write_bytes(b"junk")
    assert not is_bag(tmp_path / "junk.mcap")
    assert not is_bag(tmp_path / "none.mcap")
    (tmp_path / "empty").mkdir()
    assert not is_bag(tmp_path / "empty")


@pytest.mark.parametrize("kind", ["json", "sqlite"])
def test_a_bag_without_joint_states_is_refused_with_what_it_has(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("run.mcap" if kind == "json" else "run.db3")
    if kind == "json":
        with path.open("wb") as stream:
            writer = PlainWriter(stream)
            writer.start()
            schema = writer.register_schema("Motor", "jsonschema", b"{}")
            for topic, known in (("/motor/hip", schema), ("/notes", 0)):
                writer.add_message(writer.register_channel(topic, "json", known), 1, b"{}", 1)
            writer.finish()
    else:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE topics (id INTEGER, name TEXT, type TEXT, serialization_format TEXT)")
            database.execute("CREATE TABLE messages (id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)")
            database.execute("INSERT INTO topics VALUES (1, '/motor/hip', 'my_msgs/msg/Motor', 'cdr')")
    named = {"json": r"/motor/hip \(Motor\), /notes \(json\)", "sqlite": r"/motor/hip \(my_msgs/msg/Motor\)"}[kind]
    with pytest.raises(RecordingError, match=rf"found no joint states .*; it has {named}: other types need a table"):
        propose(path)


def test_joint_states_in_another_encoding_are_refused(tmp_path: Path) -> None:
    file = plain(tmp_path / "x.mcap", (1, b"{}"), encoding="json")
    with pytest.raises(RecordingError, match="/joint_states is encoded as json, expected cdr"):
        read_bag(file)


def test_a_bag_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"none.mcap: No such file"):
        read_bag(tmp_path / "none.mcap")


def test_a_kind_without_its_fields_is_said(tmp_path: Path) -> None:
    text = "float64[] values"
    file = bag(tmp_path / "x.mcap", ("control_msgs/msg/DynamicJointState", text, lambda k: some(values=[1.0])))
    with pytest.raises(RecordingError, match=r"a control_msgs/DynamicJointState without 'header'"):
        read_bag(file)


def test_velocities_of_a_controller_are_read(tmp_path: Path) -> None:
    def moving(k: int) -> SimpleNamespace:
        told = controller(k, ("reference", "feedback"))
        told.feedback.velocities = [0.25 * k, -0.25 * k]
        return told

    found = read_bag(bag(tmp_path / "x.mcap", ("control_msgs/msg/JointTrajectoryControllerState", SINCE_IRON, moving)))
    assert list(found["hip"][1]) == ["position", "velocity", "effort"]
    np.testing.assert_array_equal(found["knee"][1]["velocity"], -0.25 * np.arange(len(TIMES)))
    assert found["knee"][1]["position"].tolist() == POSITION[1].tolist()


def raw(file: Path) -> list[bytes]:
    with file.open("rb") as stream:
        return [message.data for _, _, message in make_reader(stream).iter_messages()]


def test_a_channel_of_a_bag_that_is_late_is_put_back_by_its_delay(tmp_path: Path) -> None:
    kind = ("control_msgs/msg/DynamicJointState", DYNAMIC, dynamic)
    file, table = bag(tmp_path / "robot.mcap", kind), tmp_path / "t.toml"
    lines = ['time = "time"', "[joints.a]", 'position = { column = "hip.position" }']
    table.write_text("\n".join([*lines, 'torque = { column = "hip.effort", delay = 0.004, offset = 2.0 }']))
    found = read(file, load_columns(table))["a"]
    np.testing.assert_allclose(found["position"].time, TIMES, atol=1e-6)
    np.testing.assert_allclose(found["torque"].time, TIMES - 0.004, atol=1e-6)
    np.testing.assert_allclose(found["torque"].values, EFFORT[0] + 2.0)


Told = tuple[str, tuple[str, ...], float, bool, int]  # topic, joints, position, whether it has efforts, messages


def stored_bag(file: Path, topics: list[Told], stamp: float = 100.0) -> Path:
    """A bag in SQLite whose topics say one position all the time, every millisecond from 50 s on."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE topics (id INTEGER, name TEXT, type TEXT, serialization_format TEXT)")
        database.execute("CREATE TABLE messages (id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)")
        for number, (topic, names, position, efforts, count) in enumerate(topics):
            row = (number, topic, "sensor_msgs/msg/JointState", "cdr")
            database.execute("INSERT INTO topics VALUES (?, ?, ?, ?)", row)
            for k in range(count):
                values = [position] * len(names)
                data = joint_state_data(stamp and stamp + 0.01 * k, names, (values, [], values if efforts else []))
                at = 50_000_000_000 + 1_000_000 * k
                database.execute("INSERT INTO messages VALUES (?, ?, ?, ?)", (count - k, number, at, data))
        database.commit()
    return file


@pytest.mark.parametrize(
    ("topics", "position"),
    [
        ([("/a", JOINTS, 1.0, True, 9), ("/b", JOINTS, 2.0, False, 20)], 1.0),  # one with efforts
        ([("/a", JOINTS, 1.0, False, 20), ("/b", JOINTS, 2.0, True, 9)], 2.0),
        ([("/a", JOINTS, 1.0, True, 9), ("/b", JOINTS, 2.0, True, 20)], 2.0),  # the one with more messages
        ([("/a", JOINTS, 1.0, True, 20), ("/b", JOINTS, 2.0, True, 9)], 1.0),
        ([("/arm/Joint_Commands", JOINTS, 1.0, True, 20), ("/b", JOINTS, 2.0, True, 9)], 2.0),  # a measured one
        ([("/a_setpoint", JOINTS, 1.0, True, 20), ("/b", JOINTS, 2.0, False, 9)], 2.0),
        ([("/a_goal", JOINTS, 1.0, True, 9)], 1.0),  # where there is no other
    ],
)
def test_a_joint_is_read_from_the_topic_that_speaks_best_of_it(
    tmp_path: Path, topics: list[Told], position: float
) -> None:
    for _, fields in read_bag(stored_bag(tmp_path / "b.db3", topics)).values():
        assert set(fields["position"]) == {position}


def test_a_joint_of_which_only_another_topic_speaks_is_read_from_that(tmp_path: Path) -> None:
    topics: list[Told] = [("/a", ("knee",), 1.0, True, 20), ("/b", ("hip", "knee"), 2.0, True, 9)]
    found = read_bag(stored_bag(tmp_path / "b.db3", topics))
    assert {name: set(fields["position"]) for name, (_, fields) in found.items()} == {"hip": {2.0}, "knee": {1.0}}
    assert {name: len(time) for name, (time, _) in found.items()} == {"hip": 9, "knee": 20}


@pytest.mark.parametrize("defined", [True, False])
def test_a_bag_in_sqlite_tells_the_states_of_ros2_control_where_it_has_their_definition(
    tmp_path: Path, defined: bool
) -> None:
    """Bags before Iron have none; what is said in joint states beside is read all the same."""
    kind = "control_msgs/msg/DynamicJointState"
    with bag(tmp_path / "robot.mcap", (kind, DYNAMIC, dynamic)).open("rb") as stream:
        told = [(one.log_time, one.data) for _, _, one in make_reader(stream).iter_messages()]
    file = stored_bag(tmp_path / "robot.db3", [("/states", JOINTS, 5.0, False, 3)])
    with closing(sqlite3.connect(file)) as database:
        database.execute("INSERT INTO topics VALUES (77, '/dynamic', ?, 'cdr')", (kind,))
        database.execute("CREATE TABLE message_definitions (topic_type TEXT, encoded_message_definition TEXT)")
        if defined:
            database.execute("INSERT INTO message_definitions VALUES (?, ?)", (kind, DYNAMIC))
        for number, (at, data) in enumerate(told):
            database.execute("INSERT INTO messages VALUES (?, 77, ?, ?)", (1000 + number, at, data))
        database.commit()
    time, fields = read_bag(file)["knee"]
    if defined:
        np.testing.assert_allclose(fields["position"], POSITION[1])
        np.testing.assert_allclose(fields["effort"], EFFORT[1])
        np.testing.assert_allclose(time, TIMES, atol=1e-6)
    else:
        assert fields["position"].tolist() == [5.0] * 3


def test_the_clock_of_a_bags_columns_is_that_of_the_joint_with_the_most_messages(tmp_path: Path) -> None:
    topics: list[Told] = [("/a", ("knee",), 1.0, True, 20), ("/b", ("hip",), 2.0, True, 9)]
    for some in (topics, topics[::-1]):
        found = named(stored_bag(tmp_path / f"{some[0][0][1:]}.db3", some))
        assert {name: len(one) for name, one in found.columns.items()} == {
            "time": 20, "knee.position": 20, "knee.effort": 20, "hip.position": 9, "hip.effort": 9,
        }  # fmt: skip
        assert found.units == {"time": "s", "knee.position": "rad", "hip.position": "rad"}


def test_messages_come_in_order_of_the_time_at_which_they_were_received(tmp_path: Path) -> None:
    file = stored_bag(tmp_path / "b.db3", [("/a", JOINTS, 1.0, True, 4), ("/b", JOINTS, 2.0, True, 3)])
    found = [(one.received // 1_000_000 - 50_000, one.topic) for one in stored(file, ("sensor_msgs/JointState",))]
    assert [received for received, _ in found] == [0, 0, 1, 1, 2, 2, 3]
    assert [topic for _, topic in found].count("/a") == 4


def test_messages_without_a_stamp_have_the_time_at_which_they_were_received(tmp_path: Path) -> None:
    """In seconds, whether the bag is in SQLite, in order of time, or in MCAP."""
    expected = 0.001 * np.arange(9)
    time, _ = read_bag(stored_bag(tmp_path / "b.db3", [("/a", JOINTS, 1.0, True, 9)], stamp=0.0))["hip"]
    np.testing.assert_allclose(time, expected, atol=1e-6)
    time, _ = read_bag(stored_bag(tmp_path / "c.db3", [("/a", JOINTS, 1.0, True, 9)]))["hip"]
    np.testing.assert_allclose(time, 10.0 * expected, atol=1e-6)
