"""`jointwatch fleet collect` on real sockets, locked ones too: killed and started again it loses nothing uncounted."""

import json
import re
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zmq

from daq.__main__ import main
from daq.fleet.live.collector import Collector, allow_files
from daq.fleet.live.lake import RAW
from daq.fleet.live.settings import load_collector
from daq.fleet.live.standing import Reader
from tests.support.processes.summaries import SendingService, locked, summary
from tests.support.processes.waiting import wait_until

ESTABLISHED = "01"  # of a connection in /proc/net/tcp
TOTALS = """
    SELECT robot, count(*), sum(lost)::BIGINT, min(seq), max(seq) FROM finer
    WHERE quantity = 'coulomb' GROUP BY robot"""


class Senders:
    """Services that send a summary each ten times a second, in a thread."""

    def __init__(self, services: dict[str, SendingService], off: float = 0.0, called: Mapping[str, str] = {}) -> None:
        """off: s by which the clocks of the robots are fast; called: what services call their robots, where not by
        their own names. Neither changes, since a busy service sends much later what it was given."""
        self.sent = 0
        self.off, self.called = off, called
        self._services = services
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(0.1):
            for name, service in self._services.items():
                service.send(summary(self.called.get(name, name), self.sent, time.time() + self.off))
            self.sent += 1

    def reached(self) -> bool:
        """Whether somebody has a connection to each."""
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        ports = {int(words[1].rpartition(":")[2], 16) for words in lines if words[3] == ESTABLISHED}
        return all(int(one.endpoint.rpartition(":")[2]) in ports for one in self._services.values())

    def wait(self, seconds: float) -> None:
        """Until as much was sent as in that time, however long a machine stands still in it."""
        end = self.sent + round(10 * seconds)
        wait_until(lambda: self.sent >= end)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for one in self._services.values():
            one.close()


@pytest.fixture
def senders(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Senders]:
    """Two services, of which one is locked, and lake.toml for them and for one that is not there.

    Its parameter has the other arguments of Senders.
    """
    assert main(["keys", str(tmp_path / "keys"), "fleet"]) == 0
    services = {}
    for name, curve in (("arm1", None), ("arm2", locked(tmp_path / "keys"))):
        (tmp_path / name).mkdir()
        services[name] = SendingService(tmp_path / name, curve)
    (tmp_path / "lake.toml").write_text(f"""
[lake]
place = "lake"
key = "{tmp_path / "keys" / "fleet.key_secret"}"
[robots]
arm1 = {{ endpoint = "{services["arm1"].endpoint}" }}
arm2 = {{ endpoint = "{services["arm2"].endpoint}", server_key = "keys/server.key" }}
away = {{ endpoint = "tcp://127.0.0.1:9" }}
""")
    found = Senders(services, **getattr(request, "param", {}))
    yield found
    found.close()


def collecting(senders: Senders, start_program: Callable[..., Any], lake: Path, seconds: float) -> Any:
    """A collector, for so long after it has reached the services."""
    program = start_program("daq", "fleet", "collect", lake)
    while "collecting 3 robots" not in (line := program.stderr.readline()):
        assert line, "it has ended"
    wait_until(senders.reached)
    senders.wait(seconds)
    return program


