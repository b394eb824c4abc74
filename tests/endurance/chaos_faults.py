"""Every known way to break a running service, each with what is expected of it."""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chaos_bench import Bench, Fault, Outcome

from daq.subscriber import Subscriber

HANG: Final = 4.0  # s, of the configuration
PROCESSES: Final = ("wire", "core", "recorder", "outlet")


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
    program = f"""
import zmq, time
socket = zmq.Context().socket(zmq.SUB)
socket.setsockopt(zmq.RCVHWM, 1)
socket.setsockopt(zmq.SUBSCRIBE, b"")
socket.connect({bench.live.endpoint!r})
print("deaf", flush=True)
time.sleep(600)
"""
    deaf = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert deaf.stdout is not None
        deaf.stdout.readline()  # it is connected
        with Subscriber(bench.live.endpoint, ("estimate/",), timeout=20) as stream:
            for _ in range(500):
                next(stream)
            gaps = sum(stream.gaps.values())
    finally:
        deaf.kill()
        deaf.communicate()
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


def emptied_tmp(bench: Bench) -> Outcome:
    """The folder of the service's own sockets is removed, as cleaners of /tmp do it; then the core dies."""
    links = (path.readlink() for path in Path(f"/proc/{bench.supervisor}/fd").iterdir())
    for folder in {path.parent for path in links if path.name == "running"}:
        shutil.rmtree(folder)
    before, unmoved = bench.children(), bench.flows()
    os.kill(before["core"], signal.SIGKILL)
    took = bench.until(lambda: not set(bench.children().values()) & set(before.values()), 10)
    took += bench.until(lambda: bench.metric(r'process_up\{process="core"\}') == 1, 20)
    good = unmoved and bench.flows() and set(bench.children()) == set(before) and took < 10
    return Outcome("nothing stops; when the core dies all start anew in another folder", good, took)


def emptied_recording(bench: Bench) -> Outcome:
    """`: > current.mcap`: what the file held is counted, and the next block is in another file."""
    bench.until(lambda: bench.metric("recorder_blocks_lost_total") >= 0, 10)
    before, lost = bench.recording(), bench.metric("recorder_blocks_lost_total")
    with before.open("wb"):
        pass
    counted = bench.until(lambda: bench.metric("recorder_blocks_lost_total") > lost, 10)
    took = bench.until(lambda: bench.recording() != before and bench.recording().stat().st_size > 10_000, 10)
    good = counted < 2 and took < 5 and bench.metric("recorder_up") == 1 and bench.flows()
    return Outcome(f"counted after {counted:.1f} s, a new file grows, not restarted", good, took)


def _searching(bench: Bench) -> int:
    """The process identifier of the refit worker, at a moment at which it searches; 0 if that was never seen."""
    core = bench.children()["core"]
    bench.until(lambda: bench.metric(r'startup_progress_ratio\{joint="joint1"\}') >= 0.99, 60)
    busy: list[int] = []

    def searching() -> bool:
        busy[:] = [pid for pid in _children(core) if "refits" in _name(pid) and ") R " in _stat(pid)]
        return bool(busy)

    bench.until(searching, 20)
    return busy[0] if busy else 0


def stopped_refit(bench: Bench) -> Outcome:
    """SIGSTOP of the worker while it searches the nonlinear parameters of a start."""
    core, worker = bench.children()["core"], _searching(bench)
    if not worker:
        return Outcome("no worker was seen searching", False)
    os.kill(worker, signal.SIGSTOP)
    up = r'process_up\{process="refits"\}'
    said = bench.until(lambda: bench.metric(up) == 0, 20)
    replaced = said + bench.until(lambda: bench.metric(up) == 1 and not _runs(worker), 30)
    took = bench.until(lambda: bench.metric(r'phase\{joint="joint1",phase="normal"\}') == 1, 90)
    good = said < 4 and replaced < 15 and took < 60 and bench.flows() and bench.children()["core"] == core
    return Outcome(f"process_up 0 after {said:.1f} s, replaced after {replaced:.1f} s, the joint starts", good, took)


def killed_refit(bench: Bench) -> Outcome:
    """kill -9 of the worker while it searches the nonlinear parameters of a start."""
    core, worker = bench.children()["core"], _searching(bench)
    if not worker:
        return Outcome("no worker was seen searching", False)
    os.kill(worker, signal.SIGKILL)
    with Subscriber(bench.live.endpoint, ("estimate/",), timeout=60) as stream:
        last, worst, phase = time.monotonic(), 0.0, ""
        end = last + 240.0  # a guard: a search of seconds on a machine that has other work
        while last < end and phase != "normal":
            phase = next(stream)[1]["phase"]
            now = time.monotonic()
            worst, last = max(worst, now - last), now
    good = phase == "normal" and bench.children()["core"] == core
    return Outcome(f"the joint starts all the same ({phase}), longest pause of the stream {worst:.2f} s", good, None)


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _stat(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text()
    return ""


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
    Fault("the recording is emptied", "counted within 2 s, a new one within 5 s", emptied_recording),
    Fault("the disk is full, and then not", "said within 2 s, counted, stream goes on, back within 5 s", full_disk),
    Fault("the wire is silent for 5 s", "joints faulted within 3 s, back within 5 s", silent_wire),
    Fault("/tmp is emptied, then kill -9 of the core", "updates go on; all back within 10 s", emptied_tmp),
    Fault("kill -9 of the device (a dead link)", "said within 2 s, nobody ended", dead_wire),
    Fault("kill -9 of the supervisor", "no orphan and no port held after 2 s", killed_supervisor),
)


# of an elastic joint that searches its friction, and of nothing else
REFITS: Final = (
    Fault("kill -9 of the refit worker", "stream goes on, the search is done anew", killed_refit),
    Fault("the refit worker hangs", "said within 4 s, replaced within 15 s, the joint starts", stopped_refit),
)
