"""`jointwatch compile`: every kernel compiled and kept on disk, as many at a time as there are cores.

Nobody needs to call it: what is not compiled yet is compiled when it is first imported, one kernel after the other.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

# in stages: modules of one stage share no kernel, and those of the next stand on them; the slowest first
LIVE: Final = (
    (
        "drivers",
        "estimators.alignment.resampler",
        "estimators.online.normal_loop",
        "estimators.models.joints",
        "estimators.models.robots.base_parameters",
        "estimators.models.robots.newton_euler",
        "estimators.conditioning.conditioner",
        "estimators.conditioning.spikes",
        "estimators.recursive.unexcited",
        "hil_rig.plants",
    ),
)
REFIT: Final = (
    ("estimators.experiments.searches.test_functions", "estimators.refit.variable_projection"),
    ("estimators.online.monitor.fast",),
)
POLL: Final = 0.05  # s


def main() -> int:
    """Exit code: 0, or that of a module that cannot be imported."""
    parser = argparse.ArgumentParser(prog="jointwatch compile", description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="only what a joint without nonlinear parameters needs")
    options = parser.parse_args()
    began = time.monotonic()
    code = 0
    for stage in LIVE if options.live else (*LIVE, *REFIT):
        code = build(stage) or code
    print(f"kernels compiled, in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return code


def build(modules: Sequence[str]) -> int:
    """Import each in a process of its own; returns the exit code of the last that failed, or 0."""
    waiting, code = list(modules), 0
    running: dict[str, subprocess.Popen[bytes]] = {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            running[name] = subprocess.Popen([sys.executable, "-c", f"import {name}"])
            print(f"compiling {name}", file=sys.stderr)
        time.sleep(POLL)
        for name, process in list(running.items()):
            if process.poll() is not None:
                code = process.returncode or code
                del running[name]
    return code


if __name__ == "__main__":
    sys.exit(main())
