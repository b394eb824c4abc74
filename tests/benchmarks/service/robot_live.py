"""A whole robot live, from its data sheet on: excited, recorded, identified, watched; payload, pushes, friction.

    jointwatch bench robot_live [--json] [--minutes 2] [--rounds 3]

The rig `lwr4` (7 joints × 1 kHz over UDP multicast) and the service run as processes, as in the field. The model comes
from a recording of the service: `rig --urdf`, `excite`, `rig --record`, `identify`. Then another motion is watched with
it: so many minutes of nothing, a push on every joint, 2 kg taken and put down, the friction of one joint × 1.5. Pushes
are those of the specification: the smallest steps that were found on a real LWR4, and 20 % more, for 0.5 s. Times are
from the rig's sample to a subscriber that holds the event. The share of a core is that of the core's process with the
model in its configuration less that of one without, both at once on one rig: one after the other they differ by points.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from parts.processes import cpu, of_service

from daq.subscriber import Subscriber
from hil_rig.live import Live
from hil_rig.ports import free_port

ROOT: Final = Path(__file__).parents[3]
LIMITS: Final = ROOT / "docs" / "lwr4-limits.toml"
TAUGHT: Final = 42.0  # s of the recording that is learnt from: two periods of the motion
SEARCHED: Final = 15.0  # s
BEGIN: Final = 20.0  # s after the first sample, by which every start is over
PUSHES: Final = (3.2, 5.5, 2.1, 4.6, 2.0, 1.1, 1.0)  # N·m, smallest found on a real LWR4 at 10 Hz
MORE: Final = 1.2
PUSHED: Final = 0.5  # s
PUSH_EVERY: Final = 5.0  # s
CARRIED: Final = 2.0  # kg
CARRY: Final = 12.0  # s, and as long without it
JOINT: Final = "joint4"
LOOK: Final = 25.0  # s after the jump of its friction
MEASURED: Final = 20.0  # s of processor time
MOTION: Final = ("--set", "trajectory.draw=3", "--set", "trajectory.frequency=0.08")  # not the one that was learnt from


class Row(NamedTuple):
    """One figure."""

    name: str
    asked: str
    got: str
    good: bool


def main() -> int:
    """Exit 0 when it ran; what was missed is marked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--minutes", type=float, default=2.0, help="in which nothing happens and nothing may be told")
    parser.add_argument("--rounds", type=int, default=3, help="of 20 s that the share of a core is from")
    parser.add_argument("--model", type=Path, help="of the rig lwr4, instead of a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        model, error = (options.model, None) if options.model else identified(Path(name))
        rows = [] if error is None else [Row("cross-validated error of the model", "-", f"{error:.2f} %", True)]
        rows += watched(model, options.minutes) + [share(model, options.rounds)]
    if options.json:
        print(json.dumps([row._asdict() for row in rows], ensure_ascii=False))
        return 0
    for row in rows:
        print(f"{' ' if row.good else '!'} {row.name:44} asked {row.asked:28} got {row.got}")
    return 0


def identified(folder: Path) -> tuple[Path, float]:
    """The model file from a recording of the rig, and its error (%)."""
    urdf, motion, model = (folder / name for name in ("lwr4.urdf", "motion.csv", "lwr4.model.toml"))
    rig("lwr4", "--urdf", str(urdf), "--duration", "0.1")
    jointwatch("excite", str(urdf), "--limits", str(LIMITS), "--seconds", str(SEARCHED), "--out", str(motion))
    words = ("--set", f"trajectory.file={motion}", "--record", str(folder))
    with (
        Live(["lwr4", "--wire", "udp", *words]) as live,
        Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as subscriber,
    ):
        first = next(subscriber)[1]["timestamp"]
        for _, update in subscriber:
            if update["timestamp"] > first + TAUGHT:
                break
    [recording] = folder.glob("*.mcap")
    told = jointwatch("identify", str(urdf), str(recording), "--out", str(model), "--json")
    return model, float(json.loads(told)["validation"]["error"])


def watched(model: Path, minutes: float) -> list[Row]:
    """Nothing, pushes, a payload, another friction: what is told, and when."""
    pushes = [BEGIN + 60.0 * minutes + PUSH_EVERY * k for k in range(len(PUSHES))]
    taken = pushes[-1] + PUSH_EVERY
    jumps = taken + 2.0 * CARRY
    end = jumps + LOOK
    words = ["--model", str(model), "--payload", f"{taken}:{CARRIED}", "--payload", f"{taken + CARRY}:0"]
    words += ["--jump", f"{jumps}:{JOINT}.friction=1.5"]
    for k, (at, torque) in enumerate(zip(pushes, PUSHES, strict=True), 1):
        words += ["--push", f"{at}:joint{k}={MORE * torque:.3g}/{PUSHED}"]
    events: list[tuple[float, str, str]] = []
    masses: list[tuple[float, float, float]] = []
    with (
        Live(["lwr4", "--wire", "udp", *MOTION, *words]) as live,
        Subscriber(live.endpoint, ("event/robot", "robot"), timeout=60.0) as subscriber,
    ):
        last = time.time() + end + 60.0
        for topic, update in subscriber:
            now = time.time()
            if topic == "event/robot":
                events.append((now, update["kind"], update["text"]))
                print(f"  {update['timestamp']:.3f} {update['kind']}: {update['text']}", file=sys.stderr, flush=True)
                if update["kind"] == "started":
                    last = now + end - 12.0
            elif topic == "robot" and update["payload"]["carried"]:
                masses.append((now, update["payload"]["mass"], update["payload"]["mass_deviation"]))
            if now > last:
                break
        live.stop_rig()
    began = live.farewell["began"]
    events = [(at - began, kind, text) for at, kind, text in events]
    masses = [(at - began, mass, deviation) for at, mass, deviation in masses]
    return [
        quiet(events, minutes),
        *(pushed(events, k, at) for k, at in enumerate(pushes, 1)),
        *carried(events, masses, taken),
        rubbed(events, jumps),
    ]


def quiet(events: Sequence[tuple[float, str, str]], minutes: float) -> Row:
    """What was told while nothing happened."""
    false = [f"{at:.1f} s {kind}" for at, kind, _ in events if at < BEGIN + 60.0 * minutes and kind != "started"]
    return Row(f"told in {minutes:g} minutes of nothing", "0", f"{len(false)} {'; '.join(false)}".strip(), not false)


def pushed(events: Sequence[tuple[float, str, str]], joint: int, at: float) -> Row:
    """A push on one joint."""
    mine = [when - at for when, kind, _ in events if kind == "contact" and 0.0 <= when - at < PUSHED + 0.5]
    got = f"{1e3 * mine[0]:.0f} ms" if mine else "nothing"
    name = f"push of {MORE * PUSHES[joint - 1]:.1f} N·m on joint{joint}"
    return Row(name, "told in <= 100 ms", got, bool(mine) and mine[0] <= 0.1)


def carried(
    events: Sequence[tuple[float, str, str]], masses: Sequence[tuple[float, float, float]], taken: float
) -> list[Row]:
    """The payload, taken and put down."""
    told = [at - taken for at, kind, text in events if kind == "payload" and 0.0 < at - taken < CARRY]
    gone = [at - taken - CARRY for at, kind, _ in events if kind == "payload" and CARRY < at - taken < 2.0 * CARRY]
    later = [one for one in masses if 5.0 <= one[0] - taken < CARRY]
    worst = max((abs(mass - CARRIED) for _, mass, _ in later), default=float("inf"))
    at_five = f"{later[0][1]:.2f} ± {later[0][2]:.2f} kg, {worst:.2f} off at most" if later else "none"
    soon = bool(told) and told[0] <= 2.0
    return [
        Row(f"payload of {CARRIED:g} kg", "told in <= 2 s", f"{told[0]:.2f} s" if told else "not told", soon),
        Row("  its mass, from 5 s on", "within 0.2 kg", at_five, worst <= 0.2),
        Row("  put down", "-", f"told after {gone[0]:.2f} s" if gone else "not told", bool(gone)),
    ]


def rubbed(events: Sequence[tuple[float, str, str]], jumps: float) -> Row:
    """Another friction of one joint."""
    told = [(at - jumps, text) for at, kind, text in events if kind == "friction" and at > jumps]
    first = ", ".join(f"{text.split(' has ')[0].rpartition(' ')[2]} after {at:.1f} s" for at, text in told)
    alone = bool(told) and all(f"friction of {JOINT} " in text for _, text in told)
    return Row(f"friction of {JOINT} × 1.5", f"blamed on {JOINT} alone", first or "not told", alone)


def share(model: Path, rounds: int) -> Row:
    """Share of a core that the whole robot costs: two services at once on one rig, with the model and without."""
    with Live(["lwr4", "--wire", "udp", *MOTION, "--model", str(model)]) as live, beside(live) as (other, endpoint):
        assert live.service is not None
        for each in (live.endpoint, endpoint):
            with Subscriber(each, ("estimate/joint1",), timeout=60.0) as subscriber:
                next(subscriber)
        time.sleep(BEGIN)
        cores = [of_service(one)["core"] for one in (live.service.pid, other)]
        pairs = [used(cores) for _ in range(rounds)]
    extra = statistics.median(one - without for one, without in pairs)
    got = f"{100 * extra:.1f} % ({', '.join(f'{one:.1%} and {without:.1%}' for one, without in pairs)})"
    return Row("core's process with the model, less without", "<= 5 % of a core", got, extra <= 0.05)


@contextmanager
def beside(live: Live) -> Iterator[tuple[int, str]]:
    """A second service on the rig of the first, without a model: its process and endpoint."""
    endpoint, page = f"tcp://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    words = live.config.read_text(encoding="utf-8").replace(live.endpoint, endpoint).replace(live.page, page)
    config = live.config.with_name("without.toml")
    words = re.sub(r'^name = "(.*)"$', r'name = "\1-without"', words, count=1, flags=re.MULTILINE)
    config.write_text(re.sub(r'^model = ".*"\n', "", words, flags=re.MULTILINE), encoding="utf-8")
    service = subprocess.Popen([sys.executable, "-m", "daq", "run", str(config)], stderr=subprocess.DEVNULL)
    try:
        yield service.pid, endpoint
    finally:
        service.terminate()
        service.wait()


def used(cores: Sequence[int]) -> list[float]:
    """Share of a core that these processes take, at the same time."""
    began, before = time.monotonic(), [cpu(core) for core in cores]
    time.sleep(MEASURED)
    after, lasted = [cpu(core) for core in cores], time.monotonic() - began
    return [(late - early) / lasted for early, late in zip(before, after, strict=True)]


def rig(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "hil_rig", *words], check=True, stdout=subprocess.DEVNULL)


def jointwatch(*words: str) -> str:
    return subprocess.run([sys.executable, "-m", "daq", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
