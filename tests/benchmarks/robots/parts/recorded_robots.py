"""Every robot of ../shared/data, learnt on one part of its recordings and judged on another, each both ways.

Links of the UR10 and the Panda are guessed from the total mass, their kinematics are the makers'; EMPS and the XL330
are robots of one joint.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from daq.commands.identify.command import load_robot
from daq.recording.columns import Columns, load_columns
from daq.recording.ros_bag import decode
from daq.replay.robot_runs import RobotRun, read_runs
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.dh_table import DhTable
from estimators.offline.robot.live_residuals import Recorded
from estimators.offline.robot.motion import Piece, pieces
from estimators.quantities import Floats
from hil_rig.papers.recordings.readers import emps, xl330, xl330_published
from hil_rig.plants.recording import DATA

ROOT: Final = Path(__file__).parents[4]
FOLDERS: Final = ("kuka_lwr4", "kr300", "kinova_gen3", "unisa_bags", "emps", "bam_xl330")
KINOVA_SHARE: Final = 0.6  # of its one recording, 5 s, that is the longer part

# modified Denavit–Hartenberg tables, m and degrees, of the makers' data sheets
UR10: Final = ((0.1273, 0, 0), (0, 0, 90), (0, -0.612, 0), (0.163941, -0.5723, 0), (0.1157, 0, 90), (0.0922, 0, -90))
PANDA: Final = (
    (0.333, 0, 0), (0, 0, -90), (0.316, 0, 90), (0, 0.0825, 90), (0.384, -0.0825, -90), (0, 0, 90), (0, 0.088, 90),
)  # fmt: skip


class Split(NamedTuple):
    """One robot, what it is learnt from, and what it is judged on."""

    robot: str
    name: str  # "2 > 3"
    description: RobotDescription
    taught: list[Recorded]  # what it is learnt from
    judged: list[Recorded]
    published: str  # what others have reached on these recordings, and how; of a simulated arm, what was drawn
    links: Floats | None = None  # (n, 10) standard parameters of a simulated arm's links

    @property
    def train(self) -> list[Piece]:
        """The pieces that it is learnt from."""
        return _pieces(self.taught)

    @property
    def test(self) -> list[Piece]:
        """The pieces that it is judged on."""
        return _pieces(self.judged)


def _pieces(recordings: Sequence[Recorded]) -> list[Piece]:
    return [piece for one in recordings for piece in pieces(*one[:3], link=one.link)]


def splits(data: Path = DATA, folders: Sequence[str] = FOLDERS) -> Iterator[Split]:
    """Those of these folders whose recordings are there."""
    for folder, found in zip(FOLDERS, (_lwr4, _kr300, _kinova, _unisa, _emps, _xl330), strict=True):
        if folder in folders and (data / folder).is_dir():
            yield from found(data)


def missing(data: Path = DATA) -> list[str]:
    """Folders of recordings that are not there."""
    return [folder for folder in FOLDERS if not (data / folder).is_dir()]


def _lwr4(data: Path) -> Iterator[Split]:
    folder = data / "kuka_lwr4"
    robot, runs = _read(folder / "kuka_lwr4.urdf", [folder / f"measurements_{k}.npz" for k in (2, 3)], "kuka_lwr4")
    yield from _both("LWR4", robot, [_cut(run) for run in runs], ("2", "3"), "2.15 on what it was learnt from")


def _kr300(data: Path) -> Iterator[Split]:
    robot, runs = _read(ROOT / "docs" / "kr300.toml", [data / "kr300" / f"traj_{k}.mat" for k in "AB"], "kr300")
    yield from _both("KR300", robot, [_cut(run) for run in runs], ("A", "B"))


def _kinova(data: Path) -> Iterator[Split]:
    folder = data / "kinova_gen3"
    for word, column in (("sensor", "TorqueSm"), ("current", "TorqueCur")):
        robot, [run] = _read(folder / "gen3.urdf", [folder / "opti_traj_testing1.csv"], "kinova_gen3", column)
        cut = int(KINOVA_SHARE * len(run.time))
        yield from _both(f"Kinova, {word}", robot, [_cut(run, 0, cut), _cut(run, cut)], ("first 60 %", "last 40 %"))
    for joint in (1, 2, 4):
        file = folder / f"joint_{joint}_trapez.csv"
        robot, [run] = _read(folder / "gen3.urdf", [file], "kinova_gen3", "TorqueCur")
        yield from _halves(f"Kinova, current, joint {joint}", robot, run)


def _unisa(data: Path) -> Iterator[Split]:
    for name, file, rows, mass in (
        ("UR10", "ur10_exciting_trajectory.db3", UR10, 28.9),
        ("Panda, 30 Hz", "panda_exciting_trajectory.db3", PANDA, 18.0),
    ):
        names, time, q, tau = _bag(data / "unisa_bags" / file)
        joints = {one: {"d": d, "a": a, "alpha": alpha} for one, (d, a, alpha) in zip(names, rows, strict=True)}
        robot = _described(name, joints, mass)
        yield from _halves(name, robot, RobotRun(Path(file), time, q, tau, np.full_like(q, np.nan)))


def _emps(data: Path) -> Iterator[Split]:
    q, force = emps(data)
    robot = _described("EMPS", {"axis": {"kind": "prismatic", "alpha": 90.0}}, 95.0)
    time = np.arange(len(q)) * 1e-3
    run = RobotRun(Path("emps"), time, q[:, None], force[:, None], np.full((len(q), 1), np.nan))
    yield from _halves("EMPS", robot, run, "3.5 on what it was learnt from, ordinary at 50 Hz")


def _xl330(data: Path) -> Iterator[Split]:
    known = xl330_published(data, "m1")
    torque_per_volt = known["kt"] / known["R"]  # the drive's torque at standstill
    runs = xl330(data)
    arm = {"mass": runs[0].mass, "inertia": (1e-5, 1e-5, 1e-5, 0.0, 0.0, 0.0), "centre": (runs[0].length, 0.0, 0.0)}
    robot = _described("XL330", {"servo": arm}, None, gravity=(9.81, 0.0, 0.0))
    parts: dict[str, list[Recorded]] = {"sin_sin": [], "up_and_down": []}
    for run in runs:
        tau = (run.voltage * torque_per_volt)[:, None]
        parts[run.trajectory].append(Recorded(run.time, run.position[:, None], tau))
    yield from _both("XL330", robot, list(parts.values()), tuple(parts))


def _read(robot: Path, files: list[Path], table: str, torque: str = "") -> tuple[RobotDescription, list[RobotRun]]:
    columns = load_columns(ROOT / "docs" / f"{table}-columns.toml")
    runs = read_runs(load_robot(robot)[0], files, with_torque(columns, torque) if torque else columns)
    return runs.robot, runs.runs


def with_torque(columns: Columns, torque: str) -> Columns:
    """A table of columns whose torques are `torque` and the number of the joint."""
    joints = {
        name: roles | {"torque": roles["torque"].model_copy(update={"column": f"{torque}{i + 1}"})}
        for i, (name, roles) in enumerate(columns.joints.items())
    }
    return columns.model_copy(update={"joints": joints})


def _described(name: str, joints: dict[str, Any], mass: float | None, **more: Any) -> RobotDescription:
    table = {"name": name, "convention": "modified", "angles": "deg", "joints": joints, "total_mass": mass}
    return DhTable.model_validate(table | more).robot()


def _bag(file: Path) -> tuple[list[str], Floats, Floats, Floats]:
    """Names of the joints in their order along the arm, times (rows,), positions and efforts (rows, n)."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as bag:
        states = [decode(data) for (data,) in bag.execute("SELECT data FROM messages ORDER BY timestamp, id")]
    names = states[0][1]
    arm = (
        "shoulder_pan_joint",
        "shoulder_lift_joint",
        "elbow_joint",
        "wrist_1_joint",
        "wrist_2_joint",
        "wrist_3_joint",
    )
    kept = [one for one in arm if one in names] or sorted(one for one in names if "finger" not in one)
    which = [names.index(one) for one in kept]
    q, tau = (np.array([state[2][field] for state in states])[:, which] for field in (0, 2))
    return kept, np.array([state[0] for state in states]), q, tau


def _cut(run: RobotRun, first: int = 0, last: int | None = None) -> list[Recorded]:
    part = slice(first, last)
    return [Recorded(run.time[part], run.q[part], run.tau[part], run.link[part])]


def _halves(name: str, robot: RobotDescription, run: RobotRun, published: str = "") -> Iterator[Split]:
    middle = len(run.time) // 2
    parts = [_cut(run, 0, middle), _cut(run, middle)]
    yield from _both(name, robot, parts, ("first half", "second half"), published)


def _both(
    robot: str, description: RobotDescription, parts: list[list[Recorded]], words: Sequence[str], published: str = ""
) -> Iterator[Split]:
    for i, k in ((0, 1), (1, 0)):
        yield Split(robot, f"{words[i]} > {words[k]}", description, parts[i], parts[k], published)
