"""A client that speaks Foxglove's protocol by the book, against the gateway as a process of its own."""

import json
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from hil_rig.ports import free_port
from tests.support.processes.latencies import all_are_late

CLIENT = Path(__file__).parents[2] / "support" / "processes" / "foxglove_client.mjs"
PROTOCOL = [Subprotocol("foxglove.sdk.v1")]


class Client:
    """The other end, from the specification: JSON texts, and binary messages of opcode 1."""

    def __init__(self, address: str, **more: Any) -> None:
        self.connection: ClientConnection = connect(
            address, subprotocols=PROTOCOL, max_size=None, legacy=True, open_timeout=60, ping_interval=None, **more
        )
        self.channels: dict[str, dict[str, Any]] = {}
        self.info = json.loads(self.connection.recv(60))
        assert self.info["op"] == "serverInfo"

    def advertised(self, *topics: str) -> None:
        """Until these topics are channels."""
        while not self.channels.keys() >= set(topics):
            message = json.loads(self.connection.recv(60))
            assert message["op"] == "advertise", message
            self.channels |= {one["topic"]: one for one in message["channels"]}

    def subscribe(self, *topics: str) -> None:
        wanted = [{"id": 100 + self.channels[topic]["id"], "channelId": self.channels[topic]["id"]} for topic in topics]
        self.connection.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

    def messages(self, timeout: float = 60) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Topic, Unix ns and message; other texts than advertisements end it."""
        names = {100 + one["id"]: topic for topic, one in self.channels.items()}
        while True:
            frame = self.connection.recv(timeout)
            if isinstance(frame, str):
                assert json.loads(frame)["op"] == "advertise"
                continue
            code, number, stamp = struct.unpack_from("<BIQ", frame)
            assert code == 1
            yield names[number], stamp, json.loads(frame[13:])


@pytest.fixture(scope="module")
def address(scene: Any) -> str:
    found = f"ws://127.0.0.1:{free_port()}"
    scene.start("view", 'kind = "foxglove"', f'address = "{found}"')
    return found


def test_every_topic_is_a_channel_whose_messages_fit_its_schema(scene: Any, address: str) -> None:
    now = time.time()
    scene.introduce(now)
    scene.core.estimate("elbow", timestamp=now)
    client = Client(address)
    assert client.info["capabilities"] == [], "nothing can be published, set or called"
    client.advertised("meta", "estimate/elbow", "residual/elbow")
    client.subscribe("meta", "estimate/elbow")
    messages = client.messages()
    late: dict[str, Any] = {}
    while late.keys() != {"meta", "estimate/elbow"}:
        topic, _, message = next(messages)
        late[topic] = message
    assert late["meta"]["joints"]["elbow"]["unit"] == "N·m", "a late client gets the last state at once"
    for topic, message in late.items():
        one = client.channels[topic]
        assert (one["encoding"], one["schemaEncoding"]) == ("json", "jsonschema")
        Draft202012Validator(json.loads(one["schema"])).validate(message)
    scene.core.estimate("elbow", timestamp=now + 1.5)
    stamp = 0
    while abs(stamp - (now + 1.5) * 1e9) > 1e3:  # an estimate from before may be on its way
        topic, stamp, message = next(messages)
    assert (topic, message["parameters"]) == ("estimate/elbow", {"inertia": 0.5, "viscous": 1.25})
    client.connection.send(json.dumps({"op": "unsubscribe", "subscriptionIds": [100 + client.channels[topic]["id"]]}))
    client.connection.send(json.dumps({"op": "setParameters", "parameters": [{"name": "a", "value": 1}]}))
    refusal = json.loads(client.connection.recv(60))
    assert (refusal["op"], refusal["level"]) == ("status", 2)
    assert "read only" in refusal["message"]
    scene.core.updates.send_multipart(scene.core.publications["elbow"].event("alarm", "something", now + 2.0))
    client.advertised("log")
    client.subscribe("log")
    client.connection.send(b"\x01\x00\x00\x00\x00rubbish")
    assert "a binary message is refused" in client.connection.recv(60)
    scene.core.updates.send_multipart(scene.core.publications["elbow"].event("fault", "no data", now + 3.0))
    topic, _, message = next(client.messages())
    assert (topic, message["message"], message["level"]) == ("log", "fault: no data", 4)
    client.connection.close()


def test_node_reads_it_with_a_websocket_of_its_own(scene: Any, address: str) -> None:
    node = shutil.which("node")
    options = ("--experimental-websocket",)  # of version 20; later ones have it and still take the option
    if node is None or subprocess.run([node, *options, "-e", "WebSocket"], capture_output=True, check=False).returncode:
        pytest.skip("a client of another library: apt-get install nodejs, version 20 or later")
    now = time.time()
    scene.core.estimate("elbow", timestamp=now)
    words = [node, "--no-warnings", *options, CLIENT, address, "estimate/elbow"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["protocol"], told["opcode"], told["subscription"]) == ("foxglove.websocket.v1", 1, 7)
    assert told["ops"][:2] == ["serverInfo", "advertise"]
    assert told["message"]["parameters"] == {"inertia": 0.5, "viscous": 1.25}
    assert int(told["ns"]) == pytest.approx(told["message"]["timestamp"] * 1e9, abs=1e3)


def test_who_does_not_speak_the_protocol_or_comes_from_a_web_page_is_refused(address: str) -> None:
    with pytest.raises(InvalidStatus) as stranger, connect(address, open_timeout=60):
        pass
    assert stranger.value.response.status_code == 400
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(address, subprotocols=PROTOCOL, origin=Origin("https://elsewhere.example"), open_timeout=60),
    ):
        pass
    assert refused.value.response.status_code == 403
    client = Client(address)
    for wrong in ('{"op":"subscribe","subscriptions":[{"id":1,"channelId":999}]}', "[", '{"op":"subscribe"}', "3"):
        client.connection.send(wrong)
        while (told := json.loads(client.connection.recv(60)))["op"] == "advertise":
            pass
        assert told["op"] == "status"
    client.connection.close()


def test_a_client_that_stops_reading_moves_nothing(
    scene: Any, address: str, wait: Any, make_estimate: Any, latencies: Any, metric: Any
) -> None:
    scene.last = make_estimate(inertia=9.0)
    scene.core.estimate("elbow")
    reading = Client(address)
    reading.advertised("estimate/elbow", "residual/elbow")
    reading.subscribe("estimate/elbow")
    place, patient = f"{scene.outlet.page.replace('http', 'ws')}/live", {"open_timeout": 60, "ping_interval": None}
    page = connect(place, max_size=None, legacy=True, **patient)
    ticks = 0
    seen: list[int] = []

    def watch() -> None:
        nonlocal ticks
        try:
            while True:
                page.recv(60)
                ticks += 1
        except ConnectionClosed:
            pass

    def read() -> None:
        for _, _, message in reading.messages():
            seen.append(message["seq"])
            if message["seq"] == last:
                return

    threads = [threading.Thread(target=one) for one in (watch, read)]
    sequence, last = scene.core.publications["elbow"].sequence, -1
    for thread in threads:
        thread.start()
    before = latencies(scene, 300, 1000)
    wait(lambda: seen)
    stalled = Client(address, max_queue=1)
    stalled.advertised("estimate/elbow", "residual/elbow")
    stalled.subscribe("estimate/elbow", "residual/elbow")
    wait(lambda: metric(scene.outlet.page, "gateway_clients", "view") == 2)
    quiet, last = ticks, sequence["estimate"] + 3000
    dropped = metric(scene.outlet.page, "gateway_dropped_total", "view")
    # 6000 messages: more than its queue and the kernel's hold
    after = latencies(scene, 3000, 1500, behind=lambda: sequence["estimate"] - seen[-1] > 500)
    threads[1].join(60)
    wait(lambda: metric(scene.outlet.page, "gateway_dropped_total", "view") > dropped)
    wait(lambda: ticks > quiet + 20)  # the page ticks on
    page.close()
    threads[0].join(60)
    assert not all_are_late(after, before)
    assert seen == sorted(seen), "the client beside it misses nothing"
    assert len(seen) == seen[-1] - seen[0] + 1
    assert metric(scene.outlet.page, "page_skipped_total") == 0
    assert metric(scene.outlet.page, "gateway_missed_total", "view") == 0
    stalled.connection.close_timeout = 0.1
    stalled.connection.close()
    reading.connection.close()
