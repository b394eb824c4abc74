"""The catalogue of rigs: what `jointwatch rig NAME` selects."""

from typing import Final, NamedTuple

from hil_rig.plants.base import PlantSettings
from hil_rig.plants.joints.rigid import RigidSettings
from hil_rig.plants.joints.two_mass import TwoMassSettings
from hil_rig.plants.recording import RecordingSettings
from hil_rig.plants.robots.double_encoder_robot import DoubleEncoderRobotSettings
from hil_rig.plants.robots.er16 import Er16Settings


class Rig(NamedTuple):
    """Settings of its joints, how many it has unless told otherwise, and what it is."""

    settings: type[PlantSettings]
    joints: int
    text: str


RIGS: Final = {
    "two_mass": Rig(TwoMassSettings, 1, "an elastic joint with a harmonic drive, motor and link side measured"),
    "rigid": Rig(RigidSettings, 1, "a rigid joint with friction and gravity"),
    "arm": Rig(RigidSettings, 7, "seven rigid joints that do not feel each other"),
    "double_encoder_robot": Rig(
        DoubleEncoderRobotSettings, 6, "an arm with harmonic drives and two encoders an axis, on two buses"
    ),
    "er16": Rig(Er16Settings, 3, "the first three axes of an ER-16 with the published parameters"),
    "recording": Rig(RecordingSettings, 1, "a file of measurements, by default the EMPS drive"),
}
