"""`python tests/endurance/chaos.py`: break the running service in every known way, and say what came of it.

Every fault meets a service with a recorder, on loopback, at its own free ports; every one ends by itself. The table is
docs/faults.md (--write); the exit code is 1 where something was not as expected.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from chaos_bench import Bench, Fault, Outcome
from chaos_faults import FAULTS, HANG, REFITS

from hil_rig.live import Live

TABLE: Final = Path(__file__).parents[2] / "docs" / "faults.md"
HEAD: Final = """# Faults

What the service does when it is broken, measured by `make chaos` (a rig with two joints at 1 kHz, slcan, recorder on,
`hang = {hang:g}`). Recovery is until the process is up and updates flow again; lost is what the counters say.
`make fuzz` does the same to configurations and files.

{machine}

| fault | expected | observed | recovery | lost, as counted | |
|---|---|---|---|---|---|
"""


def rows(only: str = "") -> Iterator[tuple[Fault, Outcome]]:
    """Every fault (or those with these words), one after the other: of one service, then of an elastic joint."""
    mine, elastic = ([fault for fault in faults if only in fault.name] for faults in (FAULTS, REFITS))
    yield from _rows(["rigid", "--joints", "2", "--wire", "slcan"], mine)
    for fault in elastic:  # each meets a joint that starts
        yield from _rows(["two_mass", "--wire", "slcan", "--set", "identify=elastic"], [fault])


def _rows(rig: list[str], faults: Sequence[Fault]) -> Iterator[tuple[Fault, Outcome]]:
    if not faults:
        return
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        more = f'\n[processes]\nhang = {HANG:g}\n[recorder]\nfolder = "{records}"\nreserve = 0\n'
        with Live(rig, more=more) as live:
            bench = Bench(live, records)
            bench.flows(60)
            for fault in faults:
                before = bench.lost()
                try:
                    outcome = fault.run(bench)
                except Exception as error:
                    outcome = Outcome(f"{type(error).__name__}: {error}", False)
                time.sleep(1.0)
                lost = bench.lost() - before
                yield (
                    fault,
                    outcome._replace(lost=max(0.0, lost)),
                )  # an outlet that is new, or gone, has counted nothing


def main() -> int:
    """Run them all."""
    parser = argparse.ArgumentParser(description="break the running service in every known way")
    parser.add_argument("--write", action="store_true", help=f"the table into {TABLE}")
    parser.add_argument("--only", default="", metavar="WORDS", help="faults with these words in their names")
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("the table is written whole: leave --only or --write out")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # rig and service end with us
    lines, bad = [], 0
    for fault, outcome in rows(options.only):
        took = "" if outcome.recovery is None else f"{outcome.recovery:.2f} s"
        told: dict[str, Any] = {"fault": fault.name, **outcome._asdict()}
        print(json.dumps(told), flush=True)
        bad += not outcome.good
        verdict = "" if outcome.good else "**not so**"
        lines.append(
            f"| {fault.name} | {fault.expected} | {outcome.observed} | {took} | {outcome.lost:g} | {verdict} |"
        )
    if options.write:
        machine = f"{os.cpu_count()} CPUs, {time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}"
        TABLE.write_text(HEAD.format(hang=HANG, machine=machine) + "\n".join(lines) + "\n", encoding="utf-8")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
