"""`python -m hil_rig.commands.fuzz`: configurations and files that nobody would write, and not one traceback from them.

Every input is a good one with some of its bytes, values or lines changed, by a generator with a seed: a failure is
repeated by the number that is printed with it. What is refused is refused with one of our own errors; what is accepted
is run. Anything else is a fault, and so is what takes longer than LIMIT.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import can
import msgpack
import numpy as np

from daq.commands.check import run as check
from daq.config.load import load
from daq.config.sections import Config, Record
from daq.config.words import ConfigError
from daq.core.pipeline import Pipeline
from daq.recording.folder import recordings
from daq.recording.process import Expected, Recorder
from daq.recording.reader import RecordingError, blocks, break_of, configuration, said
from daq.replay.repeat import Repetition
from daq.replay.replay import Played, play
from daq.replay.sources import Counts, readings_of
from daq.state import baselines, checkpoint_file
from daq.state.files import BaselineError
from daq.stream.transcript import Batch, Block
from drivers.base import DriverError, LayoutError
from drivers.reading import READING

TEMPLATE: Final = Path(__file__).parents[2] / "daq" / "jointwatch.toml"
EXAMPLES: Final = Path(__file__).parents[2] / "deploy"
LIMIT: Final = 10  # s for one input
OURS: Final = (ConfigError, RecordingError, DriverError, LayoutError, BaselineError)
ODD: Final = (
    "nan", "inf", "-inf", "0", "-1", "1e30", "-1e30", "1e-300", "1e300", "99999", "9223372036854775807",
    "123456789012345678901234567890", '""', '"\\u0000"', '"/dev/zero"', '"/dev/null"', '"/"', '"http://[::1"',
    "[]", "{}",
    "[[[[]]]]", "true", '"tcp://127.0.0.1:99999"', '"http://127.0.0.1:5556"', '"http://0.0.0.0:80"', "1979-05-27",
    '"' + "x" * 300 + '"',
)  # fmt: skip
DBC: Final = """VERSION ""
BU_: A
BO_ 385 STATE: 8 A
 SG_ q : 0|32@1- (0.0001,0) [0|0] "rad" A
 SG_ tau : 32|32@1- (0.001,0) [0|0] "Nm" A
"""


class TooLongError(Exception):
    """It took longer than LIMIT."""


def main() -> int:
    """Run it; the exit code is 1 where there was a fault."""
    parser = argparse.ArgumentParser(description="configurations and files that nobody would write")
    parser.add_argument("--configurations", type=int, default=500, metavar="N")
    parser.add_argument("--files", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    faults: list[str] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name, count, trial in (
            ("configurations", options.configurations, Configurations(Path(folder))),
            ("files", options.files, Files(Path(folder))),
        ):
            outcomes: Counter[str] = Counter()
            for number in range(options.seed, options.seed + count):
                outcomes[_tried(trial, number, name, faults)] += 1
            print(json.dumps({"what": name, "tried": count, **dict(sorted(outcomes.items()))}), flush=True)
    print(json.dumps({"faults": len(faults), "seconds": round(time.monotonic() - begin, 1)}))
    return bool(faults)


def _tried(trial: Callable[[int], str], number: int, name: str, faults: list[str]) -> str:
    signal.alarm(LIMIT)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return trial(number)
    except OURS as error:
        if "\n" in str(error).strip() and not isinstance(error, ConfigError):
            faults.append(str(number))
            print(f"{name} {number}: more than one line: {error}", file=sys.stderr)
        return f"refused ({type(error).__name__})"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        faults.append(str(number))
        print(f"{name} {number}: {type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
        return "FAULT"
    finally:
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
            self._file.write_bytes(bytes(_mutated(self._file.read_bytes(), dice)))
        config = load(self._file)
        pipeline = Pipeline(config, 1)
        readings = np.zeros(50, READING)
        readings["time"] = 10**9 + 10**6 * np.arange(50)
        pipeline.absorb(readings, 0, lambda: 10**9)
        pipeline.watch(10**11, 0)
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


def _mutated(data: bytes, dice: random.Random) -> bytearray:
    """Bits flipped, bytes set to extremes, parts cut out, doubled or taken from elsewhere, and the end cut off."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8, 50))):
        if not changed:
            break
        at = dice.randrange(len(changed))
        length = min(dice.choice((1, 2, 8, 64, 500)), len(changed) - at)
        kind = dice.randrange(6)
        if kind == 0:
            changed[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            changed[at : at + length] = bytes([dice.choice((0, 255, 127, 128))]) * length
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + length]
        elif kind == 4:
            other = dice.randrange(len(changed))
            changed[at : at + length] = changed[other : other + length]
        else:
            del changed[at:]
    return changed


