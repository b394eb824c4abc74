"""What a second worker brings a fleet: the same recordings on one worker and on two, by turns.

    jointwatch bench fleet [--json] [--recordings 200] [--seconds 14] [--parts 4]

Recordings of simulated arms (hil_rig/truth/fleet.py) are examined as `jointwatch fleet identify` does it, in
parts: each on one worker and on two, one after the other, the order changing, so that what else the machine does meets
both alike. Clusters are started before; what that takes is said, and added where it says so. Of the two workers'
processor time, and how much of two cores they got, follows what the machine's other work has taken away. The results of
both must be the same to the bit.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from daq.fleet.addresses import Address, find
from daq.fleet.examine import MODULES, Plan, on
from daq.processes.cluster import Cluster
from hil_rig.truth.fleet import Fleet, record

EACH = 2  # recordings of a robot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--recordings", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=14.0, help="of each recording")
    parser.add_argument("--parts", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        list(record(Fleet(options.recordings // EACH, EACH, seconds=options.seconds), Path(folder)))
        found = measure(find([folder]), options.parts)
    if options.json:
        print(json.dumps(found))
        return 0 if found["same to the bit"] else 1
    for key, value in found.items():
        print(f"{key:58} {value if isinstance(value, bool | int) else format(value, '.2f')}")
    return 0 if found["same to the bit"] else 1


def measure(addresses: list[Address], parts: int) -> dict[str, Any]:
    """Clock and processor time of both, s."""
    began = time.monotonic()
    with Cluster(workers=1, modules=MODULES) as one:
        alone = time.monotonic() - began
        with Cluster(workers=2, modules=MODULES) as two:
            start = {1: alone, 2: time.monotonic() - began - alone}
            clock, used, same = {1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}, True
            shares = []
            for part in range(parts):
                mine = addresses[part::parts]
                told, took = {}, {}
                for cluster in ((one, two), (two, one))[part % 2]:
                    workers = len(cluster.pids())
                    took[workers], spent, told[workers] = examined(cluster, mine)
                    clock[workers] += took[workers]
                    used[workers] += spent
                same &= told[1] == told[2]
                shares.append(took[1] / took[2])
    return {
        "recordings": len(addresses),
        "one worker, s": clock[1],
        "two workers, s": clock[2],
        "two workers are faster by": clock[1] / clock[2],
        "the same with the start of the workers": (clock[1] + start[1]) / (clock[2] + start[2]),
        "of the parts, the least": min(shares),
        "processor time of a recording, one worker, s": used[1] / len(addresses),
        "processor time of a recording, two workers, s": used[2] / len(addresses),
        "share of one core that the one worker got": used[1] / clock[1],
        "share of two cores that the two workers got": used[2] / clock[2] / 2,
        "load of the machine": os.getloadavg()[0],
        "same to the bit": same,
    }


def examined(cluster: Cluster, addresses: list[Address]) -> tuple[float, float, list[str]]:
    """Clock and processor time, s, and what was found with every digit."""
    pids = cluster.pids()
    before, began = sum(map(cpu, pids)), time.monotonic()
    found = sorted(map(repr, on(cluster, addresses, Plan(None, None, skew=True))))
    return time.monotonic() - began, sum(map(cpu, pids)) - before, found


def cpu(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
