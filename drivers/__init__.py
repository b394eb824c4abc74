"""The catalogue of drivers: what `kind = "…"` in a [drivers.NAME] table selects."""

import importlib
from typing import Annotated, Final

from pydantic import Field

from drivers.can.bus import CanBusSettings
from drivers.files.player import FileSettings
from drivers.serial.port import SerialPortSettings

# kernels that only one kind of wire needs: by interface of a CAN bus, else by kind
_KERNELS: Final = {
    "slcan": "drivers.can.slcan",
    "socketcan": "drivers.can.recvmmsg",
    "udp_multicast": "drivers.can.recvmmsg",
    "serial": "drivers.serial.deframer",
    "file": "drivers.files.candump",
}
AnyDriver = Annotated[CanBusSettings | FileSettings | SerialPortSettings, Field(discriminator="kind")]


def kernels(driver: AnyDriver) -> str | None:
    """The module with the kernels of its wire; None where it needs none of its own."""
    return _KERNELS.get(driver.interface if isinstance(driver, CanBusSettings) else driver.kind)


def load(driver: AnyDriver) -> None:
    """Load the kernels of its wire ahead of need, for whatever process is forked from this one."""
    name = kernels(driver)
    if name is not None:
        importlib.import_module(name)
