"""Recordings of a whole robot: its joints in its order on one time, what is odd is told, every mistake at once."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mcap_ros2.writer import Writer

from daq.recording.columns import load_columns
from daq.recording.reader import RecordingError
from daq.replay.robot_runs import Runs, read_runs
from estimators.models.robots.description import JointLimits, RobotDescription, RobotJoint
from estimators.quantities import Axis, Floats

T = np.arange(400) * 0.01
Q = {"a": np.sin(3.0 * T), "b": 0.5 * np.cos(2.0 * T), "finger": 0.02 * np.sin(T)}
TAU = {"a": 5.0 * np.cos(3.0 * T), "b": 2.0 + np.sin(2.0 * T), "finger": 7.0 + np.cos(T)}


def robot(limits: JointLimits | None = None, wrist: bool = False) -> RobotDescription:
    """Two turning joints and a finger that slides, behind it a wrist if that is wished."""
    joints = [
        RobotJoint("a", Axis.ROTARY, -1, np.eye(4), np.array([0.0, 0.0, 1.0]), limits or JointLimits()),
        RobotJoint("b", Axis.ROTARY, 0, np.eye(4), np.array([0.0, 1.0, 0.0])),
        RobotJoint("finger", Axis.PRISMATIC, 1, np.eye(4), np.array([1.0, 0.0, 0.0])),
    ]
    if wrist:
        joints.append(RobotJoint("wrist", Axis.ROTARY, 2, np.eye(4), np.array([0.0, 0.0, 1.0])))
    return RobotDescription("arm", tuple(joints), np.ones((len(joints), 10)))


def columns(folder: Path, name: str = "run.npz", without: str = "", **changed: Floats) -> Path:
    """Columns by their names; JOINT_ROLE = values changes or adds JOINT.ROLE."""
    table: dict[str, Floats] = {"time": T}
    for joint in Q:
        table |= {f"{joint}.position": Q[joint], f"{joint}.torque": TAU[joint]}
    table |= {key.replace("_", ".", 1): one for key, one in changed.items()}
    np.savez(folder / name, **{key: one for key, one in table.items() if not without or not key.startswith(without)})
    return folder / name


def runs(*files: Path, of: RobotDescription | None = None) -> Runs:
    return read_runs(of or robot(), files, None)


def refused(*files: Path, of: RobotDescription | None = None) -> list[str]:
    with pytest.raises(RecordingError) as caught:
        runs(*files, of=of)
    return str(caught.value).splitlines()


def test_joints_stand_in_the_robots_order_whatever_the_files_is(tmp_path: Path) -> None:
    backwards = {
        key: one for name in reversed(Q) for key, one in ((f"{name}.torque", TAU[name]), (f"{name}.position", Q[name]))
    }
    np.savez(tmp_path / "run.npz", **backwards, time=T)
    found = runs(tmp_path / "run.npz")
    [run] = found.runs
    assert (run.file, found.warnings, found.robot.names) == (tmp_path / "run.npz", [], ("a", "b", "finger"))
    np.testing.assert_array_equal(run.time, T)
    np.testing.assert_array_equal(run.q, np.column_stack(list(Q.values())))
    np.testing.assert_array_equal(run.tau, np.column_stack(list(TAU.values())))
    assert run.link.shape == run.q.shape
    assert np.isnan(run.link).all()


def test_everything_that_is_lacking_is_said_at_once_and_what_is_there_instead(tmp_path: Path) -> None:
    first = columns(tmp_path, "first.npz", without="b.", bb_position=Q["b"])
    second = columns(tmp_path, "second.npz", without="a.position")
    third = columns(tmp_path, "third.npz", without="b.torque", b_velocity=Q["b"])
    told = refused(first, second, third, tmp_path / "none.npz")
    for file, words in (
        (first, 'found no columns of the joint b, did you mean "bb"?'),
        (first, "found columns of bb, which arm does not have"),
        (second, "found no position of the joint a, only torque"),
        (third, "found no torque of the joint b, only position, velocity"),
        (tmp_path / "none.npz", "No such file or directory"),
    ):
        assert f"{file}: {words}" in told
    assert len(told) == 5


def test_columns_of_more_than_the_robot_has_are_reported_and_not_used(tmp_path: Path) -> None:
    found = runs(columns(tmp_path, belt_position=Q["a"]))
    assert found.warnings == [f"{tmp_path}/run.npz: columns of belt are not used: arm has no such joints"]
    assert found.runs[0].q.shape == (400, 3)


def test_a_recording_whose_joints_all_have_other_names_is_one_mistake_with_its_remedy(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    np.savez(file, time=T, **{f"joint{i}.{role}": one for i in (1, 2, 3) for role, one in
                              (("position", Q["a"]), ("torque", TAU["a"]))})  # fmt: skip
    [told] = refused(file)
    assert f"{file}: found columns of joint1, joint2, joint3, but arm has the joints a, b, finger" in told
    assert told.endswith(f"jointwatch columns {file} --names a,b,finger")
    np.savez(file, time=T, **{"x.position": Q["a"], "x.torque": TAU["a"]})
    [told] = refused(file)
    assert told.endswith("use the robot's names in the table of columns ([joints.NAME])")


def test_a_finger_without_columns_stands_at_zero_and_a_turning_joint_may_not(tmp_path: Path) -> None:
    still = columns(tmp_path, "still.npz", without="finger")
    found = runs(still)
    assert found.robot.names == ("a", "b")
    assert found.warnings == [f"{still}: found no columns of finger: assumed to rest at zero"]
    assert found.runs[0].q.shape == (400, 2)
    assert len(runs(columns(tmp_path, "moved.npz"), still).runs) == 2, "in all of them, where it is lacking in one"
    assert refused(columns(tmp_path, "b.npz", without="b."))[0].startswith(f"{tmp_path}/b.npz: found no columns of the")


def test_a_sliding_joint_that_carries_one_that_moves_is_no_finger(tmp_path: Path) -> None:
    moved = columns(tmp_path, without="finger", wrist_position=Q["a"], wrist_torque=TAU["a"])
    assert any("found no columns of the joint finger" in line for line in refused(moved, of=robot(wrist=True)))
    one = columns(tmp_path, "one.npz", without="finger")
    told = refused(one, of=robot(wrist=True))
    assert any("found no columns of the joint wrist" in line for line in told), "a wrist is no finger either"


def test_a_joint_is_driven_by_current_where_every_recording_has_its_current(tmp_path: Path) -> None:
    by_current = columns(tmp_path, "one.npz", without="b.torque", b_current=TAU["b"])
    found = runs(by_current)
    assert [one.by_current for one in found.robot.joints] == [False, True, False]
    np.testing.assert_array_equal(found.runs[0].tau[:, 1], TAU["b"])
    found = runs(by_current, columns(tmp_path, "two.npz"))
    assert [one.by_current for one in found.robot.joints] == [False, False, False]
    both = runs(columns(tmp_path, "three.npz", b_current=np.zeros(400)))
    np.testing.assert_array_equal(both.runs[0].tau[:, 1], TAU["b"], "a torque comes before a current")


def test_a_second_encoder_counts_where_every_recording_has_one_that_moves(tmp_path: Path) -> None:
    link = 0.99 * Q["b"]
    one = columns(tmp_path, "one.npz", b_link_position=link, a_link_position=np.zeros(400))
    two = columns(tmp_path, "two.npz", b_link_position=-link)
    none = columns(tmp_path, "none.npz")
    found = runs(one, two)
    assert found.warnings == []
    for run, expected in zip(found.runs, (link, -link), strict=True):
        np.testing.assert_array_equal(run.link[:, 1], expected)
        assert np.isnan(run.link[:, [0, 2]]).all()
    found = runs(one, two, none)
    assert found.warnings == ["joint b: found link_position in 2 of 3 recordings: not used"]
    assert all(np.isnan(run.link).all() for run in found.runs)


def test_a_single_wild_sample_is_left_out_and_reported(tmp_path: Path) -> None:
    q, tau = Q["a"].copy(), TAU["b"].copy()
    q[200], tau[[150, 300]] = 40.0, 1e6
    file = columns(tmp_path, a_position=q, b_torque=tau)
    found = runs(file)
    assert found.warnings == [
        f"{file}: joint a: 1 wild samples are left out",
        f"{file}: joint b: 2 wild samples are left out",
    ]
    [run] = found.runs
    assert np.flatnonzero(np.isnan(run.q[:, 0])).tolist() == [200]
    assert np.flatnonzero(np.isnan(run.tau[:, 1])).tolist() == [150, 300]
    assert np.nanmax(np.abs(run.q[:, 0] - Q["a"])) == 0.0


def test_a_recording_of_a_few_rows_is_taken_as_it_is(tmp_path: Path) -> None:
    short = {
        f"{name}_{role}": one[:4] for role, all_ in (("position", Q), ("torque", TAU)) for name, one in all_.items()
    }
    [run] = runs(columns(tmp_path, time=T[:4], **short)).runs
    assert run.q.tolist() == np.column_stack([one[:4] for one in Q.values()]).tolist()


TURN = 2.0 * np.pi


@pytest.mark.parametrize(
    ("limits", "position", "words"),
    [
        (
            JointLimits(),
            np.mod(3.0 * T, TURN),
            "its position jumps by a whole turn 1 times: set wrap = 6.28318530",
        ),
        (
            JointLimits(),
            40.0 * T,
            "joint a moves by 160 rad, more than its 100 allow: is its position in another unit (deg)?",
        ),
        (
            JointLimits(lower=-1.0, upper=1.0),
            1.1 * T,
            "joint a moves by 4.39 rad, more than its limits (-1 to 1) allow",
        ),
    ],
)
def test_positions_that_speak_of_another_unit_are_said(
    tmp_path: Path, limits: JointLimits, position: Floats, words: str
) -> None:
    [told] = refused(columns(tmp_path, a_position=position), of=robot(limits))
    assert told.startswith(f"{tmp_path}/run.npz: joint a")
    assert words in told


def test_positions_within_twice_the_limits_or_in_many_turns_are_none_of_it(tmp_path: Path) -> None:
    assert runs(columns(tmp_path, a_position=0.99 * T), of=robot(JointLimits(lower=-1.0, upper=1.0))).warnings == []
    assert runs(columns(tmp_path, a_position=24.0 * T)).warnings == []
    stepping = np.where(np.arange(400) < 200, 0.0, TURN - 0.6) + 0.01 * np.sin(T)
    assert runs(columns(tmp_path, a_position=stepping)).warnings == [], "a step that is no whole turn"
    sliding = np.where(np.arange(400) < 200, 0.0, TURN) + 0.01 * np.sin(T)
    assert runs(columns(tmp_path, finger_position=sliding)).warnings == [], "what slides has no turns"


def test_torques_that_say_nothing_or_of_another_unit_are_reported(tmp_path: Path) -> None:
    file = columns(tmp_path, a_torque=np.full(400, 2.5))
    assert runs(file).warnings == [f"{file}: joint a: its torque is 2.5 N·m throughout"]
    tau = np.where(np.arange(400) % 2, 31.0, -31.0)
    file = columns(tmp_path, a_torque=tau)
    assert runs(file, of=robot(JointLimits(effort=10.0))).warnings == [
        f"{file}: joint a: 31 N·m rms is more than three times the 10 of its limits: is its torque in another unit?"
    ]
    assert runs(file, of=robot(JointLimits(effort=10.5))).warnings == []


@pytest.mark.parametrize("role", ["position", "torque"])
def test_a_channel_without_a_number_is_said(tmp_path: Path, role: str) -> None:
    file = columns(tmp_path, a_torque=np.full(400, 2.5), **{f"b_{role}": np.full(400, np.nan)})
    assert refused(file) == [f"{file}: joint b: found no number in its {role}"]


def test_times_that_are_none_are_said_of_each_file(tmp_path: Path) -> None:
    still, good = columns(tmp_path, "still.npz", time=np.zeros(400)), columns(tmp_path, "good.npz")
    assert all(line.startswith(f"{still}: ") and "time stands still" in line for line in refused(still, good))


def test_the_same_is_said_once(tmp_path: Path) -> None:
    file = columns(tmp_path, belt_position=Q["a"])
    assert len(runs(file, file).warnings) == 1
    assert len(refused(*2 * [columns(tmp_path, "b.npz", without="b.")])) == 1


@pytest.mark.parametrize(
    ("role", "unit", "said"),
    [
        ("position", "deg", ""),
        ("position", "mm", "position: expected a unit of rad, found mm: the joint is rotary"),
        ("link_position", "m", "link_position: expected a unit of rad, found m: the joint is rotary"),
        ("torque", "N·m", ""),
        ("torque", "A", "torque: expected a unit of N·m, found A: the joint is rotary"),
        ("current", "A", ""),
        ("current", "N·m", ""),
        ("current", "rad", "current: expected a unit of N·m, found rad: the joint is rotary"),
        ("temperature", "K", ""),
    ],
)
def test_units_of_a_table_are_those_of_the_joint(tmp_path: Path, role: str, unit: str, said: str) -> None:
    others = "" if role == "position" else 'position = { column = "a.position" }\n'
    others += "" if role in ("torque", "current") else 'torque = { column = "a.torque" }\n'
    text = f'time = "time"\n[joints.a]\n{others}{role} = {{ column = "a.position", unit = "{unit}" }}\n'
    text += "".join(
        f'[joints.{name}]\nposition = {{ column = "{name}.position" }}\ntorque = {{ column = "{name}.torque" }}\n'
        for name in ("b", "finger")
    )
    (tmp_path / "c.toml").write_text(text)
    table, file = load_columns(tmp_path / "c.toml"), columns(tmp_path)
    if not said:
        assert len(read_runs(robot(), [file], table).runs) == 1
        return
    with pytest.raises(RecordingError) as caught:
        read_runs(robot(), [file], table)
    assert f"[joints.a] {said}" in str(caught.value).splitlines()


STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


def bag(file: Path, parts: Mapping[str, Floats]) -> Path:
    """Joint → the instants (s) at which it tells its position, ten times that, and its torque, minus that."""
    with file.open("wb") as stream:
        writer = Writer(stream)
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", STATE)
        for time, joint in sorted((float(time), joint) for joint, times in parts.items() for time in times):
            nanoseconds = round(1e9 * (5.0 + time))
            stamp = SimpleNamespace(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
            header = SimpleNamespace(stamp=stamp, frame_id="")
            message = SimpleNamespace(header=header, name=[joint], position=[10.0 * time], velocity=[], effort=[-time])
            writer.write_message("/states", schema, message, log_time=nanoseconds, publish_time=nanoseconds)
        writer.finish()
    return file


def test_joints_that_come_one_after_the_other_are_put_on_the_first_ones_time(tmp_path: Path) -> None:
    """Between two samples that are near, not across a gap, and not beyond the ends."""
    mine = np.arange(100) * 0.02
    others = mine[10:90] + 0.007
    others = np.delete(others, slice(30, 50))
    [run] = runs(bag(tmp_path / "x.mcap", {"a": mine, "b": others, "finger": mine})).runs
    np.testing.assert_allclose(run.time, mine, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 0], 10.0 * mine, atol=1e-9)
    known = ((mine > others[0]) & (mine < others[29])) | ((mine > others[30]) & (mine < others[-1]))
    assert 50 < known.sum() < 60
    np.testing.assert_allclose(run.q[known, 1], 10.0 * mine[known], atol=1e-7)
    np.testing.assert_allclose(run.tau[known, 1], -mine[known], atol=1e-8)
    assert np.isnan(run.q[~known, 1]).all()
    assert np.isnan(run.tau[~known, 1]).all()


def test_samples_at_the_very_edges_of_a_gap_are_known(tmp_path: Path) -> None:
    mine = np.arange(100) * 0.02
    [run] = runs(bag(tmp_path / "x.mcap", {"a": mine, "b": np.delete(mine, slice(30, 50)), "finger": mine})).runs
    assert np.flatnonzero(np.isnan(run.q[:, 1])).tolist() == list(range(30, 50))


def test_a_gap_is_five_steps_and_a_tenth_of_a_second_at_least(tmp_path: Path) -> None:
    mine = np.arange(100) * 0.02
    [run] = runs(bag(tmp_path / "x.mcap", {"a": mine, "b": np.delete(mine, slice(30, 33)), "finger": mine})).runs
    np.testing.assert_allclose(run.q[:, 1], 10.0 * mine, atol=1e-7)
    fine = np.arange(1000) * 0.002
    thin = np.delete(fine, slice(300, 340))  # 0.082 s: more than five steps, less than a tenth
    [run] = runs(bag(tmp_path / "y.mcap", {"a": fine, "b": thin, "finger": fine})).runs
    np.testing.assert_allclose(run.q[:, 1], 10.0 * fine, atol=1e-7)
    slow = mine[::3]  # of which four steps are more than that tenth
    [run] = runs(bag(tmp_path / "z.mcap", {"a": mine, "b": np.delete(slow, slice(8, 11)), "finger": mine})).runs
    np.testing.assert_allclose(run.q[:, 1], 10.0 * mine, atol=1e-7)


def test_a_joint_of_which_one_sample_is_known_is_unknown(tmp_path: Path) -> None:
    told = refused(bag(tmp_path / "x.mcap", {"a": T, "b": T[:1], "finger": T}))
    assert told[-1] == f"{tmp_path}/x.mcap: joint b: found no number in its position"
