"""How one joint is identified: settings only, and what must fit together in them."""

from typing import Self

from pydantic import Field, model_validator

from estimators.conditioning.conditioner import Conditioning
from estimators.models.collinearity import collinear
from estimators.models.joints import JointModelSettings
from estimators.quantities import Settings
from estimators.recursive.forgetting import Alarm, Forgetting
from estimators.refit.settings import Monitor


class Identification(Settings):
    """How one joint is identified."""

    model: JointModelSettings
    conditioning: Conditioning = Conditioning()
    forgetting: Forgetting = Alarm()
    start: float = Field(
        default=12.0, ge=2, le=600, description="s of motion that the starting procedure takes at least"
    )
    standstill: float = Field(
        default=0.005, ge=0, description="rad/s (m/s) below which the joint rests and nothing is learnt"
    )
    monitor: Monitor = Monitor()
    saturation: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="N·m (N) that the drive cannot exceed; near it nothing is learnt",
    )

    @model_validator(mode="after")
    def _an_alarm_to_follow_up(self) -> Self:
        if self.model.build().nonlinear and not isinstance(self.forgetting, Alarm):
            raise ValueError(
                f'expected forgetting of kind "alarm" for a model with nonlinear parameters, '
                f'found "{self.forgetting.kind}"'
            )
        return self

    @model_validator(mode="after")
    def _parameters_that_can_be_told_apart(self) -> Self:
        names = collinear(self.model.build())
        if len(names) == 1:
            raise ValueError(f"expected a column for every parameter, found that of {names[0]} zero under any motion")
        if names:
            raise ValueError(
                f"expected parameters that motion can tell apart, found the columns of {' and '.join(names)} collinear "
                "under any motion: leave one out"
            )
        return self

    @model_validator(mode="after")
    def _bounds_of_its_own(self) -> Self:
        known = {parameter.name: parameter for parameter in self.model.build().nonlinear}
        for name, (low, high) in self.monitor.refit.bounds.items():
            if name not in known:
                raise ValueError(f"expected bounds of {', '.join(known) or 'nothing'}, found {name}")
            parameter = known[name]
            if not parameter.low <= low < high <= parameter.high:
                raise ValueError(
                    f"bounds of {name}: expected low < high within [{parameter.low:g}, {parameter.high:g}] "
                    f"{parameter.unit}, found [{low:g}, {high:g}]"
                )
        return self
