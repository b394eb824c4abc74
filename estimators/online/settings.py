"""Settings of the identification of one joint, and checks of what must fit together in them."""

from typing import Final, Self

from pydantic import Field, model_validator

from estimators.conditioning.conditioner import Conditioning
from estimators.models.collinearity import collinear
from estimators.models.joints import JointModelSettings
from estimators.models.joints.lost_motion import GearWatchSettings
from estimators.models.mechanisms.bearing import RingBearingSettings
from estimators.online.judgement.standstill import USUAL
from estimators.quantities import Settings
from estimators.recursive.forgetting import Alarm, Forgetting
from estimators.refit.settings import MonitorSettings
from estimators.thresholds import START

LINK: Final = "link_position"  # of a second encoder, behind the gear

NEAR: Final = ("near_x", "near_y")  # of two proximity sensors across each other at the joint's pin, m


class JointIdentification(Settings):
    """Settings of the identification of one joint."""

    model: JointModelSettings
    conditioning: Conditioning = Conditioning()
    forgetting: Forgetting = Alarm()
    start: float = Field(
        default=START, ge=2, le=600, description="s of motion that the starting procedure takes at least"
    )
    standstill: float | None = Field(
        default=None,
        ge=0,
        description="rad/s (m/s) below which the joint rests and learns nothing; found from its motion when left out",
    )
    monitor: MonitorSettings = MonitorSettings()
    saturation: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="N·m (N) that the drive cannot exceed; near it nothing is learnt",
    )

    lost_motion: GearWatchSettings | None = Field(
        default=None, description="of a gear with an encoder on either side; an elastic joint's is watched without it"
    )

    clearance: RingBearingSettings | None = Field(
        default=None, description="of a bearing between two encoders, the second a ring on the link with one head"
    )

    @property
    def rest(self) -> float:
        """Speed of standstill to begin with, rad/s (m/s)."""
        return USUAL if self.standstill is None else self.standstill

    @property
    def source(self) -> str:
        """Name of what the torque (force) comes from, where it is taken as it comes; empty: not known."""
        return ""

    def roles(self) -> tuple[str, ...]:
        """Channels that the joint must have: those of its model, and a second encoder that a gear or bearing needs."""
        own = self.model.roles()
        watched = self.lost_motion is not None and self.lost_motion.watch and self.lost_motion.encoders == 2
        return own + (LINK,) * ((watched or self.clearance is not None) and LINK not in own)

    @model_validator(mode="after")
    def _a_torque_that_saturates(self) -> Self:
        if self.saturation is not None and not {"torque", "force"} & set(self.model.roles()):
            raise ValueError(f'saturation: expected a torque or force, which the model "{self.model.kind}" has not')
        return self

    @model_validator(mode="after")
    def _a_gear_that_is_known(self) -> Self:
        wish = self.lost_motion
        if wish is None or not wish.watch or LINK in self.model.roles():
            return self
        if "torque" not in self.model.roles():
            raise ValueError("lost_motion needs a joint that turns: expected a model whose effort is a torque")
        needed = ("inertia_motor", "inertia_link")[: wish.encoders]
        missing = [name for name in needed if getattr(wish, name) is None]
        if missing:
            raise ValueError(
                f'lost_motion: expected {" and ".join(missing)}, which the model "{self.model.kind}" does not know, '
                "found none"
            )
        if wish.encoders == 2 and not (wish.band or wish.gravity or wish.inertia_link):
            raise ValueError("lost_motion: expected band, gravity or inertia_link above 0: else nothing loads the gear")
        return self

    @model_validator(mode="after")
    def _a_bearing_that_turns(self) -> Self:
        if self.clearance is not None and not {"torque"} & set(self.model.roles()):
            raise ValueError("clearance needs a joint that turns: expected a model whose effort is a torque")
        return self

    @model_validator(mode="after")
    def _an_alarm_to_follow_up(self) -> Self:
        if self.model.build().nonlinear and not isinstance(self.forgetting, Alarm):
            raise ValueError(
                f'expected forgetting of kind "alarm" for a model with nonlinear parameters, '
                f'found "{self.forgetting.kind}"'
            )
        return self

    @model_validator(mode="after")
    def _parameters_that_can_be_distinguished(self) -> Self:
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
