"""Small recordings of joints in the forms that public data sets have, with the truth of each: for proposals of columns.

Positions are sums of sines, velocities their exact derivatives, torques those of a rigid joint with friction and
gravity, so that only the joint's own columns fit together.
"""

import json
import sqlite3
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io

ROWS = 400


class Truth(NamedTuple):
    """What a file holds, in SI: (rows, joints) each."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


class Case(NamedTuple):
    """A file, and what has to be said of it."""

    write: Callable[[Path, Truth], Path]
    joints: int
    refused: str = ""  # a regular expression; empty: it is proposed
    asks: tuple[str, ...] = ()  # regular expressions that questions must match
    names: tuple[str, ...] = ()  # of the joints, where the file names them
    order: tuple[int, ...] = ()  # which of the truth's joints the proposed ones are, where not all in order
    rate: float = 200.0
    scale: float = 1.0  # torque in the table's channel over the truth's (a current: A)
    role: str = "torque"
    timed: bool = True


def truth(joints: int, rate: float, seed: int) -> Truth:
    """A motion of all joints."""
    draw = np.random.default_rng(seed)
    t = np.arange(ROWS) / rate
    w = 2.0 * np.pi * draw.uniform(0.5, 2.0, (3, joints)) * rate / 200.0
    size, phase = draw.uniform(0.1, 0.6, (3, joints)), draw.uniform(0.0, 6.0, (3, joints))
    angle = w[:, None, :] * t[None, :, None] + phase[:, None, :]
    q = np.einsum("kj,krj->rj", size, np.sin(angle))
    v = np.einsum("kj,krj->rj", size * w, np.cos(angle))
    a = -np.einsum("kj,krj->rj", size * w**2, np.sin(angle))
    tau = 0.02 * a + 0.5 * v + 1.5 * np.sign(v) + 8.0 * np.cos(q) + draw.normal(0.0, 0.05, q.shape)
    return Truth(t, q, v, a, tau)


def csv(
    folder: Path,
    head: str,
    columns: Sequence[np.ndarray],
    name: str = "run.csv",
    between: str = ",",
    form: str = "%.9g",
) -> Path:
    """A table in text below these lines."""
    file = folder / name
    body = "\n".join(between.join(form % value for value in row) for row in np.column_stack(list(columns)))
    file.write_text(f"{head}\n{body}\n" if head else f"{body}\n", encoding="utf-8")
    return file


def numbered(pattern: str, count: int, begin: int = 1) -> list[str]:
    """Names with a number for #."""
    return [pattern.replace("#", str(i)) for i in range(begin, begin + count)]


def joined(*parts: Any) -> str:
    """One line of names."""
    return ",".join(name for part in parts for name in ([part] if isinstance(part, str) else part))


def noise(t: Truth, columns: int, size: float = 1.0, seed: int = 9) -> np.ndarray:
    """Columns that mean nothing here."""
    return size * np.random.default_rng(seed).normal(size=(len(t.time), columns))


def kaggle(folder: Path, t: Truth) -> Path:
    names = [f"{joint}_{what}" for joint in ("shoulder", "elbow", "wrist") for what in ("position", "torque")]
    mixed = [one for j in range(3) for one in (t.q[:, j], t.tau[:, j])]
    return csv(folder, joined("timestamp", names, "gripper_force"), [t.time, *mixed, noise(t, 1)])


def rtde(folder: Path, t: Truth) -> Path:
    head = joined("timestamp", *(numbered(f"{one}_#", 6, 0) for one in (
        "target_q", "target_moment", "actual_q", "actual_qd", "actual_current", "actual_TCP_pose", "actual_TCP_force",
        "joint_temperatures"))).replace(",", " ")  # fmt: skip
    columns = [1.6e9 + t.time, t.q + 0.01, t.tau * 1.1, t.q, t.v, t.tau / 12.0, noise(t, 6), noise(t, 6),
               30.0 + 0.0 * t.q]  # fmt: skip
    return csv(folder, head, columns, between=" ", form="%.14g")


def franka(folder: Path, t: Truth) -> Path:
    parts = ("tau_J", "tau_J_d", "q", "q_d", "dq", "dq_d", "tau_ext_hat_filtered", "theta", "dtheta")
    head = joined("time", *(numbered(f"{one}_#", 7, 0) for one in parts), numbered("O_T_EE_#", 16, 0))
    columns = [t.time, t.tau, 0.9 * t.tau, t.q, t.q + 0.01, t.v, t.v + 0.01, noise(t, 7), t.q + 1e-4 * t.tau, t.v,
               noise(t, 16)]  # fmt: skip
    return csv(folder, head, columns)


