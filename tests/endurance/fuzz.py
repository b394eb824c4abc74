"""`python tests/endurance/fuzz.py`: unlikely configurations and files, and not one traceback from them.

Every input is a good one with some of its bytes, values or lines changed, by a generator with a seed: a failure is
repeated by the number that is printed with it (`--first NUMBER --files 1`). What is refused is refused with one of our
own errors; what is accepted is run. Anything else is a fault, and so is what takes longer than LIMIT.
"""

import argparse
import contextlib
import io
import json
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

import numpy as np
from fuzz_files import DBC, Files, mutated

from daq.commands.check import run as check
from daq.config.load import load
from daq.core.pipeline import Pipeline
from drivers.reading import READING

TEMPLATE: Final = Path(__file__).parents[2] / "daq" / "jointwatch.toml"
EXAMPLES: Final = Path(__file__).parents[2] / "deploy"
LIMIT: Final = 10  # s of processor time for one input …
LONGEST: Final = 300  # … and of the clock: nothing waits for ever
OURS: Final = ("daq", "drivers", "estimators")  # whose errors are refusals, in words
ODD: Final = (
    "nan", "inf", "-inf", "0", "-1", "1e30", "-1e30", "1e-300", "1e300", "99999", "9223372036854775807",
    "123456789012345678901234567890", '""', '"\\u0000"', '"/dev/zero"', '"/dev/null"', '"/"', '"http://[::1"',
    "[]", "{}",
    "[[[[]]]]", "true", '"tcp://127.0.0.1:99999"', '"http://127.0.0.1:5556"', '"http://0.0.0.0:80"', "1979-05-27",
    '"' + "x" * 300 + '"',
)  # fmt: skip


class TooLongError(Exception):
    """It took longer than LIMIT or LONGEST."""


def main() -> int:
    """Run it; the exit code is 1 where there was a fault."""
    parser = argparse.ArgumentParser(description="unlikely configurations and files")
    parser.add_argument("--configurations", type=int, default=500, metavar="N")
    parser.add_argument("--files", type=int, default=20_000, metavar="N")
    parser.add_argument(
        "--first", type=int, default=1, metavar="SEED", help="of the first one: large runs go in pieces"
    )
    options = parser.parse_args()
    for limit in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(limit, _too_long)
    faults: list[str] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name, count, trial in (
            ("configurations", options.configurations, Configurations(Path(folder))),
            ("files", options.files, Files(Path(folder))),
        ):
            outcomes: Counter[str] = Counter()
            for number in range(options.first, options.first + count):
                outcomes[_tried(trial, number, name, faults)] += 1
            print(json.dumps({"what": name, "tried": count, **dict(sorted(outcomes.items()))}), flush=True)
    print(json.dumps({"faults": len(faults), "seconds": round(time.monotonic() - begin, 1)}))
    return bool(faults)


def _tried(trial: Callable[[int], str], number: int, name: str, faults: list[str]) -> str:
    signal.alarm(LONGEST)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return trial(number)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if isinstance(error, Exception) and type(error).__module__.partition(".")[0] in OURS:
            return f"refused ({type(error).__name__})"
        faults.append(str(number))
        print(f"{name} {number}: {type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
        return "FAULT"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


class Configurations:
    """Good ones with some lines or values changed; what is good is built and fed."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "x.toml"
        (folder / "arm.dbc").write_text(DBC)
        found = [TEMPLATE, *sorted(EXAMPLES.rglob("*.toml"))]
        self._seeds = [file.read_text(encoding="utf-8") for file in found if "[drivers" in file.read_text()]

    def __call__(self, number: int) -> str:
        """One of them; raises ConfigError where it is refused."""
        dice = random.Random(number)
        lines = dice.choice(self._seeds).splitlines()
        for _ in range(dice.choice((1, 1, 2, 5))):
            at = dice.randrange(len(lines))
            lines[at : at + 1] = _changed(lines[at], dice)
        self._file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        if dice.random() < 0.05:
            self._file.write_bytes(bytes(mutated(self._file.read_bytes(), dice)))
        config = load(self._file)
        pipeline = Pipeline(config, 1)
        readings = np.zeros(50, READING)
        readings["time"] = 10**9 + 10**6 * np.arange(50)
        pipeline.absorb(readings, 0, lambda: 10**9)
        pipeline.check_silence(10**11, 0)
        check(argparse.Namespace(config=self._file))
        return "good"


def _changed(line: str, dice: random.Random) -> list[str]:
    kind = dice.randrange(8)
    key, equals, _ = line.partition("=")
    if kind <= 3 and equals:
        return [f"{key}= {dice.choice(ODD)}"]
    if kind == 4 and re.search(r"= *[-0-9.]+", line):
        return [re.sub(r"= *[-0-9.]+", f"= {dice.choice(ODD[:12])}", line, count=1)]
    if kind == 5:
        return [line, line]
    if kind == 6:
        return [line.replace("[", "[[").replace("]", "]]"), f"x = {'[' * dice.choice((3, 40, 5000))}"]
    return (
        []
        if kind == 7
        else [re.sub(r"(drivers|joints)\.\w+", r"\1." + dice.choice(("core", "a" * 300, "é", "x")), line)]
    )


if __name__ == "__main__":
    sys.exit(main())
