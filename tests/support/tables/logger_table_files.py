"""Small recordings as loggers of robots, ROS tools and research data sets write them, with the truth of each."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from tests.support.tables.table_files import Case, Truth, csv, joined, noise, numbered
from tests.support.tables.vendor_table_files import mixed

SPACE = ("x", "y", "z", "rx", "ry", "rz")


def lines(folder: Path, name: str, rows: Sequence[str]) -> Path:
    """A file of these lines."""
    (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / name


def stamps(t: Truth) -> list[tuple[int, int]]:
    """Seconds and nanoseconds of every row; a second begins between two of them."""
    return [divmod(round(1e9 * (time + 0.4)), 10**9) for time in t.time]


def degradation(folder: Path, t: Truth) -> Path:
    """A UR5 of NIST: the joint stands in brackets, where units usually do."""
    parts = (
        ("TARGET_JOINT_POSITIONS", t.q + 0.01), ("ACTUAL_JOINT_POSITIONS", t.q), ("ACTUAL_JOINT_VELOCITIES", t.v),
        ("TARGET_JOINT_CURRENT", t.tau / 11.0), ("ACTUAL_JOINT_CURRENT", t.tau / 12.0),
        ("TARGET_JOINT_TORQUES", 0.9 * t.tau), ("JOINT_TEMP", 30.0 + 0.0 * t.q))  # fmt: skip
    head = joined("ROBOT_TIME", *(numbered(f"ROBOT_{name} (J#)", 6) for name, _ in parts),
                  [f"ROBOT_TCP_FORCE ({axis})" for axis in SPACE])  # fmt: skip
    return csv(folder, head, [t.time, *(values for _, values in parts), noise(t, 6)])


def pick_and_place(folder: Path, t: Truth) -> Path:
    """voraus-AD: positions and torques of both sides of the gears, two sensors of each torque, computed ones."""
    from pyarrow import parquet, table

    parts = (
        ("target_position", t.q + 0.01), ("target_torque", 0.8 * t.tau), ("computed_torque", 0.85 * t.tau),
        ("motor_position", 100.0 * t.q), ("joint_position", t.q), ("joint_velocity", t.v), ("motor_torque", t.tau / 80),
        ("torque_sensor_a", t.tau), ("torque_sensor_b", 1.01 * t.tau), ("motor_iq", t.tau / 12.0),
        ("power_load_mech", t.tau * t.v), ("motor_voltage", 0.3 * t.v))  # fmt: skip
    columns = {"time": t.time, "sample": np.full(len(t.time), 3), "robot_current": 2.0 + noise(t, 1, 0.1)[:, 0]}
    columns |= {f"{name}_{j + 1}": values[:, j] for name, values in parts for j in range(6)}
    parquet.write_table(table(columns), folder / "run.parquet")
    return folder / "run.parquet"


def rsi(folder: Path, t: Truth) -> Path:
    """KUKA's RSI: ASPos is the plan of AIPos, IPOC counts ms."""
    parts = (("ASPos", np.rad2deg(t.q) + 9.0), ("AIPos", np.rad2deg(t.q)), ("MACur", t.tau / 9), ("GearTorque", t.tau))
    head = joined("IPOC", *(numbered(f"{name}.A#", 6) for name, _ in parts), [f"RIst.{axis}" for axis in "XYZABC"])
    return csv(folder, head, [2345678 + 1e3 * t.time, *(values for _, values in parts), noise(t, 6)], form="%.10g")


def kortex(folder: Path, t: Truth) -> Path:
    """Kinova's cyclic feedback: degrees from 0 to 360."""
    names = [f"actuators[{j}].{one}" for j in range(7) for one in (
        "position", "velocity", "torque", "current_motor", "voltage", "temperature_motor")]  # fmt: skip
    columns = mixed(t, np.rad2deg(t.q) % 360.0, np.rad2deg(t.v), t.tau, t.tau / 12.0, 24 + 0.0 * t.q, 35 + 0.0 * t.q)
    head = joined("timestamp", "frame_id", names, "base.tool_pose_x", "base.tool_pose_theta_z")
    return csv(folder, head, [1.7e9 + t.time, np.arange(len(t.time)), *columns, noise(t, 2)], form="%.14g")