def franka_lists(folder: Path, t: Truth) -> Path:
    lines = ["time,tau_J,q,dq"]
    for k in range(len(t.time)):
        cells = [" ".join(f"{value:.9g}" for value in one[k]) for one in (t.tau, t.q, t.v)]
        lines.append(f"{t.time[k]:.9g}," + ",".join(f'"[{cell}]"' for cell in cells))
    (folder / "franka.csv").write_text("\n".join(lines))
    return folder / "franka.csv"


def panda_npz(folder: Path, t: Truth) -> Path:
    np.savez(folder / "panda.npz", q=t.q, dq=t.v, ddq=t.a, tau=t.tau, t=t.time, O_T_EE=noise(t, 16))
    return folder / "panda.npz"


def floba(folder: Path, t: Truth) -> Path:
    np.savez(folder / "m.npz", positions=t.q, velocities=t.v, accelerations=t.a, torques=t.tau, times=t.time,
             target_positions=np.rad2deg(t.q), target_velocities=t.v, target_accelerations=t.a)  # fmt: skip
    return folder / "m.npz"


def mat_struct(folder: Path, t: Truth) -> Path:
    run = {"q": t.q, "qd": t.v, "qdd": t.a, "u": t.tau, "t": t.time}
    scipy.io.savemat(folder / "id.mat", {"data": run, "robot": {"name": "puma", "mass": np.ones(6)}})
    return folder / "id.mat"


def mat_transposed(folder: Path, t: Truth) -> Path:
    scipy.io.savemat(folder / "id.mat", {"exp": {"Time": t.time, "JointPosition": t.q.T, "JointVelocity": t.v.T,
                                                 "JointTorque": t.tau.T, "TcpPosition": noise(t, 3).T}})  # fmt: skip
    return folder / "id.mat"


def mat_per_joint(folder: Path, t: Truth) -> Path:
    joints = {f"joint{j + 1}": {"pos": t.q[:, j], "trq": t.tau[:, j]} for j in range(t.q.shape[1])}
    scipy.io.savemat(folder / "id.mat", {"log": joints | {"time": t.time}})
    return folder / "id.mat"


def kuka(folder: Path, t: Truth) -> Path:
    head = "\n".join((
        "KUKA trace;KR C4", "Date;2021-03-04", "Cycle;0.004",
        ";".join(["Zeit", *numbered("AXIS_ACT_A#", 6), *numbered("Torque_A#", 6)]),
        ";".join(["[s]", *["[deg]"] * 6, *["[Nm]"] * 6])))  # fmt: skip
    return csv(folder, head, [t.time, np.rad2deg(t.q), t.tau], between=";")


def decimal_commas(folder: Path, t: Truth) -> Path:
    file = csv(folder, "", [t.time, np.rad2deg(t.q), t.tau], between=";")
    names = ["Zeit [ms]", *numbered("Position A# [°]", 6), *numbered("Moment A# [Nm]", 6)]
    rows = np.column_stack([1e3 * t.time, np.rad2deg(t.q), t.tau])
    body = "\n".join(";".join(f"{value:.6f}".replace(".", ",") for value in row) for row in rows)
    file.write_bytes(("\ufeff" + ";".join(names) + "\r\n" + body.replace("\n", "\r\n") + "\r\n").encode())
    return file


def plotjuggler(folder: Path, t: Truth) -> Path:
    head = joined("__time", "/joint_states/header/stamp", *(numbered(f"/joint_states/{one}[#]", 6, 0) for one in (
        "position", "velocity", "effort")))  # fmt: skip
    return csv(folder, head, [1.7e9 + t.time + 1e-4, 1.7e9 + t.time, t.q, t.v, t.tau], form="%.15g")


def plotjuggler_named(folder: Path, t: Truth) -> Path:
    names = [f"/joint_states/joint_{j + 1}/{one}" for j in range(3) for one in ("position", "velocity", "effort")]
    mixed = [one for j in range(3) for one in (t.q[:, j], t.v[:, j], t.tau[:, j])]
    return csv(folder, joined("__time", names), [t.time, *mixed])


