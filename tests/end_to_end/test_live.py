"""Rig → wire → service → subscriber, every part as in the field."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live
from hil_rig.papers import figures
from hil_rig.papers.recordings import emps_live
from tests.support.processes.waiting import wait_until

EMPS = Path(__file__).parents[3] / "shared/data/emps/nlid_emps_sim_data_training.mat"


def metric(page: str, start: str) -> float:
    """Sum of the samples whose line begins so."""
    text = urllib.request.urlopen(f"{page}/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start))


@pytest.mark.parametrize("wire", ["slcan", pytest.param("serial", marks=pytest.mark.slow)])
def test_the_emps_recording_gives_the_published_parameters(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As `jointwatch reproduce emps` runs it, but in this process, whose rigs and services are forked."""
    if not EMPS.exists():
        pytest.skip(f"needs the EMPS recording in {EMPS}")
    words = ["--json", "--wire", wire]
    for _ in range(3):  # again where the machine stood still in the middle of the recording: its rows are then late
        code = figures.main("emps", "", emps_live.table, arguments=emps_live.arguments, argv=words)
        told = capsys.readouterr()
        if code == 0:
            break
    assert code == 0, told.err
    verdict = json.loads(told.out)
    assert verdict["ok"]
    assert [figure["name"] for figure in verdict["figures"]] == ["mass", "viscous", "coulomb", "offset"]
    assert verdict["figures"][0]["ours"] == pytest.approx(95.1089, rel=0.01)


@pytest.mark.usefixtures("short_start")
def test_rubbish_on_the_wire_is_counted_and_the_truth_comes_out_all_the_same() -> None:
    faults = ("garbage=0.006", "truncate=0.006", "unknown=0.006", "drop=0.006", "nan=0.006")
    rig = ["rigid", "--wire", "slcan"] + [word for fault in faults for word in ("--fault", fault)]
    with Live(rig) as live, Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        (joint,) = live.truth
        for _, update in subscriber:
            if update["phase"] == "normal":
                break
        for name, truth in live.truth[joint].items():
            assert update["parameters"][name] == pytest.approx(truth, abs=0.05 * abs(truth) + 0.1), name
        for cause in ("malformed", "unmatched", "invalid"):
            counted = f'jointwatch_decode_errors_total{{cause="{cause}",driver="wire"}}'
            wait_until(lambda counted=counted: metric(live.page, counted) > 15)  # type: ignore[misc]
        said = live.end_rig(60.0)

        def lost_and_seen() -> tuple[float, float]:
            lost = f'jointwatch_samples_lost_total{{cause="lost",joint="{joint}"}}'
            return metric(live.page, lost), metric(live.page, f'jointwatch_samples_total{{joint="{joint}"}}')

        wait_until(lambda: sum(lost_and_seen()) > 0.98 * said["samples"])  # the core has done with them
        lost, seen = lost_and_seen()
        # dropped and truncated ones; not what the wire had no room for where this machine let its reader starve
        assert 0.006 < (lost - said["refused"]) / seen < 0.024


def test_listen_prints_one_object_per_line(run_program: Callable[..., Any]) -> None:
    with Live(["rigid", "--joints", "2", "--wire", "udp"]) as live:
        listen = ("daq", "listen", "--endpoint", live.endpoint)
        done = run_program(*listen, "--json", "--count", "400")
        assert done.returncode == 0, done.stderr
        updates = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(updates) == 400
        assert {"timestamp", "v", "robot", "seq", "boot"} <= set.intersection(*map(set, updates))
        assert {update["joint"] for update in updates if "joint" in update} == set(live.truth)
        people = run_program(*listen, "--count", "5")
        assert people.returncode == 0, people.stderr
        assert len(people.stdout.splitlines()) == 5


@pytest.mark.usefixtures("short_start")
@pytest.mark.parametrize("counted", [True, False])
def test_a_gateway_that_sends_frames_once_more_is_named_where_no_counter_shows_them(
    counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a counter they are dropped, and the joint is valid."""
    start = Live.start

    def started(module: str, *arguments: object, **streams: Any) -> Any:
        if module == "daq" and not counted:
            config = Path(str(arguments[-1]))
            lines = config.read_text(encoding="utf-8").splitlines()
            config.write_text("\n".join(line for line in lines if "counter" not in line), encoding="utf-8")
        return start(module, *arguments, **streams)

    monkeypatch.setattr(Live, "start", staticmethod(started))
    rig = ["rigid", "--wire", "slcan", "--fault", "repeat=0.15"]
    with Live(rig) as live, Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        for _, update in subscriber:
            codes = {reason["code"] for reason in update["health"]["reasons"]}
            assert not (counted and "frames_repeated" in codes)
            if update["health"]["status"] == "valid" if counted else "frames_repeated" in codes:
                break
