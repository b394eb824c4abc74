"""The catalogue of ready layouts: what `kind = "…"` in a [[drivers.NAME.layouts]] table selects."""

from typing import Annotated

from pydantic import Field

from drivers.layouts.cia402 import CiA402Settings
from drivers.layouts.mit import MitSettings
from drivers.layouts.moteus import MoteusSettings
from drivers.layouts.odrive import ODriveSettings

AnyLayout = Annotated[
    CiA402Settings | MitSettings | MoteusSettings | ODriveSettings,
    Field(discriminator="kind"),
]
