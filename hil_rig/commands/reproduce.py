"""`jointwatch reproduce NAME`: compares a published experiment, or a recording with published values, with our
results."""

import argparse
import subprocess
import sys
from typing import Final

from daq.commands.command_line import CommandLine
from daq.commands.examples import epilog

PROGRAMS: Final = {  # in hil_rig/papers; `jointwatch reproduce NAME --help` lists the options of each
    "emps": "recordings.emps_live",
    "emps-laws": "recordings.emps",
    "xl330": "recordings.xl330",
    "sea": "recordings.sea",
    "lost-motion": "recordings.lost_motion",
    "search": "searches.published_table",
    "irj-case1": "space_joint.case1",
    "irj-case2": "space_joint.case2",
    "pointing": "pointing.pointing",
    "clearance": "pointing.clearance",
    "tree": "joint_constraint_forces.tree",
    "closed-chain": "joint_constraint_forces.closed_chain",
    "double-encoder-robot": "double_encoder_robot.judge",
    "er16": "er16.judge",
}


def arguments_of_reproduce() -> argparse.ArgumentParser:
    """The command line without a name; each program has options of its own."""
    parser = CommandLine(
        prog="jointwatch reproduce",
        description=__doc__,
        epilog=epilog("reproduce"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ", ".join(PROGRAMS)
    parser.add_argument("name", choices=PROGRAMS, metavar="NAME", help=f"one of {names}; each has its own --help")
    parser.add_argument("--json", action="store_true", help="one JSON object, described in hil_rig/papers/figures.py")
    return parser


def main() -> int:
    """Run the named program with the remaining arguments; returns 0 if no figure fails."""
    words = sys.argv[1:]
    name = next((word for word in words if word in PROGRAMS), None)
    if name is None:
        parser = arguments_of_reproduce()
        parser.parse_args()
        parser.error("expected a name")
    words.remove(name)
    return subprocess.call([sys.executable, "-m", f"hil_rig.papers.{PROGRAMS[name]}", *words])


if __name__ == "__main__":
    sys.exit(main())