def rostopic(folder: Path, t: Truth) -> Path:
    file = folder / "echo.csv"
    head = joined("%time", "field.header.seq", "field.header.stamp", "field.header.frame_id",
                  numbered("field.name#", 2, 0), *(numbered(f"field.{one}#", 2, 0) for one in (
                      "position", "velocity", "effort")))  # fmt: skip
    lines = [head]
    for k in range(len(t.time)):
        stamp = int(1_600_000_000_000_000_000 + round(t.time[k] * 1e9))
        values = ",".join(f"{one:.9g}" for one in (*t.q[k], *t.v[k], *t.tau[k]))
        lines.append(f"{stamp + 1_000_000},{k},{stamp},,hip_joint,knee_joint,{values}")
    file.write_text("\n".join(lines))
    return file


def stamps_in_two(folder: Path, t: Truth) -> Path:
    head = joined("header.stamp.secs", "header.stamp.nsecs", *(numbered(f"{one}_#", 2, 0) for one in (
        "position", "effort")))  # fmt: skip
    whole = np.floor(t.time + 5.3)
    return csv(folder, head, [1.6e9 + whole, np.round((t.time + 5.3 - whole) * 1e9), t.q, t.tau], form="%.12g")


def headerless(folder: Path, t: Truth) -> Path:
    return csv(folder, "", [t.time, t.q, t.v, t.tau], "run.txt", between=" ")


def headerless_interleaved(folder: Path, t: Truth) -> Path:
    return csv(folder, "", [t.time, *(one for j in range(3) for one in (t.q[:, j], t.v[:, j], t.a[:, j], t.tau[:, j]))])


def headerless_without_rate(folder: Path, t: Truth) -> Path:
    return csv(folder, "", [t.time, t.q, t.tau])


def headerless_with_plan(folder: Path, t: Truth) -> Path:
    return csv(folder, "", [t.time, t.q, t.v, t.q + 0.01, t.v + 0.01, t.tau])


def savetxt(folder: Path, t: Truth) -> Path:
    head = "# " + " ".join(["timestamp", *numbered("q#", 2), *numbered("qd#", 2), *numbered("tau#", 2)])
    return csv(folder, "# recorded on the bench\n" + head, [t.time, t.q, t.v, t.tau], "run.dat", between=" ")


def corke(folder: Path, t: Truth) -> Path:
    head = joined("t", numbered("q#", 6), numbered("qd#", 6), numbered("qdd#", 6), numbered("tau#", 6))
    return csv(folder, head, [t.time, t.q, t.v, t.a, t.tau])


def slashes(folder: Path, t: Truth) -> Path:
    names = [f"Joint_{j + 1}/{one}" for j in range(4) for one in ("Position", "Velocity", "Torque", "Temperature")]
    mixed = [one for j in range(4) for one in (t.q[:, j], t.v[:, j], t.tau[:, j], 30.0 + 0.0 * t.time)]
    return csv(folder, joined("Time", names), [t.time, *mixed])


def lerobot(folder: Path, t: Truth) -> Path:
    joints = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_roll")
    head = joined("timestamp", [f"{one}.pos" for one in joints], [f"{one}.current" for one in joints])
    return csv(folder, head, [t.time, np.rad2deg(t.q), 1e3 * t.tau / 5.0])


def brackets(folder: Path, t: Truth) -> Path:
    head = joined("t [s]", numbered("pos[#]", 2, 0), numbered("vel[#]", 2, 0), numbered("torque[#]", 2, 0),
                  ["ee_x", "ee_y", "ee_z", "qw", "qx", "qy", "qz"])  # fmt: skip
    return csv(folder, head, [t.time, t.q, t.v, t.tau, noise(t, 7)])


def millinewton(folder: Path, t: Truth) -> Path:
    head = joined("time_us", numbered("angle_#_deg", 2), numbered("torque_#_mNm", 2))
    return csv(folder, head, [1e6 * t.time, np.rad2deg(t.q), 1e3 * t.tau])


def grouped(folder: Path, t: Truth) -> Path:
    head = "Joint 1,,,Joint 2,,,\nPosition,Velocity,Torque,Position,Velocity,Torque,Time\n"
    head += "deg,deg/s,Nm,deg,deg/s,Nm,ms"
    degrees = [one for j in range(2) for one in (np.rad2deg(t.q[:, j]), np.rad2deg(t.v[:, j]), t.tau[:, j])]
    return csv(folder, head, [*degrees, 1e3 * t.time])


