"""How cost and latency grow with the number of joints, against a floor; and what an overload does.

    jointwatch bench scale [--joints 1,7,14,28,56] [--rate 1000] [--seconds 10] [--json] [--plot FILE]
                                     [--rigs gear,leg,robot] [--priority 10]

Rig (rigid joints on one multicast bus), service with recorder, and this subscriber run on the same two cores, the way
from a frame to here with a real-time priority where that is allowed (--priority 0: without), and the rig with a higher
one: a device does not wait for the processors of its listener. Latency is from the
arrival of the newest frame that went into an update to its being unpacked here; `made` is the median up to the core's
having made it. Shares are of one core. A point begins when every joint has ended its start, which costs more than what
follows. Then other rigs in their own size: joints with a gear between two encoders, a mechanism,
and a robot with its model (learnt first, in some minutes); with what the core takes for a joint, over what it takes for
one of as many rigid joints.
`played` is the share of its samples that the rig had the time to send. A rig of 100 joints, the service and this
subscriber want more than two processors have: below 100 % all other figures of the row are those of a device that
stands still again and again, and sends in bursts. Of what is lost the causes are told below the table; `restart` is no
sample that is missing: a joint's clock was set anew after such a standstill.
The floor is measured right after, on the same rig: a process that receives the same driver's messages and publishes as
many updates of the same size, with nothing in between; `floor p50` is how long they are on the same way. Overload: the
core gets a third of the processor time that it took (it is stopped and continued), then all of it again; told are what
was lost, how many updates there were, and how long it took until latencies were as before.
"""

import argparse
import atexit
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import msgpack
import numpy as np
from parts.floor import UPDATES, floor
from parts.processes import cpu
from robot_live import MOTION, identified

from daq.config.load import load
from daq.stream.priority import allowed
from daq.subscriber import Subscriber
from hil_rig.live import Live

PROCESSES: Final = ("core", "driver", "outlet", "rig", "recorder")
KEYS: Final = (
    *("p50", "p99", "core", "driver", "outlet", "rig", "floor", "lost", "causes", "played", "made", "floor_p50"),
    "floor_p99",
)
ROW: Final = re.compile(r"jointwatch_(?P<name>samples|\w+_lost)_total(?P<labels>{.*})? (?P<value>\S+)$")
CAUSE: Final = re.compile(r'cause="(\w+)"')
TURN: Final = 0.05  # s of one stop and go in an overload
LONGEST: Final = 60.0  # s waited for a recovery, and for the joints' starts

Result = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--joints", default="1,7,14,28,56", type=numbers)
    parser.add_argument("--rate", type=float, default=1000.0, help="Hz of every joint")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each point")
    parser.add_argument("--warm-up", type=float, default=5.0, help="s left out after the starts of all joints")
    parser.add_argument("--rigs", default="", type=lambda text: [one for one in text.split(",") if one])
    parser.add_argument("--overload", type=float, metavar="S", help="only this: so long, at the first of --joints")
    parser.add_argument("--plot", type=Path, help="write a picture, too (.png, .svg)")
    parser.add_argument("--priority", type=int, default=10, help="[processes] priority, and this process's")
    options = parser.parse_args()
    Run.priority = options.priority if allowed(options.priority) else 0
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    if options.overload is not None:
        found = overload(options.joints[0], options.rate, options.overload, options.warm_up)
        print(json.dumps(found) if options.json else told_overload(found))
        return 0
    points: dict[int, Result] = {
        joints: measure(rigid(joints, options.rate), options.seconds, options.warm_up)
        for joints in sorted(options.joints)
    }
    others = {name: measure(words(name), options.seconds, options.warm_up) for name in options.rigs}
    plain = {
        joints: points.get(joints) or measure(rigid(joints, options.rate), options.seconds, options.warm_up)
        for joints in {one["joints"] for one in others.values()}
    }
    if options.plot is not None:
        draw(points, options.rate, options.plot)
    if options.json:
        told = {"joints": points, "rigs": others} if others else {"joints": points}
        rows = {kind: {str(n): {key: one[key] for key in KEYS} for n, one in of.items()} for kind, of in told.items()}
        print(json.dumps(rows))
        return 0
    first = f"real-time priority {Run.priority}" if Run.priority else "no real-time priority"
    print(f"{options.rate:g} Hz, {options.seconds:g} s a point, {first}")
    print(table(points))
    if others:
        print()
        print(table(others, "rig"))
        for name, one in others.items():
            ratio, joints = one["core"] / plain[one["joints"]]["core"], one["joints"]
            print(
                f"{name}: {joints} joint{'s' * (joints > 1)}, of the core {ratio:.2f} × what as many rigid joints take"
            )
    if options.rate == parser.get_default("rate") and 7 in points:
        print("\n4000 Hz")
        print(table({7: measure(rigid(7, 4000.0), options.seconds, options.warm_up)}))
        print()
        print(told_overload(overload(7, options.rate, options.seconds, options.warm_up)))
    return 0


