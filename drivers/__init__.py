"""The catalogue of drivers: what `kind = "…"` in a [drivers.NAME] table selects."""

from typing import Annotated

from pydantic import Field

from drivers.can.bus import CanBusSettings
from drivers.files.player import FileSettings
from drivers.serial.port import SerialPortSettings

AnyDriver = Annotated[CanBusSettings | FileSettings | SerialPortSettings, Field(discriminator="kind")]