def json_rows(folder: Path, t: Truth) -> Path:
    rows = [{"t": float(t.time[k]), "joints": {"hip": {"q": float(t.q[k, 0]), "tau": float(t.tau[k, 0])},
                                               "knee": {"q": float(t.q[k, 1]), "tau": float(t.tau[k, 1])}}}
            for k in range(len(t.time))]  # fmt: skip
    (folder / "run.json").write_text(json.dumps(rows))
    return folder / "run.json"


def json_lists(folder: Path, t: Truth) -> Path:
    document = {"robot": "arm", "time": t.time.tolist(), "joint_positions": t.q.tolist(),
                "joint_torques": t.tau.tolist(), "ee_position": noise(t, 3).tolist()}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(document))
    return folder / "run.json"


def json_lines(folder: Path, t: Truth) -> Path:
    rows = (json.dumps({"stamp": float(t.time[k]), "q": t.q[k].tolist(), "dq": t.v[k].tolist(),
                        "tau": t.tau[k].tolist()}) for k in range(len(t.time)))  # fmt: skip
    (folder / "run.jsonl").write_text("\n".join(rows))
    return folder / "run.jsonl"


def parquet(folder: Path, t: Truth) -> Path:
    import pyarrow
    from pyarrow import parquet as files

    columns = (
        {"timestamp": t.time} | {f"q{j}": t.q[:, j] for j in range(3)} | {f"tau{j}": t.tau[:, j] for j in range(3)}
    )
    files.write_table(pyarrow.table(columns), folder / "run.parquet")
    return folder / "run.parquet"


def several(folder: Path, t: Truth) -> Path:
    inner = folder / "run1"
    inner.mkdir()
    for name, values in (("q", t.q), ("dq", t.v), ("tau", t.tau), ("t", t.time[:, None])):
        csv(inner, "", [values], f"{name}.csv")
    return inner


def several_with_times(folder: Path, t: Truth) -> Path:
    inner = folder / "run2"
    inner.mkdir()
    csv(inner, joined("time", numbered("joint#", 2)), [t.time, t.q], "positions.csv")
    csv(inner, joined("time", numbered("joint#", 2)), [t.time[1::2], t.tau[1::2]], "torques.csv")
    return inner


def instants(folder: Path, t: Truth) -> Path:
    lines = ["timestamp,robot,joint1_angle_deg,joint1_torque_nm"]
    for k in range(len(t.time)):
        seconds = f"{10 + t.time[k]:09.6f}"
        lines.append(f"2024-05-01 12:00:{seconds},r7,{np.rad2deg(t.q[k, 0]):.7g},{t.tau[k, 0]:.7g}")
    (folder / "log.csv").write_text("\n".join(lines))
    return folder / "log.csv"


def german_instants(folder: Path, t: Truth) -> Path:
    """As a test rig's program writes them: Latin-1, the day first, decimal commas also in the seconds."""
    lines = ["Pr\xfcfstand;3", "Zeit;Winkel A1 [\xb0];Drehmoment A1 [Nm]"]
    for k in range(len(t.time)):
        row = f"{10 + t.time[k]:09.6f};{np.rad2deg(t.q[k, 0]):.7g};{t.tau[k, 0]:.7g}".replace(".", ",")
        lines.append(f"26.11.2026 12:00:{row}")
    (folder / "log.csv").write_bytes("\r\n".join(lines).encode("latin-1"))
    return folder / "log.csv"


def american_instants(folder: Path, t: Truth) -> Path:
    """As a spreadsheet in English writes them: the month first, on either side of midnight."""
    lines = ["Timestamp,joint1_angle_deg,joint1_torque_nm"]
    for k in range(len(t.time)):
        seconds = t.time[k] - t.time[0]
        day, clock = ("05/12/2026 11:59:", 59 + seconds) if seconds < 1 else ("05/13/2026 12:00:", seconds - 1)
        half = "PM" if seconds < 1 else "AM"
        lines.append(f"{day}{clock:09.6f} {half},{np.rad2deg(t.q[k, 0]):.7g},{t.tau[k, 0]:.7g}")
    (folder / "log.csv").write_text("\n".join(lines))
    return folder / "log.csv"


def wrists_and_momentum(folder: Path, t: Truth) -> Path:
    head = joined("time", numbered("momentum_#", 6), ["x_pos", "y_pos", "z_pos", "roll", "pitch", "yaw"],
                  numbered("xarm_joint_#_position", 6), numbered("xarm_joint_#_torque", 6))  # fmt: skip
    return csv(folder, head, [t.time, noise(t, 6), noise(t, 6), t.q, t.tau])


