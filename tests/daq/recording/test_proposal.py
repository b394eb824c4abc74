"""Tables proposed from names and numbers of a recording: which columns are taken, in which units, by which clock."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daq.recording.columns import load_columns, read
from daq.recording.proposal import propose
from daq.recording.reader import RecordingError

T = np.arange(200.0)
Q = np.column_stack([np.sin(T / 9), np.cos(T / 7), np.sin(T / 5)])
U = 10.0 * np.column_stack([np.cos(T / 9), np.sin(T / 7), np.cos(T / 5)])


def proposed(folder: Path, names: tuple[str, ...] = (), **columns: np.ndarray) -> tuple[dict[str, Any], str]:
    """The table, read, and its text."""
    np.savez(folder / "r.npz", **columns)
    text = propose(folder / "r.npz", names)
    (folder / "t.toml").write_text(text)
    load_columns(folder / "t.toml")
    return tomllib.loads(text), text


def split(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """A matrix as columns with numbers from 1 on."""
    return {name.replace("#", str(i + 1)): one for i, one in enumerate(values.T)}


def columns_of(table: dict[str, Any], role: str) -> list[str]:
    return [roles[role]["column"] for roles in table["joints"].values()]


def test_what_is_proposed_reads_the_recording(tmp_path: Path) -> None:
    table, text = proposed(tmp_path, ("a", "b", "c"), time=T * 1e-3, q=Q, tau=U)
    assert table == {
        "time": "time",
        "joints": {
            name: {"position": {"column": f"q[{i}]"}, "torque": {"column": f"tau[{i}]"}} for i, name in enumerate("abc")
        },
    }
    assert text.startswith("# Proposed from the header of r.npz: check names, units, signs and gear ratios (scale).\n")
    found = read(tmp_path / "r.npz", load_columns(tmp_path / "t.toml"))
    for i, name in enumerate("abc"):
        np.testing.assert_array_equal(found[name]["position"].values, Q[:, i])
        np.testing.assert_array_equal(found[name]["torque"].values, U[:, i])


def test_matrices_may_lie_either_way(tmp_path: Path) -> None:
    table, _ = proposed(tmp_path, (), time=T, positions=Q.T, torques=U)
    assert columns_of(table, "position") == [f"positions[{i}]" for i in range(3)]
    assert columns_of(table, "torque") == [f"torques[{i}]" for i in range(3)]
    assert list(table["joints"]) == ["joint1", "joint2", "joint3"]


@pytest.mark.parametrize(
    ("position", "torque", "joint"),
    [
        ("shoulder_ang", "shoulder_tq", "shoulder"),
        ("WristWinkel [deg]", "WristMoment [Nm]", "wrist"),
        ("left_knee_position", "left_knee_motor_torque", "left_knee"),
        ("q", "tau", "joint1"),
        ("shoulder_ang", "tau", "joint1"),
        ("axis3_pos", "axis3_torque", "joint3"),
    ],
)
def test_the_only_joint_is_called_what_both_its_columns_are(
    position: str, torque: str, joint: str, tmp_path: Path
) -> None:
    table, _ = proposed(tmp_path, (), time=T * 1e-3, **{position: Q[:, 0], torque: U[:, 0]})
    assert list(table["joints"]) == [joint]


def test_columns_that_differ_in_a_number_are_in_its_order(tmp_path: Path) -> None:
    many = np.column_stack([np.sin(T / (k + 3)) for k in range(12)])
    backwards = dict(reversed(split("A# pos", many).items()))
    table, _ = proposed(tmp_path, (), time=T, **backwards, **split("A# torque", many))
    assert columns_of(table, "position") == [f"A{i} pos" for i in range(1, 13)]
    assert columns_of(table, "torque") == [f"A{i} torque" for i in range(1, 13)]


def test_columns_that_differ_in_a_joints_name_belong_together(tmp_path: Path) -> None:
    named = {f"{name}.{role}": values[:, i] for i, name in enumerate(("hip", "knee", "ankle"))
             for role, values in (("position", Q), ("effort", U))}  # fmt: skip
    table, _ = proposed(tmp_path, (), time=T, **named)
    assert columns_of(table, "position") == ["hip.position", "knee.position", "ankle.position"]
    assert list(table["joints"]) == ["hip", "knee", "ankle"]
    assert columns_of(table, "torque") == ["hip.effort", "knee.effort", "ankle.effort"]


@pytest.mark.parametrize("other", ["target_q", "q_ref", "q_cmd", "desired_q", "q_error", "q_max", "q_init", "cmptd_q"])
def test_a_plan_or_reference_is_not_taken_for_a_measurement(tmp_path: Path, other: str) -> None:
    for columns in ({other: 2.0 * Q, "q": Q}, {"q": Q, other: 2.0 * Q}):
        table, text = proposed(tmp_path, (), time=T, tau=U, **columns)
        assert columns_of(table, "position") == ["q[0]", "q[1]", "q[2]"]
        assert f"# not used: {other}" in text


def test_the_better_word_counts_and_as_many_columns_as_there_are_joints_count_more(tmp_path: Path) -> None:
    two, three = {"joint_pos": Q[:, :2]}, {"theta": Q}
    assert columns_of(proposed(tmp_path, (), t=T, tau=U, **two, **three)[0], "position") == [
        "joint_pos[0]",
        "joint_pos[1]",
    ]
    table, _ = proposed(tmp_path, ("a", "b", "c"), t=T, tau=U, **two, **three)
    assert columns_of(table, "position") == ["theta[0]", "theta[1]", "theta[2]"]
    table, _ = proposed(tmp_path, (), t=T, tau=U, pos=0.0 * Q, angle=Q)
    assert columns_of(table, "position")[0] == "angle[0]", "what never moves is rather not the position"


RATES = np.column_stack([np.cos(T / 9) / 9, -np.sin(T / 7) / 7, np.cos(T / 5) / 5])  # of Q, a sample


@pytest.mark.parametrize(
    ("factor", "odd"),
    [
        (1.0, False),  # rad/s
        (180.0 / np.pi, False),  # deg/s
        (np.pi / 180.0, False),  # of positions in degrees
        (1.15, False),  # a filter may take as much
        (1.0 / 1.15, False),
        (1.25, True),
        (1.0 / 1.25, True),
        (10.0, True),  # a gear, or an unknown unit
        (1.25 * 180.0 / np.pi, True),
        (np.pi / 180.0 / 1.25, True),
    ],
)
def test_velocities_that_fit_the_positions_by_no_factor_of_units_are_asked_about(
    tmp_path: Path, factor: float, odd: bool
) -> None:
    _, text = proposed(tmp_path, (), time=0.01 * T, q=Q, tau=U, dq=100.0 * factor * RATES)
    assert ("make of the times: which unit, or gear ratio, is another?" in text) is odd, text


def test_names_may_be_german(tmp_path: Path) -> None:
    table, text = proposed(tmp_path, (), **{"Zeit_s": T, "Winkel_Achse1_rad": Q[:, 0], "Drehmoment_Achse1_Nm": U[:, 0]})
    assert columns_of(table, "position") == ["Winkel_Achse1_rad"]
    assert columns_of(table, "torque") == ["Drehmoment_Achse1_Nm"]
    assert "ASK" not in text


def test_what_names_do_not_say_can_be_written_by_hand_and_the_refusal_says_how(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"write a table by hand: a line time = .* \[joints.NAME\] with position"):
        proposed(tmp_path, (), temps=T, kulma=Q, vaanto=U)


@pytest.mark.parametrize("rows", [40, 3000])
def test_a_table_with_a_row_a_joint_is_refused_where_joints_are_numbered_in_it(tmp_path: Path, rows: int) -> None:
    t = np.arange(float(rows))
    columns = {"time": t // 3, "position": np.sin(t / 9), "torque": np.cos(t / 7)}
    for name in ("joint", "Axis", "joint_id"):
        with pytest.raises(RecordingError, match=f'every row is of another joint \\(column "{name}"\\)'):
            proposed(tmp_path, (), **columns, **{name: t % 3})


@pytest.mark.parametrize("other", [np.zeros(200), np.arange(200.0), np.stack([np.arange(200.0) % 3] * 2, axis=1)])
def test_a_column_that_numbers_no_joints_is_left_alone(tmp_path: Path, other: np.ndarray) -> None:
    """One number in all rows, another number in each row, or a matrix does not say which joint a row belongs to."""
    table, _ = proposed(tmp_path, (), time=T * 1e-3, joint=other, position=Q[:, 0], torque=U[:, 0])
    assert list(table["joints"]) == ["joint1"]


def test_words_within_others_are_no_words(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no column has a name like position and torque; it has"):
        proposed(tmp_path, (), time=T, sequence=Q, status=U)
    with pytest.raises(RecordingError, match=r"has a name like torque .*; it has time \[200\], q \[200, 3\]"):
        proposed(tmp_path, (), time=T, q=Q)


@pytest.mark.parametrize(
    ("name", "step", "unit"),
    [
        ("time", 1e-3, None),
        ("time", 0.1, None),
        ("time", 0.25, "ms"),
        ("time", 4.0, "ms"),
        ("time", 1000.0, "µs"),
        ("time", 1e6, "ns"),
        ("t_ms", 4e-2, "ms"),
        ("timestamp_us", 50.0, "us"),
        ("time_ns", 4.0, "ns"),
        ("stamp", 1e-3, None),
    ],
)
def test_the_unit_of_time_is_what_its_name_says_or_its_steps(tmp_path: Path, name: str, step: float, unit: str) -> None:
    table, _ = proposed(tmp_path, (), q=Q, tau=U, **{name: 5.0 + step * T})
    assert (table["time"], table.get("time_unit")) == (name, unit)


def test_times_rise_and_are_as_many_as_rows(tmp_path: Path) -> None:
    table, text = proposed(tmp_path, (), time=0.0 * T, time_2=T[:50], timer=T, q=Q, tau=U)
    assert "time" not in table
    assert table["rate"] == 1000.0
    assert "rate = 1000.0  # ASK: the file has no times: say its rate in Hz" in text
    assert "# not used: time, time_2, timer" in text


@pytest.mark.parametrize(
    ("position", "velocity", "rates"),
    [
        ("q#", "vel#_deg_per_s", np.rad2deg(RATES)),
        ("q#", "vel#", RATES),
        ("q#_deg", "vel#", RATES),  # a velocity of positions in degrees is in deg/s
        ("q#_deg", "vel#_rad_per_s", np.deg2rad(RATES)),
    ],
)
def test_a_rate_is_how_far_positions_move_over_the_velocities_in_their_unit(
    tmp_path: Path, position: str, velocity: str, rates: np.ndarray
) -> None:
    _, text = proposed(tmp_path, (), **split(position, Q), **split("tau#", U), **split(velocity, 100.0 * rates))
    (line,) = [one for one in text.splitlines() if one.startswith("rate = ")]
    assert float(line.split()[2]) == pytest.approx(100.0, rel=0.02), text


def test_of_two_velocities_the_one_that_follows_the_positions_more_closely_says_the_rate(tmp_path: Path) -> None:
    noise = 0.15 * RATES.std(axis=0) * np.random.default_rng(1).standard_normal(RATES.shape)
    close, rough = {"vel": 100.0 * RATES}, {"speed": 50.0 * (RATES + noise)}
    for columns in (close | rough, rough | close):
        table, _ = proposed(tmp_path, (), q=Q, tau=U, **columns)
        assert table["rate"] == pytest.approx(100.0, rel=0.01)
    table, _ = proposed(tmp_path, (), q=Q, tau=U, **rough)
    assert table["rate"] == pytest.approx(50.0, rel=0.1), "which follows them, too"


def test_the_name_of_a_joint_is_no_longer_than_sixty_four_letters(tmp_path: Path) -> None:
    long = "k" * 70
    table, _ = proposed(tmp_path, (), **{"time": 0.01 * T, f"{long}.pos": Q[:, 0], f"{long}.torque": U[:, 0]})
    assert list(table["joints"]) == ["k" * 64]


@pytest.mark.parametrize("factor", [-100.0, 0.0])
def test_velocities_that_do_not_follow_the_positions_say_no_rate(tmp_path: Path, factor: float) -> None:
    _, text = proposed(tmp_path, (), **split("q#", Q), **split("tau#", U), **split("vel#", factor * RATES))
    assert "rate = 1000.0  # ASK: the file has no times: say its rate in Hz\n" in text


STILL = np.ones_like(U)


@pytest.mark.parametrize(
    ("chosen", "other"),
    [
        ({"tau": U}, {"tau_est": U}),  # what was estimated is taken where there is nothing else,
        ({"tau_est": U}, {"tau": STILL}),  # or where that never changes;
        ({"tau": U}, {"current": U}),
        ({"tau_est": U}, {"current": U}),  # both are better than a current,
        ({"current": U}, {"tau": STILL}),
        ({"tau_est": U}, {"current": STILL}),
        ({"torque_sensor": U}, {"torque": U}),  # and so is a sensor than whatever it may be,
        ({"torque": U}, {"torque_current": U}),
        ({"measured_torque": U}, {"torque": U}),
        ({"arm.torque": U}, {"leg.torque": U}),  # what lies beside the positions,
        ({"arm.tau_est": U}, {"leg.tau_est": U}),
        ({"arm.tau": U}, {"arm.torque": U[:, :2]}),  # what every joint has,
        ({"tau": U}, {"torque": np.column_stack([U[:, 0], STILL[:, 1:]])}),  # and what changes of every joint
    ],
)
def test_of_several_torques_the_one_that_says_most_is_taken(
    tmp_path: Path, chosen: dict[str, np.ndarray], other: dict[str, np.ndarray]
) -> None:
    for columns in (chosen | other, other | chosen):
        table, _ = proposed(tmp_path, (), **{"arm.time": 0.01 * T, "arm.pos": Q}, **columns)
        assert columns_of(table, "torque" if "torque" in table["joints"]["joint1"] else "current") == [
            f"{name}[{j}]" for name in chosen for j in range(3)
        ]


def test_a_torque_that_was_made_from_a_current_is_asked_about(tmp_path: Path) -> None:
    said = "is a torque made from a motor's current"
    assert said in proposed(tmp_path, (), time=0.01 * T, q=Q, torque_current=U)[1]
    assert said not in proposed(tmp_path, (), time=0.01 * T, q=Q, torque=U)[1]


def test_a_clock_of_the_torques_own_is_used(tmp_path: Path) -> None:
    columns = {"a.time": 0.02 * T, "a.pos": Q, "b.time": 0.01 * T, "b.torque": U, "c.time": 0.03 * T}
    table, text = proposed(tmp_path, (), **columns)
    assert {one["torque"]["time"] for one in table["joints"].values()} == {"b.time"}
    assert "# not used: c.time" in text


def test_a_column_of_times_that_a_matrix_begins_with_is_no_joint(tmp_path: Path) -> None:
    """As where each quantity has a file of its own; of two motors that turn evenly neither is a clock."""
    time = 0.01 * T
    table, text = proposed(tmp_path, (), q=np.column_stack([time, Q]), tau=np.column_stack([time, U]))
    assert "# not used: q[0], tau[0]" in text
    assert columns_of(table, "position") == ["q[1]", "q[2]", "q[3]"]
    assert columns_of(table, "torque") == ["tau[1]", "tau[2]", "tau[3]"]
    table, _ = proposed(tmp_path, (), time=time, q=np.column_stack([0.3 * T, Q[:, 0], 0.2 * T]), tau=U)
    assert table["time"] == "time"
    assert columns_of(table, "position") == ["q[0]", "q[1]", "q[2]"]


def test_the_clock_beside_the_positions_is_taken(tmp_path: Path) -> None:
    """In a structure of several devices each has its own."""
    columns = {"a.time": 2.0 * T, "b.time": 0.01 * T, "b.pos": Q, "b.torque": U}
    assert proposed(tmp_path, (), **columns)[0]["time"] == "b.time"
    columns = {"b.time": 0.01 * T, "b.torque": U, "a.time": 0.02 * T, "a.pos": Q}
    assert proposed(tmp_path, (), **columns)[0]["time"] == "a.time"


@pytest.mark.parametrize(
    ("name", "scale", "degrees"), [("q", 12.0, False), ("q", 14.0, True), ("q_deg", 1.0, True), ("POS_DEG", 1.0, True)]
)
def test_degrees_are_recognised_by_name_or_size_and_of_positions_alone(
    tmp_path: Path, name: str, scale: float, degrees: bool
) -> None:
    table, _ = proposed(tmp_path, (), time=T, tau=100.0 * U, **{name: scale * Q / np.abs(Q).max()})
    for roles in table["joints"].values():
        assert roles["position"].get("unit") == ("deg" if degrees else None)
        assert "unit" not in roles["torque"]


def test_names_that_do_not_fit_are_numbered_and_a_torque_too_few_is_left_out(tmp_path: Path) -> None:
    table, text = proposed(tmp_path, ("a", "b"), time=T, q=Q, tau=U[:, :2], temperature=T)
    assert list(table["joints"]) == ["joint1", "joint2"]
    assert [list(roles) for roles in table["joints"].values()] == [["position", "torque"]] * 2
    assert "# without a torque, and left out: q[2]" in text
    assert text.rstrip().endswith("# not used: temperature")


def test_missing_numbers_hide_nothing(tmp_path: Path) -> None:
    q = Q.copy()
    q[::3, 0], q[:, 2] = np.nan, np.nan
    table, _ = proposed(tmp_path, (), time=T, q=q, tau=U)
    assert columns_of(table, "position") == ["q[0]", "q[1]", "q[2]"]


def test_a_refusal_lists_no_more_than_thirty_columns(tmp_path: Path) -> None:
    with pytest.raises(RecordingError) as refused:
        proposed(tmp_path, (), **{f"kulma{chr(97 + i // 26)}{chr(97 + i % 26)}": T for i in range(40)})
    assert str(refused.value).count("[200]") == 30


def test_no_more_than_sixty_others_are_listed(tmp_path: Path) -> None:
    for count, end in ((60, "x59\n"), (61, "x59, …\n")):
        _, text = proposed(tmp_path, (), time=T, q=Q, tau=U, **{f"x{i}": np.zeros(7) for i in range(count)})
        assert text.endswith(end)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.npz", None, "No such file"),
        ("x.npz", b"junk", "cannot be read"),
        ("x.csv", b"a\n1\n", "found no numbers"),
        ("x.xyz", b"", "expected one of"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError, match=said):
        propose(tmp_path / name, ())
