"""Sparkplug B: the robot as an edge node at an MQTT broker, a device for each joint, births, data on change, deaths.

While a joint is faulted its values have the property Quality and the time of the last ones that counted.

The only message that it takes is the command `Node Control/Rebirth`, which repeats the births. While the broker is away
nothing waits: data are dropped and counted, and the births after the next connection have the state of then.
"""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from daq.config.gateways import SparkplugSettings
from daq.config.sections import Config
from daq.gateways.gateway import Counts
from daq.gateways.joint_metrics import Change, is_faulted, is_silent, is_value, metrics_of, open_changes
from daq.gateways.sparkplug_payload import DataType, PayloadMetric, Quality, asks_for, payload
from daq.processes.logs import log

NAMESPACE: Final = "spBv1.0"
REBIRTH: Final = "Node Control/Rebirth"
KINDS: Final = {bool: DataType.BOOLEAN, int: DataType.INT32, float: DataType.DOUBLE, str: DataType.STRING}
CYCLE: Final = 256  # of seq and bdSeq
#: s, argued: A joint that is silent for so long has died for the plant: the core is restarted within less.
SILENT: Final = 5.0
#: 1, argued: Messages on their way to the broker before more are dropped: 100 s of seven joints at 1 Hz.
MOST_WAITING: Final = 700
#: s, argued: Between signs of life to the broker; it reports our death after one and a half of it.
KEEP_ALIVE: Final = 10
LONGEST_PAUSE: Final = 10  # s between two attempts to connect
FAREWELL: Final = 0.5  # s that the death certificate may take when the service stops


class Device:
    """One joint: what was published of it last, and what is new."""

    def __init__(self) -> None:
        self.unit: dict[str, str] = {}
        self.alive = False  # whether the broker has its birth
        self.seen = 0.0  # monotonic s of the last estimate
        self.values: dict[str, Change] = {}
        self.published: dict[str, Change] = {}
        self.aliases: dict[str, int] = {}
        self.quality = self.published_quality = Quality.GOOD  # of its values
        self.good: int | None = None  # Unix ms of the last estimate whose values counted

    def take(self, update: Mapping[str, Any]) -> None:
        """Remember an estimate."""
        self.seen = time.monotonic()
        self.values |= metrics_of(update)
        if is_faulted(update):
            self.quality = Quality.STALE if is_silent(update) else Quality.BAD
        else:
            self.quality, self.good = Quality.GOOD, round(1e3 * update["timestamp"])

    def metrics(self, values: Mapping[str, Change]) -> list[PayloadMetric]:
        """Sparkplug's metrics of some values."""
        said = self.quality if (self.quality, self.published_quality) != (Quality.GOOD, Quality.GOOD) else None
        good = None if self.quality == Quality.GOOD else self.good
        return [
            PayloadMetric(
                name, KINDS[type(one)], one, self.aliases[name], self.unit.get(name, ""),
                *((said, good) if is_value(name) else ()),
            )
            for name, one in values.items()
        ]  # fmt: skip

    def changed(self) -> dict[str, Change]:
        """What differs from what was published last; a number that is not known equals itself.

        Every value does where it begins to count, or no longer does.
        """
        turned = self.quality != self.published_quality
        return {
            name: one
            for name, one in self.values.items()
            if repr(one) != repr(self.published.get(name)) or (turned and is_value(name))
        }

    def note_published(self, values: Mapping[str, Change]) -> None:
        """Note that these have been published."""
        self.published |= values
        self.published_quality = self.quality


