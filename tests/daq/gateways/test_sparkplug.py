"""An edge node of Sparkplug B at a real broker, read by a host that decodes with Tahu's own protobuf classes."""

import itertools
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from pysparkplug._protobuf import sparkplug_b_pb2 as tahu

from daq.gateways.sparkplug_payload import DataType, PayloadMetric, asks_for, payload
from estimators.base import Phase
from estimators.reasons import Reason
from hil_rig.ports import free_port
from tests.support.processes.latencies import all_are_late

BROKER = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
NODE = "spBv1.0/line3/{}/robot"
REBIRTH = tahu.Payload(metrics=[tahu.Payload.Metric(name="Node Control/Rebirth", datatype=11, boolean_value=True)])
HELD = Reason("values_held", None, {"percent": 27.0}, {"signal": "servos.elbow"})


class Broker:
    """A mosquitto on this machine alone."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        self._config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        self.start()

    def start(self) -> None:
        assert BROKER is not None
        quiet = subprocess.DEVNULL
        self.child = subprocess.Popen([BROKER, "-c", str(self._config)], stdout=quiet, stderr=quiet)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.02)  # between two looks

    def stop(self) -> None:
        self.child.send_signal(signal.SIGCONT)
        self.child.kill()
        self.child.wait()


class Host:
    """What a host application hears: kind of message, device, payload."""

    def __init__(self, port: int) -> None:
        self.heard: list[tuple[str, str, Any]] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.on_connect = lambda client, *_: client.subscribe("spBv1.0/#", 1)
        self.subscribed = False
        self.client.on_subscribe = lambda *_: setattr(self, "subscribed", True)
        self.client.on_message = self._hear
        self.client.reconnect_delay_set(1, 1)
        self.client.connect_async("127.0.0.1", port, 5)
        self.client.loop_start()

    def _hear(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        _, _, kind, _, *device = message.topic.split("/")
        if kind != "NCMD":  # its own
            self.heard.append((kind, device[0] if device else "", tahu.Payload.FromString(message.payload)))

    def of(self, *kinds: str) -> list[Any]:
        return [body for kind, _, body in list(self.heard) if kind in kinds]

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def values(body: Any) -> dict[str, Any]:
    """Metrics of a birth by name."""
    return {one.name: None if one.is_null else getattr(one, one.WhichOneof("value")) for one in body.metrics}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if BROKER is None:
        pytest.skip("the gateway by MQTT is tested with a broker: apt-get install mosquitto")
    one = Broker(tmp_path_factory.mktemp("broker"))
    yield one
    one.stop()


@pytest.fixture
def host(broker: Broker, wait: Callable[..., None]) -> Iterator[Host]:
    one = Host(broker.port)
    wait(lambda: one.subscribed)
    yield one
    one.close()


def table(broker: Broker) -> tuple[str, ...]:
    return 'kind = "sparkplug"', f'broker = "mqtt://127.0.0.1:{broker.port}"', 'group = "line3"', "rate = 20"


def test_births_data_rebirth_and_death(scene: Any, broker: Broker, host: Host, wait: Any, make_estimate: Any) -> None:
    scene.introduce(time.time())
    for joint in ("elbow", "base"):
        scene.core.estimate(joint)
    gateway = scene.start("plant", *table(broker))
    wait(lambda: {name for kind, name, _ in host.heard if kind == "DBIRTH"} == {"elbow", "base"})
    node, birth = (
        host.of("NBIRTH")[0],
        next(body for kind, name, body in host.heard if (kind, name) == ("DBIRTH", "elbow")),
    )
    assert values(node) == {"bdSeq": 0, "Node Control/Rebirth": False}
    found = values(birth)
    assert (found["parameters/inertia"], found["deviations/inertia"], found["health"]) == (0.5, 0.002, "valid")
    told = next(one for one in birth.metrics if one.name == "parameters/inertia")
    assert told.datatype == tahu.DataType.Double
    assert dict(zip(told.properties.keys, (one.string_value for one in told.properties.values), strict=True)) == {
        "engUnit": "kg·m²"
    }
    aliases = {one.alias: one.name for one in birth.metrics}
    assert len(aliases) == len(birth.metrics)
    inertia = itertools.count(6000)
    for _ in range(290):
        scene.core.estimate("elbow", make_estimate(inertia=next(inertia) / 1e4))
        time.sleep(1e-3)

    def published() -> bool:  # one by one, as the gateway's rate allows: what comes together is one message
        scene.core.estimate("elbow", make_estimate(inertia=next(inertia) / 1e4))
        return len(host.of("DDATA")) >= 5

    wait(published, pause=0.06)
    last = host.of("DDATA")[-1].metrics
    assert {aliases[one.alias] for one in last} == {"parameters/inertia"}, "on change only"
    assert not any(one.name for one in last)
    host.client.publish(NODE.format("NCMD"), b"rubbish", 1)
    command = tahu.Payload(metrics=[tahu.Payload.Metric(name="Node Control/Reboot", datatype=11, boolean_value=True)])
    host.client.publish(NODE.format("NCMD"), command.SerializeToString(), 1)
    command.metrics[0].name = "Node Control/Rebirth"
    host.client.publish(NODE.format("NCMD"), command.SerializeToString(), 1)

    def born_again() -> bool:
        for joint in ("elbow", "base"):  # one that has been silent is not born
            scene.core.estimate(joint, make_estimate(inertia=0.6))
        kinds = [kind for kind, _, _ in host.heard]
        again = host.heard[len(kinds) - kinds[::-1].index("NBIRTH") :] if kinds.count("NBIRTH") == 2 else []
        return {"elbow", "base"} <= {name for kind, name, _ in again if kind == "DBIRTH"}

    wait(born_again)
    assert values(host.of("NBIRTH")[1])["bdSeq"] == 0, "born again in the same connection"
    wait(lambda: [name for kind, name, _ in host.heard if kind == "DDEATH" and name == "base"])  # it has been silent
    births = len(host.of("DBIRTH"))
    scene.core.estimate("base")
    wait(lambda: len(host.of("DBIRTH")) > births)
    chain = [body.seq for kind, _, body in host.heard if kind in ("NBIRTH", "DBIRTH", "DDATA", "DDEATH")]
    starts = [at for at, (kind, _, _) in enumerate(host.heard) if kind == "NBIRTH"]
    for begin, end in zip(starts, [*starts[1:], len(chain)], strict=True):
        assert chain[begin:end] == [number % 256 for number in range(end - begin)], "no gap, from 0 at each birth"
    gateway.kill()
    gateway.wait()
    wait(lambda: host.of("NDEATH"))
    death = host.of("NDEATH")[0]
    assert values(death) == {"bdSeq": 0}
    assert not death.HasField("seq")
    scene.forget(gateway)


def quality(metric: Any) -> int | None:
    """The property Quality; None where nothing is said of it, which means good."""
    found = dict(zip(metric.properties.keys, metric.properties.values, strict=True))
    assert found.keys() <= {"engUnit", "Quality"}
    return found["Quality"].int_value if "Quality" in found else None


class DiedError(Exception):
    """A machine has stood still for so long that the joint counts as one of which nothing comes any more."""


def test_values_of_a_silent_joint_are_stale_since_the_last_good_one(
    scene: Any, broker: Broker, host: Host, wait: Any, make_estimate: Any
) -> None:
    for attempt in range(10):
        gateway = None
        try:
            host.heard.clear()
            scene.introduce(time.time())
            scene.core.estimate("elbow", timestamp=(good := time.time() - 100))
            gateway = scene.start(f"hush{attempt}", *table(broker), f'node = "hush{attempt}"')
            a_joint_falls_silent(scene, host, wait, make_estimate, f"hush{attempt}", good)
        except DiedError:
            gateway.terminate()
            gateway.wait(60)
            scene.forget(gateway)
        else:
            break
    assert host.of("DDEATH"), "no estimate comes"


def a_joint_falls_silent(scene: Any, host: Host, wait: Any, make_estimate: Any, node: str, good: float) -> None:
    """And comes back, is faulted for another reason, and then nothing comes of it. good: when it was good first."""
    silent = (Reason("no_data", None, {"seconds": 1.0}),)
    wait(lambda: host.of("DBIRTH"))
    birth = host.of("DBIRTH")[-1]
    names = {one.alias: one.name for one in birth.metrics}
    assert {quality(one) for one in birth.metrics} == {None}

    def until(condition: Callable[[], object]) -> None:
        wait(lambda: condition() or host.of("DDEATH"))
        if host.of("DDEATH"):
            raise DiedError

    def told(estimate: Any, about: float) -> dict[str, Any]:
        """The metrics of the data that follow."""
        before = len(host.of("DDATA"))
        scene.core.estimate("elbow", estimate, timestamp=about)
        until(lambda: len(host.of("DDATA")) > before)
        return {names[one.alias]: one for one in host.of("DDATA")[before].metrics}

    def judged(found: dict[str, Any]) -> set[int | None]:
        return {
            quality(one) for name, one in found.items() if name.startswith(("parameters/", "deviations/", "known/"))
        }

    fell = told(make_estimate(phase=Phase.FAULTED, reasons=silent), good + 3)
    assert judged(fell) == {500}, "stale"
    assert {"parameters/inertia", "deviations/viscous", "known/inertia", "error", "health"} <= fell.keys()
    inertia = fell["parameters/inertia"]
    assert (inertia.double_value, inertia.timestamp) == (0.5, round(1e3 * good)), "the last good value, and its time"
    assert (fell["health"].string_value, quality(fell["health"])) == ("faulted", None)
    assert fell["health"].timestamp > round(1e3 * good)
    back = told(make_estimate(), good + 5)
    assert judged(back) == {192}
    assert back["parameters/inertia"].double_value == 0.5
    assert judged(told(make_estimate(phase=Phase.FAULTED, reasons=(HELD,)), good + 7)) == {0}, "bad"
    births = len(host.of("DBIRTH"))
    host.client.publish(f"spBv1.0/line3/NCMD/{node}", REBIRTH.SerializeToString(), 1)
    until(lambda: len(host.of("DBIRTH")) > births)
    born = {one.name: one for one in host.of("DBIRTH")[-1].metrics}
    assert quality(born["parameters/inertia"]) == 0, "a birth says so, too"
    assert born["parameters/inertia"].timestamp == round(1e3 * (good + 5))
    wait(lambda: host.of("DDEATH"))


def test_a_broker_that_stands_still_or_dies_moves_nothing(
    scene: Any, broker: Broker, host: Host, wait: Any, make_estimate: Any, latencies: Any, metric: Any
) -> None:
    scene.last = make_estimate(inertia=9.0)
    scene.introduce(time.time())
    scene.core.estimate("elbow")
    gateway = scene.start("away", *table(broker))
    wait(lambda: host.of("DBIRTH"))
    before = latencies(scene, 200, 1000)
    broker.child.send_signal(signal.SIGSTOP)
    during = latencies(scene, 600, 600)
    broker.stop()
    wait(lambda: metric(scene.outlet.page, "gateway_clients", "away") == 0)
    gone = latencies(scene, 600, 600)
    for after in (during, gone):
        assert not all_are_late(after, before)
    wait(lambda: metric(scene.outlet.page, "gateway_dropped_total", "away") > 0)
    assert metric(scene.outlet.page, "gateway_missed_total", "away") == 0
    assert metric(scene.outlet.page, "page_skipped_total") == 0
    host.heard.clear()
    broker.start()

    def born() -> list[Any]:
        scene.core.estimate("elbow", scene.last)  # one that has been silent is not born
        host.client.publish(NODE.format("NCMD"), REBIRTH.SerializeToString(), 1)  # it may be there before the host is
        return host.of("DBIRTH")

    wait(born, pause=0.5)
    assert values(host.of("NBIRTH")[-1])["bdSeq"] >= 1, "another connection, another number"
    assert values(host.of("DBIRTH")[-1])["parameters/inertia"] == 9.0, "the state of now"
    gateway.terminate()
    wait(lambda: host.of("NDEATH"))
    assert gateway.wait(60) == 0, "a clean end is a death, too"


@pytest.mark.parametrize(
    ("kind", "value"),
    [(DataType.DOUBLE, -1.5e-300), (DataType.STRING, "N·m ± ∞"), (DataType.INT32, 2**31 - 1), (DataType.INT64, 2**60),
     (DataType.BOOLEAN, True), (DataType.DOUBLE, float("nan"))],
)  # fmt: skip
def test_tahus_decoder_reads_what_our_encoder_writes(kind: DataType, value: Any) -> None:
    body = payload(1_700_000_000_123, [PayloadMetric("a/b", kind, value, 300, "kg·m²")], 255, birth=True)
    found = tahu.Payload.FromString(body)
    assert (found.timestamp, found.seq, found.metrics[0].alias) == (1_700_000_000_123, 255, 300)
    assert found.metrics[0].datatype == kind
    told = values(found)["a/b"]
    assert told == value or (told is None and value != value)
    assert found.SerializeToString() == body, "the canonical form of it"


def test_a_command_is_read_as_tahu_writes_it() -> None:
    metric = tahu.Payload.Metric(name="Node Control/Rebirth", timestamp=5, datatype=11, boolean_value=True)
    body = tahu.Payload(timestamp=7, metrics=[metric], seq=1).SerializeToString()
    assert asks_for(body, "Node Control/Rebirth")
    assert not asks_for(body, "Node Control/Reboot")
    metric.boolean_value = False
    assert not asks_for(tahu.Payload(metrics=[metric]).SerializeToString(), "Node Control/Rebirth")
    for cut in (body[:-1], b"\xff" * 11, b"\x0b"):
        with pytest.raises(ValueError, match="expected"):
            asks_for(cut, "Node Control/Rebirth")