def test_a_collector_that_is_killed_and_stopped_loses_nothing_uncounted(
    senders: Senders, tmp_path: Path, start_program: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lake, run = tmp_path / "lake", partial(collecting, senders, start_program, tmp_path / "lake.toml")
    first = run(3.0)
    first.send_signal(signal.SIGINT)
    said, log = first.communicate(300)
    assert first.returncode == 0, log
    assert "0 missing, 0 given up, 0 malformed, 0 batches not written" in said
    assert "2 of 3 robots heard in the last minute" in log
    assert "not heard: away (not connected)" in log
    killed = run(1.5)
    killed.kill()
    killed.wait()
    begun = senders.sent
    last = run(3.0)
    second = start_program("daq", "fleet", "collect", tmp_path / "lake.toml")
    assert second.wait() == 1
    assert "another collector 'collector' writes into" in second.stderr.read()
    last.send_signal(signal.SIGTERM)
    assert last.wait(300) == 0
    totals = Reader(str(lake)).rows(RAW, TOTALS, 0, float("inf"))
    assert sorted(row[0] for row in totals) == ["arm1", "arm2"]
    for _, count, lost, earliest, latest in totals:
        assert count + lost == latest - earliest + 1
        # and what the killed one had in memory, which is nothing where a minute has just ended
        assert lost > 0, "what came while none ran"
        assert latest > begun, "what is there at a stop is taken"
    capsys.readouterr()
    assert (
        main(["fleet", "watch", str(tmp_path / "lake.toml"), "--once", "--json", "--page", str(tmp_path / "f.html")])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert {one["robot"] for one in told["joints"]} == {"arm1", "arm2"}
    assert {one["robot"]: one["messages"] for one in told["joints"]} == {row[0]: row[1] for row in totals}
    assert {one["lost"] for one in told["joints"]} == {row[2] for row in totals}
    assert "<h1>No robot can be compared" in (tmp_path / "f.html").read_text()


@pytest.mark.parametrize("senders", [{"off": 3_600.0, "called": {"arm2": "arm7"}}], indirect=True, ids=["an hour"])
def test_clocks_that_are_off_and_robots_that_are_not_listed_are_counted_and_said(
    senders: Senders, tmp_path: Path, start_program: Callable[..., Any]
) -> None:
    begun = time.time()
    program = collecting(senders, start_program, tmp_path / "lake.toml", 3.0)
    program.send_signal(signal.SIGINT)
    _, log = program.communicate(300)
    assert program.returncode == 0, log
    [seconds] = re.findall(r"the clock of arm1 is off by \+(\d+) s: its summaries get the time at which they came", log)
    assert 3_600 - 120 < int(seconds) <= 3_600, "less what the first took to come"
    assert log.count("robot 'arm7' is not in the table [robots]: its summaries are not written") == 1
    times = """SELECT min(epoch(time)), max(epoch(time)), count(*), count(DISTINCT robot) FROM finer
        WHERE quantity = 'coulomb'"""
    [(first, last, count, robots)] = Reader(str(tmp_path / "lake")).rows(RAW, times, 0, float("inf"))
    assert begun - 5.0 < first <= last < time.time()
    off, strangers = (
        int(log.rsplit(words, 1)[0].split()[-1])
        for words in (" of robots whose clocks are off", " of robots that are not")
    )
    assert count <= off <= senders.sent + 1, "the last value may come twice: a new subscriber is sent it"
    assert strangers > 0
    assert robots == 1


def test_a_collector_that_has_ended_has_let_go_of_its_sockets_and_its_lake(senders: Senders, tmp_path: Path) -> None:
    turns, told = iter([False] * 20), list[int]()
    settings = load_collector(tmp_path / "lake.toml")
    one = Collector(settings)
    one.run(lambda: next(turns, True), lambda it: told.append(it.received))
    assert told, "at the end, and once more where a minute has ended meanwhile"
    assert told[-1] == one.received
    with pytest.raises(zmq.ZMQError):
        list(one.subscription.messages(1))
    Collector(settings).subscription.close()


ALL = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("may", "asked"),
    [
        *(((64, 4096), [(100, 4096)]), ((99, 100), [(100, 100)]), ((64, ALL), [(100, ALL)])),
        *(((100, 4096), []), ((128, 128), []), ((ALL, ALL), [])),
    ],
)
def test_as_many_files_may_be_open_as_it_needs(
    may: tuple[int, int], asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """may: files that a process has, and those that it may ask for."""
    done: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: may)
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: done.append(limits))
    allow_files(100)
    assert done == asked


def test_files_that_a_process_may_not_have_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 99))
    with pytest.raises(ValueError, match="a process may open 99 files here, and this needs 100: `ulimit -n 100`"):
        allow_files(100)


def test_every_mistake_of_a_file_is_said(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    (tmp_path / "lake.toml").write_text("""
[lake]
place = "lake"
key = "none.key_secret"
raw = 0
[robots]
arm1 = { endpoint = "arm1" }
arm2 = { endpoint = "tcp://arm2:5556", server_key = "none.key" }
""")
    done = run_program("daq", "fleet", "collect", tmp_path / "lake.toml")
    assert done.returncode == 78
    said = done.stderr
    assert "lake.toml:5" in said
    assert "tcp://HOST:PORT" in said
    (tmp_path / "lake.toml").write_text(
        '[lake]\nplace = "lake"\n[robots]\na = { endpoint = "tcp://h:1" }\nb = { endpoint = "tcp://h:1" }\n'
    )
    done = run_program("daq", "fleet", "collect", tmp_path / "lake.toml")
    assert done.returncode == 78
    assert "found tcp://h:1 twice" in done.stderr


def test_a_lake_that_is_none_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "watch", "ftp://x/y", "--once"]) == 1
    assert "expected a folder, or a URL that pyarrow reads" in capsys.readouterr().err
    assert main(["fleet", "watch", str(tmp_path), "--last", "2026-01-31", "--once"]) == 2
    assert main(["fleet", "watch", str(tmp_path), "--limit", "coulomb", "--once"]) == 2
    assert main(["fleet", "watch", str(tmp_path), "--once"]) == 0
    assert "nothing was received in this time" in " ".join(capsys.readouterr().out.split())
