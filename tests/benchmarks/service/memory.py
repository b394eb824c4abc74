"""Who holds what memory of a running service: by process, and by what is imported.

    jointwatch bench memory [--joints 7] [--seconds 20] [--json]

Of each process of a service that listens to a rig and records: the proportional set size (PSS: what is shared with
others counts by its part, so the sum is what the service takes), what of it is no file, and what is its own alone. The
recorder takes a part of what all share, so a service without one is measured, too.
Then what the libraries take, in a fresh process that imports one after the other. (Whether the core's memory grows in
hours says `bench growth`.)
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Final

from hil_rig.live import Live

MEGABYTE: Final = 1024.0  # kB
FIGURES: Final = ("Pss", "Pss_Anon", "Private_Dirty")
WARM_UP: Final = 20.0  # s, after which the starting procedure is over
READINGS: Final = 3
BETWEEN: Final = 2.0  # s
# what the processes import, each after those before it
STEPS: Final = {
    "Python": "",
    "NumPy": "numpy",
    "pydantic, ZeroMQ, msgpack": "pydantic zmq msgpack",
    "numba, LLVM": "jointwatch_numba.numba_alone",
    "the configuration": "daq.config.load",
    "outlet: HTTP, WebSocket, metrics": "daq.outlet.process",
    "core: kernels, estimators": "daq.core.process",
    "recorder: MCAP": "daq.recording.process",
    "driver: python-can": "daq.processes.driver drivers.can.bus",
}
IMPORT: Final = """
import importlib, json, re, sys
def figures():
    own = open("/proc/self/smaps_rollup").read()
    return [int(re.search(name + r":\\s+(\\d+)", own)[1]) / 1024 for name in ("Anonymous", "Rss")]
found = []
for names in json.loads(sys.argv[1]):
    for name in names.split():
        importlib.import_module(name)
    found.append(figures())
print(json.dumps(found))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--joints", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=WARM_UP, help="until it is looked at")
    options = parser.parse_args()
    processes, imports = of_service(options.joints, options.seconds), of_imports()
    alone = sum(held["Pss"] for held in of_service(options.joints, options.seconds, records=False).values())
    if options.json:
        print(json.dumps({"processes": processes, "without_recorder": alone, "imports": imports}))
        return 0
    print(f"a service of {options.joints} joints at 1 kHz that records, MB")
    print(f"{'process':34} {'PSS':>8} {'no file':>8} {'its own':>8}")
    for name, held in processes.items():
        print(f"{name:34} " + " ".join(f"{held[figure]:8.1f}" for figure in FIGURES))
    together = sum(held["Pss"] for name, held in processes.items() if name != "recorder")
    print(f"{'together, but the recorder':34} {together:8.1f}")
    print(f"{'a service without a recorder':34} {alone:8.1f}")
    print(f"{'what the recorder adds to it':34} {together + processes['recorder']['Pss'] - alone:8.1f}\n")
    print(f"{'imported, one after the other, MB':34} {'no file':>8} {'mapped':>8}")
    for name, (own, mapped) in imports.items():
        print(f"{name:34} {own:8.1f} {mapped:8.1f}")
    return 0


def of_service(joints: int, seconds: float, records: bool = True) -> dict[str, dict[str, float]]:
    """MB of each process of a service of so many joints at 1 kHz over udp, which records or not: FIGURES by process."""
    with tempfile.TemporaryDirectory(prefix="jointwatch-memory-") as folder:
        more = f'\n[recorder]\nfolder = "{folder}"\nreserve = 0\n'
        with Live(["rigid", "--joints", str(joints), "--wire", "udp"], more=more if records else "") as live:
            time.sleep(seconds)
            with urllib.request.urlopen(f"{live.page}/api/state", timeout=30.0) as response:
                processes = {name: int(one["pid"]) for name, one in json.load(response)["processes"].items()}
            found: list[dict[str, dict[str, float]]] = []
            for _ in range(READINGS):
                found.append({name: _of_process(pid) for name, pid in processes.items()})
                time.sleep(BETWEEN)
    return {
        name: {figure: statistics.median(one[name][figure] for one in found) for figure in FIGURES}
        for name in sorted(found[0], key=lambda name: -found[0][name]["Pss"])
    }


def of_imports() -> dict[str, tuple[float, float]]:
    """What each step of STEPS adds in one process: MB of its own memory, and of all that it has mapped."""
    command = [sys.executable, "-c", IMPORT, json.dumps(list(STEPS.values()))]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    before, found = (0.0, 0.0), dict[str, tuple[float, float]]()
    for name, (own, resident) in zip(STEPS, told, strict=True):
        found[name] = own - before[0], resident - before[1]
        before = own, resident
    return found


def _of_process(pid: int) -> dict[str, float]:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {name: int(_number(name, text)) / MEGABYTE for name in FIGURES}


def _number(name: str, text: str) -> str:
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    assert found is not None, f"the kernel tells no {name}"
    return found[1]


if __name__ == "__main__":
    sys.exit(main())
