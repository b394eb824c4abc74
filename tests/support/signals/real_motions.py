"""The real recordings of ../shared/data as motions of joints; nothing where they are not there."""

import json
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from daq.recording.columns import Channels, load_columns, read
from estimators.numerics.named_arrays import arrays
from estimators.plausibility.mistakes.base import Motion
from estimators.quantities import Axis
from hil_rig.plants.recording import DATA

ROOT: Final = Path(__file__).parents[3]
SECONDS: Final = 12.0  # of a window, as long as that of a start

Motions = dict[str, Motion]


def recordings() -> Iterator[tuple[str, Motions]]:
    """Every recording with positions and torques: as a whole, and in windows as a start sees them."""
    for name, motions in whole():
        if not motions:
            continue
        yield name, motions
        for number, window in enumerate(_windows(motions)):
            yield f"{name}, window {number + 1}", window


def whole() -> Iterator[tuple[str, Motions]]:
    """Every recording from its first sample to its last."""
    for table, files in (
        ("kr300", "kr300/traj_*.mat"),
        ("kinova_gen3", "kinova_gen3/*.csv"),
        ("kuka_lwr4", "kuka_lwr4/*.npz"),
    ):
        columns = load_columns(ROOT / "docs" / f"{table}-columns.toml")
        for file in sorted(DATA.glob(files)):
            yield str(file.relative_to(DATA)), _of(read(file, columns))
    for file in sorted(DATA.glob("emps/*.mat")):
        data = arrays(file)
        force = float(data["gtau"].squeeze()) * data["vir"].ravel()
        axis = Motion(data["t"].ravel(), data["qm"].ravel(), force, Axis.PRISMATIC)
        yield file.name, {"slide": axis, "slide, filtered": axis._replace(effort=data["Force1"].ravel())}
    for file in sorted(DATA.glob("hebi_x5/*.csv")):
        one = arrays(file)
        yield (
            file.name,
            {"x5": Motion(one["hardware_transmit_time"], one["position"], one["effort"], velocity=one["velocity"])},
        )
    for file in sorted(DATA.glob("bam_*/**/*.json")):
        entries = json.loads(file.read_text("utf-8")).get("entries")
        if entries:
            time, q, load = (
                np.array([e[key] for e in entries], np.float64) for key in ("timestamp", "position", "load")
            )
            signed = np.where(load > 32767, load - 65536, load)
            yield str(file.relative_to(DATA)), {"servo": Motion(time, q, signed)}
    for file in sorted(DATA.glob("sea_imperial/kt-*.csv")):
        one = arrays(file)
        yield file.name, {"spring": Motion(one["time"], np.deg2rad(one["displacement"]), one["torque_out"])}
    for file in sorted(DATA.glob("ur3e_rtde/*.csv")):
        one = arrays(file)
        yield (
            file.name,
            {
                f"{effort} {j}": Motion(
                    one["timestamp"], one[f"actual_q_{j}"], one[f"{effort}_{j}"], velocity=one[f"actual_qd_{j}"]
                )
                for j in range(6)
                for effort in ("target_moment", "actual_current")
            },
        )
    for file in sorted(DATA.glob("unisa_bags/*.db3")):
        yield file.name, _of_bag(file)


def _windows(motions: Motions) -> Iterator[Motions]:
    """Consecutive windows of all joints."""
    time = next(iter(motions.values())).time
    for begin in np.arange(time[0], time[-1] - SECONDS, SECONDS):
        window = {}
        for name, one in motions.items():
            inside = (one.time >= begin) & (one.time < begin + SECONDS)
            cut = {
                field: value[inside] if isinstance(value := getattr(one, field), np.ndarray) else value
                for field in one._fields
            }
            window[name] = Motion(**cut)
        yield window


def _of(channels: Channels) -> Motions:
    found = {}
    for name, roles in channels.items():
        q, y, v = roles["position"], roles["torque"], roles.get("velocity")
        found[name] = Motion(q.time, q.values, y.values, velocity=None if v is None else v.values)
    return found


def _of_bag(file: Path) -> Motions:
    """Joint states of a bag in SQLite (CDR, little-endian)."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
        topics = dict(base.execute("SELECT id, type FROM topics"))
        rows = [
            _joint_state(bytes(data))
            for topic, data in base.execute("SELECT topic_id, data FROM messages ORDER BY timestamp")
            if topics[topic] == "sensor_msgs/msg/JointState"
        ]
    rows = [row for row in rows if row[1] and len(row[2]) == len(row[4]) == len(row[1])]
    rows = [row for row in rows if row[1] == rows[0][1]]
    if not rows:
        return {}
    time = np.array([row[0] for row in rows])
    q, v, y = (np.array([row[k] for row in rows], np.float64) for k in (2, 3, 4))
    return {
        name: Motion(time, q[:, j], y[:, j], velocity=v[:, j] if v.shape == q.shape else None)
        for j, name in enumerate(rows[0][1])
    }


def _joint_state(data: bytes) -> tuple[float, list[str], list[float], list[float], list[float]]:
    body, at = data[4:], 8
    seconds, nanoseconds = struct.unpack_from("<iI", body, 0)

    def text() -> str:
        nonlocal at
        at = (at + 3) // 4 * 4
        (length,) = struct.unpack_from("<I", body, at)
        at += 4 + length
        return body[at - length : at - 1].decode()

    def doubles() -> list[float]:
        nonlocal at
        at = (at + 3) // 4 * 4
        (count,) = struct.unpack_from("<I", body, at)
        at += 4
        if count:
            at = (at + 7) // 8 * 8
        found = list(struct.unpack_from(f"<{count}d", body, at))
        at += 8 * count
        return found

    text()  # the frame
    at = (at + 3) // 4 * 4
    (names,) = struct.unpack_from("<I", body, at)
    at += 4
    return seconds + 1e-9 * nanoseconds, [text() for _ in range(names)], doubles(), doubles(), doubles()
