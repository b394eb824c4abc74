"""The OPC UA server, read by asyncua's own client: values, deviations, units, status and times; a write is refused."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

pytest.importorskip("asyncua", reason="asyncua is not installed (pip install jointwatch[opcua])")

from asyncua import Client, ua
from asyncua.crypto.cert_gen import (
    dump_private_key_as_pem,
    generate_private_key,
    generate_self_signed_app_certificate,
)
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from estimators.base import Knowledge, ParameterState, Phase
from estimators.reasons import Reason
from hil_rig.ports import free_port
from tests.support.processes.latencies import all_are_late

URN = "urn:jointwatch"
HELD = Reason("values_held", None, {"percent": 27.0}, {"signal": "servos.elbow"})


async def telling(scene: Any, *told: tuple[str, Any, float]) -> None:
    """Say these estimates of joints, about these instants, again and again: one that falls silent is not good."""
    while True:
        for joint, estimate, about in told:
            scene.core.estimate(joint, estimate, timestamp=about)
        await asyncio.sleep(0.2)


async def read(endpoint: str, instant: float, telling: Any) -> None:
    task = asyncio.create_task(telling)
    async with Client(endpoint, timeout=60) as client:
        index = await client.get_namespace_index(URN)

        async def node(*path: str) -> Any:
            return await client.nodes.objects.get_child([f"{index}:{one}" for one in ("robot", *path)])

        deadline = time.monotonic() + 120
        while True:
            try:
                inertia, _ = await node("elbow", "inertia"), await node("base", "viscous_known")
                break
            except ua.UaStatusCodeError:
                assert time.monotonic() < deadline, "the nodes come with the first estimate"
                await asyncio.sleep(0.05)

        async def status(*path: str) -> int:
            found = await (await node(*path)).read_data_value(raise_on_bad_status=False)
            return int(found.StatusCode.value)

        async def examine() -> None:
            value = await inertia.read_data_value()
            assert (value.Value.Value, value.StatusCode.value) == (0.375, ua.StatusCodes.Good)
            assert abs(value.SourceTimestamp.timestamp() - instant) < 1e-3
            assert abs(value.ServerTimestamp.timestamp() - time.time()) < 60
            assert await (await node("elbow", "inertia_deviation")).read_value() == 0.002
            assert await (await node("elbow", "inertia_known")).read_value() is True
            units = await (await inertia.get_child(["0:EngineeringUnits"])).read_value()
            assert units.DisplayName.Text == "kg·m²"
            assert await (await node("elbow", "health")).read_value() == "valid"
            assert await status("elbow", "viscous") == ua.StatusCodes.Uncertain, "the motion does not tell it"
            assert await status("base", "inertia") == ua.StatusCodes.BadOutOfService, "it is faulted"

        while True:
            try:
                await examine()
                break
            except (AssertionError, ua.UaStatusCodeError):  # of a joint of which too long nothing was said
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.5)
        level = await inertia.read_attribute(ua.AttributeIds.UserAccessLevel)
        assert not level.Value.Value & (1 << ua.AccessLevel.CurrentWrite)
        for target, written in ((inertia, 0.375), (await node("elbow", "health"), "valid")):
            with pytest.raises(ua.UaStatusCodeError) as refused:
                await target.write_value(written)
            assert refused.value.code in (ua.StatusCodes.BadUserAccessDenied, ua.StatusCodes.BadNotWritable)
        with pytest.raises(ua.UaStatusCodeError):
            await client.nodes.objects.add_object(index, "mine")
    task.cancel()


def test_nodes_have_values_units_status_and_times_and_cannot_be_written(
    scene: Any, wait: Any, make_estimate: Any, metric: Any
) -> None:
    endpoint = f"opc.tcp://127.0.0.1:{free_port()}"
    instant = time.time() - 1
    scene.introduce(instant)
    scene.start("opc", 'kind = "opcua"', f'endpoint = "{endpoint}"', "rate = 20")
    states = ParameterState(Knowledge.KNOWN), ParameterState(Knowledge.NOT_IDENTIFIABLE, ("inertia",))
    elbow, base = make_estimate(inertia=0.375)._replace(states=states), make_estimate(phase=Phase.FAULTED)
    told = telling(scene, ("base", base, time.time()), ("elbow", elbow, instant))
    asyncio.run(read(endpoint, instant, told))
    wait(lambda: metric(scene.outlet.page, "gateway_sent_total", "opc") > 0)


async def read_silent(endpoint: str, scene: Any, make_estimate: Any, wait: Any) -> None:
    """A joint that falls silent, comes back, is faulted for another reason, and of which then no estimate comes."""
    good = time.time() - 100
    silent = make_estimate(phase=Phase.FAULTED, reasons=(Reason("no_data", None, {"seconds": 1.0}),), inertia=0.375)
    async with Client(endpoint, timeout=60) as client:
        index = await client.get_namespace_index(URN)

        async def told(name: str) -> Any:
            node = await client.nodes.objects.get_child([f"{index}:{one}" for one in ("robot", "elbow", name)])
            return await node.read_data_value(raise_on_bad_status=False)

        async def until(name: str, code: int) -> Any:
            deadline = time.monotonic() + 60
            while (value := await told(name)).StatusCode.value != code:
                assert time.monotonic() < deadline, f"{value} instead of {ua.status_codes.get_name_and_doc(code)}"
                await asyncio.sleep(0.05)
            return value

        spoken: list[asyncio.Task[None]] = []

        def tell(estimate: Any, about: float) -> None:
            silence()
            spoken.append(asyncio.create_task(telling(scene, ("elbow", estimate, about))))

        def silence() -> None:
            while spoken:
                spoken.pop().cancel()

        known = make_estimate(inertia=0.375)._replace(states=(ParameterState(Knowledge.KNOWN),) * 2)
        tell(known, good)
        await until("inertia", ua.StatusCodes.Good)
        tell(silent, good + 3)
        for name in ("inertia", "inertia_deviation", "inertia_known", "error"):
            value = await until(name, ua.StatusCodes.BadNoCommunication)
            assert abs(value.SourceTimestamp.timestamp() - good) < 1e-3, "when it was good last"
            assert value.Value.Value is None, "a bad value is none, as OPC UA has it"
        health = await until("health", ua.StatusCodes.Good)
        assert health.Value.Value == "faulted", "that is known"
        assert (await until("reasons", ua.StatusCodes.Good)).Value.Value == "no data for 1.0 s"
        tell(known, good + 5)
        value = await until("inertia", ua.StatusCodes.Good)
        assert abs(value.SourceTimestamp.timestamp() - good - 5) < 1e-3
        tell(make_estimate(phase=Phase.FAULTED, reasons=(HELD,)), good + 7)
        value = await until("inertia", ua.StatusCodes.BadOutOfService)
        assert abs(value.SourceTimestamp.timestamp() - good - 5) < 1e-3
        tell(known, good + 9)
        await until("inertia", ua.StatusCodes.Good)
        silence()
        for name in ("inertia", "health"):  # no estimate comes any more: nothing is known
            value = await until(name, ua.StatusCodes.BadNoCommunication)
            assert abs(value.SourceTimestamp.timestamp() - good - 9) < 1e-3


def test_values_of_a_silent_joint_are_bad_and_have_the_time_of_the_last_good_one(
    scene: Any, make_estimate: Any, wait: Any, metric: Any
) -> None:
    endpoint = f"opc.tcp://127.0.0.1:{free_port()}"
    scene.introduce(time.time())
    scene.start("silent", 'kind = "opcua"', f'endpoint = "{endpoint}"', "rate = 20")
    scene.core.estimate("elbow", make_estimate())
    wait(lambda: metric(scene.outlet.page, "gateway_sent_total", "silent") > 0)
    asyncio.run(read_silent(endpoint, scene, make_estimate, wait))


async def read_locked(endpoint: str, folder: Path) -> None:
    with pytest.raises((ua.UaError, ConnectionError, TimeoutError)):
        async with Client(endpoint, timeout=5):
            pass
    client = Client(endpoint, timeout=60)
    client.application_uri = "urn:jointwatch:client"
    policy = "Basic256Sha256,SignAndEncrypt"
    await client.set_security_string(f"{policy},{folder}/client.der,{folder}/client.pem")
    async with client:
        index = await client.get_namespace_index(URN)
        assert await client.nodes.objects.get_child([f"{index}:robot"])


def test_with_a_certificate_nobody_reads_without_encryption(scene: Any) -> None:
    names = {"organizationName": "jointwatch"}
    for one, uses in (("server", ExtendedKeyUsageOID.SERVER_AUTH), ("client", ExtendedKeyUsageOID.CLIENT_AUTH)):
        key, identity = generate_private_key(), x509.UniformResourceIdentifier(f"urn:jointwatch:{one}")
        (scene.folder / f"{one}.pem").write_bytes(dump_private_key_as_pem(key))
        made = generate_self_signed_app_certificate(key, one, names, [identity], [uses], days=2)
        (scene.folder / f"{one}.der").write_bytes(made.public_bytes(Encoding.DER))
    endpoint = f"opc.tcp://127.0.0.1:{free_port()}"
    files = (f'certificate = "{scene.folder}/server.der"', f'key = "{scene.folder}/server.pem"')
    scene.start("locked", 'kind = "opcua"', f'endpoint = "{endpoint}"', *files)
    asyncio.run(read_locked(endpoint, scene.folder))


CLIENT = """
import asyncio, sys
from asyncua import Client

