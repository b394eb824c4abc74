"""The catalogue of drivers: what `kind = "…"` in a [drivers.NAME] table selects."""

from typing import Annotated

from pydantic import Field

from drivers.can_bus import CanBusSettings
from drivers.file_player import FileSettings
from drivers.serial_port import SerialPortSettings

AnyDriver = Annotated[CanBusSettings | FileSettings | SerialPortSettings, Field(discriminator="kind")]
