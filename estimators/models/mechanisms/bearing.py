"""What a configuration says of a bearing between two encoders."""

from typing import Final, Self

from pydantic import Field, model_validator

from estimators.quantities import Settings

#: Hz, derived: Rate of samples that 50 ms of smoothing need: ten of them.
SLOWEST: Final = 200.0


class RingBearingSettings(Settings):
    """`clearance` of a joint in the configuration: what is known of a bearing between two encoders."""

    ring_radius: float = Field(gt=0, le=10, description="m, of the link's ring, that is read by one head")
    gravity: float = Field(ge=0, le=100, description="m/s², across the joint's axis; 0: it is vertical")
    centre: float | None = Field(
        default=None, gt=0, le=100, description="m, of the centre of all that turns from the axis; needed with gravity"
    )
    upright: float = Field(default=0.0, ge=-100, le=100, description="rad, the angle at which that centre is above")

    @property
    def pull(self) -> float:
        """g/a, 1/s²; 0 about a vertical axis."""
        return 0.0 if self.centre is None else self.gravity / self.centre

    @model_validator(mode="after")
    def _a_centre_that_gravity_pulls_at(self) -> Self:
        if self.gravity > 0.0 and self.centre is None:
            raise ValueError("expected centre, m: without it the direction of the load is not known, found none")
        return self
