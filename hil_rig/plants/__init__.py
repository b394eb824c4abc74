"""The catalogue of rigs: what `jointwatch rig NAME` selects."""

import pkgutil
from typing import Final, NamedTuple

from hil_rig.plants.base import PlantSettings


class Rig(NamedTuple):
    """One rig: the place of its settings, the default number of joints, and a description."""

    place: str  # module in hil_rig.plants, loaded on demand, since each module has its own kernels
    joints: int
    text: str

    @property
    def settings(self) -> type[PlantSettings]:
        """The class of the settings of its joints."""
        found: type[PlantSettings] = pkgutil.resolve_name(f"hil_rig.plants.{self.place}")
        return found


RIGS: Final = {
    "two_mass": Rig(
        "joints.two_mass:TwoMassPlantSettings",
        1,
        "an elastic joint with a harmonic drive, motor and link side measured",
    ),
    "rigid": Rig("joints.rigid:RigidPlantSettings", 1, "a rigid joint with friction and gravity"),
    "arm": Rig("joints.rigid:RigidPlantSettings", 7, "seven rigid joints without coupling"),
    "gear": Rig(
        "joints.gear:GearPlantSettings",
        1,
        "a gear with lost motion between two encoders, moving across the upright position",
    ),
    "pointing": Rig(
        "mechanisms.pointing:PointingSettings",
        2,
        "two axes, the first on a pin with clearance, measured by a ring encoder",
    ),
    "tree5": Rig(
        "mechanisms.tree5:Tree5Settings", 5, "a tree of five axes whose friction depends on their bearings' load"
    ),
    "leg": Rig("mechanisms.leg:LegSettings", 1, "seven links in three loops, ten joints with friction, one drive"),
    "four_bar": Rig(
        "mechanisms.four_bar:FourBarSettings", 1, "crank, coupler and rocker, four pins with friction, one drive"
    ),
    "double_encoder_robot": Rig(
        "robots.double_encoder_robot:DoubleEncoderRobotSettings",
        6,
        "an arm with harmonic drives and two encoders on each axis, on two buses",
    ),
    "er16": Rig("robots.er16:Er16Settings", 3, "the first three axes of an ER-16 with the published parameters"),
    "lwr4": Rig(
        "robots.lwr4:Lwr4Settings",
        7,
        "seven light axes with dynamic coupling, torque measured after every gear",
    ),
    "recording": Rig("recording:RecordingSettings", 1, "a file of measurements, by default the EMPS drive"),
}
