"""The catalogue of wires: what `jointwatch rig --wire NAME` selects."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from hil_rig.messages import Message
from hil_rig.wire.base import Wire
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.network.multicast import MulticastWire
from hil_rig.wire.network.ros2 import Ros2Wire
from hil_rig.wire.network.ros2_zenoh import ZenohWire
from hil_rig.wire.network.rtde import RtdeWire
from hil_rig.wire.polled_servo import PolledServoWire
from hil_rig.wire.serial import Serial
from hil_rig.wire.servo import ServoWire

Made = Callable[[Path | None, Sequence[Message], float], Wire]  # symbolic link, messages, Hz
WIRES: Final[Mapping[str, Made]] = {
    "slcan": lambda link, *_: SlcanWire(link),
    "serial": lambda link, *_: Serial(link),
    "udp": lambda link, *_: MulticastWire(link),
    "rtde": RtdeWire,
    "ros2": Ros2Wire,
    "zenoh": ZenohWire,
    "servo": ServoWire,
    "servo_polled": PolledServoWire,
}
