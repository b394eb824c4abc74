"""`python -m hil_rig.commands.chaos`: break the running service in every known way, and say what came of it.

Every fault meets a service with a recorder, on loopback, at its own free ports; every one ends by itself. The table is
docs/faults.md (--write); the exit code is 1 where something was not as expected.
"""

import argparse
import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import zmq

from daq.subscriber import Subscriber
from hil_rig.live import Live

HANG: Final = 4.0  # s, of the configuration
TABLE: Final = Path(__file__).parents[2] / "docs" / "faults.md"
PROCESSES: Final = ("wire", "core", "recorder", "outlet")
HEAD: Final = """# Faults

What the service does when it is broken, measured by `make chaos` (a rig with two joints at 1 kHz, slcan, recorder on,
`hang = {hang:g}`). Recovery is until the process is up and updates flow again; lost is what the counters say.
`make fuzz` does the same to configurations and files.

{machine}

| fault | expected | observed | recovery | lost, as counted | |
|---|---|---|---|---|---|
"""


class Outcome(NamedTuple):
    """Of one fault."""

    observed: str
    good: bool
    recovery: float | None = None  # s
    lost: float = 0.0


class Fault(NamedTuple):
    """What is done, what is expected of it."""

    name: str
    expected: str
    run: Callable[["Bench"], Outcome]


class Bench:
    """A running service, and what it says of itself."""

    def __init__(self, live: Live, records: Path) -> None:
        self.live, self.records = live, records
        assert live.service is not None
        self.supervisor = live.service.pid

    def children(self) -> dict[str, int]:
        """Process → pid."""
        found = {}
        with contextlib.suppress(FileNotFoundError):
            for number in Path(f"/proc/{self.supervisor}/task/{self.supervisor}/children").read_text().split():
                with contextlib.suppress(OSError):
                    name = Path(f"/proc/{number}/comm").read_text().strip()
                    found[name.removeprefix("jw ")] = int(number)
        return found

    def metric(self, line: str) -> float:
        """Its value, NaN where there is none or nobody answers."""
        with contextlib.suppress(OSError):
            text = urllib.request.urlopen(f"{self.live.page}/metrics", timeout=2).read().decode()
            found = re.findall(rf"^jointwatch_{line} (\S+)$", text, re.MULTILINE)
            return sum(map(float, found)) if found else float("nan")
        return float("nan")

    def lost(self) -> float:
        """Readings, samples and blocks that the counters call lost."""
        parts = (
            r"readings_lost_total\{[^}]*\}",
            r'samples_lost_total\{cause="lost"[^}]*\}',
            "recorder_blocks_lost_total",
        )
        return sum(value for part in parts if (value := self.metric(part)) == value)

    def flows(self, timeout: float = 30.0) -> bool:
        """Whether fresh updates come."""
        begin = time.time()
        with (
            contextlib.suppress(TimeoutError),
            Subscriber(self.live.endpoint, ("estimate/",), timeout=timeout) as stream,
        ):
            return any(update["timestamp"] > begin - 0.5 and update["phase"] != "faulted" for _, update in stream)
        return False

    def until(self, condition: Callable[[], bool], timeout: float) -> float:
        """s until it holds; infinite where it never does."""
        begin = time.monotonic()
        while not condition():
            if time.monotonic() - begin > timeout:
                return float("inf")
            time.sleep(0.02)
        return time.monotonic() - begin


def killed(name: str) -> Callable[[Bench], Outcome]:
    """kill -9 of a process."""

    def run(bench: Bench) -> Outcome:
        before = bench.children()
        os.kill(before[name], signal.SIGKILL)
        took = bench.until(lambda: bench.children().get(name, before[name]) != before[name], 10)
        took += bench.until(lambda: bench.metric(f'process_up\\{{process="{name}"\\}}') == 1, 20)
        good = bench.flows()
        after = bench.children()
        others = {one for one in before if one != name and before[one] != after.get(one)}
        return Outcome(
            f"back, {'others untouched' if not others else f'also restarted: {others}'}", good and not others, took
        )

    return run


