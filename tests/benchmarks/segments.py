"""`jointwatch bench segments`: parameters of disjoint segments of real recordings, against their deviations.

The halves of each recording of the LWR4+ go through `jointwatch identify`, those of EMPS through a live estimator; each
parameter that both have learnt has z = (a − b) / √(σ_a² + σ_b²). Of a normal 95.4 % are within 2.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from estimators.experiments.recordings import DATA, emps
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import Identification
from estimators.quantities import Axis, Floats

COVERED: Final = 90.0  # %, of the halves of recordings
ROOT: Final = Path(__file__).parents[2]
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


def pairs(data: Path = DATA) -> Iterator[Pair]:
    """All pairs of segments of one robot."""
    found = {(n, half): _lwr4(data / "kuka_lwr4", n, half) for n in (2, 3) for half in (0, 1)}
    for a, b in combinations(found, 2):
        name = f"LWR4, recording {a[0]} half {a[1] + 1} and {b[0]} half {b[1] + 1}"
        yield Pair(name, apart(found[a], found[b]), a[0] == b[0])
    halves = [_emps(part) for part in np.array_split(np.stack(emps(data), axis=1), 2)]
    yield Pair("EMPS, halves", apart(*halves), True)


def _lwr4(folder: Path, recording: int, half: int) -> Found:
    with np.load(folder / f"measurements_{recording}.npz") as whole, tempfile.TemporaryDirectory() as place:
        middle = len(whole["times"]) // 2
        part = slice(None, middle) if half == 0 else slice(middle, None)
        file = Path(place) / "half.npz"
        np.savez(file, **{name: whole[name][part] for name in whole})
        command = [sys.executable, "-m", "daq", "identify", str(folder / "kuka_lwr4.urdf"), str(file), "--json"]
        own = ["--columns", str(ROOT / "docs" / "kuka_lwr4-columns.toml"), "--friction", "viscous_coulomb"]
        done = subprocess.run([*command, *own], stdout=subprocess.PIPE, check=True, text=True, cwd=ROOT)
    told = json.loads(done.stdout)["parameters"]
    return {name: (one["value"], one["deviation"]) for name, one in told.items() if one["learnt"]}


def _emps(values: Floats) -> Found:
    joint = JointEstimator(Identification(model=RigidSettings(axis=Axis.PRISMATIC), start=4.0), 1e-3)
    joint.absorb(np.arange(1, len(values) + 1) * 1_000_000, np.ascontiguousarray(values))
    told = joint.estimate()
    return {
        name: (float(value), float(deviation))
        for name, value, deviation in zip(told.names, told.values, told.deviations, strict=True)
    }


def main() -> int:
    """Print the table; exit 0 when the halves of recordings meet what is asked."""
    parser = argparse.ArgumentParser(prog="jointwatch bench segments", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the recordings (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = list(pairs(options.data))
    found.append(Pair("halves of one recording, all", np.concatenate([pair.z for pair in found if pair.same]), True))
    if options.json:
        rows = [{"pair": one.name, "covered": covered(one.z), "z": one.z.tolist()} for one in found]
        print(json.dumps({"rows": rows, "ok": covered(found[-1].z) >= COVERED}))
    else:
        for one in found:
            print(f"{one.name:44}{_line(one.z)}")
        print(f"asked of the last line: {COVERED:g} % within 2 σ")
    return 0 if covered(found[-1].z) >= COVERED else 1


def covered(z: Floats) -> float:
    """Share within 2 deviations, %."""
    return 100.0 * float(np.mean(np.abs(z) <= 2.0))


def _line(z: Floats) -> str:
    rms, worst = np.sqrt(np.mean(z**2)), np.abs(z).max()
    return f"{len(z):4} parameters, {covered(z):5.1f} % within 2 σ, rms z {rms:.2f}, worst {worst:.1f}"


if __name__ == "__main__":
    sys.exit(main())
