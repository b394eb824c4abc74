"""`jointwatch compile`: compile every kernel now and keep it on disk, as many at a time as there are cores.

It is not required: a first start compiles what it needs, see daq/processes/kernels.py.
"""

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import Final

from daq.commands.codes import EXIT_INTERRUPTED, fail
from daq.commands.command_line import CommandLine
from daq.commands.examples import epilog
from daq.processes.carried_kernels import fill
from daq.processes.kernels import EVERYTHING, SERVICE, build, jobs, keep, on_stderr, sources

# modules that are imported by a service, and by the demo's rig and wire
LIVE: Final = (
    *SERVICE,
    "hil_rig.__main__",
    "hil_rig.plants.joints.two_mass",
    "drivers.can.adapter",
    "drivers.can.slcan",
)


def arguments_of_compile() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandLine(
        prog="jointwatch compile",
        description=(__doc__ or "").partition("\n")[0],
        epilog=epilog("compile"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--live", action="store_true", help="only the kernels of joints without nonlinear parameters")
    some.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="also copy the kernels there, for a wheel or an image (docs/release.md)",
    )
    return parser


def main() -> int:
    """Exit code: 0, or 1 if a module cannot be imported."""
    options = arguments_of_compile().parse_args()
    began = time.monotonic()
    roots = LIVE if options.live else ()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = build(jobs(roots))
    except KeyboardInterrupt:
        why = "compile: interrupted: compiled kernels are kept, and the same command continues from there"
        return fail(why, EXIT_INTERRUPTED)
    if code != 0:
        return fail("compile: the kernels of the modules that failed, named above, are missing", code)
    keep(roots or [EVERYTHING])
    on_stderr(f"kernels compiled, in {time.monotonic() - began:.0f} s")
    if options.into is not None:
        try:
            count = fill(options.into, sources())
        except OSError as error:
            return fail(f"compile: {error.filename or options.into}: {error.strerror}")
        on_stderr(f"{count} kernels for this processor are in {options.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
