"""Joint states of ROS 2 over any middleware: common settings of the drivers, and decoding of messages to readings."""

import struct
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Annotated, ClassVar, Final, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from drivers.base import DriverSettings, Loss, Probe, Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.frame import FrameLayout, Frames, Signal
from drivers.layout.joint_state import BODY, FIELDS, MessageForm, form_of, stamp
from drivers.reading import empty, joined

STAMP: Final = "stamp"
MOST_FORMS: Final = 64  # largest number of stored forms of messages, about one for each publisher of the topic
_TURNED: Final = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s²", "effort": "N·m", "torque": "N·m"}
_SLID: Final = {"position": "m", "velocity": "m/s", "acceleration": "m/s²", "effort": "N", "force": "N"}
_ANY: Final = {"current": "A", "motor_current": "A", "temperature": "°C", "motor_temperature": "°C", "voltage": "V"}
# losses that all middlewares have
LOSSES: Final[Mapping[str, Loss]] = {
    "refused": Loss("messages for which the reader's queue had no room", "a free processor"),
    "unmatched": Loss("messages without any of the joints", "harmless if another device shares the topic"),
    "malformed": Loss("messages that are no joint state in CDR", "is the topic of this type?"),
    "non_finite": Loss("values that are no number", "harmless where a drive does not measure that quantity"),
}
# a joint for the example of every middleware
JOINT_EXAMPLE: Final = """
[joints.elbow]
rate = 500.0
model = { kind = "rigid", gravity_sin = true, gravity_cos = true }
# Where the header's stamp is the instant at which the values were sampled:
device_time = { signal = "ros.elbow_joint.stamp" }
[joints.elbow.channels]
position = { signal = "ros.elbow_joint.position" }
torque = { signal = "ros.elbow_joint.effort" }
"""

JointName = Annotated[str, Field(pattern=r"^[^.]+$")]


class MessageTopic(Protocol):
    """A topic of a middleware, open for reading while it is entered. `counts`: messages lost, by cause."""

    counts: dict[str, int]

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def messages(self, timeout: float) -> list[bytes]:
        """Wait up to timeout seconds for the first message, then take all that are there. Raises LinkError."""
        ...


class JointStateSettings(DriverSettings):
    """Settings of a topic with joint states; a subclass adds its kind, and the address of the topic in the
    middleware."""

    title: ClassVar[str]  # name of the middleware in sentences

    domain: int = Field(default=0, ge=0, le=232, description="ROS_DOMAIN_ID")
    topic: str = Field(default="/joint_states", pattern=r"^/[A-Za-z0-9_/]+$")
    type: Literal["sensor_msgs/JointState", "control_msgs/DynamicJointState"] = "sensor_msgs/JointState"
    joints: tuple[JointName, ...] = Field(min_length=1, description="as the messages name them")
    prismatic: tuple[JointName, ...] = Field(default=(), description="those of `joints` that are in m and N")
    interfaces: tuple[JointName, ...] = Field(
        default=("position", "velocity", "effort"), description="of a DynamicJointState: those that are read"
    )

    def source(self) -> MessageTopic:
        """Return the topic, not yet opened."""
        raise NotImplementedError

    def place(self) -> list[str]:
        """Return the lines of [drivers.NAME] with the address of the topic."""
        raise NotImplementedError

    def signals(self) -> Mapping[str, str]:
        """Return JOINT.FIELD of every joint, and JOINT.stamp (s)."""
        found: dict[str, str] = {}
        for joint in self.joints:
            units = (_SLID if joint in self.prismatic else _TURNED) | _ANY
            names = FIELDS if self.type == "sensor_msgs/JointState" else self.interfaces
            found |= {f"{joint}.{name}": units.get(name, "1") for name in names} | {f"{joint}.{STAMP}": "s"}
        return found

    def open(self, wanted: Sequence[Wanted]) -> "JointStateDriver":
        """A driver for exactly these signals. Raises LayoutError."""
        self.check(wanted)
        return JointStateDriver(self, wanted)

    def wire(self) -> tuple[str, ...]:
        """Return the topic, which only one driver may read, since otherwise every reading would come twice."""
        return self.named, str(self.domain), self.topic

    def heard(self, seconds: float) -> Probe:
        """Listen to the topic, and return its joints and rate. Raises LinkError."""
        stamps: list[float] = []
        names: list[str] = []
        with self.source() as topic:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                for message in topic.messages(min(left, 0.1)):
                    stamps.append(stamp(message))
                    names += [] if names else list(form_of(message, self.type).places)
            counts = {cause: count for cause, count in topic.counts.items() if count}
        if not names:
            return Probe((f"nothing on {self.topic} in domain {self.domain} within {seconds:g} s",))
        steps = np.diff(stamps, append=stamps[-1] + np.inf)[: max(1, len(stamps) - 1)]
        rate = 1 / float(np.median(steps))
        apart = f"{steps.min() * 1e3:.2f} to {steps.max() * 1e3:.2f} ms apart"
        said = (
            f"{len(stamps)} messages, {rate:.4g} Hz by their stamps, {apart}",
            f"it has {', '.join(names)}",
            *(f"{cause}: {count}" for cause, count in counts.items()),
        )
        return Probe(said, self._proposal(names, rate))

    def _proposal(self, names: Sequence[str], rate: float) -> str:
        """Return a configuration that listens to this topic."""
        joints = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
        quoted = ", ".join(f'"{joint}"' for joint in joints)
        lines = [
            f"# Proposed by `jointwatch doctor` from a topic of {self.title}; device_time: if stamps are true.",
            f'[drivers.ros]\nkind = "{self.named}"\ndomain = {self.domain}',
            *self.place(),
            f'topic = "{self.topic}"\ntype = "{self.type}"\njoints = [{quoted}]',
        ]
        for joint in joints:
            lines += [
                f'\n[joints."{joint}"]\nrate = {round(rate, 1):g}\nmodel = {{ kind = "rigid" }}',
                f'device_time = {{ signal = "ros.{joint}.stamp" }}\n[joints."{joint}".channels]',
                f'position = {{ signal = "ros.{joint}.position" }}\ntorque = {{ signal = "ros.{joint}.effort" }}',
            ]
        return "\n".join(lines) + "\n"