class Told:
    def datachange_notification(self, node, value, data):
        print(value, flush=True)

async def main():
    async with Client(sys.argv[1], timeout=60) as client:
        index = await client.get_namespace_index("urn:jointwatch")
        joint = await client.nodes.objects.get_child([f"{index}:robot", f"{index}:elbow"])
        inertia = await joint.get_child([f"{index}:inertia"])
        subscription = await client.create_subscription(20, Told())
        await subscription.subscribe_data_change(await joint.get_variables() if len(sys.argv) > 2 else inertia)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def until(lines: IO[str], wanted: str) -> None:
    """Read up to this line; before it come older values, and None while there was no estimate for a while."""
    while (line := lines.readline()) != wanted:
        assert line, "the client has ended"


def test_a_client_that_stops_moves_nothing(
    scene: Any, wait: Any, make_estimate: Any, latencies: Any, metric: Any
) -> None:
    """A stopped client has subscribed to every node; another one beside it gets the newest value all the same."""
    scene.last = make_estimate(inertia=9.0)
    endpoint = f"opc.tcp://127.0.0.1:{free_port()}"
    scene.introduce(time.time())
    scene.start("halt", 'kind = "opcua"', f'endpoint = "{endpoint}"', "rate = 50")
    scene.core.estimate("elbow", make_estimate(inertia=1.0))
    wait(lambda: metric(scene.outlet.page, "gateway_sent_total", "halt") > 0)
    before = latencies(scene, 200, 1000)
    words = [sys.executable, "-c", CLIENT, endpoint]
    with (
        subprocess.Popen([*words, "all"], stdout=subprocess.PIPE, text=True) as stopped,
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as reading,
    ):
        assert stopped.stdout is not None
        assert reading.stdout is not None
        try:
            assert stopped.stdout.readline()
            assert reading.stdout.readline()
            wait(lambda: metric(scene.outlet.page, "gateway_clients", "halt") == 2)
            stopped.send_signal(signal.SIGSTOP)
            scene.core.estimate("elbow", make_estimate(inertia=1.5))
            until(reading.stdout, "1.5\n")
            after = latencies(scene, 1200, 1200)
            until(reading.stdout, "9.0\n")
        finally:
            stopped.kill()
            reading.kill()
    assert not all_are_late(after, before)
    assert metric(scene.outlet.page, "gateway_missed_total", "halt") == 0
    assert metric(scene.outlet.page, "page_skipped_total") == 0
