"""`jointwatch bench segments`: parameters of disjoint segments of real recordings, against their deviations.

The halves of each recording of the LWR4+, the KR300 and the Kinova Gen3 are identified as `jointwatch identify` does
it, those of EMPS by a live estimator; each parameter that both have learnt has z = (a − b) / √(σ_a² + σ_b²). Of a
normal 95.4 % are within 2.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from daq.commands.identify.command import load_robot
from daq.recording.columns import load_columns
from daq.replay.robot_runs import read_runs
from estimators.models.joints.rigid import RigidSettings
from estimators.models.robots.description import RobotDescription
from estimators.offline.robot.identification import identify
from estimators.offline.robot.motion import Piece, pieces
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis, Floats
from hil_rig.papers.recordings.readers import emps
from hil_rig.plants.recording import DATA

COVERED: Final = 90.0  # %, of the halves of one recording, and of different ones
DOCS: Final = Path(__file__).parents[3] / "docs"


class Source(NamedTuple):
    """Recordings of one robot."""

    name: str
    robot: Path
    columns: str  # table in docs
    files: Mapping[str, Path]  # by what they are called


Found = Mapping[str, tuple[float, float]]  # parameter → value, deviation


class Pair(NamedTuple):
    """Two segments."""

    name: str
    z: Floats  # (parameters,)
    same: bool  # whether of one recording


def apart(one: Found, other: Found) -> Floats:
    """z of every parameter that both have learnt."""
    both = [name for name in one if name in other]
    return np.array([(one[name][0] - other[name][0]) / np.hypot(one[name][1], other[name][1]) for name in both])


def sources(data: Path) -> tuple[Source, ...]:
    """The recordings of whole robots."""
    lwr4, kr300, kinova = (data / name for name in ("kuka_lwr4", "kr300", "kinova_gen3"))
    runs = {f"recording {n}": lwr4 / f"measurements_{n}.npz" for n in (2, 3)}
    return (
        Source("LWR4", lwr4 / "kuka_lwr4.urdf", "kuka_lwr4", runs),
        Source("KR300", DOCS / "kr300.toml", "kr300", {run: kr300 / f"traj_{run}.mat" for run in "AB"}),
        Source("Kinova", kinova / "gen3.urdf", "kinova_gen3", {"recording": kinova / "opti_traj_testing1.csv"}),
    )


def pairs(data: Path = DATA) -> Iterator[Pair]:
    """All pairs of segments of one robot."""
    for source in sources(data):
        found = {
            (run, half): _identified(robot, part)
            for run, robot, parts in _halves(source)
            for half, part in enumerate(parts, 1)
        }
        for a, b in combinations(found, 2):
            name = f"{source.name}, {a[0]} half {a[1]} and {b[0]} half {b[1]}"
            yield Pair(name, apart(found[a], found[b]), a[0] == b[0])
    halves = [_emps(part) for part in np.array_split(np.stack(emps(data), axis=1), 2)]
    yield Pair("EMPS, halves", apart(*halves), True)


def _halves(source: Source) -> Iterator[tuple[str, RobotDescription, list[list[Piece]]]]:
    read = read_runs(load_robot(source.robot)[0], list(source.files.values()), load_columns(_table(source)))
    for name, run in zip(source.files, read.runs, strict=True):
        middle = len(run.time) // 2
        parts = slice(middle), slice(middle, None)
        yield name, read.robot, [pieces(run.time[part], run.q[part], run.tau[part]) for part in parts]


def _table(source: Source) -> Path:
    return DOCS / f"{source.columns}-columns.toml"


def _identified(robot: RobotDescription, part: list[Piece]) -> Found:
    found = identify(robot, part, [], ())
    told = zip(found.found.model().names, found.fit.theta, found.fit.deviation, found.fit.learnt, strict=True)
    return {name: (float(value), float(deviation)) for name, value, deviation, learnt in told if learnt}


def _emps(values: Floats) -> Found:
    joint = JointEstimator(JointIdentification(model=RigidSettings(axis=Axis.PRISMATIC), start=4.0), 1e-3)
    joint.absorb(np.arange(1, len(values) + 1) * 1_000_000, np.ascontiguousarray(values))
    told = joint.estimate()
    return {
        name: (float(value), float(deviation))
        for name, value, deviation in zip(told.names, told.values, told.deviations, strict=True)
    }


def main() -> int:
    """Print the table; exit 0 when halves of one recording, and of different ones, meet what is asked."""
    parser = argparse.ArgumentParser(prog="jointwatch bench segments", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the recordings (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = list(pairs(options.data))
    judged = [
        Pair(f"halves of {word}, all", np.concatenate([pair.z for pair in found if pair.same is same]), same)
        for word, same in (("one recording", True), ("different recordings", False))
    ]
    ok = all(covered(one.z) >= COVERED for one in judged)
    if options.json:
        rows = [{"pair": one.name, "covered": covered(one.z), "z": one.z.tolist()} for one in (*found, *judged)]
        print(json.dumps({"rows": rows, "ok": ok}))
    else:
        for one in (*found, *judged):
            print(f"{one.name:52}{_line(one.z)}")
        print(f"asked of the last two lines: {COVERED:g} % within 2 σ")
    return 0 if ok else 1


def covered(z: Floats) -> float:
    """Share within 2 deviations, %."""
    return 100.0 * float(np.mean(np.abs(z) <= 2.0))


def _line(z: Floats) -> str:
    rms, worst = np.sqrt(np.mean(z**2)), np.abs(z).max()
    return f"{len(z):4} parameters, {covered(z):5.1f} % within 2 σ, rms z {rms:.2f}, worst {worst:.1f}"


if __name__ == "__main__":
    sys.exit(main())