class _KnownForm:
    """A form of message, and the decoder of its requested values: stamp as a double, then the body."""

    def __init__(self, form: MessageForm, joints: Sequence[str], wanted: Sequence[Wanted]) -> None:
        self.form = form
        self.size = 8 + form.length - BODY
        self.width = 8 * -(-self.size // 8)
        self.ours = any(name.rpartition(".")[0] in joints for name in form.places)
        signals = {
            name: Signal(0, 8 * (8 + at) + (7 if form.big else 0), 64, motorola=form.big, kind="float")
            for name, at in form.places.items()
        }
        here = {name.rpartition(".")[0] for name in form.places}
        signals |= {f"{joint}.{STAMP}": Signal(0, 0, 64, kind="float", unit="s") for joint in here}
        self.decoder = Decoder(FrameLayout({0: self.size}, signals), [one for one in wanted if one.signal in signals])

    def decode(self, messages: Sequence[bytes], now: int) -> NDArray[np.void]:
        rows = bytearray().join(
            [(struct.pack("<d", stamp(one)) + one[BODY:]).ljust(self.width, b"\0") for one in messages]
        )
        count = len(messages)
        payload = np.frombuffer(rows, np.uint8).reshape(count, self.width)
        lengths, times = np.full(count, self.size, np.int64), np.full(count, now, np.int64)
        return self.decoder.decode(Frames(np.zeros(count, np.uint32), payload, lengths, times))


class JointStateDriver:
    """A driver of one topic; readings are stamped when their message is taken from the queue."""

    def __init__(self, settings: JointStateSettings, wanted: Sequence[Wanted]) -> None:
        self._settings, self._wanted = settings, wanted
        self._topic = settings.source()
        self._start()

    def _start(self) -> None:
        self._forms: list[_KnownForm] = []
        self._counts = dict.fromkeys(("frames", "unmatched", "malformed"), 0)
        self._not_finite = 0  # values that were not finite, in forms that were discarded

    def __enter__(self) -> Self:
        self._start()
        self._topic.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._topic.__exit__(None, None, None)

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of the messages that have arrived. Raises LinkError."""
        messages = self._topic.messages(timeout)
        now = time.monotonic_ns()
        batches: list[NDArray[np.void]] = []
        at = 0
        while at < len(messages):
            known = self._known(messages[at])
            if known is None:
                self._counts["malformed"] += 1
                at += 1
                continue
            end = at + 1
            while end < len(messages) and known.form.fits(messages[end]):
                end += 1
            self._counts["frames"] += end - at
            self._counts["unmatched"] += 0 if known.ours else end - at
            batches.append(known.decode(messages[at:end], now))
            at = end
        return joined(batches) if batches else empty()

    def _known(self, message: bytes) -> _KnownForm | None:
        """Return the form of a message, derived if it is new; None if the message is not a joint state."""
        for one in self._forms:
            if one.form.fits(message):
                return one
        try:
            form = form_of(message, self._settings.type)
        except (ValueError, struct.error):
            return None
        if len(self._forms) == MOST_FORMS:
            self._not_finite += self._forms.pop(0).decoder.counts["non_finite"]
        self._forms.append(_KnownForm(form, self._settings.joints, self._wanted))
        return self._forms[-1]

    def counters(self) -> Mapping[str, int]:
        """Return the number of messages and every loss by cause (see `losses` of the settings); totals since
        opening."""
        not_finite = self._not_finite + sum(one.decoder.counts["non_finite"] for one in self._forms)
        return {**self._counts, **self._topic.counts, "non_finite": not_finite}
