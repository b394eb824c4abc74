"""The history of a running service: killed outlets and cores neither lose nor double the use that it counts."""

import contextlib
import json
import os
import re
import signal
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.config.routes import routes
from daq.recording.folder import recordings
from daq.recording.reader import blocks
from daq.state.history.reading import reading
from daq.state.history.tables import DAY, GRAINS, HOUR
from daq.subscriber import Subscriber
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until


def samples(live: Live) -> int:
    """Samples of the joint that the core has counted and the outlet has heard of."""
    told: list[str] = []

    def asked() -> bool:
        with contextlib.suppress(OSError):  # an outlet that was killed does not listen yet
            text = urllib.request.urlopen(f"{live.page}/metrics", timeout=60).read().decode()
            told[:] = re.findall(r'^jointwatch_samples_total{joint="joint1"} (.+)$', text, re.MULTILINE)
        return bool(told)

    wait_until(asked)
    return round(float(told[0]))


def kill(live: Live, name: str) -> int:
    """Kill a process of the service, and wait until it is replaced; returns what had been told of the samples."""
    pids: list[int] = []
    told = 0
    with Subscriber(live.endpoint, (f"process/{name}",), timeout=60) as updates:
        for _, update in updates:
            if update["up"] and update["pid"] not in pids:
                pids.append(update["pid"])
                if len(pids) == 2:
                    break
                told = samples(live)
                os.kill(pids[0], signal.SIGKILL)
    return told


@pytest.mark.compiled
@pytest.mark.usefixtures("short_start")
def test_use_is_neither_lost_nor_doubled_by_killed_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    recorder = f'\n[recorder]\nfolder = "{tmp_path}/recordings"\nreserve = 0\n'
    with Live(["rigid", "--wire", "udp", "--set", "rate=500"], more=recorder) as live:
        with Subscriber(live.endpoint, ("estimate/",), timeout=120) as updates:
            next(one for _, one in updates if one["health"]["status"] == "valid")
        time.sleep(3.0)
        kill(live, "outlet")
        time.sleep(3.0)
        first = kill(live, "core")  # what this core has not told yet is lost with it
        before = samples(live)  # the first core's last word, and perhaps something of the second
        wait_until(lambda: samples(live) > before + 2000)
        page = json.loads(urllib.request.urlopen(f"{live.page}/api/state", timeout=60).read())
        assert page["joints"].keys() == {"joint1"}
        table = routes(load(live.config))
        second = samples(live) - before
        assert live.service is not None
        live.service.send_signal(signal.SIGTERM)
        live.service.wait(60)
        (path,) = tmp_path.glob("*.history.sqlite")
        positions = [at for at, route in enumerate(table) if route.role == "position"]
        by_boot: dict[int, list[np.ndarray]] = {}
        for file in recordings(tmp_path / "recordings", "rigid"):
            for block in blocks(file):
                rows = block.readings
                by_boot.setdefault(block.boot, []).append(rows["value"][np.isin(rows["channel"], positions)])
    moved = [np.abs(np.diff(np.concatenate(parts))) for parts in by_boot.values()]
    assert len(moved) == 2
    told = sum(way[:count].sum() for way, count in zip(moved, (first, second), strict=True))
    with reading(path) as history:
        total = history.total_use("joint1")
        assert total is not None
        assert total.unit == "rad"
        assert 0.98 * told < total.counts.travel < 1.01 * sum(way.sum() for way in moved)
        assert total.counts.starts == 2, "each core begins with one"
        for grain in GRAINS:
            rows = history.use(grain, 0, 1e11, "joint1")
            assert sum(row.counts.travel for row in rows) == pytest.approx(total.counts.travel)
        values = history.values(HOUR, 0, 1e11, "joint1")
        names = {quantity.name for quantity in values}
        assert {"inertia", "viscous", "coulomb", "residual", "torque"} <= names
        for quantity, rows in values.items():
            if quantity.name in live.truth["joint1"]:
                truth = live.truth["joint1"][quantity.name]
                assert rows[-1].mean == pytest.approx(truth, rel=0.05, abs=0.05), quantity.name
        assert history.use(DAY, 0, 1e11, "joint1")
    assert main(["history", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "joint1\n  in motion 0.0 h" in shown
    assert "coulomb N·m" in shown
