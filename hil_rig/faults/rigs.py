"""Eight servo joints, from a wrist to an axis of a heavy arm: four with one encoder behind the gear, four with two."""

from collections.abc import Mapping
from typing import Final

from hil_rig.faults.servo_joint import ServoJointSettings
from hil_rig.plants.point_to_point import PointToPoint

RIGS: Final[Mapping[str, ServoJointSettings]] = {
    "cobot shoulder": ServoJointSettings(
        J_m=0.6, J_l=1.2, J_t=0.8, K=2.0e4, F_c=6.0, F_s=3.0, F_v=8.0, G=45.0, ratio=100.0, two_encoders=True,
        motion=PointToPoint(reach=1.2, speed=1.8, acceleration=9.0),
    ),
    "cobot wrist": ServoJointSettings(
        J_m=0.08, J_l=0.05, J_t=0.06, K=2.5e3, F_c=1.2, F_s=0.6, F_v=1.0, G=4.0, ratio=100.0, noise=0.06,
        load=0.03, v_s=0.12, motion=PointToPoint(reach=1.6, speed=2.8, acceleration=20.0),
    ),
    "belt scara, tilted": ServoJointSettings(
        J_m=0.25, J_l=0.9, J_t=0.5, K=9.0e3, F_c=2.5, F_s=0.8, F_v=3.0, G=9.0, ratio=50.0, noise=0.15,
        motion=PointToPoint(reach=1.3, speed=3.0, acceleration=14.0),
    ),
    "heavy arm, axis 3": ServoJointSettings(
        J_m=30.0, J_l=70.0, J_t=35.0, K=9.0e5, F_c=160.0, F_s=70.0, F_v=230.0, G=1600.0, ratio=180.0, noise=8.0,
        load=1.5e-4, two_encoders=True, motion=PointToPoint(reach=0.9, speed=1.1, acceleration=4.0),
    ),
    "planetary drive": ServoJointSettings(
        J_m=0.3, J_l=1.0, J_t=0.4, K=3.0e4, F_c=3.5, F_s=1.0, F_v=2.5, G=20.0, ratio=30.0, noise=0.25, rate=500.0,
        motion=PointToPoint(reach=1.5, speed=2.2, acceleration=10.0),
    ),
    "cycloid drive": ServoJointSettings(
        J_m=2.0, J_l=5.0, J_t=3.0, K=1.2e5, F_c=25.0, F_s=12.0, F_v=30.0, G=150.0, ratio=80.0, noise=1.0,
        load=1e-3, two_encoders=True, rate=500.0, motion=PointToPoint(reach=1.1, speed=1.4, acceleration=6.0),
    ),
    "leg knee": ServoJointSettings(
        J_m=0.12, J_l=0.2, J_t=0.25, K=6.0e3, F_c=1.5, F_s=0.4, F_v=1.2, G=18.0, ratio=10.0, noise=0.15, load=0.008,
        two_encoders=True, motion=PointToPoint(reach=0.9, speed=4.0, acceleration=30.0, rest=0.05),
    ),
    "turn and tilt unit": ServoJointSettings(
        J_m=0.5, J_l=2.0, J_t=1.5, K=4.0e4, F_c=8.0, F_s=5.0, F_v=12.0, G=60.0, ratio=120.0, noise=0.4,
        motion=PointToPoint(reach=1.0, speed=1.2, acceleration=5.0, rest=0.3),
    ),
}  # fmt: skip
