"""Small recordings in the forms in which makers' tools, simulators and data sets write them, with the truth of each."""

import itertools
import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.io

from tests.support.tables.table_files import Case, Truth, csv, joined, joint_state, noise, numbered

MODEL = "LBR_iiwa_7_R800_1"
NAO = "Device/SubDeviceList"
DROID = "observation/robot_state"
HEADER = f"""{"=" * 80}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{"=" * 80}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
STATE = "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" + HEADER
DYNAMIC = f"""std_msgs/Header header
string[] joint_names
InterfaceValue[] interface_values
{"=" * 80}
MSG: control_msgs/InterfaceValue
string[] interface_names
float64[] values
{HEADER}"""


def with_commas(folder: Path, head: str, columns: Sequence[np.ndarray], end: str = "", name: str = "run.csv") -> Path:
    """A table of semicolons and decimal commas."""
    rows = np.column_stack(list(columns))
    body = "\n".join(";".join(f"{value:.6f}".replace(".", ",") for value in row) + end for row in rows)
    (folder / name).write_text(f"{head}\n{body}\n", encoding="latin-1")
    return folder / name


def mixed(t: Truth, *quantities: np.ndarray) -> list[np.ndarray]:
    """The quantities of the first joint, then those of the second, …"""
    return [one[:, j] for j in range(t.q.shape[1]) for one in quantities]


def libfranka(folder: Path, t: Truth) -> Path:
    parts = ("state.q", "state.q_d", "state.dq", "state.tau_J", "state.tau_ext_hat_filtered", "cmd.q_d", "cmd.tau_J_d")
    head = joined("duration", "success rate", *(numbered(f"{one}[#]", 7, 0) for one in parts))
    columns = [1e3 * t.time, 0.0 * t.time + 1.0, t.q, t.q + 0.01, t.v, t.tau, noise(t, 7), t.q + 0.02, 0.9 * t.tau]
    return csv(folder, head, columns)


def sunrise(folder: Path, t: Truth) -> Path:
    parts = ("axisQMsr", "axisQCmd", "axisTauMsr", "axisTauExtMsr")
    names = [name for one in parts for name in numbered(f"{one}_{MODEL}[#]", 7, 0)]
    whole = np.floor(t.time + 3.2)
    columns = [1.6e9 + whole, np.round((t.time + 3.2 - whole) * 1e9), t.q, t.q + 0.01, t.tau, noise(t, 7)]
    return csv(folder, " ".join(["ZeitInSec", "ZeitInNanoSec", *names]), columns, "a.log", " ", "%.12g")


def nao(folder: Path, t: Truth) -> Path:
    parts = (
        "Position/Sensor",
        "Position/Actuator",
        "ElectricCurrent/Sensor",
        "Temperature/Sensor",
        "Hardness/Actuator",
    )
    names = [f"{NAO}/{joint}/{one}/Value" for joint in ("HeadYaw", "LElbowRoll") for one in parts]
    still = 0.0 * t.q
    return csv(folder, joined("Time", names), [t.time, *mixed(t, t.q, t.q + 0.05, t.tau / 10, still + 40, still + 1)])


def droid(folder: Path, t: Truth) -> Path:
    computed = 0.5 * t.tau + noise(t, 7, 0.3)
    state = {"joint_positions": t.q, "joint_velocities": t.v, "joint_torques_computed": computed,
             "motor_torques_measured": t.tau, "cartesian_position": noise(t, 6)}  # fmt: skip
    stamp = "observation/timestamp/robot_state/robot_timestamp"
    clock = {f"{stamp}_seconds": 1.6e9 + np.floor(t.time), f"{stamp}_nanos": np.round((t.time % 1) * 1e9)}
    columns = {f"{DROID}/{name}": one for name, one in state.items()} | clock | {"action/joint_position": t.q + 0.03}
    np.savez(folder / "a.npz", **columns)  # type: ignore[arg-type]
    return folder / "a.npz"


def abb(folder: Path, t: Truth) -> Path:
    names = [f"#{k} {what} Axis {j} [{unit}]" for k, (what, j, unit) in enumerate((
        ("Resolver_angle", 1, "rad"), ("Resolver_angle", 2, "rad"), ("Torque_feedback", 1, "Nm"),
        ("Torque_feedback", 2, "Nm"), ("Torque_ref", 1, "Nm"), ("Torque_ref", 2, "Nm")), 1)]  # fmt: skip
    head = "\n".join(("Test Signal Viewer", "Sample time: 5.04 ms", "\t".join(["Time [s]", *names])))
    return csv(folder, head, [t.time, t.q, t.tau, 1.1 * t.tau], "signals.txt", "\t")


def kuka_german(folder: Path, t: Truth) -> Path:
    parts = ("Sollposition", "Istposition", "Sollmoment", "Istmoment")
    names = ["Zeit", *(name for one in parts for name in numbered(f"{one} A#", 3))]
    head = "Oszilloskop KRC4;;;\n" + ";".join(names) + "\n" + ";".join(["s", *["Grad"] * 6, *["Nm"] * 6])
    return with_commas(folder, head, [t.time, np.rad2deg(t.q) + 0.5, np.rad2deg(t.q), 1.1 * t.tau, t.tau])


def fanuc(folder: Path, t: Truth) -> Path:
    parts = ("J# Act Pos(deg)", "J# Cmd Pos(deg)", "J# Dist Trq(%)", "J# Motor Cur(A)")
    head = joined("Tick(ms)", *(numbered(one, 6) for one in parts))
    degrees = np.rad2deg(t.q)
    return csv(folder, head, [1e3 * t.time, degrees, degrees + 0.1, noise(t, 6, 10.0), t.tau / 8])


def plc(folder: Path, t: Truth) -> Path:
    parts = ("ActualPosition [°]", "ActualVelocity [°/s]", "ActualTorque [Nm]", "CommandPosition [°]")
    names = [f"Achse_{j}.{one}" for j in (1, 2) for one in parts]
    degrees = np.rad2deg(t.q)
    columns = [1e3 * t.time, *mixed(t, degrees, np.rad2deg(t.v), t.tau, degrees + 0.3)]
    return with_commas(folder, ";".join(["Zeit [ms]", *names]), columns)


def per_mille(folder: Path, t: Truth) -> Path:
    head = joined("time_ms", numbered("Axis#.PosAct_deg", 2), numbered("Axis#.TrqAct_permille", 2))
    return csv(folder, head, [1e3 * t.time, np.rad2deg(t.q), 10 * t.tau])


def merged_cells(folder: Path, t: Truth) -> Path:
    units = "\tPos (rev)\tSpeed (rpm)\tTorque (N·m)" * 2
    turns = mixed(t, t.q / (2 * np.pi), t.v * 30 / np.pi, t.tau)
    return csv(folder, f"\tAxis 1\t\t\tAxis 2\t\t\nTime (s){units}", [t.time, *turns], "a.tsv", "\t")


def maxon(folder: Path, t: Truth) -> Path:
    head = "Time [ms];Position actual value [inc];Current actual value averaged [mA]"
    counts = np.round(t.q[:, 0] / (2 * np.pi) * 409600)
    return csv(folder, head, [1e3 * t.time, counts, 100 * t.tau[:, 0]], between=";")


def dynamixel(folder: Path, t: Truth) -> Path:
    names = [f"id{j}_present_{one}" for j in (1, 2) for one in ("position", "current")]
    counts = np.round((t.q + np.pi) / (2 * np.pi) * 4096)
    return csv(folder, joined("timestamp_us", names), [1e6 * t.time, *mixed(t, counts, np.round(t.tau / 2e-3))])


def moteus(folder: Path, t: Truth) -> Path:
    names = [f"{j}.{one}" for j in (1, 2) for one in ("position", "velocity", "torque", "q_current")]
    turns = mixed(t, t.q / (2 * np.pi), t.v / (2 * np.pi), t.tau, 10 * t.tau)
    return csv(folder, joined("timestamp", "mode", names), [t.time, 0.0 * t.time + 10.0, *turns])


def odrive(folder: Path, t: Truth) -> Path:
    parts = ("encoder.pos_estimate", "motor.current_control.Iq_measured", "controller.input_pos")
    turns = t.q[:, 0] / (2 * np.pi)
    return csv(folder, joined("time", [f"axis0.{one}" for one in parts]), [t.time, turns, t.tau[:, 0] / 3, turns])


def legs(folder: Path, t: Truth) -> Path:
    joints = ("LF_HAA", "LF_HFE", "RH_KFE")
    parts = ("jointPos", "jointVel", "jointTor", "desJointPos", "desJointTor")
    names = [f"{one}_{joint}" for one in parts for joint in joints]
    columns = [t.time, t.q, t.v, t.tau, t.q + 0.1, t.tau + 1.0, noise(t, 3)]
    return csv(folder, joined("time", names, [f"base_pos_{axis}" for axis in "xyz"]), columns)


def quantities_by_units(folder: Path, t: Truth) -> Path:
    names = [f"R_{joint}_{one}" for joint in ("Hip", "Knee") for one in ("deg", "fLoad", "T_des", "T_meas(Nm)")]
    columns = mixed(t, np.rad2deg(t.q), noise(t, 2), 1.1 * t.tau, t.tau)
    return csv(folder, joined("Elapsed Time(ms)", names), [1e3 * t.time, *columns])


def named_objects(folder: Path, t: Truth) -> Path:
    with (folder / "a.jsonl").open("w") as file:
        for k, time in enumerate(t.time):
            joints = [{"name": name, "position": t.q[k, j], "velocity": t.v[k, j], "torque": t.tau[k, j],
                       "target": t.q[k, j] + 0.1} for j, name in enumerate(("hip", "knee"))]  # fmt: skip
            file.write(json.dumps({"t": time, "joints": joints}) + "\n")
    return folder / "a.jsonl"


def numbered_objects(folder: Path, t: Truth) -> Path:
    rows = [{"stamp": time, "motors": [{"q": t.q[k, j], "tau": t.tau[k, j]} for j in range(2)]}
            for k, time in enumerate(t.time)]  # fmt: skip
    (folder / "a.json").write_text(json.dumps(rows))
    return folder / "a.json"


def loads(folder: Path, t: Truth) -> Path:
    rows = [{"timestamp": time, "state": {"joint_states": [
        {"name": name, "position": t.q[k, j], "load": t.tau[k, j]} for j, name in enumerate(("shoulder", "wrist"))]}}
        for k, time in enumerate(t.time)]  # fmt: skip
    (folder / "a.json").write_text(json.dumps(rows))
    return folder / "a.json"


def structures(folder: Path, t: Truth) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    stamps = pa.array(1_700_000_000_000_000_000 + np.round(t.time * 1e9).astype(np.int64), pa.timestamp("ns"))
    joints = {f"joint{j + 1}": pa.array([{"position": a, "effort": b} for a, b in zip(t.q[:, j], t.tau[:, j],
                                                                                   strict=True)])
              for j in range(2)}  # fmt: skip
    parquet.write_table(pa.table({"ts": stamps} | joints), folder / "a.parquet")
    return folder / "a.parquet"


def times_of_each(folder: Path, t: Truth) -> Path:
    scipy.io.savemat(folder / "a.mat", {"t_q": t.time, "q": t.q, "t_tau": t.time[1::2], "tau": t.tau[1::2]})
    return folder / "a.mat"


def days(folder: Path, t: Truth) -> Path:
    head = joined("time", numbered("q#", 2), numbered("tau#", 2))
    return csv(folder, head, [738000.5 + t.time / 86400, t.q, t.tau], form="%.14g")


def matlab_table(folder: Path, t: Truth) -> Path:
    return csv(folder, joined("Var1", numbered("q_#", 3), numbered("tau_#", 3)), [t.time, t.q, t.tau])


def wrongly_rad(folder: Path, t: Truth) -> Path:
    head = joined("time [s]", numbered("q# [rad]", 2), numbered("tau# [Nm]", 2))
    return csv(folder, head, [t.time, 1.5 * np.rad2deg(t.q), t.tau])


def before_the_gear(folder: Path, t: Truth) -> Path:
    head = joined("time", numbered("motor_pos_#", 2), numbered("link_pos_#", 2), numbered("motor_torque_#", 2))
    return csv(folder, head, [t.time, 100 * t.q, t.q, t.tau / 100])


def chinese(folder: Path, t: Truth) -> Path:
    head = joined("时间(s)", numbered("关节#角度(°)", 2), numbered("关节#角速度(°/s)", 2), numbered("关节#力矩(Nm)", 2))
    return csv(folder, head, [t.time, np.rad2deg(t.q), np.rad2deg(t.v), t.tau])


def french(folder: Path, t: Truth) -> Path:
    return csv(
        folder, "Temps;Position1;Position2;Vitesse1;Vitesse2;Couple1;Couple2", [t.time, t.q, t.v, t.tau], between=";"
    )


def spanish(folder: Path, t: Truth) -> Path:
    head = joined("tiempo", numbered("posición_#", 2), numbered("velocidad_#", 2), numbered("corriente_#", 2))
    return csv(folder, head, [t.time, t.q, t.v, t.tau / 4])


def laboratory(folder: Path, t: Truth) -> Path:
    parts = ("pos_meas", "vel_meas", "pos_filt", "pos_des", "tau_fric", "tau_meas")
    head = joined("time", *(numbered(f"{one}#", 2) for one in parts))
    return csv(folder, head, [t.time, t.q, t.v, t.q + 1e-3, t.q + 0.1, 0.2 * t.tau, t.tau])


def yarp(folder: Path, t: Truth) -> Path:
    joints = {name: {"data": one, "timestamps": t.time} for name, one in (
        ("positions", t.q), ("velocities", t.v), ("torques", t.tau))}  # fmt: skip
    motors = {"positions": {"data": 100 * t.q, "timestamps": t.time}, "currents": {"data": t.tau, "timestamps": t.time}}
    scipy.io.savemat(folder / "a.mat", {"logger": {"joints_state": joints, "motors_state": motors}})
    return folder / "a.mat"


def commands_alone(folder: Path, t: Truth) -> Path:
    head = joined("time", numbered("q#", 2), numbered("input_torque#", 2), numbered("ctrl#", 2))
    return csv(folder, head, [t.time, t.q, t.tau, t.tau])


def dynamic_state(stamp: float, names: Sequence[str], columns: Sequence[np.ndarray]) -> bytes:
    """A control_msgs/DynamicJointState in CDR, little-endian. columns: positions, velocities and efforts."""
    body = bytearray(struct.pack("<iI", int(stamp), round((stamp - int(stamp)) * 1e9)))

    def word(text: str) -> None:
        body.extend(b"\0" * (-len(body) % 4) + struct.pack("<I", len(text) + 1) + text.encode() + b"\0")

    def count(number: int) -> None:
        body.extend(b"\0" * (-len(body) % 4) + struct.pack("<I", number))

    word("")
    count(len(names))
    for name in names:
        word(name)
    count(len(names))
    for j in range(len(names)):
        count(3)
        for word_ in ("position", "velocity", "effort"):
            word(word_)
        count(3)
        body.extend(b"\0" * (-len(body) % 8) + struct.pack("<3d", *(one[j] for one in columns)))
    return b"\0\1\0\0" + bytes(body)


def two_topics(folder: Path, t: Truth, definition: str = DYNAMIC) -> Path:
    """A bag in MCAP whose joint states have no efforts; those of ros2_control have."""
    from mcap.writer import Writer

    names = ["j_b", "j_a"]
    with (folder / "a.mcap").open("wb") as stream:
        writer = Writer(stream)
        writer.start("ros2")
        channels = [
            writer.register_channel(topic, "cdr", writer.register_schema(kind, "ros2msg", text.encode()))
            for topic, kind, text in (
                ("/joint_states", "sensor_msgs/msg/JointState", STATE),
                ("/dynamic_joint_states", "control_msgs/msg/DynamicJointState", definition),
            )
        ]
        for k, time in enumerate(t.time):
            stamp, late = 50.0 + time, int((50.0 + time) * 1e9) + 3_000_000
            messages = (joint_state(stamp, names, (t.q[k], t.v[k], ())),
                        dynamic_state(stamp, names, (t.q[k], t.v[k], t.tau[k])))  # fmt: skip
            for channel, message in zip(channels, messages, strict=True):
                writer.add_message(channel, late, message, late)
        writer.finish()
    return folder / "a.mcap"


def externally_guided(folder: Path, t: Truth) -> Path:
    """A log of ABB's EGM messages: stamps in s and µs, axes in degrees, a quaternion beside them."""
    stamp = t.time + 0.3
    head = joined(
        "seqno,tm_s,tm_us", numbered("joint#_deg", 3), "cart_x,cart_y,cart_z,u0,u1,u2,u3", numbered("torque#", 3)
    )
    columns = [np.arange(len(stamp)), np.floor(stamp), np.round(stamp % 1 * 1e6), np.rad2deg(t.q), noise(t, 7), t.tau]
    return csv(folder, head, columns)


