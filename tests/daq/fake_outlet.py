"""A program that runs the outlet alone, with the labels of fake_core's joints (or none)."""

import argparse
import logging
import sys

from daq.history import JointLabel
from daq.outlet import serve
from daq.publisher import EndpointError

UNITS = {
    "inertia": "kg·m²", "mass": "kg", "viscous": "N·m·s/rad", "coulomb": "N·m", "offset": "N·m",
    "gravity_sin": "N·m", "gravity_cos": "N·m",
}  # fmt: skip
LINEAR = {"mass": "kg", "viscous": "N·s/m", "coulomb": "N", "offset": "N"}
PLAIN = ("inertia", "viscous", "coulomb", "offset")
ARM = (*PLAIN, "gravity_sin", "gravity_cos")
NAMES = {"base": PLAIN, "shoulder": ARM, "elbow": ARM, "forearm": PLAIN, "wrist_pitch": PLAIN, "wrist_roll": PLAIN}


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("updates", "status", "endpoint"):
        parser.add_argument(name)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level="INFO", format="%(message)s")
    labels = [JointLabel(name, "N·m", {key: UNITS[key] for key in keys}) for name, keys in NAMES.items()]
    labels.append(JointLabel("lift", "N", LINEAR))
    try:
        serve(
            options.updates, options.status, options.endpoint, options.host, options.port, "demo-arm", labels,
            ready=lambda: print("ready", flush=True),
        )  # fmt: skip
    except EndpointError as error:
        print(error.strerror, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
