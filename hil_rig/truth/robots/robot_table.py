"""`jointwatch bench truth --robots [--seeds N] [--first S] [--only ROW] [--json]`: findings about whole robots.

The table has for each row: the share of the time after the start in which values are trusted, the share with material
lies, the trials whose cause is right, wrong (or ambiguous) and not reported, false findings per hour, the slowest
report, and rms z of the friction. Below it stands which cause was reported for which disturbance. Exit code 0 if every
row meets its limits, except for those in NOT_MET.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

import numpy as np

from hil_rig.truth.robots.disturbances import SECONDS
from hil_rig.truth.robots.robot_findings import ROWS, SEVERAL, Outcome, run

LIES: Final = 0.5  # % of the time
FALSE: Final = 1.0  # false findings per hour
RIGHT: Final = 90.0  # % of the trials in which a cause is reported
SOON: Final = 2.0  # s until a payload is reported
WITHIN: Final = 5.0  # % of a payload's mass
COVERED: Final = 90.0  # % of the looks in which a mass is within two deviations
# limits that a row does not meet, with the reason
NOT_MET: Final[Mapping[str, Mapping[str, str]]] = {
    "torque constant": {
        "one cause": "if a joint's torque is mostly friction, torque constant and friction explain the change equally",
    },
    "payload from the start": {
        "right cause": "in the first seconds heavier links explain as much as a payload and may be reported first",
    },
}
HEAD: Final = ("valid %", "lies %", "right", "wrong", "not told", "false/h", "slowest", "rms z")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials and print the table; exit code 0 if every row meets its limits, except for those in NOT_MET."""
    parser = argparse.ArgumentParser(prog="jointwatch bench truth --robots", description=__doc__)
    parser.add_argument("--only", action="append", metavar="ROW", help=f"one of: {', '.join(ROWS)}".replace("%", "%%"))
    parser.add_argument("--seeds", type=int, default=2, help="trials per row, each with another arm (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    names = options.only or list(ROWS)
    for name in names:
        if name not in ROWS:
            parser.error(f'expected one of {", ".join(ROWS)}, found "{name}"')
    began = time.monotonic()
    jobs = [(name, seed) for seed in range(options.first, options.first + options.seeds) for name in names]
    workers = min(2, len(os.sched_getaffinity(0)), len(jobs))
    with ProcessPoolExecutor(workers) as pool:
        done = list(pool.map(run, *zip(*jobs, strict=True)))
    found = {name: [one for job, one in zip(jobs, done, strict=True) if job[0] == name] for name in names}
    table = {name: figures(outcomes) for name, outcomes in found.items()}
    missed = {name: limits(name, found[name], table[name]) for name in names}
    if options.json:
        rows = [{"row": name, **table[name], "missed": missed[name]} for name in names]
        print(json.dumps({"seeds": options.seeds, "rows": rows, "causes": _causes(found), "ok": not _left(missed)}))
    else:
        _print(found, table, missed)
        print(f"{options.seeds} trials per row, {time.monotonic() - began:.0f} s on {workers} processors")
    return 1 if _left(missed) else 0


def _left(missed: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Rows and limits that are missed without a known reason."""
    return [(name, one) for name, limits in missed.items() for one in limits if one not in NOT_MET.get(name, {})]


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of one row from all its trials."""
    looks, trusted = sum(one.looks for one in outcomes), sum(one.trusted for one in outcomes)
    z = np.concatenate([one.z for one in outcomes])
    delays = [one.delay for one in outcomes if np.isfinite(one.delay)]
    masses = np.concatenate([one.masses for one in outcomes])
    return {
        "valid": 100.0 * trusted / max(looks, 1),
        "lies": 100.0 * sum(one.lying for one in outcomes) / max(looks, 1),
        "right": sum(one.right is True for one in outcomes),
        "wrong": sum(one.right is False for one in outcomes),
        "several": sum(one.right is False and one.reported == SEVERAL for one in outcomes),
        "not_told": sum(one.right is None for one in outcomes),
        "false": 3600.0 * sum(one.false for one in outcomes) / (SECONDS * len(outcomes)),
        "slowest": max(delays, default=np.nan),
        "rms": float(np.sqrt(np.mean(z**2))) if len(z) else np.nan,
        "mass_off": 100.0 * float(np.abs(masses[:, 0]).max()) / 2.0 if len(masses) else np.nan,
        "mass_inside": 100.0 * float((np.abs(masses[:, 0]) < 2.0 * masses[:, 1]).mean()) if len(masses) else np.nan,
    }


def limits(name: str, outcomes: Sequence[Outcome], row: Mapping[str, Any]) -> list[str]:
    """Names of the limits that a row misses."""
    reported = row["right"] + row["wrong"]
    missed = ["lies"] if row["lies"] > LIES else []
    missed += ["right cause"] if 100.0 * row["right"] < RIGHT * (reported - row["several"]) else []
    missed += ["one cause"] if 100.0 * (reported - row["several"]) < RIGHT * reported else []
    missed += ["false findings"] if row["false"] > FALSE else []
    if name == "payload":
        missed += ["found in time"] if row["right"] < len(outcomes) or not row["slowest"] <= SOON else []
    if np.isfinite(row["mass_off"]):
        missed += ["mass"] if row["mass_off"] > WITHIN else []
        missed += ["deviation of the mass"] if row["mass_inside"] < COVERED else []
    return missed


def _causes(found: Mapping[str, Sequence[Outcome]]) -> dict[str, dict[str, int]]:
    return {name: dict(Counter(one.reported for one in outcomes)) for name, outcomes in found.items()}


def _print(
    found: Mapping[str, Sequence[Outcome]], table: Mapping[str, Mapping[str, Any]], missed: Mapping[str, list[str]]
) -> None:
    print(f"{'':24}" + "".join(f"{head:>9}" for head in HEAD))
    for name, row in table.items():
        cells = f"{row['valid']:9.1f}{row['lies']:9.2f}{row['right']:9}{row['wrong']:9}{row['not_told']:9}"
        cells += f"{row['false']:9.1f}{row['slowest']:9.1f}{row['rms']:9.2f}"
        verdicts = {"MISSED": [one for row, one in _left(missed) if row == name]}
        verdicts["not met, see below"] = [one for one in missed[name] if one not in verdicts["MISSED"]]
        words = "; ".join(f"{key}: {', '.join(those)}" for key, those in verdicts.items() if those)
        print(f"{name:24}{cells}  {words}".rstrip())
        if np.isfinite(row["mass_off"]):
            words = f"error at most {row['mass_off']:.1f} %, {row['mass_inside']:.0f} % within two deviations"
            print(f"{'':24}  mass, from 5 s on: {words}")
    counts = _causes(found)
    causes = sorted({cause for row in counts.values() for cause in row} - {SEVERAL}) + [SEVERAL]
    print(f"\n{'happened | reported':24}" + "".join(f"{cause[:12]:>13}" for cause in causes))
    for name, row in counts.items():
        print(f"{name:24}" + "".join(f"{row.get(cause, 0) or '.':>13}" for cause in causes))
    print()
    for name, limits_missed in missed.items():
        for one in limits_missed:
            if one in NOT_MET.get(name, {}):
                print(f"{name}, {one}: not met, {NOT_MET[name][one]}")