class Files:
    """Recordings, logs of buses, DBC files, checkpoints and baselines, damaged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "arm.dbc").write_text(DBC)
        self._config = _configured(folder)
        self._seeds = list(self._written())

    def __call__(self, number: int) -> str:
        """One of them."""
        dice = random.Random(number)
        suffix, data = self._seeds[number % len(self._seeds)]
        file = self._folder / f"x{suffix}"
        file.unlink(missing_ok=True)
        file.write_bytes(_mutated(data, dice))
        file.chmod(0o600)
        if suffix == ".mcap":
            return self._recording(file)
        if suffix == ".dbc":
            load(self._folder / "dbc.toml")
        elif suffix == ".checkpoint":
            checkpoint_file.read(file)
        elif suffix == ".json":
            baselines.read(file)
        else:
            self._log(file)
        return "read"

    def _recording(self, file: Path) -> str:
        words = break_of(file)
        list(said(file))
        list(blocks(file))
        configuration(file)
        for turn in Repetition([file], self._config).turns():
            if len(turn.messages) > 10**6:
                raise TooLongError
        return "read, and the break is said" if words else "read"

    def _log(self, file: Path) -> None:
        counts: Counts = {}
        pipeline = Pipeline(self._config, 1)
        for _ in play(pipeline, readings_of(file, self._config, counts), Played()):
            pass

    def _written(self) -> Iterator[tuple[str, bytes]]:
        frames = [
            can.Message(1.7e9 + 1e-3 * n, 385, False, data=np.array([n, -n], "<i4").tobytes(), channel=0)
            for n in range(60)
        ]
        for suffix in (".log", ".asc", ".trc", ".blf", ".csv"):
            file = self._folder / f"seed{suffix}"
            with can.Logger(file) as logger:
                for frame in frames:
                    logger(frame)
            yield suffix, file.read_bytes()
        recorded = _recorded(self._folder, self._config)
        yield from ((".mcap", recorded),) * 4
        yield ".dbc", DBC.encode()
        (self._folder / "dbc.toml").write_text(_toml("x.dbc", ""))
        yield ".checkpoint", msgpack.packb({"elbow": ["key", 1.0, {"x": [1.0, 2.0]}]})
        one = {"since": 1.0, "model": "rigid", "values": {"inertia": 1.0}, "deviations": {"inertia": 0.1}}
        yield ".json", json.dumps({"version": 1, "joints": {"elbow": [one]}}).encode()


def _toml(dbc: str, more: str) -> str:
    return f"""
[robot]
name = "arm"
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
dbc = "{dbc}"
[joints.elbow]
rate = 1000
model = {{ kind = "rigid" }}
[joints.elbow.channels]
position = {{ signal = "bus.STATE.q" }}
torque = {{ signal = "bus.STATE.tau" }}
{more}"""


def _configured(folder: Path) -> Config:
    file = folder / "arm.toml"
    file.write_text(_toml("arm.dbc", ""))
    return load(file)


def _recorded(folder: Path, config: Config) -> bytes:
    """A recording of two seconds, by the recorder itself."""
    shelf = folder / "records"
    settings = config.model_copy(update={"recorder": Record(folder=shelf, reserve=0.0)})
    expected = Expected(folder / "recorder.next")
    recorder = Recorder(settings, expected)
    pipeline = Pipeline(config, 7)
    for number in range(6):
        rows = np.zeros(60, READING)
        ticks = 10**9 + 10**6 * (30 * number + np.arange(30))
        rows["time"], rows["channel"] = np.repeat(ticks, 2), np.tile([0, 1], 30)
        rows["value"] = np.sin(rows["time"] / 1e9)
        messages = pipeline.absorb(rows, 10**18, lambda: 0) + [pipeline.introduce(10**18)]
        batch = Batch(len(rows), 10**18, int(ticks[-1]), [0] * 30, [], None)
        recorder.take(Block(7, number, [batch], rows, messages))
    recorder.close()
    expected.close()
    return recordings(shelf, "arm")[0].read_bytes()


if __name__ == "__main__":
    sys.exit(main())
