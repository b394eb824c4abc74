"""Finds the joints with two encoders, and derives the settings with which the gear between them is watched."""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.joints.lost_motion import GearWatchSettings, LostMotionSettings, OneEncoderSettings, Watching
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.gear.one_encoder import OneEncoder
from estimators.online.settings import LINK, JointIdentification
from estimators.quantities import Floats

#: 1, argued: Ratio that is assumed of a gear whose ratio is not configured; it scales the motor's friction only.
RATIO: Final = 100.0
#: 1, argued: Share of gravity and acceleration load within which the sign of the load is not believed.
BAND: Final = 0.02
#: 1, argued: The same share up to which a load counts as small, for a spring that is soft at first.
SMALL: Final = 0.1
#: rad/s², argued: Acceleration of a usual motion, for the load of the link's inertia.
SPEEDING: Final = 2.0


class WatchedGear(NamedTuple):
    """A gear that is watched."""

    settings: LostMotionSettings | OneEncoderSettings
    roles: tuple[str, ...]  # of the joint's channels, in the order in which the watch takes them
    scale: Floats  # (roles,) from the channel to the link's side

    def watch(self, period: float) -> LostMotion | OneEncoder:
        """Create the watch of this gear. period: s between samples."""
        settings = self.settings
        return (
            LostMotion(settings, period) if isinstance(settings, LostMotionSettings) else OneEncoder(settings, period)
        )


def gear_of(joint: JointIdentification, rate: float) -> WatchedGear | None:
    """Return the gear of a joint; None where it is not wanted, or is not configured with one encoder. rate: Hz."""
    wish, model = joint.lost_motion or GearWatchSettings(), joint.model
    if wish.watch and wish.encoders == 1:
        assert wish.inertia_motor is not None  # by the settings' own check
        one = OneEncoderSettings(inertia_motor=wish.inertia_motor, ratio=wish.ratio or RATIO, growth=wish.growth)
        return WatchedGear(one, ("position", "torque"), np.ones(2))
    elastic = isinstance(model, TwoMassSettings)
    if not wish.watch or not (elastic or joint.lost_motion):
        return None
    if joint.lost_motion is None and rate < wish.rows:
        return None
    known = {"inertia_motor": 0.0, "inertia_link": 0.0, "gravity": 0.0, "ratio": RATIO}
    gear, sensed = 1.0, False
    if isinstance(model, TwoMassSettings):
        gear, sensed = model.gear, model.spring_torque or model.link_torque == "measured"
        known |= {"inertia_motor": gear**2 * model.inertia_motor, "inertia_link": model.inertia_link}
        known |= {"gravity": model.gravity} | ({"ratio": gear} if gear > 1.0 else {})
    said = {name: value for name in (*known, "band") if (value := getattr(wish, name)) is not None}
    known |= said
    usual = abs(known["gravity"]) + SPEEDING * known["inertia_link"]
    known = {"band": BAND * usual, "small": SMALL * usual} | known
    how = {name: getattr(wish, name) for name in Watching.model_fields}
    settings = LostMotionSettings.model_validate(known | how | {"load": sensed})
    roles = ("position", LINK, "torque") + ("joint_torque",) * sensed
    return WatchedGear(settings, roles, np.array([1.0 / gear, 1.0, gear, 1.0])[: len(roles)])