def hung(name: str) -> Callable[[Bench], Outcome]:
    """SIGSTOP for ever."""

    def run(bench: Bench) -> Outcome:
        pid = bench.children()[name]
        os.kill(pid, signal.SIGSTOP)
        seen = f'process_up\\{{process="{name}"\\}}'
        said = bench.until(lambda: bench.metric(seen) == 0, 10) if name != "outlet" else 0.0
        took = said + bench.until(lambda: bench.children().get(name, pid) != pid, HANG + 5)
        again = bench.until(lambda: bench.metric(seen) == 1, 20)
        words = f"up = 0 after {said:.1f} s, ended" if name != "outlet" else "ended"
        return Outcome(f"{words} after {took:.1f} s", said < 2.2 and took <= HANG + 1 and bench.flows(), took + again)

    return run


def hung_supervisor(bench: Bench) -> Outcome:
    """The outlet says so; systemd would start it anew."""
    before = bench.children()
    os.kill(bench.supervisor, signal.SIGSTOP)
    said = bench.until(lambda: bench.metric(r'process_up\{process="supervisor"\}') == 0, 10)
    flows = bench.flows()
    os.kill(bench.supervisor, signal.SIGCONT)
    took = bench.until(lambda: bench.metric(r'process_up\{process="supervisor"\}') == 1, 10)
    same = bench.children() == before
    return Outcome(f"up = 0 after {said:.1f} s, updates go on, nobody ended", said < 3 and flows and same, took)


def short_stop(bench: Bench) -> Outcome:
    """A core that stands still for 1 s loses nothing."""
    before, pid = bench.lost(), bench.children()["core"]
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(pid, signal.SIGCONT)
    good = bench.flows() and bench.children()["core"] == pid
    return Outcome("goes on where it was", good and bench.lost() == before, 0.0)


def idle_connections(bench: Bench) -> Outcome:
    """200 on the page, 100 on the stream, none of which says a word."""
    page, stream = (int(address.rsplit(":", 1)[1]) for address in (bench.live.page, bench.live.endpoint))
    idle: list[socket.socket] = []
    try:
        for port in [page] * 200 + [stream] * 100:
            with contextlib.suppress(OSError):
                idle.append(socket.create_connection(("127.0.0.1", port), timeout=2))
        took = bench.until(lambda: bench.metric("page_clients") == 0, 20)
        return Outcome("page and stream answer", took < 6 and bench.flows(), took)
    finally:
        for one in idle:
            one.close()


def greedy_subscriber(bench: Bench) -> Outcome:
    """100,000 subscriptions of one client."""
    program = f"""
import zmq, time
socket = zmq.Context().socket(zmq.SUB)
socket.connect({bench.live.endpoint!r})
for number in range(100_000): socket.setsockopt(zmq.SUBSCRIBE, b"estimate/joint1%d" % number)
time.sleep(4)
"""
    child = subprocess.Popen([sys.executable, "-c", program])
    worst, last = 0.0, time.monotonic()
    with Subscriber(bench.live.endpoint, ("estimate/",), timeout=20) as stream:
        for _ in stream:
            now = time.monotonic()
            worst, last = max(worst, now - last), now
            if child.poll() is not None:
                break
        gaps = sum(stream.gaps.values())
    return Outcome(f"longest pause of the stream {worst:.2f} s, {gaps} messages missing", worst < 1 and not gaps, worst)


