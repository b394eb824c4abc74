"""Rig → service → gateways: every process is watched, and one that is killed comes back without the others noticing."""

import json
import os
import signal
import socket
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from daq.subscriber import Subscriber
from hil_rig.live import Live
from hil_rig.ports import free_domain, free_port
from tests.support.processes.waiting import wait_until

PROTOCOL: Any = {"subprotocols": [Subprotocol("foxglove.sdk.v1")], "max_size": None, "open_timeout": 60}
AWAY = '[gateways.plant]\nkind = "sparkplug"\nbroker = "mqtt://127.0.0.1:{}"\ngroup = "line3"\n'
ROS = '[gateways.ros]\nkind = "ros2"\ninterface = "lo"\npeers = ["127.0.0.1"]\ndomain = {}\n'


def children(parent: int) -> dict[str, int]:
    """Name → pid of the service's processes."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if int(fields["PPid"]) == parent and fields["Name"].startswith("jw "):
            found[fields["Name"][3:]] = int(fields["Pid"])
    return found


def metric(page: str, start: str) -> float:
    """Sum of the samples whose line begins so."""
    text = urllib.request.urlopen(f"{page}/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start))


def listens(address: str) -> bool:
    """Whether somebody takes connections at this address (ws://HOST:PORT)."""
    host, port = address.removeprefix("ws://").split(":")
    with socket.socket() as line:
        return line.connect_ex((host, int(port))) == 0


def test_a_gateway_that_dies_comes_back_and_nobody_else_notices() -> None:
    address = f"ws://127.0.0.1:{free_port()}"
    more = f'[gateways.view]\nkind = "foxglove"\naddress = "{address}"\n{AWAY.format(free_port())}'
    names = ["view", "plant"]
    if find_spec("cyclonedds") is not None:
        more += ROS.format(free_domain())
        names.append("ros")
    with (
        Live(["rigid", "--wire", "slcan"], more=more) as live,
        Subscriber(live.endpoint, ("estimate/",), timeout=60) as updates,
    ):
        assert live.service is not None
        service = live.service.pid
        next(updates)
        wait_until(lambda: all(metric(live.page, f'jointwatch_process_up{{process="{name}"}}') == 1 for name in names))
        wait_until(lambda: children(service).keys() == {"outlet", "core", "wire", *names})
        before = children(service)
        wait_until(lambda: listens(address))  # its process may run for a while before it listens
        with connect(address, **PROTOCOL) as client:
            assert json.loads(client.recv(60))["op"] == "serverInfo"
            os.kill(before["view"], signal.SIGKILL)
            with pytest.raises(ConnectionClosed):
                list(client)  # it has no end but this
        wait_until(lambda: children(service).get("view", before["view"]) != before["view"])
        wait_until(lambda: metric(live.page, 'jointwatch_process_restarts_total{process="view"}') == 1)
        wait_until(lambda: metric(live.page, 'jointwatch_process_up{process="view"}') == 1)
        wait_until(lambda: listens(address))
        with connect(address, **PROTOCOL) as client:
            assert json.loads(client.recv(60))["op"] == "serverInfo"
            assert json.loads(client.recv(60))["channels"]
        next(updates)
        assert not updates.gaps
        after = children(service)
        assert {name for name in before if before[name] != after[name]} == {"view"}
        lost = metric(live.page, "jointwatch_samples_lost_total{")
        # no broker is there
        wait_until(lambda: metric(live.page, 'jointwatch_gateway_dropped_total{gateway="plant"}') > 0)
        for name in names:
            lines = Path(f"/proc/{after[name]}/smaps_rollup").read_text().splitlines()
            memory = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
            print(f"{name}: {memory['Rss:']:.0f} MB, of which alone {memory['Private_Dirty:']:.0f} MB")
        refused = live.end_rig(60.0)["refused"]
        assert lost == 0 or refused > 0, "but what a wire had no room for whose reader starved"
