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
MISSED: Final = " It exited with an error: a figure misses its limit, or the output is incomplete."


def benchmarks() -> dict[str, Path]:
    """Return name → file of each benchmark; they are in folders by subject."""
    return {file.stem: file for file in FOLDER.glob("*/*.py")}


def arguments_of_bench(names: Sequence[str]) -> argparse.ArgumentParser:
    """Make the command line; names: names of the benchmarks."""
    parser = CommandLine(
        prog="jointwatch bench",
        description=__doc__,
        epilog=epilog("bench"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"which benchmarks, by default all: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="one JSON object per benchmark")
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="write the output into the benchmarks' sections of a page"
    )
    return parser


def main() -> int:
    """Exit code 0 if every benchmark ran and met its limits, 130 if it was interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _main()
    except KeyboardInterrupt:
        return 130


def _main() -> int:
    files = benchmarks()
    names = sorted(files)
    if not names:
        print(f"jointwatch bench: needs a source checkout, but {FOLDER} does not exist", file=sys.stderr)
        return 1
    parser = arguments_of_bench(names)
    options, own = parser.parse_known_args()  # other options are passed to the benchmark
    unknown = [name for name in options.name if name not in names]
    if unknown:
        parser.error(f"found no benchmark {', '.join(unknown)}, expected one of {', '.join(names)}")
    if own and len(options.name) != 1:
        parser.error(
            f"unrecognized arguments: {' '.join(own)} (for an option of one benchmark, name that benchmark alone)"
        )
    if options.json and options.write:
        parser.error("--write writes the text output: leave out --json")
    code = 0
    for name in options.name or names:
        print(f"== {name}", file=sys.stderr, flush=True)
        command = [sys.executable, str(files[name]), *(["--json"] if options.json else []), *own]
        where = machine()
        ended, printed = _run(command, files[name].parent, options.write is not None)
        print(printed, end="", flush=True)
        code |= ended
        if printed:  # if a benchmark did not run, its earlier figures are kept
            page = options.write.read_text(encoding="utf-8") if options.write.exists() else ""
            options.write.write_text(with_section(page, name, printed, where + MISSED * (ended != 0)), encoding="utf-8")
    return code


def _run(command: Sequence[str], folder: Path, kept: bool) -> tuple[int, str]:
    """Return the exit code and, if `kept`, the output; an interrupted benchmark gets time to end its service."""
    stdout = subprocess.PIPE if kept else None
    # its folder contains modules that it uses, and is not in the safe path (daq/__main__.py)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(":")
    }
    with subprocess.Popen(
        command, stdout=stdout, env=environment, text=True, process_group=0
    ) as running:  # we interrupt it once
        try:
            printed, _ = running.communicate()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise
    return running.returncode, printed or ""


def with_section(page: str, name: str, printed: str, where: str) -> str:
    """Return a page with the output of a benchmark in its section `## name`, which is added if necessary."""
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
    """Return the machine, the date, and the load (busy threads in the last minute) of figures that are measured now."""
    known = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", known, re.MULTILINE)
    processor = model[1] if model else platform.processor() or platform.machine()
    cores, today = len(os.sched_getaffinity(0)), datetime.now(UTC)
    load, *_ = os.getloadavg()
    return f"{processor}, {cores} cores, Python {platform.python_version()}, {today:%Y-%m-%d}, load {load:.1f}."


if __name__ == "__main__":
    sys.exit(main())