def stalled_subscriber(bench: Bench) -> Outcome:
    """One that never reads."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    deaf = context.socket(zmq.SUB)
    deaf.setsockopt(zmq.LINGER, 0)
    deaf.setsockopt(zmq.RCVHWM, 1)
    deaf.setsockopt(zmq.SUBSCRIBE, b"")
    deaf.connect(bench.live.endpoint)
    with Subscriber(bench.live.endpoint, ("estimate/",), timeout=20) as stream:
        for _ in range(500):
            next(stream)
        gaps = sum(stream.gaps.values())
    deaf.close()
    context.term()
    return Outcome(f"{gaps} messages of others missing", gaps == 0, 0.0)


def garbage(bench: Bench) -> Outcome:
    """Noise on both ports."""
    for address in (bench.live.page, bench.live.endpoint):
        for _ in range(50):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), timeout=2) as line,
            ):
                line.sendall(os.urandom(4000))
    took = bench.until(lambda: bench.metric("page_clients") == 0, 10)
    return Outcome("page and stream answer", took < 5 and bench.flows(), took)


def cut_recording(bench: Bench) -> Outcome:
    """The half of a recording, exported."""
    source = max(bench.records.glob("*.mcap"), key=lambda file: file.stat().st_size)
    cut = bench.records.parent / "cut.mcap"
    cut.write_bytes(source.read_bytes()[: source.stat().st_size // 2 + 3])
    os.utime(cut, (1e9, 1e9))
    done = subprocess.run(
        [sys.executable, "-m", "daq", "export", str(cut)], capture_output=True, text=True, timeout=120, check=False
    )
    good = done.returncode == 0 and "breaks off" in done.stderr and "Traceback" not in done.stderr
    return Outcome("exported up to the break, which is said", good, None)


def full_disk(bench: Bench) -> Outcome:
    """No byte more goes into the recorder's files (a limit of the kernel's, on that process alone); then again."""
    recorder = bench.children()["recorder"]
    soft, hard = resource.prlimit(recorder, resource.RLIMIT_FSIZE)
    resource.prlimit(recorder, resource.RLIMIT_FSIZE, (1, hard))
    try:
        said = bench.until(lambda: bench.metric("recorder_up") == 0, 10)
        counted = bench.until(lambda: bench.metric("recorder_blocks_lost_total") > 0, 10)
        flows = bench.flows()
    finally:
        resource.prlimit(recorder, resource.RLIMIT_FSIZE, (soft, hard))
    took = bench.until(lambda: bench.metric("recorder_up") == 1, 20)
    same = bench.children()["recorder"] == recorder
    good = said < 2 and counted < 3 and flows and same and took < 5
    return Outcome(f"said after {said:.1f} s, updates go on, records again, not restarted", good, took)


def silent_wire(bench: Bench) -> Outcome:
    """Nothing comes for 5 s, then all that the wire could hold."""
    faulted = r'phase\{joint="joint1",phase="faulted"\}'
    before = bench.children()
    bench.live.hold_rig(True)
    try:
        said = bench.until(lambda: bench.metric(faulted) == 1, 10)
        time.sleep(max(0.0, 5.0 - said))
    finally:
        bench.live.hold_rig(False)
    took = bench.until(lambda: bench.metric(faulted) == 0, 20)
    good = said < 3 and took < 5 and bench.flows() and bench.children() == before
    return Outcome(f"joints faulted after {said:.1f} s, back, nobody restarted", good, took)


def dead_wire(bench: Bench) -> Outcome:
    """kill -9 of the device: the port hangs up, and stays so."""
    before = bench.children()
    os.kill(bench.live.rig_pid, signal.SIGKILL)
    said = bench.until(lambda: bench.metric(r'driver_up\{driver="wire"\}') == 0, 10)
    time.sleep(3.0)
    same = bench.children() == before
    return Outcome(f"driver_up = 0 after {said:.1f} s, page answers, nobody restarted", said < 2 and same, None)


def killed_refit(bench: Bench) -> Outcome:
    """kill -9 of the worker in which the nonlinear parameters are searched."""
    core = bench.children()["core"]
    worker = next((pid for pid in _children(core) if "refits" in _name(pid)), 0)
    if not worker:
        return Outcome("no worker found", False)
    os.kill(worker, signal.SIGKILL)
    with Subscriber(bench.live.endpoint, ("estimate/",), timeout=60) as stream:
        last, worst, phase = time.monotonic(), 0.0, ""
        end = last + 60.0
        while last < end and phase != "normal":
            phase = next(stream)[1]["phase"]
            now = time.monotonic()
            worst, last = max(worst, now - last), now
    good = phase == "normal" and bench.children()["core"] == core
    return Outcome(f"the joint starts all the same ({phase}), longest pause of the stream {worst:.2f} s", good, None)


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def killed_supervisor(bench: Bench) -> Outcome:
    """kill -9; the last of all."""
    children = bench.children()
    os.kill(bench.supervisor, signal.SIGKILL)
    gone = bench.until(lambda: not any(_runs(pid) for pid in children.values()), 10)
    free = bench.until(lambda: all(map(_is_free, (bench.live.page, bench.live.endpoint))), 10)
    return Outcome(f"no orphan after {gone:.2f} s, ports free after {gone + free:.2f} s", gone + free < 2, gone + free)


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def _is_free(address: str) -> bool:
    with socket.socket() as port, contextlib.suppress(OSError):
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port.bind(("127.0.0.1", int(address.rsplit(":", 1)[1])))
        return True
    return False


FAULTS: Final = (
    *(Fault(f"kill -9 of the {name}", "back by itself, the others untouched", killed(name)) for name in PROCESSES),
    *(
        Fault(f"the {name} hangs", f"said within 2 s, ended within {HANG + 1:g} s, back", hung(name))
        for name in PROCESSES
    ),
    Fault("the supervisor hangs", "said within 3 s; nobody is ended when it goes on", hung_supervisor),
    Fault("the core stands still for 1 s", "nothing lost, not restarted", short_stop),
    Fault("300 idle connections", "page and stream answer within 6 s", idle_connections),
    Fault("100,000 subscriptions of one client", "stream pauses for less than 1 s, nothing missing", greedy_subscriber),
    Fault("a subscriber that never reads", "nothing missing elsewhere", stalled_subscriber),
    Fault("noise on both ports", "page and stream answer", garbage),
    Fault("a recording cut in the middle", "everything before is exported, the break is said", cut_recording),
    Fault("the disk is full, and then not", "said within 2 s, counted, stream goes on, back within 5 s", full_disk),
    Fault("the wire is silent for 5 s", "joints faulted within 3 s, back within 5 s", silent_wire),
    Fault("kill -9 of the device (a dead link)", "said within 2 s, nobody ended", dead_wire),
    Fault("kill -9 of the supervisor", "no orphan and no port held after 2 s", killed_supervisor),
)


# of an elastic joint that searches its friction, and of nothing else
REFITS: Final = (Fault("kill -9 of the refit worker", "stream goes on, the search is done anew", killed_refit),)


def rows() -> Iterator[tuple[Fault, Outcome]]:
    """Every fault, one after the other: of one service, then of one with an elastic joint."""
    yield from _rows(["rigid", "--joints", "2", "--wire", "slcan"], FAULTS)
    yield from _rows(["two_mass", "--wire", "slcan"], REFITS)


def _rows(rig: list[str], faults: Sequence[Fault]) -> Iterator[tuple[Fault, Outcome]]:
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        more = f'\n[processes]\nhang = {HANG:g}\n[recorder]\nfolder = "{records}"\nreserve = 0\n'
        with Live(rig, more=more) as live:
            bench = Bench(live, records)
            bench.flows(60)
            for fault in faults:
                before = bench.lost()
                try:
                    outcome = fault.run(bench)
                except Exception as error:
                    outcome = Outcome(f"{type(error).__name__}: {error}", False)
                time.sleep(1.0)
                lost = bench.lost() - before
                yield (
                    fault,
                    outcome._replace(lost=max(0.0, lost)),
                )  # an outlet that is new, or gone, has counted nothing


def main() -> int:
    """Run them all."""
    parser = argparse.ArgumentParser(description="break the running service in every known way")
    parser.add_argument("--write", action="store_true", help=f"the table into {TABLE}")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # rig and service end with us
    lines, bad = [], 0
    for fault, outcome in rows():
        took = "" if outcome.recovery is None else f"{outcome.recovery:.2f} s"
        told: dict[str, Any] = {"fault": fault.name, **outcome._asdict()}
        print(json.dumps(told), flush=True)
        bad += not outcome.good
        verdict = "" if outcome.good else "**not so**"
        lines.append(
            f"| {fault.name} | {fault.expected} | {outcome.observed} | {took} | {outcome.lost:g} | {verdict} |"
        )
    if options.write:
        machine = f"{os.cpu_count()} CPUs, {time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}"
        TABLE.write_text(HEAD.format(hang=HANG, machine=machine) + "\n".join(lines) + "\n", encoding="utf-8")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
