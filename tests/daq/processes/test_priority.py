"""`[processes] priority`: what an update passes on its way comes first, nothing else does; and where nobody may."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from daq.stream.priority import allowed
from daq.subscriber import Subscriber
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until

PRIORITY = 3
NAMES = ("core", "wire", "outlet", "recorder")
ASKED = f"\n[processes]\npriority = {PRIORITY}\n"
REFUSED = """
import os
from daq.stream.priority import allowed
os.setuid(65534)
assert allowed(0)
assert not allowed(3)
"""
TAKEN = """
import os
from daq.stream.priority import allowed, take

def policy():
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK

assert allowed(3)
assert policy() == os.SCHED_OTHER, "asked only"
take(3)
assert policy() == os.SCHED_RR
child = os.fork()
if not child:
    os._exit(policy() != os.SCHED_OTHER)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "what it starts is ordinary"
"""

SHARED = """
import os, threading
from daq.stream.priority import share, take

def policies():
    ordinary = ~os.SCHED_RESET_ON_FORK
    tasks = map(int, os.listdir("/proc/self/task"))
    return sorted((os.sched_getscheduler(one) & ordinary, os.sched_getparam(one).sched_priority) for one in tasks)

before = {(os.SCHED_OTHER, 0)}
share()
assert set(policies()) == before, "without a priority there is nothing to give"
take(3)
over = threading.Event()
for _ in range(2):
    threading.Thread(target=over.wait, daemon=True).start()  # else a failure would wait for them
assert policies().count((os.SCHED_RR, 3)) == 1, "what it starts is ordinary"
share()
assert set(policies()) == {(os.SCHED_RR, 3)}
child = os.fork()
if not child:
    os._exit(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK != os.SCHED_OTHER)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "what it forks is ordinary"
over.set()
"""


def threads(pid: int) -> dict[int, tuple[int, int]]:
    """Policy and priority of each thread of a process, by the thread's id."""
    found, ordinary = dict[int, tuple[int, int]](), ~getattr(os, "SCHED_RESET_ON_FORK", 0)
    for one in (int(one.name) for one in Path(f"/proc/{pid}/task").iterdir()):
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            found[one] = os.sched_getscheduler(one) & ordinary, os.sched_getparam(one).sched_priority
    return found


def children(pid: int) -> dict[str, int]:
    numbers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {Path(f"/proc/{number}/comm").read_text().strip(): int(number) for number in numbers}


def test_the_way_of_an_update_comes_first_and_page_recorder_and_supervisor_do_not(
    tmp_path: Path, forked_programs: None
) -> None:
    if not allowed(PRIORITY):
        pytest.skip("needs to be allowed a real-time priority (root, or RLIMIT_RTPRIO)")
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live(["rigid", "--wire", "udp"], more=recorder + ASKED) as live, Subscriber(live.endpoint, timeout=60) as one:
        next(iter(one))
        assert live.service is not None
        service, found = live.service.pid, dict[str, int]()
        wait_until(lambda: found.update(children(service)) or {f"jw {name}" for name in NAMES} <= found.keys())
        first = (os.SCHED_RR, PRIORITY)
        for name in ("jw core", "jw wire"):
            seen = threads(found[name])
            assert seen[found[name]] == first
            assert list(seen.values()).count(first) >= 2, f"{name}: what ZeroMQ hands on comes first, too"
        outlet = threads(found["jw outlet"])
        assert outlet[found["jw outlet"]] == (os.SCHED_OTHER, 0), "the page"
        assert list(outlet.values()).count(first) >= 3, "two forwarders, and ZeroMQ's own"
        ordinary = {*threads(found["jw recorder"]).values(), *threads(live.service.pid).values()}
        assert ordinary == {(os.SCHED_OTHER, 0)}


def test_a_process_shares_its_priority_with_threads_of_libraries() -> None:
    if not allowed(PRIORITY):
        pytest.skip("needs to be allowed a real-time priority (root, or RLIMIT_RTPRIO)")
    done = subprocess.run([sys.executable, "-c", SHARED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_thread_of_a_middleware_comes_first_since_it_hands_messages_on(forked_programs: None) -> None:
    """zenoh's callback holds the interpreter: without the priority the driver would wait for a thread that waits."""
    if not allowed(PRIORITY):
        pytest.skip("needs to be allowed a real-time priority (root, or RLIMIT_RTPRIO)")
    pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed (pip install jointwatch[zenoh])")
    with Live(["rigid", "--wire", "zenoh"], more=ASKED) as live, Subscriber(live.endpoint, timeout=60) as one:
        next(iter(one))
        assert live.service is not None
        seen = threads(children(live.service.pid)["jw wire"])
        assert len(seen) > 4, "the middleware's are among them"
        assert set(seen.values()) == {(os.SCHED_RR, PRIORITY)}


def test_a_subscriber_may_take_priority_too() -> None:
    if not allowed(PRIORITY):
        pytest.skip("needs to be allowed a real-time priority (root, or RLIMIT_RTPRIO)")
    first, found = (os.SCHED_RR, PRIORITY), list[tuple[int, int]]()

    def listen() -> None:
        with Subscriber("tcp://127.0.0.1:1", priority=PRIORITY):
            end = time.monotonic() + 60.0
            while found.count(first) < 2 and time.monotonic() < end:
                found[:] = threads(os.getpid()).values()

    one = threading.Thread(target=listen)  # it keeps its priority for as long as it lives
    one.start()
    one.join()
    assert found.count(first) >= 2, "the one that listens, and ZeroMQ's"
    wait_until(lambda: first not in threads(os.getpid()).values())  # the system lists one that has ended for a moment


def test_who_may_not_is_told_so() -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to become somebody who is allowed nothing")
    subprocess.run([sys.executable, "-c", REFUSED], check=True)


def test_who_only_asks_has_none_and_who_has_one_hands_it_to_nobody() -> None:
    if not allowed(PRIORITY):
        pytest.skip("needs to be allowed a real-time priority (root, or RLIMIT_RTPRIO)")
    subprocess.run([sys.executable, "-c", TAKEN], check=True)
