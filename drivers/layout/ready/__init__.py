"""The catalogue of ready layouts: what `kind = "…"` in a [[drivers.NAME.layouts]] table selects."""

from typing import Annotated

from pydantic import Field

from drivers.layout.ready.cia402 import CiA402Settings
from drivers.layout.ready.mit import MitSettings
from drivers.layout.ready.moteus import MoteusSettings
from drivers.layout.ready.odrive import ODriveSettings

AnyLayout = Annotated[
    CiA402Settings | MitSettings | MoteusSettings | ODriveSettings,
    Field(discriminator="kind"),
]