class SparkplugNode:
    """The edge node. paho's own thread talks to the broker; births and data are published by `turn` alone."""

    def __init__(self, settings: SparkplugSettings, config: Config) -> None:
        self.counts = Counts()
        self._settings = settings
        self._node = settings.node or config.robot.name
        self._devices: dict[str, Device] = {}
        self._waiting: deque[mqtt.MQTTMessageInfo] = deque()
        self._seq, self._bd_seq, self._due, self._aliases = 0, -1, 0.0, 0
        self._births_due = self._born = False  # set by paho's thread, and reset by it
        self._trouble = ""
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2, clean_session=True)
        self._client.on_pre_connect = self._before_connection
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_command
        self._client.reconnect_delay_set(1, LONGEST_PAUSE)

    async def __aenter__(self) -> Self:
        parts, settings = urlsplit(self._settings.broker), self._settings
        if parts.scheme == "mqtts":
            self._client.tls_set(ca_certs=None if settings.ca is None else str(settings.ca))
        if settings.user is not None:
            secret = None if settings.password is None else settings.password.read_text("utf-8").strip()
            self._client.username_pw_set(settings.user, secret)
        self._client.connect_async(str(parts.hostname), int(parts.port or 0), KEEP_ALIVE)
        self._client.loop_start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client.is_connected():  # a broker publishes the will of those only who leave without a word
            said = self._client.publish(self._topic("NDEATH"), self._death(), 1)
            if said.rc == mqtt.MQTT_ERR_SUCCESS:
                said.wait_for_publish(FAREWELL)
        self._client.disconnect()
        self._client.loop_stop()

    def take(self, topic: str, update: Mapping[str, Any]) -> None:
        """Remember the newest values of each joint."""
        family, _, joint = topic.partition("/")
        if topic == "meta":
            for name, fields in update["joints"].items():
                units = {parameter: one["unit"] for parameter, one in fields["parameters"].items()}
                folders = ("parameters", "deviations")
                device = self._devices.setdefault(name, Device())
                device.unit = {f"{folder}/{one}": unit for folder in folders for one, unit in units.items()}
        elif family == "estimate" and joint in self._devices:  # before `meta` nothing is known of its units
            self._devices[joint].take(update)
        elif family == "change" and joint in self._devices:
            self._devices[joint].values |= open_changes(update)

    async def turn(self, _: float, /) -> None:
        """Publish births where they are due, and every 1/rate s what has changed."""
        self._count_sent()
        if not self._client.is_connected():
            self.counts.clients = 0
            self._drop_due()
            return
        self.counts.clients = 1
        if self._births_due:
            self._births_due = False
            self._bear_node()
        if not self._born or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + 1 / self._settings.rate
        for name, device in self._devices.items():
            self._publish_device(name, device)

    def _publish_device(self, name: str, device: Device) -> None:
        if time.monotonic() - device.seen > SILENT:
            if device.alive:
                device.alive = False
                self._publish("DDEATH", [], name, birth=False)
        elif not device.alive or device.values.keys() != device.published.keys():
            for metric in device.values.keys() - device.aliases.keys():
                self._aliases += 1
                device.aliases[metric] = self._aliases
            device.published = {}
            device.alive = self._publish("DBIRTH", device.metrics(device.values), name, birth=True)
            device.note_published(device.values)
        elif (changed := device.changed()) and self._publish("DDATA", device.metrics(changed), name, birth=False):
            device.note_published(changed)

    def _drop_due(self) -> None:
        """Count what would have been sent now."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + 1 / self._settings.rate
            for device in self._devices.values():
                self.counts.dropped += bool(device.changed())
                device.note_published(device.values)

    def _bear_node(self) -> None:
        """Publish the node's birth; its devices follow as they are due, which is now."""
        self._seq, self._due, self._born = 0, 0.0, True
        for device in self._devices.values():
            device.alive = False
        rebirth = PayloadMetric(REBIRTH, DataType.BOOLEAN, False)
        self._publish("NBIRTH", [self._birth_number(), rebirth], "", birth=True)

    def _publish(self, kind: str, metrics: list[PayloadMetric], device: str, birth: bool) -> bool:
        """Publish with the next seq; what does not fit is dropped and counted. Returns whether it is on its way."""
        if len(self._waiting) >= MOST_WAITING:
            self.counts.dropped += 1
            return False
        body = payload(time.time_ns() // 10**6, metrics, self._seq, birth)
        self._seq = (self._seq + 1) % CYCLE
        self._waiting.append(self._client.publish(self._topic(kind, device), body, 0))
        return True

    def _count_sent(self) -> None:
        while self._waiting:
            first = self._waiting[0]
            if first.rc not in (mqtt.MQTT_ERR_SUCCESS, mqtt.MQTT_ERR_AGAIN):
                self.counts.dropped += 1
            elif first.is_published():
                self.counts.sent += 1
            else:
                return
            self._waiting.popleft()

    def _topic(self, kind: str, device: str = "") -> str:
        return "/".join([NAMESPACE, self._settings.group, kind, self._node, *([device] if device else [])])

    def _birth_number(self) -> PayloadMetric:
        return PayloadMetric("bdSeq", DataType.INT64, self._bd_seq)

    def _death(self) -> bytes:
        return payload(time.time_ns() // 10**6, [self._birth_number()], None, birth=True)

    # what paho's thread calls

    def _before_connection(self, client: mqtt.Client, _data: object) -> None:
        """Give each connection a will of its own number, which its births have, too."""
        self._bd_seq, self._born = (self._bd_seq + 1) % CYCLE, False
        client.will_set(self._topic("NDEATH"), self._death(), 1)

    def _on_connect(self, client: mqtt.Client, _data: object, _flags: object, reason: Any, _properties: object) -> None:
        if reason.is_failure:
            self._complain(f"the broker refuses us: {str(reason).lower()}")
            return
        self._trouble = ""
        log.info("Sparkplug %s/%s at %s", self._settings.group, self._node, self._settings.broker)
        client.subscribe(self._topic("NCMD"), 1)
        self._births_due = True

    def _on_disconnect(self, _client: mqtt.Client, _data: object, _flags: object, reason: Any, _: object) -> None:
        if reason.is_failure:
            self._complain(f"the broker is away: {str(reason).lower()}; tried again")

    def _on_command(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        """Repeat the births if the command asks for that; every other command is ignored."""
        try:
            self._births_due |= asks_for(bytes(message.payload), REBIRTH)
        except ValueError as error:
            self._complain(f"a command on {message.topic} cannot be read: {error}")

    def _complain(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.warning("%s: %s", self._settings.broker, trouble)
        self._trouble = trouble
