"""The catalogue of rigs: what `jointwatch rig NAME` selects."""

from typing import Final, NamedTuple

from hil_rig.plants.base import PlantSettings
from hil_rig.plants.joints.gear import GearSettings
from hil_rig.plants.joints.rigid import RigidSettings
from hil_rig.plants.joints.two_mass import TwoMassSettings
from hil_rig.plants.mechanisms.leg import LegSettings
from hil_rig.plants.mechanisms.pointing import PointingSettings
from hil_rig.plants.mechanisms.tree5 import Tree5Settings
from hil_rig.plants.recording import RecordingSettings
from hil_rig.plants.robots.double_encoder_robot import DoubleEncoderRobotSettings
from hil_rig.plants.robots.er16 import Er16Settings
from hil_rig.plants.robots.lwr4 import Lwr4Settings


class Rig(NamedTuple):
    """Settings of its joints, how many it has unless told otherwise, and what it is."""

    settings: type[PlantSettings]
    joints: int
    text: str


RIGS: Final = {
    "two_mass": Rig(TwoMassSettings, 1, "an elastic joint with a harmonic drive, motor and link side measured"),
    "rigid": Rig(RigidSettings, 1, "a rigid joint with friction and gravity"),
    "arm": Rig(RigidSettings, 7, "seven rigid joints that do not feel each other"),
    "gear": Rig(GearSettings, 1, "a gear with lost motion between two encoders, over the top and back"),
    "pointing": Rig(PointingSettings, 2, "two axes, the first on a pin with clearance, which a ring encoder sees"),
    "tree5": Rig(Tree5Settings, 5, "a tree of five axes that rub under what they carry"),
    "leg": Rig(LegSettings, 1, "seven links in three loops, ten rubbing joints, one drive"),
    "double_encoder_robot": Rig(
        DoubleEncoderRobotSettings, 6, "an arm with harmonic drives and two encoders an axis, on two buses"
    ),
    "er16": Rig(Er16Settings, 3, "the first three axes of an ER-16 with the published parameters"),
    "lwr4": Rig(Lwr4Settings, 7, "seven light axes that pull on each other, torque measured behind every gear"),
    "recording": Rig(RecordingSettings, 1, "a file of measurements, by default the EMPS drive"),
}