def fetch(folder: Path, t: Truth) -> Path:
    joints = ("shoulder_pan_joint", "elbow_flex_joint")
    head = joined(
        "time", *([f"{one}_{what}" for one in joints] for what in ("position", "velocity", "effort", "effort_lp"))
    )
    return csv(folder, head, [t.time, t.q, t.v, t.tau, 0.8 * t.tau])


def no_times(folder: Path, t: Truth) -> Path:
    return csv(folder, joined(numbered("q#", 2), numbered("qd#", 2), numbered("tau#", 2)), [t.q, t.v, t.tau])


def long_rows(folder: Path, t: Truth) -> Path:
    lines = ["time,joint,position,torque"]
    lines += [f"{t.time[k]:.6g},j{j},{t.q[k, j]:.6g},{t.tau[k, j]:.6g}" for k in range(len(t.time)) for j in range(2)]
    (folder / "long.csv").write_text("\n".join(lines))
    return folder / "long.csv"


def long_rows_with_gaps(folder: Path, t: Truth) -> Path:
    file = long_rows(folder, t)
    rows = file.read_text().splitlines()
    file.write_text("\n".join(rows[:40] + rows[41:]))
    return file


def only_plans(folder: Path, t: Truth) -> Path:
    head = joined("t", numbered("q#", 2), numbered("tau_cmd#", 2), numbered("target_moment#", 2))
    return csv(folder, head, [t.time, t.q, t.tau, t.tau])


def positions_only(folder: Path, t: Truth) -> Path:
    return csv(folder, joined("time", numbered("joint_#", 2), numbered("position_#", 2)), [t.time, t.q, t.q])


def cartesian_only(folder: Path, t: Truth) -> Path:
    head = joined("time", [f"tcp_position_{one}" for one in "xyz"], [f"force_{one}" for one in "xyz"])
    return csv(folder, head, [t.time, noise(t, 6)])


def percent(folder: Path, t: Truth) -> Path:
    head = joined("time", numbered("Position A# [deg]", 2), numbered("Torque A# [%]", 2))
    return csv(folder, head, [t.time, np.rad2deg(t.q), t.tau])


def bare_joints(folder: Path, t: Truth) -> Path:
    head = joined("timestamp", list("xyz"), numbered("joint#", 6), numbered("tau#", 6))
    return csv(folder, head, [t.time, noise(t, 3), t.q, t.tau])


def joints_by_unit(folder: Path, t: Truth) -> Path:
    head = joined("time (s)", numbered("J# (deg)", 6), numbered("J# (Nm)", 6))
    return csv(folder, head, [t.time, np.rad2deg(t.q), t.tau])


def two_arms(folder: Path, t: Truth) -> Path:
    sides = [f"{side}_joint{i}" for side in ("left", "right") for i in (1, 2, 3)]
    head = joined(
        "stamp", [f"{one}_pos" for one in sides], [f"{one}_vel" for one in sides], [f"{one}_eff" for one in sides]
    )
    return csv(folder, head, [t.time, t.q, t.v, t.tau])


def desired_and_measured(folder: Path, t: Truth) -> Path:
    head = joined(
        "t", *(numbered(f"{one}#", 2) for one in ("q_des", "q_meas", "dq_des", "dq_meas", "tau_cmd", "tau_meas"))
    )
    return csv(folder, head, [t.time, t.q + 0.05, t.q, t.v + 0.1, t.v, 1.2 * t.tau, t.tau])


def camel(folder: Path, t: Truth) -> Path:
    head = joined("Time", numbered("JointPosition#", 2), numbered("JointVelocity#", 2), numbered("JointTorque#", 2),
                  numbered("MotorCurrent#", 2), numbered("MotorTemperature#", 2))  # fmt: skip
    return csv(folder, head, [t.time, t.q, t.v, t.tau, t.tau / 3.0, t.tau * 0.0 + 20.0], between=", ")


def quaternions(folder: Path, t: Truth) -> Path:
    turn = noise(t, 4)
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    np.savez(folder / "r.npz", q=turn, joint_angles=t.q, joint_torques=t.tau, time=t.time)
    return folder / "r.npz"


