"""Mistakes of a person × machines: how often the plausibility look names them rightly, not, or wrongly.

jointwatch bench mistakes [--seeds N] [--first N] [--machines WORD] [--json]

Each cell is named/not/wrong over the seeds; in brackets where such a joint's channels cannot tell the mistake, so that
nothing must be named. Below are the false alarms: every joint of every rig, and the recordings of ../shared/data, where
they are.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from estimators.plausibility.mistakes.base import Motion
from estimators.plausibility.mistakes.look import look, look_at_joints
from hil_rig.plants.recording import DATA

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "signals"))
from mistaken_motions import MACHINES, MADE, every_rig
from real_motions import recordings


@cache
def motion_of(machine: str, seed: int) -> Motion:
    """A machine's motion."""
    return MACHINES[machine](seed)


def cell(machine: str, mistake: str, seeds: range) -> Counter[str]:
    """named, not, wrong: how often."""
    made, found = MADE[mistake], Counter[str]()
    for seed in seeds:
        motion = motion_of(machine, seed)
        codes = {reason.code for reason in look(made.make(motion))}
        wanted = {made.code} if made.told(motion) else set[str]()
        found["wrong" if codes - {made.code} else "named" if codes else "not"] += 1
        found["silent"] += not wanted
    return found


def false_alarms(seeds: range) -> Iterator[tuple[str, int, list[str]]]:
    """Source, joints, what was named there although there was no mistake."""
    for seed in seeds:
        for rig, motions in every_rig(seed):
            yield f"rig {rig}", len(motions), _told(motions)
    for name, motions in recordings():
        yield name, len(motions), _told(motions)


def _told(motions: dict[str, Motion]) -> list[str]:
    return [f"{joint}: {one}" for joint, reasons in look_at_joints(motions).items() for one in reasons]


def exchanged(seeds: range) -> Counter[str]:
    """Two joints of a machine whose torques are exchanged."""
    found = Counter[str]()
    for seed in seeds:
        one, two = motion_of("pick and place", seed), motion_of("pick and place", seed + 1000)
        told = look_at_joints({"a": one._replace(effort=two.effort), "b": two._replace(effort=one.effort)})
        codes = {reason.code for reasons in told.values() for reason in reasons}
        found["named" if codes == {"joints_exchanged"} and len(told) == 2 else "wrong" if codes else "not"] += 1
    return found


def main() -> int:
    """Print the tables; 1 where anything was named wrongly or without a mistake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--machines", default="", help="only those whose name has this word")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table: dict[str, dict[str, Any]] = {}
    wrong, seeds = 0, range(options.first, options.first + options.seeds)
    machines = [name for name in MACHINES if options.machines in name]
    if not options.json:
        print(f"seeds {seeds.start} to {seeds.stop - 1}, named/not/wrong")
        print(f"{'':34}" + "".join(f"{name:>19}" for name in machines))
    for mistake in MADE:
        table[mistake] = {machine: dict(cell(machine, mistake, seeds)) for machine in machines}
        wrong += sum(one.get("wrong", 0) for one in table[mistake].values())
        if not options.json:
            print(f"{mistake:34}" + "".join(f"{_words(one):>19}" for one in table[mistake].values()), flush=True)
    pairs = exchanged(seeds)
    wrong += pairs["wrong"]
    alarms: dict[str, list[Any]] = {}
    for name, joints, told in false_alarms(seeds[:2]):
        before = alarms.setdefault(name, [0, []])
        before[0] += joints
        before[1] += told
    total = sum(len(told) for _, told in alarms.values())
    if options.json:
        print(json.dumps({"table": table, "exchanged": dict(pairs), "false_alarms": alarms}, ensure_ascii=False))
    else:
        print(f"{'two joints’ torques exchanged':34}{_words(pairs):>19} (pick and place)\n")
        for name, (joints, told) in alarms.items():
            print(f"{name:44} {joints:3} motions, {len(told)} false alarms")
            for one in told:
                print(f"    {one}")
        if not DATA.is_dir():
            print(f"no recordings: {DATA} is not there")
        print(
            f"false alarms: {total} of {sum(joints for joints, _ in alarms.values())} motions; named wrongly: {wrong}"
        )
    return int(total > 0 or wrong > 0)


def _words(one: dict[str, int]) -> str:
    text = f"{one.get('named', 0)}/{one.get('not', 0)}/{one.get('wrong', 0)}"
    return f"({text})" if one.get("silent", 0) else text


if __name__ == "__main__":
    sys.exit(main())