def turns_a_minute(folder: Path, t: Truth) -> Path:
    """A test bench: degrees as a sign, speeds in turns a minute."""
    parts = [(np.rad2deg(q), 30.0 / np.pi * v, tau) for q, v, tau in zip(t.q.T, t.v.T, t.tau.T, strict=True)]
    head = ";".join(
        f"Achse{i}.Istposition [°];Achse{i}.Istdrehzahl [U/min];Achse{i}.Drehmoment [Nm]" for i in range(1, 3)
    )
    rows = np.column_stack([1e3 * t.time, *itertools.chain.from_iterable(parts)])
    body = "\n".join(";".join(f"{value:.6f}".replace(".", ",") for value in row) for row in rows)
    file = folder / "spur.csv"
    file.write_text(f"Zeit [ms];{head}\n{body}\n", encoding="latin-1")
    return file


def rows_written_twice(folder: Path, t: Truth) -> Path:
    """A logger that is quicker than its source: every third row comes twice, with its stamp."""
    twice = np.sort(np.concatenate([np.arange(len(t.time)), np.arange(0, len(t.time), 3)]))
    head = "time,shoulder/joint_pos,elbow/joint_pos,shoulder/trq,elbow/trq"
    return csv(folder, head, [t.time[twice], t.q[twice], t.tau[twice]])