def epoch_ns(folder: Path, t: Truth) -> Path:
    head = joined("timestamp_ns", numbered("q#", 2), numbered("tau#", 2))
    stamps = (1_700_000_000_000_000_000 + round(time * 1e9) for time in t.time)
    rows = (",".join(f"{x:.9g}" for x in (*t.q[k], *t.tau[k])) for k in range(len(t.time)))
    lines = [head, *(f"{stamp},{row}" for stamp, row in zip(stamps, rows, strict=True))]
    (folder / "a.csv").write_text("\n".join(lines))
    return folder / "a.csv"


def pandas_index(folder: Path, t: Truth) -> Path:
    head = joined("", "t", numbered("pos_j#", 2, 0), numbered("tq_j#", 2, 0))
    return csv(folder, head, [np.arange(len(t.time)), t.time, t.q, t.tau])


def utf16_tabs(folder: Path, t: Truth) -> Path:
    file = csv(
        folder,
        "\t".join(["Time/s", "q1/rad", "q2/rad", "M1/Nm", "M2/Nm"]).replace("M", "torque"),
        [t.time, t.q, t.tau],
        between="\t",
    )
    file.write_bytes(file.read_text().encode("utf-16"))
    return file


def several_runs(folder: Path, t: Truth) -> Path:
    twice = [np.tile(one, (2, 1)) for one in (t.q, t.tau)]
    return csv(folder, joined("time", numbered("q#", 2), numbered("tau#", 2)), [np.tile(t.time, 2), *twice])


def greek(folder: Path, t: Truth) -> Path:
    return csv(folder, joined("t", numbered("θ#", 2), numbered("θ̇#", 2), numbered("τ#", 2)), [t.time, t.q, t.v, t.tau])


def unitree(folder: Path, t: Truth) -> Path:
    names = [f"motorState[{i}].{one}" for i in range(3) for one in ("q", "dq", "tauEst")]
    return csv(folder, joined("time", names), [t.time, *(x[:, i] for i in range(3) for x in (t.q, t.v, t.tau))])


def sides_of_a_gear(folder: Path, t: Truth) -> Path:
    names = [f"axis{i} {one}" for i in (1, 2) for one in ("arm angle [rad]", "motor torque [Nm]")]
    return csv(folder, joined("Time[s]", names), [t.time, *(x[:, i] for i in range(2) for x in (t.q, t.tau))])


def small_degrees(folder: Path, t: Truth) -> Path:
    head = joined("t", numbered("q#", 3), numbered("dq#", 3), numbered("tau#", 3))
    return csv(folder, head, [t.time, np.rad2deg(t.q) * 0.05, 0.05 * t.v, t.tau])


def counter_and_time(folder: Path, t: Truth) -> Path:
    return csv(folder, "", [np.arange(len(t.time)), t.time, t.q, t.v, t.tau])


def scope(folder: Path, t: Truth) -> Path:
    signals = [{"values": t.q, "label": "position"}, {"values": t.tau, "label": "torque"}]
    scipy.io.savemat(folder / "a.mat", {"ScopeData": {"time": t.time, "signals": signals}})
    return folder / "a.mat"


def plain_stamps(folder: Path, t: Truth) -> Path:
    whole = np.floor(t.time + 5.0)
    head = joined("secs", "nsecs", numbered("pos_#", 2, 0), numbered("vel_#", 2, 0), numbered("eff_#", 2, 0))
    columns = [1.6e9 + whole, np.round((t.time + 5.0 - whole) * 1e9), t.q, t.v, t.tau]
    return csv(folder, head, columns, form="%.12g")


def table_in_mat(folder: Path, t: Truth) -> Path:
    scipy.io.savemat(folder / "a.mat", {"data": np.column_stack([t.time, t.q, t.v, t.tau])})
    return folder / "a.mat"


def anonymous(folder: Path, t: Truth) -> Path:
    np.savez(folder / "a.npz", X=np.column_stack([t.q, t.v, t.a]), Y=t.tau)
    return folder / "a.npz"


def quoted_commas(folder: Path, t: Truth) -> Path:
    return csv(folder, '"Time","J1 Pos, deg","J2 Pos, deg","J1 Trq, Nm","J2 Trq, Nm"', [t.time, np.rad2deg(t.q), t.tau])