def numbers(text: str) -> list[int]:
    """Whole numbers between commas; none where there is no text."""
    return [int(one) for one in text.split(",") if one]


def tell(text: str) -> None:
    """Say how far the benchmark is."""
    print(text, file=sys.stderr, flush=True)


def rigid(joints: int, rate: float) -> list[str]:
    """The rig of so many joints."""
    return ["rigid", "--joints", str(joints), "--wire", "udp", "--set", f"rate={rate:g}"]


def words(name: str) -> list[str]:
    """Another rig; the robot's model is learnt from a recording of it."""
    if name != "robot":
        return [name, "--wire", "udp"]
    tell("robot: its model is learnt first: a motion, a recording, and what is identified from it")
    folder = Path(tempfile.mkdtemp(prefix="jointwatch-scale-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return ["lwr4", "--wire", "udp", *MOTION, "--model", str(identified(folder)[0])]


class Run:
    """A rig and the service beside it, and this process's subscription."""

    priority: ClassVar[int] = 0

    def __init__(self, rig: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="jointwatch-scale-")
        more = f'\n[recorder]\nfolder = "{self._folder.name}"\nreserve = 0\n[processes]\npriority = {self.priority}\n'
        self.live = Live(rig, more=more)

    def __enter__(self) -> "Run":
        self.live.__enter__()
        if self.priority:
            param = os.sched_param(self.priority + 1)
            os.sched_setscheduler(self.live.rig_pid, os.SCHED_RR | os.SCHED_RESET_ON_FORK, param)
        self.subscriber = Subscriber(self.live.endpoint, ("estimate/",), timeout=30.0, priority=self.priority)
        self.subscriber.__enter__()
        joints = load(self.live.config).joints.values()
        self.joints, self.samples = len(joints), sum(joint.rate for joint in joints)  # 1/s, of all
        return self

    def __exit__(self, *_: Any) -> None:
        self.subscriber.__exit__(None, None, None)
        self.live.__exit__(None, None, None)
        self._folder.cleanup()

    def pids(self) -> dict[str, int]:
        with urllib.request.urlopen(f"{self.live.page}/api/state") as answer:
            found = json.loads(answer.read())["processes"]
        known = {"driver" if name == "wire" else name: one["pid"] for name, one in found.items()}
        return {name: known[name] for name in PROCESSES if name in known} | {"rig": self.live.rig_pid}

    def lost(self) -> int:
        return sum(self.counted()[1].values())

    def counted(self) -> tuple[int, Counter[str]]:
        """Samples that came, and what was lost, by its cause; `messages` did not reach this subscriber."""
        with urllib.request.urlopen(f"{self.live.page}/metrics") as answer:
            rows = [ROW.match(line) for line in answer.read().decode().splitlines()]
        lost = Counter(messages=sum(self.subscriber.gaps.values()))
        came = 0
        for row in filter(None, rows):
            if row["name"] == "samples":
                came += round(float(row["value"]))
            else:
                cause = CAUSE.search(row["labels"] or "")
                lost[cause[1] if cause else row["name"].removesuffix("_lost")] += round(float(row["value"]))
        return came, lost

    def listen(
        self, seconds: float, until: Callable[[float], bool] = lambda _: False
    ) -> tuple[list[float], list[float], Any]:
        """Listen for so many seconds, or until a latency says so.

        Returns of each update s from the frame to here and to its being made, and the last update.
        """
        latencies: list[float] = []
        made: list[float] = []
        update: Any = None
        end = time.time() + seconds
        for _, update in self.subscriber:
            now = time.time()
            latencies.append(now - update["arrival"])
            made.append(update["latency"])
            if now > end or until(latencies[-1]):
                break
        return latencies, made, update

    def settle(self, warm_up: float) -> None:
        """Until every joint has ended its start, but no longer than it takes, and so many s more."""
        early, end = {"waiting", "starting"}, time.time() + LONGEST
        phases: dict[str, str] = {}
        for topic, update in self.subscriber:
            phases[topic] = update["phase"]
            if (len(phases) == self.joints and not early & set(phases.values())) or time.time() > end:
                break
        self.listen(warm_up)

    def residual(self) -> Any:
        with Subscriber(self.live.endpoint, ("residual/",), timeout=30.0) as one:
            return next(iter(one))[1]


def measure(rig: list[str], seconds: float, warm_up: float) -> Result:
    """One point."""
    tell(f"{' '.join(rig[:3])}: until all joints have ended their starts, then {seconds:g} s, then its floor")
    with Run(rig) as run:
        run.settle(warm_up)
        pids = run.pids()
        came, lost = run.counted()
        since = time.monotonic()
        run.listen(0.5)  # what waited here while the page was asked
        before, began = {name: cpu(pid) for name, pid in pids.items()}, time.monotonic()
        latencies, made, update = run.listen(seconds)
        took = time.monotonic() - began
        result: Result = {"joints": run.joints}
        result |= {name: (cpu(pid) - before[name]) / took for name, pid in pids.items()}
        result["p50"], result["p99"] = np.quantile(latencies, [0.5, 0.99]).tolist()
        result["made"] = float(np.median(made))
        result["updates"] = len(latencies) / took / run.joints
        more, causes = run.counted()
        result["played"] = (more - came) / (time.monotonic() - since) / run.samples
        result["causes"] = dict(causes - lost)
        result["lost"] = sum(result["causes"].values())
        sizes = [len(msgpack.packb(one)) for one in (update, run.residual())]
        service = run.live.service
        assert service is not None
        service.send_signal(signal.SIGTERM)
        service.wait(30)
        result |= floor(run.live.config, run.joints, sizes, seconds, run.priority)
    return result


def overload(joints: int, rate: float, seconds: float, warm_up: float) -> Result:
    """A third of the processor time that it takes, for these seconds, then all of it again."""
    with Run(rigid(joints, rate)) as run:
        run.settle(warm_up)
        core = run.pids()["core"]
        before, began = cpu(core), time.monotonic()
        usual, *_ = run.listen(5.0)
        share = (cpu(core) - before) / (time.monotonic() - began)
        calm = float(np.quantile(usual, 0.99))
        lost = run.lost()
        over = threading.Event()
        brake = threading.Thread(target=hold_back, args=(core, share / 3, over))
        brake.start()
        try:
            late, *_ = run.listen(seconds)
        finally:
            over.set()
            brake.join()
        released = time.monotonic()
        streak = [0]

        def calm_again(latency: float) -> bool:
            streak[0] = streak[0] + 1 if latency <= 2 * calm else 0
            return streak[0] >= joints * UPDATES / 2  # half a second of updates

        run.listen(LONGEST, calm_again)
        back = time.monotonic() - released
        after = run.lost()
        run.listen(3.0)
        return {
            "joints": joints,
            "core": share,
            "p99 before": calm,
            "worst": max(late),
            "updates": len(late) / seconds / joints,
            "lost": after - lost,
            "lost after": run.lost() - after,
            "recovered": back,
        }


def hold_back(pid: int, share: float, over: threading.Event) -> None:
    """Let a process run this share of the time only."""
    while not over.is_set():
        os.kill(pid, signal.SIGSTOP)
        time.sleep(TURN * (1 - share))
        os.kill(pid, signal.SIGCONT)
        time.sleep(TURN * share)


def table(points: Mapping[Any, Result], head: str = "joints") -> str:
    """For people."""
    lines = [
        f"{head:>6} {'p50':>9} {'p99':>9} {'made':>9} {'floor p50':>10}  "
        + " ".join(f"{name:>8}" for name in (*PROCESSES, "floor"))
    ]
    lines[0] += f" {'core/floor':>11} {'updates/s':>10} {'played':>7} {'lost':>6}"
    for joints, one in points.items():
        shares = " ".join(f"{one[name]:8.1%}" for name in (*PROCESSES, "floor"))
        lines.append(
            f"{joints:>6} {1e3 * one['p50']:6.2f} ms {1e3 * one['p99']:6.2f} ms {1e3 * one['made']:6.2f} ms"
            f" {1e3 * one['floor_p50']:7.2f} ms  {shares}"
            f" {one['core'] / one['floor']:11.2f} {one['updates']:10.1f} {one['played']:7.0%} {one['lost']:6}"
        )
    lines += [
        f"{joints}: lost by cause: {', '.join(f'{cause} {count}' for cause, count in one['causes'].items())}"
        for joints, one in points.items()
        if one["causes"]
    ]
    return "\n".join(lines)


def told_overload(one: Result) -> str:
    """For people."""
    return (
        f"overload, {one['joints']} joints: the core takes {one['core']:.0%} of a core and gets a third of it:\n"
        f"{one['updates']:.1f} updates/s a joint, the latest after {one['worst']:.2f} s, {one['lost']} lost;\n"
        f"then back to its latencies (twice the p99 of before, {1e3 * one['p99 before']:.1f} ms) "
        f"after {one['recovered']:.1f} s, {one['lost after']} lost since"
    )


def draw(points: Mapping[int, Result], rate: float, path: Path) -> None:
    """Shares and latencies over the number of joints."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    drawing, (shares, latencies) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    joints = list(points)
    for name in (*PROCESSES, "floor"):
        style = "k--" if name == "floor" else "o-"
        shares.plot(joints, [100 * one[name] for one in points.values()], style, label=name)
    for name in ("p50", "p99"):
        latencies.plot(joints, [1e3 * one[name] for one in points.values()], "o-", label=name)
    shares.set(xlabel=f"joints at {rate:g} Hz", ylabel="% of a core", ylim=(0, None))
    latencies.set(xlabel=f"joints at {rate:g} Hz", ylabel="frame → subscriber, ms", yscale="log")
    for axes in (shares, latencies):
        axes.legend()
        axes.grid(alpha=0.3)
    drawing.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
