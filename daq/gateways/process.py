"""The gateway process: subscribes to the outlet's stream and hands every message to one gateway.

No other process waits for it. While it is blocked, messages wait in its own queue at the outlet (10,000), then they are
lost for it alone; `seq` shows that, and it is counted. It publishes nothing but its counters.
"""

import asyncio
import os
import pkgutil
import time
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

from daq.config.sections import Config
from daq.gateways.gateway import Gateway
from daq.processes.heartbeat import Life
from daq.processes.logs import log
from daq.processes.process import STREAM, StopSignal, endpoint
from daq.stream.sockets import Socket, open_publisher
from jointwatch_client.subscriber import Subscriber

# kind → the class that opens it; imported where a table asks for it, in its own process only
KINDS: Final = {
    "foxglove": "daq.gateways.foxglove:FoxgloveServer",
    "opcua": "daq.gateways.opcua:OpcuaServer",
    "ros2": "daq.gateways.ros2:Ros2Publisher",
    "sparkplug": "daq.gateways.sparkplug:SparkplugNode",
}
#: s, argued: Time between two looks at the stream, as long as a tick of the page.
TURN: Final = 0.05
#: 1, argued: Messages taken in one turn at most: 1.4 s of seven joints, which take some 20 ms.
AT_ONCE: Final = 1000
REPORT_EVERY: Final = 0.5  # s
NICE: Final = 5  # a client may wait, the core may not


def run(name: str, config: Config, runtime: Path, life: Life) -> None:
    """Serve until SIGTERM. Raises CannotStartError."""
    stop = StopSignal()
    os.nice(NICE)
    settings = config.gateways[name]
    gateway: Gateway = pkgutil.resolve_name(KINDS[settings.kind])(settings, config)
    context: zmq.Context[Socket] = zmq.Context.instance()
    status = open_publisher(context, endpoint(runtime, "status"))
    try:
        with Subscriber(endpoint(runtime, STREAM), timeout=0.0) as stream:
            asyncio.run(_serve(name, gateway, stream, status, stop, life))
    finally:
        status.close()
        context.term()


async def _serve(name: str, gateway: Gateway, stream: Subscriber, status: Socket, stop: StopSignal, life: Life) -> None:
    start, due, malformed = time.time_ns(), 0.0, 0
    async with gateway:
        life.ready()
        while not stop.asked:
            life.beat()
            begun = time.monotonic()
            for topic, update in _waiting(stream):
                try:
                    gateway.take(topic, update)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    malformed += 1
                    if malformed == 1:  # only the first is logged
                        log.warning("%s: a message of %s cannot be read: %r", name, topic, error)
            await gateway.turn(time.time())
            if begun >= due:
                due = begun + REPORT_EVERY
                counts = gateway.counts
                body = {"start": start, "clients": counts.clients, "sent": counts.sent, "dropped": counts.dropped}
                body["missed"] = stream.gaps.total()
                status.send_multipart((f"gateway/{name}".encode(), msgpack.packb(body)))
            await asyncio.sleep(max(0.001, TURN - (time.monotonic() - begun)))


def _waiting(stream: Subscriber) -> list[tuple[str, dict[str, Any]]]:
    """The messages that have come, up to AT_ONCE."""
    found: list[tuple[str, dict[str, Any]]] = []
    try:
        while len(found) < AT_ONCE:
            found.append(next(stream))
    except TimeoutError:
        pass
    return found
