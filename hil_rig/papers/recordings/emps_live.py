"""`jointwatch reproduce emps`: the EMPS drive, played over a wire at its own 1 kHz, identified by the live service."""

import argparse
import sys
from pathlib import Path
from typing import Final

from daq.subscriber import Subscriber
from hil_rig.live import Live, LiveError
from hil_rig.papers.figures import Reproduced, ReproductionError, main, within
from hil_rig.papers.recordings.readers import data_option, must_exist
from hil_rig.plants.recording import EMPS_NAME

# Janot, Gautier, Brunot 2019: published value, unit, and the tolerance of a live estimate at the end of the recording
PUBLISHED: Final = {
    "mass": (95.1089, "kg", 0.01),
    "viscous": (203.5034, "N·s/m", 0.01),
    "coulomb": (20.3935, "N", 0.01),
    "offset": (-3.1648, "N", 0.10),
}
PATIENCE: Final = 60.0  # s without an update: there are updates of a silent wire, too, so the service must hang


def table(options: argparse.Namespace) -> Reproduced:
    """Compare the published parameters with the last estimate. Raises ReproductionError."""
    file: Path = options.file or options.data / EMPS_NAME
    must_exist(file)
    try:
        last = _played(file, options.wire)
    except LiveError as error:
        raise ReproductionError(str(error)) from error
    if not last:
        raise ReproductionError("the service sent no estimate")
    return Reproduced(
        [within(name, unit, value, last[name], limit) for name, (value, unit, limit) in PUBLISHED.items()]
    )


def _played(file: Path, wire: str) -> dict[str, float]:
    """The last estimate before the recording ends; {} if none came. Raises LiveError, TimeoutError."""
    last: dict[str, float] = {}
    with (
        Live(["recording", "--file", str(file), "--wire", wire]) as live,
        Subscriber(live.endpoint, ("estimate/",), timeout=PATIENCE) as subscriber,
    ):
        for _, update in subscriber:
            if update["health"]["status"] == "faulted":
                if last and not live.rig_pid:
                    break  # the recording is over; before, the machine has stood still
                continue
            last = update["parameters"]
            if update["seq"] % 100 == 0:
                values = "  ".join(f"{name} {value:9.4f}" for name, value in last.items())
                print(f"{update['phase']:9} {values}", file=sys.stderr)
        live.wait_for_rig(PATIENCE)
        if subscriber.gaps:
            raise LiveError(f"updates were lost between service and subscriber: {dict(subscriber.gaps)}")
    return last


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add --data, --file and --wire."""
    data_option(parser)
    parser.add_argument("--file", type=Path, help=f"file of the recording (default: DATA/{EMPS_NAME})")
    parser.add_argument(
        "--wire", default="slcan", choices=["slcan", "serial", "udp"], help="wire on which it is played (%(default)s)"
    )


if __name__ == "__main__":
    sys.exit(main("emps", __doc__, table, arguments=arguments))
