"""`jointwatch bench [NAME …]`: run the benchmarks of a source checkout, one after the other."""

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from daq.commands.command_line import CommandLine
from daq.commands.examples import epilog

FOLDER: Final = Path(__file__).parents[2] / "tests" / "benchmarks"
CPUINFO: Final = Path("/proc/cpuinfo")
MISSED: Final = " It exited with an error: what it prints misses a limit, or is not all."


def benchmarks() -> dict[str, Path]:
    """The file of each benchmark, by its name: they are in folders by what they are about."""
    return {file.stem: file for file in FOLDER.glob("*/*.py")}


def arguments_of_bench(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; names: of the benchmarks."""
    parser = CommandLine(
        prog="jointwatch bench",
        description=__doc__,
        epilog=epilog("bench"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"all when none is named: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="one JSON object per benchmark")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put what they print into their sections of a page")
    return parser


def main() -> int:
    """Exit 0 when every benchmark ran and met its limits, 130 when it was interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _main()
    except KeyboardInterrupt:
        return 130


def _main() -> int:
    files = benchmarks()
    names = sorted(files)
    if not names:
        print(f"jointwatch bench: needs a source checkout; {FOLDER} is not there", file=sys.stderr)
        return 1
    parser = arguments_of_bench(names)
    options, own = parser.parse_known_args()  # what a benchmark has of its own goes to it
    unknown = [name for name in options.name if name not in names]
    if unknown:
        parser.error(f"found no benchmark {', '.join(unknown)}, expected one of {', '.join(names)}")
    if own and len(options.name) != 1:
        parser.error(f"unrecognized arguments: {' '.join(own)} (of a single benchmark's own: name that one)")
    if options.json and options.write:
        parser.error("--write takes what is printed for people: leave --json out")
    code = 0
    for name in options.name or names:
        print(f"== {name}", file=sys.stderr, flush=True)
        command = [sys.executable, str(files[name]), *(["--json"] if options.json else []), *own]
        where = machine()
        ended, printed = _run(command, files[name].parent, options.write is not None)
        print(printed, end="", flush=True)
        code |= ended
        if printed:  # figures of one that did not even run stay those of before
            page = options.write.read_text(encoding="utf-8") if options.write.exists() else ""
            options.write.write_text(with_section(page, name, printed, where + MISSED * (ended != 0)), encoding="utf-8")
    return code


def _run(command: Sequence[str], folder: Path, kept: bool) -> tuple[int, str]:
    """Exit code, and what was printed where that is kept; an interrupted benchmark has the time to end its service."""
    stdout = subprocess.PIPE if kept else None
    # parts and other benchmarks that it uses are in its folder, where a safe path (daq/__main__.py) does not look
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(":")
    }
    with subprocess.Popen(
        command, stdout=stdout, env=environment, text=True, process_group=0
    ) as running:  # interrupted once, by us
        try:
            printed, _ = running.communicate()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise
    return running.returncode, printed or ""


def with_section(page: str, name: str, printed: str, where: str) -> str:
    """A page with what a benchmark printed in its section `## name`, made in its place if there is none."""
    section = ["", where, "", "```text", *printed.rstrip().lstrip("\n").splitlines(), "```", ""]
    kept: list[str] = []
    inside = fenced = False
    new = f"## {name}" not in page.splitlines()
    for line in page.rstrip().splitlines():
        fenced ^= line.startswith("```")
        if not fenced and re.match("##? ", line):
            inside = line == f"## {name}"
            if new and line > f"## {name}":
                kept += [f"## {name}", *section]
                new = False
            kept += [line, *section] if inside else [line]
        elif not inside:
            kept.append(line)
    if new:
        kept += ["", f"## {name}", *section]
    return "\n".join(kept).strip() + "\n"


def machine() -> str:
    """What figures that begin now are measured on, when, and how many threads were busy then (the load of a minute)."""
    known = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", known, re.MULTILINE)
    processor = model[1] if model else platform.processor() or platform.machine()
    cores, today = len(os.sched_getaffinity(0)), datetime.now(UTC)
    load, *_ = os.getloadavg()
    return f"{processor}, {cores} cores, Python {platform.python_version()}, {today:%Y-%m-%d}, load {load:.1f}."


if __name__ == "__main__":
    sys.exit(main())