def spaced_names(folder: Path, t: Truth) -> Path:
    """A monitor's table: names have single spaces, more are between them; a title and a date above."""
    names = ["Tick (ms)", "J1 Pos (deg)", "J2 Pos (deg)", "J1 Torque (Nm)", "J2 Torque (Nm)"]
    head = "DATA MONITOR\nDATE: 26-NOV-26\n\n  " + "   ".join(names)
    return csv(folder, head, [1e3 * t.time, np.rad2deg(t.q), t.tau], name="monitor.txt", between="  ", form="%12.5f")


CASES: dict[str, Case] = {
    "libfranka's log": Case(libfranka, 7),
    "Sunrise's recorder": Case(sunrise, 7),
    "NAO": Case(nao, 2, asks=("motor current",), scale=1 / 10, role="current"),
    "DROID": Case(droid, 7, asks=("which is the torque",)),
    "ABB's test signals": Case(abb, 2),
    "KUKA, in German": Case(kuka_german, 3),
    "Fanuc": Case(fanuc, 6, asks=("motor current",), scale=1 / 8, role="current"),
    "a PLC": Case(plc, 2),
    "per mille": Case(per_mille, 2, asks=("per mille of a rated torque",), role=""),
    "merged cells": Case(merged_cells, 2),
    "objects with names": Case(named_objects, 2, names=("hip", "knee")),
    "objects by their place": Case(numbered_objects, 2),
    "loads": Case(loads, 2, asks=("a load without a unit",), names=("shoulder", "wrist")),
    "structures in Parquet": Case(structures, 2),
    "times of each": Case(times_of_each, 2),
    "MATLAB's table": Case(matlab_table, 3, asks=("the times",)),
    "Chinese": Case(chinese, 2),
    "French": Case(french, 2),
    "Spanish": Case(spanish, 2, asks=("motor current",), scale=1 / 4, role="current"),
    "legs and a base": Case(legs, 3),
    "quantities by their units": Case(quantities_by_units, 2, names=("hip", "knee")),
    "measured, filtered, friction": Case(laboratory, 2),
    "YARP": Case(yarp, 3),
    "two topics": Case(two_topics, 2, names=("j_b", "j_a")),
    "commands alone": Case(commands_alone, 2, refused="like torque"),
    "ABB's EGM": Case(externally_guided, 3, asks=("the times",)),
    "turns a minute": Case(turns_a_minute, 2),
    "rows written twice": Case(rows_written_twice, 2),
    "names with spaces": Case(spaced_names, 2),
}
