"""Joint states of ROS 2, without a ROS installation: settings, and messages to readings."""

import struct
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from drivers.base import DriverSettings, Loss, Probe, Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.frame import Frames, Layout, Signal
from drivers.layout.joint_state import BODY, FIELDS, MessageForm, form_of, stamp
from drivers.network.dds import DdsTopic
from drivers.reading import empty, joined

STAMP: Final = "stamp"
MOST_FORMS: Final = 64  # forms that are remembered: publishers of one topic
_TURNED: Final = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s²", "effort": "N·m", "torque": "N·m"}
_SLID: Final = {"position": "m", "velocity": "m/s", "acceleration": "m/s²", "effort": "N", "force": "N"}
_ANY: Final = {"current": "A", "motor_current": "A", "temperature": "°C", "motor_temperature": "°C", "voltage": "V"}

JointName = Annotated[str, Field(pattern=r"^[^.]+$")]


class Ros2Settings(DriverSettings):
    """A topic of ROS 2 that carries joint states."""

    losses: ClassVar[Mapping[str, Loss]] = {
        "lost": Loss("messages that the middleware says were lost on the way", "the network, or a busy processor"),
        "refused": Loss("messages for which the reader's queue had no room", "a free processor"),
        "unmatched": Loss("messages without any of the joints", "harmless if another device shares the topic"),
        "malformed": Loss("messages that are no joint state in CDR", "is the topic of this type?"),
        "non_finite": Loss("values that are no number", "harmless where a drive does not measure that quantity"),
    }
    example: ClassVar[str] = """\
# A topic of ROS 2 (pip install 'jointwatch[ros2]'; no ROS is needed). A DDS domain has no access control: whoever is in
# it can publish false states, so the interface has no default. Nothing is published there.
[drivers.ros]
kind = "ros2"
domain = 0                           # ROS_DOMAIN_ID
interface = "eth0"                   # "lo": this machine alone
topic = "/joint_states"
joints = ["shoulder_pan_joint", "elbow_joint"]

[joints.elbow]
rate = 500.0
model = { kind = "rigid", gravity_sin = true, gravity_cos = true }
# Where the header's stamp is the instant at which the values were sampled:
device_time = { signal = "ros.elbow_joint.stamp" }
[joints.elbow.channels]
position = { signal = "ros.elbow_joint.position" }
torque = { signal = "ros.elbow_joint.effort" }
"""

    kind: Literal["ros2"]
    domain: int = Field(default=0, ge=0, le=232, description="ROS_DOMAIN_ID")
    interface: str = Field(min_length=1, description='of the network: "eth0", "lo" for this machine alone')
    peers: tuple[str, ...] = Field(default=(), description="addresses, where multicast does not reach them")
    topic: str = Field(default="/joint_states", pattern=r"^/[A-Za-z0-9_/]+$")
    type: Literal["sensor_msgs/JointState", "control_msgs/DynamicJointState"] = "sensor_msgs/JointState"
    joints: tuple[JointName, ...] = Field(min_length=1, description="as the messages name them")
    prismatic: tuple[JointName, ...] = Field(default=(), description="those of them that are in m and N")
    interfaces: tuple[JointName, ...] = Field(
        default=("position", "velocity", "effort"), description="of a DynamicJointState: those that are read"
    )

    def signals(self) -> Mapping[str, str]:
        """JOINT.FIELD of every joint, and JOINT.stamp (s)."""
        found: dict[str, str] = {}
        for joint in self.joints:
            units = (_SLID if joint in self.prismatic else _TURNED) | _ANY
            names = FIELDS if self.type == "sensor_msgs/JointState" else self.interfaces
            found |= {f"{joint}.{name}": units.get(name, "1") for name in names} | {f"{joint}.{STAMP}": "s"}
        return found

    def open(self, wanted: Sequence[Wanted]) -> "Ros2":
        """A driver for exactly these signals. Raises LayoutError."""
        self.check(wanted)
        return Ros2(self, wanted)

    def modules(self) -> tuple[str, ...]:
        """The driver, with the decoder's kernels; Cyclone DDS starts its threads when it is opened."""
        return ("drivers.network.ros2",)

    def wire(self) -> tuple[str, ...]:
        """A topic may be read by one driver, else every reading comes twice."""
        return "ros2", str(self.domain), self.topic

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen to a topic and say which joints are in it. place: the network's interface."""
        given: dict[str, object] = {"kind": "ros2", "interface": place, "joints": ["any"], **options}
        if "peers" in options:
            given["peers"] = options["peers"].split(",")
        asked = cls.model_validate(given)
        stamps: list[float] = []
        names: list[str] = []
        with DdsTopic(asked.domain, asked.interface, asked.peers, asked.topic, asked.type) as topic:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                for message in topic.messages(min(left, 0.1)):
                    stamps.append(stamp(message))
                    names += [] if names else list(form_of(message, asked.type).places)
        if not names:
            return Probe((f"nothing on {asked.topic} in domain {asked.domain} within {seconds:g} s",))
        steps = np.diff(stamps, append=stamps[-1] + np.inf)[: max(1, len(stamps) - 1)]
        rate = 1 / float(np.median(steps))
        apart = f"{steps.min() * 1e3:.2f} to {steps.max() * 1e3:.2f} ms apart"
        said = (
            f"{len(stamps)} messages, {rate:.4g} Hz by their stamps, {apart}",
            f"it has {', '.join(names)}",
        )
        return Probe(said, _proposal(asked, names, rate))


