"""A cable is pulled, and what a plant reads by OPC UA and by MQTT turns bad, with the time of the last good value."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("asyncua", reason="asyncua is not installed (pip install jointwatch[opcua])")
pytest.importorskip("paho", reason="paho-mqtt is not installed (pip install jointwatch[mqtt])")

from asyncua import Client, ua

from hil_rig.live import Live
from hil_rig.ports import free_port
from tests.daq.gateways.test_sparkplug import BROKER, Broker, Host, quality

PATIENCE = 120.0  # s
MORE = """
[gateways.cell]
kind = "opcua"
endpoint = "{endpoint}"
rate = 5

[gateways.plant]
kind = "sparkplug"
broker = "mqtt://127.0.0.1:{port}"
group = "line3"
rate = 5
"""


async def watch(endpoint: str, live: Live, host: Host) -> None:
    """Read the inertia while the cable is pulled and put back."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            async with Client(endpoint, timeout=60):
                break
        except OSError:  # the gateway starts beside the core
            assert time.monotonic() < deadline
            await asyncio.sleep(0.5)
    async with Client(endpoint, timeout=60) as client:
        index = await client.get_namespace_index("urn:jointwatch")

        async def value() -> Any:
            path = [f"{index}:{one}" for one in ("rigid", "joint1", "inertia")]
            try:
                return await (await client.nodes.objects.get_child(path)).read_data_value(raise_on_bad_status=False)
            except ua.UaStatusCodeError:  # before the first estimate
                return None

        async def until(*codes: int) -> Any:
            deadline = time.monotonic() + PATIENCE
            while (found := await value()) is None or found.StatusCode.value not in codes:
                assert time.monotonic() < deadline, found
                await asyncio.sleep(0.2)
            return found

        await until(ua.StatusCodes.Good, ua.StatusCodes.Uncertain)
        live.hold_rig(True)
        pulled = time.time()
        bad = await until(ua.StatusCodes.BadNoCommunication)
        at = bad.SourceTimestamp.timestamp()
        assert pulled - 5.0 < at < pulled + 1.0, "when it was good last"
        await asyncio.sleep(3.0)
        later = await value()
        assert later.StatusCode.value == ua.StatusCodes.BadNoCommunication
        assert later.SourceTimestamp.timestamp() == at, "it does not grow young"
        live.hold_rig(False)
        while (await until(ua.StatusCodes.Good, ua.StatusCodes.Uncertain)).SourceTimestamp.timestamp() < at + 3.0:
            await asyncio.sleep(0.2)  # the first are of rows from before
        stale = [one for body in host.of("DDATA", "DBIRTH") for one in body.metrics if quality(one) == 500]
        assert stale
        assert all(abs(one.timestamp / 1e3 - at) < 1.5 for one in stale), [one.timestamp / 1e3 - at for one in stale]
        deadline = time.monotonic() + PATIENCE
        while not [one for body in host.of("DDATA") for one in body.metrics if quality(one) == 192]:
            assert time.monotonic() < deadline, "and good again"
            await asyncio.sleep(0.2)


@pytest.mark.slow
@pytest.mark.skipif(BROKER is None, reason="needs a broker: apt-get install mosquitto")
def test_what_a_plant_reads_of_a_joint_whose_cable_is_pulled_is_bad_until_it_is_back(tmp_path: Path) -> None:
    broker, endpoint = Broker(tmp_path), f"opc.tcp://127.0.0.1:{free_port()}"
    host = Host(broker.port)
    try:
        with Live(["rigid", "--wire", "slcan"], more=MORE.format(endpoint=endpoint, port=broker.port)) as live:
            asyncio.run(watch(endpoint, live, host))
    finally:
        host.close()
        broker.stop()
