"""The catalogue of drivers: what `kind = "…"` in a [drivers.NAME] table selects."""

from typing import Annotated

from pydantic import Field

from drivers.can_bus import CanBusSettings
from drivers.serial_port import SerialPortSettings

AnyDriver = Annotated[CanBusSettings | SerialPortSettings, Field(discriminator="kind")]