def echo(folder: Path, t: Truth, frame: str = "base_link") -> Path:
    """What ros2 topic echo --csv prints of joint states: no names of columns, names of joints in every row."""
    rows = [f"{s},{ns},{frame},shoulder_joint,elbow_joint,wrist_joint," + ",".join(
        repr(float(one)) for one in (*t.q[k], *t.v[k], *t.tau[k])) for k, (s, ns) in enumerate(stamps(t))]  # fmt: skip
    return lines(folder, "joint_states.csv", rows)


def echo_without_frame(folder: Path, t: Truth) -> Path:
    return echo(folder, t, "")


def tuples(folder: Path, t: Truth) -> Path:
    """bagpy, of a bag of ROS 1: names and numbers as lists in cells."""

    def cell(row: Any) -> str:
        return f'"({", ".join(repr(float(one)) for one in row)})"'

    head = "Time,header.seq,header.stamp.secs,header.stamp.nsecs,header.frame_id,name,position,velocity,effort"
    rows = [f"{1.6e9 + t.time[k]:.6f},{k},{s},{ns},,\"['hip_joint', 'knee_joint']\","
            f"{cell(t.q[k])},{cell(t.v[k])},{cell(t.tau[k])}" for k, (s, ns) in enumerate(stamps(t))]  # fmt: skip
    return lines(folder, "joint_states.csv", [head, *rows])


def of_topics(folder: Path, t: Truth) -> Path:
    """mcap cat --json: messages of another type stand between the joint states."""
    rows = []
    for k, (s, ns) in enumerate(stamps(t)):
        state = {"header": {"stamp": {"sec": s, "nanosec": ns}}, "name": ["hip", "knee"], "position": t.q[k].tolist(),
                 "velocity": t.v[k].tolist(), "effort": t.tau[k].tolist()}  # fmt: skip
        rows.append(json.dumps({"topic": "/joint_states", "log_time": 10**9 * s + ns + 3_000_000, "data": state}))
        if k % 4 == 3:
            other = {"transforms": [{"transform": {"translation": {"x": 0.1 * k}}}]}
            rows.append(json.dumps({"topic": "/tf", "log_time": 10**9 * s + ns + 4_000_000, "data": other}))
    return lines(folder, "run.jsonl", rows)


def benchmark(folder: Path, t: Truth) -> Path:
    """The industrial robot of nonlinearbenchmark.org: u and y, which say too little of themselves."""
    parts = {"u_train": t.tau.T, "y_train": np.rad2deg(t.q).T, "time_train": t.time[None, :]}
    scipy.io.savemat(folder / "forward.mat", parts | {"u_test": t.tau[:90].T, "y_test": t.q[:90].T})
    return folder / "forward.mat"


def sarcos(folder: Path, t: Truth) -> Path:
    scipy.io.savemat(folder / "sarcos_inv.mat", {"sarcos_inv": np.hstack([t.q, t.v, t.a, t.tau])})
    return folder / "sarcos_inv.mat"


def sarcos_shuffled(folder: Path, t: Truth) -> Path:
    order = np.random.default_rng(3).permutation(len(t.time))
    scipy.io.savemat(folder / "sarcos_inv.mat", {"sarcos_inv": np.hstack([t.q, t.v, t.a, t.tau])[order]})
    return folder / "sarcos_inv.mat"


def doosan(folder: Path, t: Truth) -> Path:
    parts = (
        ("actual_joint_position", np.rad2deg(t.q)), ("actual_joint_velocity", np.rad2deg(t.v)),
        ("actual_tcp_position", noise(t, 6)), ("actual_motor_torque", 1.1 * t.tau), ("actual_joint_torque", t.tau),
        ("raw_force_torque", noise(t, 6)), ("external_joint_torque", noise(t, 6)), ("gravity_torque", 0.7 * t.tau),
        ("target_joint_position", np.rad2deg(t.q) + 1.0))  # fmt: skip
    head = joined("time_stamp", *(numbered(f"{name}[#]", 6, 0) for name, _ in parts))
    return csv(folder, head, [t.time, *(values for _, values in parts)])


def flexiv(folder: Path, t: Truth) -> Path:
    """A Rizon's states, with the rate of the torque; each row's stamp is a list of s and ns."""
    rows = [json.dumps({
        "timestamp": stamp, "m_q": t.q[k].tolist(), "m_theta": (t.q[k] + 0.01).tolist(), "m_dq": t.v[k].tolist(),
        "m_tauDot": t.a[k].tolist(), "m_tau": t.tau[k].tolist(), "m_tauDes": (0.9 * t.tau[k]).tolist(),
        "m_tauExt": noise(t, 7)[k].tolist(), "m_tcpPose": noise(t, 7)[k].tolist()})
        for k, stamp in enumerate(stamps(t))]  # fmt: skip
    return lines(folder, "rizon.jsonl", rows)


