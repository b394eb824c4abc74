"""The causes that compete, a line each: adding one is one file and one line."""

from collections.abc import Callable, Sequence
from typing import Final

from estimators.online.robot.findings.causes.base import Cause
from estimators.online.robot.findings.causes.base_tilt import BaseTilt
from estimators.online.robot.findings.causes.encoder_slip import EncoderSlip
from estimators.online.robot.findings.causes.friction import CommonFriction, JointFriction
from estimators.online.robot.findings.causes.links import Links
from estimators.online.robot.findings.causes.payload import PayloadCause
from estimators.online.robot.findings.causes.spring import Spring
from estimators.online.robot.findings.causes.steady_torque import Contact, Offset
from estimators.online.robot.findings.causes.torque_constant import TorqueConstant

EVERY: Final[Sequence[Callable[[int], Sequence[Cause]]]] = (  # by the number of joints
    lambda _n: [PayloadCause()],
    lambda n: [Contact((j,)) for j in range(n)] + [Contact(tuple(range(n)))],
    lambda n: [Offset((j,)) for j in range(n)],
    lambda n: [JointFriction((j,)) for j in range(n)],
    lambda n: [CommonFriction(tuple(range(n))), JointFriction(tuple(range(n)))],
    lambda n: [TorqueConstant((j,)) for j in range(n)],
    lambda n: [EncoderSlip((j,)) for j in range(n)],
    lambda n: [Spring((j,), turns) for j in range(n) for turns in (False, True)],
    lambda _n: [BaseTilt()],
    lambda _n: [Links()],
)


def catalogue(n: int) -> list[Cause]:
    """All causes of a robot with n joints."""
    return [cause for some in EVERY for cause in some(n)]
