"""What the commands take: help, a check, the first update of a warm start, a replay, an identification, and tables.

    jointwatch bench commands [--json] [--log 120] [--taught 25] [--joints 7]

s: on the wall, as a person waits; processor: of all processes of the command, which hardly depends on what runs beside
it. Kernels are compiled before. The replay is of a CAN log of rigid joints at 1 kHz, and its factor is the one that it
prints, without its start. Identified, reported and exported is a recording of the rig `lwr4` by the service; a MB
of it holds some six seconds of seven joints, and MB/s are without the time in which the command loads itself.
"""

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from daq.subscriber import Subscriber
from hil_rig.configuration import toml
from hil_rig.live import Live, interpreter
from hil_rig.plants import RIGS
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.faults import Faults
from hil_rig.wire.robot import RigRobot

TEMPLATE: Final = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
REPEATED: Final = 5  # times that a quick command is run; the least counts
BEGIN: Final = 1_700_000_000  # Unix s of the log
AT_ONCE: Final = 1000  # samples
MEGABYTE: Final = 1e6  # bytes


class Taken(NamedTuple):
    """What a command took, and what it said."""

    seconds: float
    processor: float  # s
    told: str = ""


class Row(NamedTuple):
    """One figure."""

    name: str
    asked: str
    seconds: float
    processor: float | None  # s
    got: str = ""


def main() -> int:
    """Exit 0 when all of them ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", type=float, default=120.0, metavar="S", help="of the CAN log that is replayed")
    parser.add_argument("--taught", type=float, default=25.0, metavar="S", help="of the recording that is learnt from")
    parser.add_argument("--joints", type=int, default=7, help="of the log")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jointwatch-commands-") as name:
        folder = Path(name)
        rows = [
            quick("--help", "0.1 s", "--help"),
            quick("check", "0.6 s", "check", str(TEMPLATE)),
            replayed(folder, options.joints, options.log),
            *recorded(folder, options.taught),
        ]
    if options.json:
        print(json.dumps([row._asdict() for row in rows], ensure_ascii=False))
        return 0
    print(f"{'command':32} {'asked':>10} {'s':>8} {'processor':>10}")
    for row in rows:
        processor = "" if row.processor is None else f"{row.processor:.2f}"
        print(f"{row.name:32} {row.asked:>10} {row.seconds:8.2f} {processor:>10}  {row.got}".rstrip())
    return 0


def quick(name: str, asked: str, *words: str) -> Row:
    """The least of some runs of a command."""
    taken = [jointwatch(*words) for _ in range(REPEATED)]
    return Row(name, asked, min(one.seconds for one in taken), min(one.processor for one in taken))


def replayed(folder: Path, joints: int, seconds: float) -> Row:
    """A replay of a CAN log; once before, so that its kernels are there."""
    log, config = can_log(folder, joints, seconds)
    jointwatch("replay", str(log), str(config))
    taken = jointwatch("replay", str(log), str(config))
    factor = re.search(r"\((\d+)×\)", taken.told)
    got = f"{factor[1]} × real time" if factor else "?"
    return Row(f"replay, {joints} joints, {seconds:g} s", "60 ×", taken.seconds, taken.processor, got)


def can_log(folder: Path, joints: int, seconds: float) -> tuple[Path, Path]:
    """A log of the frames of rigid joints, as `candump -L` writes it, and the configuration of their service."""
    log, config = folder / "joints.log", folder / "joints.toml"
    robot = RigRobot(RIGS["rigid"].settings().robot(joints, 1, []), Faults([], 1), False)
    wire, at = SlcanWire(None), 0
    with log.open("w", encoding="ascii") as lines:
        while at < seconds * robot.rate:
            for frames in robot.samples(AT_ONCE):
                for said in (wire.form(frame).decode("ascii").strip() for frame in frames):
                    lines.write(f"({BEGIN + at / robot.rate:.6f}) can0 {said[1:4]}#{said[5:]}\n")
                at += 1
    config.write_text(toml("rigid", "slcan", [wire], robot, "tcp://127.0.0.1:5556", "http://127.0.0.1:8080"), "utf-8")
    return log, config


def recorded(folder: Path, taught: float) -> list[Row]:
    """A recording of the rig `lwr4`: the first update of a warm start, and what is made of the recording."""
    urdf, found = folder / "lwr4.urdf", list[Row]()
    interpreter(
        "hil_rig", "lwr4", "--urdf", urdf, "--duration", "0.1", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).wait()
    with Live(["lwr4", "--wire", "udp", "--record", str(folder)]) as live:
        heard(live, taught)
    recording = max(folder.glob("*.mcap"), key=lambda file: file.stat().st_size)
    with Live(["rigid", "--joints", "7", "--wire", "udp"]) as live:  # again, with its own kernels loaded before
        assert live.service is not None
        live.service.send_signal(signal.SIGTERM)
        live.service.wait(30.0)
        began = time.monotonic()
        live.service = interpreter("daq", "run", live.config, stderr=subprocess.DEVNULL)
        heard(live, 0.0)
        found.append(Row("run, to the first update", "1.5 s", time.monotonic() - began, None))
    model = folder / "lwr4.model.toml"
    taken = jointwatch("identify", str(urdf), str(recording), "--out", str(model))
    found.append(Row(f"identify, 7 joints, {taught:g} s", "10 s", *taken[:2]))
    size = recording.stat().st_size / MEGABYTE
    for command in ("report", "export"):
        start = jointwatch(
            command, str(folder / "absent.mcap"), fails=True
        )  # it imports all, then says that it is absent
        out = folder / f"{command}.out"
        taken = jointwatch(command, str(recording), "--out", str(out))
        written = sum(file.stat().st_size for file in (out, *out.rglob("*")) if file.is_file()) / MEGABYTE
        seconds = max(taken.seconds - start.seconds, 1e-3)
        got = f"{size:.1f} MB read, {size / seconds:.1f} MB/s; {written:.1f} MB written, {written / seconds:.0f} MB/s"
        found.append(Row(command, "50 MB/s", taken.seconds, taken.processor, got))
    return found


def heard(live: Live, seconds: float) -> None:
    """Wait for the first update, and for those of so many seconds (of the rig's clock) after it."""
    with Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as updates:
        first = next(updates)[1]["timestamp"]
        for _, update in updates if seconds > 0.0 else ():
            if update["timestamp"] >= first + seconds:
                return


def jointwatch(*words: str, fails: bool = False) -> Taken:
    """Run a command to its end."""
    before, began = used(), time.monotonic()
    ended = subprocess.run([sys.executable, "-m", "daq", *words], check=not fails, capture_output=True, text=True)
    return Taken(time.monotonic() - began, used() - before, ended.stdout)


def used() -> float:
    """Processor seconds of all processes that this one has waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    sys.exit(main())
