"""The limits from which a joint's parameter counts as drifted: the table [joints.NAME.drift]."""

from pydantic import Field

from estimators.quantities import Settings


class DriftSettings(Settings):
    """The limits from which a parameter counts as drifted."""

    percent: float = Field(default=10.0, gt=0, le=1000, description="% of the baseline")
    z: float = Field(default=5.0, gt=0, le=1000, description="standard deviations of the change")
    release: float = Field(
        default=0.7, gt=0, le=1, description="share of a limit below which a parameter is within it again"
    )
    wear: float = Field(
        default=30.0, gt=0, le=1000, description="% of dry friction, grown beside heat and load: the limit"
    )
    hold: float = Field(default=5.0, ge=0, le=3600, description="s for which it must be beyond, or within again")