def robomimic(folder: Path, t: Truth) -> Path:
    parts = (("joint_pos", t.q), ("joint_pos_cos", np.cos(t.q)), ("joint_pos_sin", np.sin(t.q)), ("joint_vel", t.v))
    head = joined(*(numbered(f"obs/robot0_{name}_#", 7, 0) for name, _ in parts), numbered("actions_#", 7, 0))
    return csv(folder, head, [*(values for _, values in parts), noise(t, 7)])


def mujoco(folder: Path, t: Truth) -> Path:
    np.savez(folder / "run.npz", time=t.time, qpos=t.q, qvel=t.v, ctrl=t.q + 0.01, qfrc_actuator=t.tau,
             qfrc_bias=0.8 * t.tau, qfrc_passive=noise(t, 3), actuator_names=np.array(["base", "arm", "tip"]),
             joint_names=np.array(["base", "arm", "tip"]))  # fmt: skip
    return folder / "run.npz"


def mujoco_with_a_base(folder: Path, t: Truth) -> Path:
    """A base that is free has seven positions and six forces: columns of one number are not of one joint."""
    base = noise(t, 7)
    np.savez(folder / "run.npz", time=t.time, qpos=np.hstack([base, t.q]), qvel=np.hstack([base[:, :6], t.v]),
             qfrc_actuator=np.hstack([0.0 * base[:, :6], t.tau]))  # fmt: skip
    return folder / "run.npz"


def body_shop(folder: Path, t: Truth) -> Path:
    """An axis of a car maker's robot, every 4 ms, without times."""
    parts = (("Velocity [°/s]", np.rad2deg(t.v)), ("Moment [Nm]", t.tau), ("Position [°]", np.rad2deg(t.q)))
    names = [f"{which} Axis {name}" for name, _ in parts for which in ("Programmed", "Real", "Difference")]
    columns = [one for _, values in parts for one in (0.9 * values[:, 0], values[:, 0], 0.1 * values[:, 0])]
    return csv(folder, ";".join([*names, "Axis Current [A]"]), [*columns, t.tau[:, 0] / 7.0], between=";")


def piper(folder: Path, t: Truth) -> Path:
    names = [f"j{j}_{one}" for j in (1, 2, 3) for one in ("pos_rad", "vel_rad_s", "effort_nm", "ref_pos_rad")]
    return csv(folder, joined("time_s", names), [t.time, *mixed(t, t.q, t.v, t.tau, t.q + 0.02)])


def iso(folder: Path, t: Truth) -> Path:
    """Instants as Python writes them: without a fraction where it is zero."""
    begin = datetime(2022, 10, 26, 8, 17, 21, tzinfo=UTC)
    rows = [f"{k},{(begin + timedelta(seconds=float(time))).isoformat()}," + ",".join(
        f"{one:.9g}" for one in (*t.q[k], *t.tau[k])) for k, time in enumerate(t.time)]  # fmt: skip
    return lines(folder, "run.csv", [",ts,q1,q2,tau1,tau2", *rows])


def durations(folder: Path, t: Truth) -> Path:
    """Times since the start as pandas writes them."""
    rows = [f"0 days 00:00:{time:09.6f}," + ",".join(f"{one:.9g}" for one in (*t.q[k], *t.tau[k]))
            for k, time in enumerate(t.time)]  # fmt: skip
    return lines(folder, "run.csv", ["elapsed,q1,q2,tau1,tau2", *rows])


def colons(folder: Path, t: Truth) -> Path:
    """A time of day whose ms stand after a colon."""
    ms = [round(1e3 * time) for time in t.time]
    rows = [f"12:00:{one // 1000:02}:{one % 1000:03};" + ";".join(
        f"{value:.6f}" for value in (*np.rad2deg(t.q[k]), *t.tau[k])) for k, one in enumerate(ms)]  # fmt: skip
    return lines(folder, "run.csv", ["Time;A1 Pos [deg];A2 Pos [deg];A1 Torque [Nm];A2 Torque [Nm]", *rows])