def joint_state(stamp: float, names: Sequence[str], fields: Sequence[Sequence[float]]) -> bytes:
    """A sensor_msgs/JointState in CDR, little-endian."""
    body = bytearray(struct.pack("<iI", int(stamp), round((stamp - int(stamp)) * 1e9)))

    def word(text: str) -> None:
        body.extend(b"\0" * (-len(body) % 4) + struct.pack("<I", len(text) + 1) + text.encode() + b"\0")

    word("base")
    body.extend(b"\0" * (-len(body) % 4) + struct.pack("<I", len(names)))
    for name in names:
        word(name)
    for values in fields:
        body.extend(b"\0" * (-len(body) % 4) + struct.pack("<I", len(values)))
        body.extend(b"\0" * (-len(body) % 8 if len(values) else 0) + struct.pack(f"<{len(values)}d", *values))
    return b"\0\1\0\0" + bytes(body)


def bag(folder: Path, t: Truth) -> Path:
    inner = folder / "bag"
    inner.mkdir()
    (inner / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  storage_identifier: sqlite3\n")
    names = ["elbow_joint", "base_joint"]
    with sqlite3.connect(inner / "bag_0.db3") as database:
        database.execute("CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT, type TEXT, "
                         "serialization_format TEXT, offered_qos_profiles TEXT)")  # fmt: skip
        database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)"
        )
        for one, topic in ((1, "/joint_states"), (2, "/joint_commands")):
            database.execute("INSERT INTO topics VALUES (?, ?, 'sensor_msgs/msg/JointState', 'cdr', '')", (one, topic))
        for k in range(len(t.time)):
            stamp = 100.0 + t.time[k]
            measured = joint_state(stamp, names, (t.q[k], t.v[k], t.tau[k]))
            planned = joint_state(stamp, names, (t.q[k] + 0.2, [], 2.0 * t.tau[k]))
            late = int((stamp + 0.013 * np.sin(k)) * 1e9)  # when the recorder had time
            for one, data in ((1, measured), (2, planned)):
                database.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)", (one, late, data))
    database.close()
    return inner


def simulink_run(folder: Path, t: Truth) -> Path:
    """What `out = sim(…)` holds: its times are called tout, and are a column."""
    run = np.array([(t.time.reshape(-1, 1), t.q, t.tau)], dtype=[("tout", "O"), ("q_meas", "O"), ("tau_meas", "O")])
    scipy.io.savemat(folder / "run.mat", {"out": run})
    return folder / "run.mat"


def episodes(folder: Path, t: Truth) -> Path:
    """LeRobot with efforts: the state is the positions, but nothing says so."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = pa.list_(pa.float64())
    columns = {"observation.state": t.q, "observation.effort": t.tau, "action": t.q + 0.1}
    table = {name: pa.array(list(one), lists) for name, one in columns.items()}
    order = {"timestamp": t.time, "frame_index": np.arange(len(t.time)), "episode_index": np.zeros(len(t.time), int)}
    pq.write_table(pa.table(table | order), folder / "episode.parquet")
    return folder / "episode.parquet"


def short_words(folder: Path, t: Truth) -> Path:
    """JSON lines with ts, in s since 1970."""
    with (folder / "log.jsonl").open("w") as file:
        for k, time in enumerate(t.time):
            file.write(json.dumps({"ts": 1.7e9 + time, "q": t.q[k].tolist(), "tau": t.tau[k].tolist()}) + "\n")
    return folder / "log.jsonl"


def ticks(folder: Path, t: Truth) -> Path:
    """A microcontroller's log: ticks of a millisecond, and a current."""
    rows = np.column_stack([np.round(1e3 * t.time), t.q, t.tau / 7.0])
    np.savetxt(folder / "log.tsv", rows, "%.6f", "\t", header="tick\tangle(rad)\tI_motor(A)", comments="")
    return folder / "log.tsv"


def pos_and_tor(folder: Path, t: Truth) -> Path:
    """Two files of one run."""
    for name, values in (("pos", t.q), ("tor", t.tau)):
        rows = np.column_stack([t.time, values])
        np.savetxt(folder / f"run3_{name}.csv", rows, "%.9f", ",", header="t,j1,j2,j3", comments="")
    return folder