def _proposal(asked: Ros2Settings, names: Sequence[str], rate: float) -> str:
    """A configuration that listens to this topic."""
    joints = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
    quoted = ", ".join(f'"{joint}"' for joint in joints)
    lines = [
        "# Proposed by `jointwatch doctor` from a topic of ROS 2; device_time: if stamps are true.",
        f'[drivers.ros]\nkind = "ros2"\ndomain = {asked.domain}\ninterface = "{asked.interface}"',
        *([f"peers = [{', '.join(f'{chr(34)}{one}{chr(34)}' for one in asked.peers)}]"] if asked.peers else []),
        f'topic = "{asked.topic}"\ntype = "{asked.type}"\njoints = [{quoted}]',
    ]
    for joint in joints:
        lines += [
            f'\n[joints."{joint}"]\nrate = {round(rate, 1):g}\nmodel = {{ kind = "rigid" }}',
            f'device_time = {{ signal = "ros.{joint}.stamp" }}\n[joints."{joint}".channels]',
            f'position = {{ signal = "ros.{joint}.position" }}\ntorque = {{ signal = "ros.{joint}.effort" }}',
        ]
    return "\n".join(lines) + "\n"


class _KnownForm:
    """A form of message, and the decoder of what is wanted of it: the body, behind the stamp as a double."""

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
        self.decoder = Decoder(Layout({0: self.size}, signals), [one for one in wanted if one.signal in signals])

    def decode(self, messages: Sequence[bytes], now: int) -> NDArray[np.void]:
        rows = bytearray().join(
            [(struct.pack("<d", stamp(one)) + one[BODY:]).ljust(self.width, b"\0") for one in messages]
        )
        count = len(messages)
        payload = np.frombuffer(rows, np.uint8).reshape(count, self.width)
        lengths, times = np.full(count, self.size, np.int64), np.full(count, now, np.int64)
        return self.decoder.decode(Frames(np.zeros(count, np.uint32), payload, lengths, times))


class Ros2:
    """One topic, open for reading; readings are stamped when their message is in our hands."""

    def __init__(self, settings: Ros2Settings, wanted: Sequence[Wanted]) -> None:
        self._settings, self._wanted = settings, wanted
        self._topic = DdsTopic(settings.domain, settings.interface, settings.peers, settings.topic, settings.type)
        self._start()

    def _start(self) -> None:
        self._forms: list[_KnownForm] = []
        self._counts = dict.fromkeys(("frames", "unmatched", "malformed"), 0)
        self._not_finite = 0  # of forms that are forgotten

    def __enter__(self) -> Self:
        self._start()
        self._topic.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._topic.__exit__(None, None, None)

    def read(self, timeout: float) -> NDArray[np.void]:
        """Readings of the messages that have come. Raises LinkError."""
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
        """The form of a message, learnt where it is new; None where it is no joint state."""
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
        """Messages and every loss by cause (see Ros2Settings.losses); totals since opening."""
        not_finite = self._not_finite + sum(one.decoder.counts["non_finite"] for one in self._forms)
        return {**self._counts, **self._topic.counts, "non_finite": not_finite}