def cobot_operations(folder: Path, t: Truth) -> Path:
    """UCI's UR3: currents and speeds, but no positions."""
    head = joined("Num", "Timestamp", numbered("Current_J#", 6, 0), numbered("Speed_J#", 6, 0), "grip_lost")
    rows = [f'{k},"2022-10-26T08:17:{21 + time:06.3f}Z",' + ",".join(
        f"{one:.9g}" for one in (*t.tau[k] / 12, *t.v[k])) + ",False" for k, time in enumerate(t.time)]  # fmt: skip
    return lines(folder, "dataset.csv", [head, *rows])


def samples(folder: Path, t: Truth) -> Path:
    """MATLAB's data(k).q: a structure for each instant."""
    rows = np.zeros((1, len(t.time)), [(name, object) for name in ("t", "q", "dq", "tau")])
    for k, time in enumerate(t.time):
        rows[0, k] = (time, t.q[k], t.v[k], t.tau[k])
    names = np.empty((1, 3), object)
    names[0, :] = ["base", "arm", "tip"]
    scipy.io.savemat(folder / "run.mat", {"data": rows, "joint_names": names})
    return folder / "run.mat"


def hebi(folder: Path, t: Truth) -> Path:
    log = {
        "time": t.time,
        "position": t.q,
        "velocity": t.v,
        "effort": t.tau,
        "positionCmd": t.q + 0.01,
        "effortCmd": 0.9 * t.tau,
        "motorCurrent": t.tau / 3,
        "deflection": 1e-3 * t.tau,
        "gyroZ": noise(t, 3),
    }
    scipy.io.savemat(folder / "log.mat", {"log": log})  # fmt: skip
    return folder / "log.mat"


def anymal(folder: Path, t: Truth) -> Path:
    """A signal logger whose group of measurements is called model."""
    legs = ("LF_HAA", "LF_HFE", "LF_KFE")
    names = [f"/model/{which}/joint{one}/{leg}" for which, one in (
        ("meas", "Pos"), ("meas", "Vel"), ("meas", "Tor"), ("des", "Pos")) for leg in legs]  # fmt: skip
    return csv(folder, joined("time", names), [t.time, t.q, t.v, t.tau, t.q + 0.02])


def franka_states(folder: Path, t: Truth) -> Path:
    """A Panda's states out of PlotJuggler, with the rates of the torques."""
    parts = (("O_T_EE", noise(t, 16)), ("dtau_J", t.a), ("tau_J", t.tau), ("q", t.q), ("q_d", t.q + 0.01), ("dq", t.v),
             ("theta", t.q + 0.01), ("tau_ext_hat_filtered", noise(t, 7)), ("tau_J_d", 0.9 * t.tau))  # fmt: skip
    names = [numbered(f"/franka_states/{name}[#]", values.shape[1], 0) for name, values in parts]
    head = joined("__time", "/franka_states/header/stamp", *names)
    return csv(folder, head, [1.7e9 + t.time + 2e-4, 1.7e9 + t.time, *(one for _, one in parts)], form="%.15g")


def da_vinci(folder: Path, t: Truth) -> Path:
    parts = (("measured_js/position", t.q), ("measured_js/velocity", t.v), ("measured_js/effort", t.tau),
             ("setpoint_js/position", t.q + 0.01), ("setpoint_js/effort", 0.9 * t.tau))  # fmt: skip
    head = joined("__time", *(numbered(f"/PSM1/{name}[#]", 6, 0) for name, _ in parts), "/PSM1/measured_cp/position/x")
    return csv(folder, head, [1.7e9 + t.time, *(one for _, one in parts), noise(t, 1)], form="%.15g")


def scope(folder: Path, t: Truth, late: float = 0.0) -> Path:
    """TwinCAT's Scope: a row for each property, its key above the times of each channel."""
    names = ("Axis 1 ActPos", "Axis 1 ActTorque", "Axis 2 ActPos", "Axis 2 ActTorque")
    columns = mixed(t, np.rad2deg(t.q), t.tau)

    def row(key: str, values: Sequence[str]) -> str:
        return "\t".join(cell for value in values for cell in (key, value))

    head = ["Name\tProject", "Starttime of export\t132\t13:02:01.100", "", row("Name", names),
            row("SymbolComment", [""] * 4), row("Data-Type", ["REAL64"] * 4), row("SampleTime[ms]", ["5"] * 4),
            row("Port", ["501"] * 4), row("Offset", ["0"] * 4), row("ScaleFactor", ["1"] * 4),
            row("Unit", ["deg", "Nm", "deg", "Nm"]), ""]  # fmt: skip
    body = ["\t".join(f"{one:.6f}".replace(".", ",") for i, values in enumerate(columns) for one in (
        1e3 * t.time[k] + late * i, values[k])) for k in range(len(t.time))]  # fmt: skip
    return lines(folder, "scope.csv", [*head, *body, "EOF"])


