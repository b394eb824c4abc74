"""The catalogue of wires: what `jointwatch rig --wire NAME` selects."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hil_rig.wire.base import Wire
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.multicast import MulticastWire
from hil_rig.wire.serial import Serial

WIRES: Final[Mapping[str, Callable[[Path | None], Wire]]] = {"slcan": SlcanWire, "serial": Serial, "udp": MulticastWire}
