"""`jointwatch reproduce NAME`: a published experiment or a recording with published values, side by side with ours."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from daq.subscriber import Subscriber
from hil_rig.live import Live, LiveError
from hil_rig.plants.recording import EMPS
from hil_rig.verdict import VerdictRow, as_json, as_table

# Janot, Gautier, Brunot 2019: published value, unit, and the tolerance of a live estimate at the end of the recording
EMPS_PUBLISHED: Final = {
    "mass": (95.1089, "kg", 0.01),
    "viscous": (203.5034, "N·s/m", 0.01),
    "coulomb": (20.3935, "N", 0.01),
    "offset": (-3.1648, "N", 0.10),
}
PATIENCE: Final = 60.0  # s without an update, which come of a silent wire, too: then the service hangs


def emps(options: argparse.Namespace) -> list[VerdictRow]:
    """The EMPS drive, played as a controller's frames over a wire at its own 1 kHz, identified by the live service."""
    file: Path = options.file or EMPS
    if not file.exists():
        raise LiveError(f"{file} is not there; --file names the EMPS recording (nlid_emps_sim_data_training.mat)")
    last: dict[str, float] = {}
    with (
        Live(["recording", "--file", str(file), "--wire", options.wire]) as live,
        Subscriber(live.endpoint, ("estimate/",), timeout=PATIENCE) as subscriber,
    ):
        for _, update in subscriber:
            if update["health"]["status"] == "faulted":
                if last:
                    break  # the recording is over
                continue
            last = update["parameters"]
            if update["seq"] % 100 == 0:
                print(f"{update['phase']:9} {_brief(last)}", file=sys.stderr)
        live.wait_for_rig(10)
        if subscriber.gaps:
            raise LiveError(f"updates were lost on the way: {dict(subscriber.gaps)}")
    if not last:
        raise LiveError("no estimate came")
    return [VerdictRow(name, unit, value, last[name], limit) for name, (value, unit, limit) in EMPS_PUBLISHED.items()]


def _brief(parameters: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:9.4f}" for name, value in parameters.items())


LIVE: Final[dict[str, Callable[[argparse.Namespace], list[VerdictRow]]]] = {"emps": emps}
OFFLINE: Final = {  # need no wire: programs of their own
    "search": "hil_rig.papers.searches.published_table",
    "irj-case1": "hil_rig.papers.space_joint.case1",
    "pointing": "hil_rig.papers.pointing.pointing",
    "clearance": "hil_rig.papers.pointing.clearance",
    "tree": "hil_rig.papers.joint_constraint_forces.tree",
    "closed-chain": "hil_rig.papers.joint_constraint_forces.closed_chain",
    "lost-motion": "hil_rig.papers.recordings.lost_motion",
    "irj-case2": "hil_rig.papers.space_joint.case2",
    "double-encoder-robot": "hil_rig.papers.double_encoder_robot.judge",
    "er16": "hil_rig.papers.er16.judge",
    "emps-laws": "hil_rig.papers.recordings.emps",
    "xl330": "hil_rig.papers.recordings.xl330",
    "sea": "hil_rig.papers.recordings.sea",
}


def main() -> int:
    """Exit 0 when every row is inside its tolerance."""
    if len(sys.argv) > 1 and sys.argv[1] in OFFLINE:
        return subprocess.call([sys.executable, "-m", OFFLINE[sys.argv[1]], *sys.argv[2:]])
    parser = argparse.ArgumentParser(prog="jointwatch reproduce", description=__doc__)
    parser.add_argument("name", choices=[*LIVE, *OFFLINE])
    parser.add_argument("--wire", default="slcan", choices=["slcan", "serial", "udp"])
    parser.add_argument("--file", type=Path, help="the recording, when it is elsewhere")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        rows = LIVE[options.name](options)
    except (LiveError, TimeoutError, KeyboardInterrupt) as error:
        print(f"jointwatch reproduce: {error or 'stopped'}", file=sys.stderr)
        return 1
    print(as_json(rows) if options.json else as_table(rows))
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