CASES: dict[str, Case] = {
    "kaggle": Case(kaggle, 3, names=("shoulder", "elbow", "wrist")),
    "rtde": Case(rtde, 6, asks=("motor current",), scale=1 / 12.0, role="current"),
    "franka": Case(franka, 7),
    "franka lists in cells": Case(franka_lists, 7),
    "panda npz": Case(panda_npz, 7),
    "FloBaRoID npz": Case(floba, 7),
    "mat structure": Case(mat_struct, 6, asks=("data.u",)),
    "mat across": Case(mat_transposed, 6),
    "mat per joint": Case(mat_per_joint, 3),
    "KUKA, several lines": Case(kuka, 6),
    "decimal commas": Case(decimal_commas, 6),
    "plotjuggler": Case(plotjuggler, 6),
    "plotjuggler, named": Case(plotjuggler_named, 3),
    "rostopic echo -p": Case(rostopic, 2, names=("hip_joint", "knee_joint")),
    "stamps in two columns": Case(stamps_in_two, 2),
    "headerless": Case(headerless, 7, asks=("no names",)),
    "headerless, interleaved": Case(headerless_interleaved, 3, asks=("no names",)),
    "headerless, no rates": Case(headerless_without_rate, 6, refused="no column is the rate of another"),
    "headerless, with a plan": Case(headerless_with_plan, 3, refused="several quantities have rates|more than one way"),
    "savetxt": Case(savetxt, 2),
    "Corke": Case(corke, 6),
    "slashes": Case(slashes, 4),
    "LeRobot": Case(lerobot, 4, asks=("motor current",),
                    names=("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_roll"),
                    scale=1 / 5.0, role="current"),
    "brackets": Case(brackets, 2),
    "mN·m and µs": Case(millinewton, 2),
    "grouped names and units": Case(grouped, 2),
    "JSON rows": Case(json_rows, 2, names=("hip", "knee")),
    "JSON lists": Case(json_lists, 3),
    "JSON lines": Case(json_lines, 3),
    "Parquet": Case(parquet, 3),
    "a file a quantity": Case(several, 3),
    "a file a quantity, own times": Case(several_with_times, 2),
    "instants in text": Case(instants, 1),
    "instants in German": Case(german_instants, 1),
    "instants of a spreadsheet": Case(american_instants, 1),
    "momentum and Cartesian beside": Case(wrists_and_momentum, 6),
    "effort and its low-pass": Case(fetch, 2, asks=("which is the torque",)),
    "no times": Case(no_times, 2, asks=("rate in Hz",), timed=False),
    "a row a joint": Case(long_rows, 2),
    "a row a joint, some missing": Case(long_rows_with_gaps, 2, refused="every row is of another joint"),
    "only commands": Case(only_plans, 2, refused="like torque"),
    "positions only": Case(positions_only, 2, refused="like torque"),
    "Cartesian only": Case(cartesian_only, 3, refused="like position and torque"),
    "percent": Case(percent, 2, asks=("percent",), role=""),
    "Greek": Case(greek, 2),
    "joints and nothing else": Case(bare_joints, 6, asks=("are they positions",)),
    "joints by their units": Case(joints_by_unit, 6),
    "two arms": Case(two_arms, 6),
    "desired and measured": Case(desired_and_measured, 2),
    "camel case": Case(camel, 2),
    "quaternions": Case(quaternions, 3),
    "ns since 1970": Case(epoch_ns, 2),
    "numbers of rows first": Case(pandas_index, 2),
    "UTF-16, tabs, units behind slashes": Case(utf16_tabs, 2),
    "torque estimated by a drive": Case(unitree, 3, asks=("computed by the drive",)),
    "two sides of a gear": Case(sides_of_a_gear, 2, asks=("gear ratio",)),
    "a counter, then times": Case(counter_and_time, 3, asks=("no names",)),
    "Simulink scope": Case(scope, 2),
    "secs and nsecs": Case(plain_stamps, 2),
    "a table in a mat": Case(table_in_mat, 3, asks=("no names",)),
    "matrices that say nothing": Case(anonymous, 3, refused="like position and torque"),
    "commas in quoted names": Case(quoted_commas, 2),
    "several runs in one file": Case(several_runs, 2, asks=("several runs",), timed=False),
    "Simulink run": Case(simulink_run, 3),
    "LeRobot, efforts": Case(episodes, 3, asks=("are they positions",)),
    "JSON lines, ts": Case(short_words, 3),
    "ticks": Case(ticks, 1, asks=("motor current", "gear ratio"), scale=1 / 7.0, role="current"),
    "pos and tor": Case(pos_and_tor, 3),
    "bag in SQLite": Case(bag, 2, names=("elbow_joint", "base_joint")),
}  # fmt: skip