def scope_of_several_tasks(folder: Path, t: Truth) -> Path:
    return scope(folder, t, 1.0)


def rosbridge(folder: Path, t: Truth) -> Path:
    rows = [json.dumps({"op": "publish", "topic": "/joint_states", "msg": {
        "header": {"seq": k, "stamp": {"secs": s, "nsecs": ns}, "frame_id": ""}, "name": ["a_joint", "b_joint"],
        "position": t.q[k].tolist(), "velocity": t.v[k].tolist(), "effort": t.tau[k].tolist()}})
        for k, (s, ns) in enumerate(stamps(t))]  # fmt: skip
    return lines(folder, "run.jsonl", rows)


def lists_with_names(folder: Path, t: Truth) -> Path:
    parts = {"time": t.time, "qpos": t.q, "qvel": t.v, "effort": t.tau}
    named = {name: values.tolist() for name, values in parts.items()}
    (folder / "run.json").write_text(json.dumps({"joint_names": ["base", "arm", "tip"], "fps": 200} | named))
    return folder / "run.json"


def episode_with_names(folder: Path, t: Truth) -> Path:
    from pyarrow import parquet, table

    names = [["base", "arm", "tip"]] * len(t.time)
    parts = {"position": t.q.tolist(), "effort": t.tau.tolist()}
    rows = table({"name": names, "timestamp": np.round(1e6 * t.time).astype("timedelta64[us]")} | parts)
    parquet.write_table(rows, folder / "run.parquet")
    return folder / "run.parquet"


CASES: dict[str, Case] = {
    "joints in brackets": Case(degradation, 6, asks=("motor current",), scale=1 / 12, role="current"),
    "two sensors of each torque": Case(pick_and_place, 6, asks=("which is the torque",)),
    "KUKA's RSI": Case(rsi, 6, asks=("the times",)),
    "Kortex": Case(kortex, 7),
    "ros2 topic echo --csv": Case(echo, 3, asks=("no names",), names=("shoulder_joint", "elbow_joint", "wrist_joint")),
    "echo without a frame": Case(echo_without_frame, 3, asks=("no names",),
                                 names=("shoulder_joint", "elbow_joint", "wrist_joint")),
    "lists in cells, with names": Case(tuples, 2, names=("hip_joint", "knee_joint")),
    "mcap cat --json": Case(of_topics, 2, names=("hip", "knee")),
    "u and y": Case(benchmark, 6, refused="no column has a name like position and torque"),
    "SARCOS": Case(sarcos, 7, asks=("no names", "rate in Hz"), timed=False),
    "SARCOS, shuffled": Case(sarcos_shuffled, 7, refused="no column is the rate of another"),
    "Doosan": Case(doosan, 6, asks=("which is the torque",)),
    "Flexiv": Case(flexiv, 7),
    "robomimic": Case(robomimic, 7, refused="like torque"),
    "MuJoCo": Case(mujoco, 3, names=("base", "arm", "tip")),
    "a body shop": Case(body_shop, 1, asks=("rate in Hz",), timed=False),
    "Piper": Case(piper, 3),
    "instants of Python": Case(iso, 2),
    "durations of pandas": Case(durations, 2),
    "ms after a colon": Case(colons, 2),
    "speeds and currents": Case(cobot_operations, 6, refused="like position"),
    "a structure an instant": Case(samples, 3, names=("base", "arm", "tip")),
    "HEBI": Case(hebi, 3),
    "ANYmal": Case(anymal, 3),
    "Franka's states": Case(franka_states, 7),
    "da Vinci": Case(da_vinci, 6),
    "TwinCAT's Scope": Case(scope, 2, asks=("ms\\?",)),
    "TwinCAT's Scope, several tasks": Case(scope_of_several_tasks, 2, refused="times of their own"),
    "rosbridge": Case(rosbridge, 2, names=("a_joint", "b_joint")),
    "lists beside names": Case(lists_with_names, 3, names=("base", "arm", "tip")),
    "names in every row": Case(episode_with_names, 3, names=("base", "arm", "tip")),
}  # fmt: skip
