"""Trajectories of the double-encoder robot: optimised within the limits of Table 1, and the published one of Table 3.

These files are written into the folder: robot.toml, puma.toml, limits.toml; robot-peak.csv and the other optimised
trajectories, random.csv (the best of 300 random trajectories) and published.csv (Table 3).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from hil_rig.papers.double_encoder_robot.published import TABLE_1, TABLE_2, write_trajectory
from hil_rig.papers.figures import Figure, program
from hil_rig.plants.robots.double_encoder_robot import DRIVE, ROWS
from hil_rig.plants.robots.fourier import FourierMotion

PUMA: Final = np.array(
    [
        (0.0, 0.0, 0.0, 0.0),
        (-np.pi / 2, 0.0, 0.2435, 0.0),
        (0.0, 0.4318, -0.0934, 0.0),
        (np.pi / 2, -0.0203, 0.4331, 0.0),
        (-np.pi / 2, 0.0, 0.0, 0.0),
        (np.pi / 2, 0.0, 0.0, 0.0),
    ]
)
PERIOD: Final = 20.0  # s
GEAR: Final = 100.0
BETTER: Final = 0.6  # limit of the design: share of Table 3's condition number, and of its parameter error
PROTOTYPES: Final = {"robot": ("28.9 [P]", "52.3 [P]"), "puma": ("34.7 [P]", "44.7 [P]")}
NAMES: Final = {"robot": "UR10", "puma": "Puma 560"}
SECONDS: Final = "400"  # wall-clock limit, so long that the evaluations end a search on a busy machine, too


def describe(folder: Path) -> None:
    """Write the files that describe the robots and the limits."""
    rotor = [value / GEAR**2 for value in DRIVE["inertia"]]
    for name, table, rotors in (("robot", ROWS, rotor), ("puma", PUMA, None)):
        lines = [f'name = "{name}"', 'convention = "modified"', 'angles = "rad"', "total_mass = 30.0"]
        for j, (alpha, a, d, offset) in enumerate(table.tolist()):
            lines += [f"[joints.joint{j + 1}]", f"alpha = {alpha}", f"a = {a}", f"d = {d}", f"offset = {offset}"]
            lines += [] if rotors is None else [f"rotor = {rotors[j]}", f"gear = {GEAR}"]
        (folder / f"{name}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ['angles = "rad"']
    for j, (position, velocity, acceleration) in enumerate(zip(*map(np.ndarray.tolist, TABLE_1), strict=True)):
        lines += [f"[joints.joint{j + 1}]", f"lower = {-position}", f"upper = {position}"]
        lines += [f"velocity = {velocity}", f"acceleration = {acceleration}"]
    (folder / "limits.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def excitation(folder: Path, evaluations: int, say: Callable[[str], None]) -> list[Figure]:
    """Search and judge all trajectories. say: called with a description of the next step."""
    rows: list[Figure] = []
    limits: list[str | Path] = ["--limits", folder / "limits.toml", "--json"]
    conditions: dict[str, float] = {}
    for robot, name in NAMES.items():
        for mode, most, prototype in zip(("peak", "bound"), (60.0, 100.0), PROTOTYPES[robot], strict=True):
            say(f"excitation of a {name}, {mode}")
            file = folder / f"{robot}-{mode}.csv"
            said = _searched(folder / f"{robot}.toml", limits, evaluations, file, "--mode", mode)
            label, criteria = f"{name}, {mode}", said["criteria"]
            rows.append(Figure(f"{label}: cond", criteria["cond"], high=most, reference=prototype))
            rows.append(Figure(f"{label}: its −log det", criteria["dopt"]))
            rows.append(_time(label, said))
            rows.append(Figure(f"{label}: of its limits, at most", _reach(file), high=1.0, reference="1"))
            conditions[robot] = min(conditions.get(robot, np.inf), criteria["cond"])
    rows += _second_table(folder, evaluations, limits, say)
    rows += _third_table(folder, limits, conditions)
    say("random trajectories for comparison")
    program("daq", "excite", folder / "robot.toml", *limits, "--evaluations", "300", "--out", folder / "random.csv")
    return rows


def _searched(robot: Path, limits: list[str | Path], evaluations: int, file: Path, *more: str | Path) -> dict[str, Any]:
    words = [robot, *limits, "--evaluations", str(evaluations), "--seconds", SECONDS, "--out", file, *more]
    said: dict[str, Any] = json.loads(program("daq", "excite", *words))
    return said


def _time(label: str, said: dict[str, Any]) -> Figure:
    return Figure(f"{label}: searched for, processor time", said["processor"], high=60.0, unit="s", reference="45 [P]")


def _second_table(folder: Path, evaluations: int, limits: list[str | Path], say: Callable[[str], None]) -> list[Figure]:
    """Table 2: cond of the regressor after minimising it alone, and after minimising the block criterion (14)."""
    say("excitation of a UR10, block criterion")
    file = folder / "robot-block.csv"
    block = _searched(folder / "robot.toml", limits, evaluations, file, "--objective", "block")
    alone = _criteria(folder, "robot", "robot-peak.csv", limits)
    rows = []
    for name, said in (("cond", alone), ("block", block["criteria"])):
        published = TABLE_2[name]
        label = f"Table 2, made small {name}: cond"
        rows.append(Figure(label, said["cond"], high=published, reference=published))
    ratio = TABLE_2["block"] / TABLE_2["cond"]
    rows.append(
        Figure("Table 2: cond by block / cond by cond", block["criteria"]["cond"] / alone["cond"], reference=ratio)
    )
    return rows


def _third_table(folder: Path, limits: list[str | Path], best: dict[str, float]) -> list[Figure]:
    """Table 3 compared with Table 1's limits, its condition number on both robots, and the ratio of ours to it."""
    write_trajectory(folder / "published.csv")
    rows = [Figure("Table 3: of Table 1's limits, at most", _reach(folder / "published.csv"), high=1.0, reference="1")]
    for robot, before in (("robot", "142.7 [P]"), ("puma", "136.6 [P]")):
        condition = _criteria(folder, robot, "published.csv", limits)["cond"]
        label = NAMES[robot]
        rows.append(Figure(f"Table 3 on a {label}: cond", condition, reference=before))
        rows.append(Figure(f"{label}: cond, optimised / Table 3", best[robot] / condition, high=BETTER))
    return rows


def _criteria(folder: Path, robot: str, file: str, limits: list[str | Path]) -> dict[str, float]:
    words = [folder / f"{robot}.toml", *limits, "--check", folder / file]
    found: dict[str, float] = json.loads(program("daq", "excite", *words))["criteria"]
    return found


def _reach(file: Path) -> float:
    """Largest ratio of a trajectory to one of Table 1's limits at 5,000 instants, by the plant's own series."""
    moved = FourierMotion(file=file).series(TABLE_1).at(np.linspace(0.0, PERIOD, 5000))
    return float(max(np.max(np.abs(one) / limit) for one, limit in zip(moved, TABLE_1, strict=True)))
