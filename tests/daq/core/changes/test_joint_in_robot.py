"""What findings of a whole robot become in the records of one joint: another zero, an encoder that has slipped."""

import math
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.sections import DriftSettings
from daq.core.changes.change_records import ChangeRecords
from daq.core.changes.joint_in_robot import JointInRobot, JointNow
from daq.state.baselines import Baseline
from daq.stream.update import Publication
from estimators.base import Status
from estimators.online.robot.estimate import HeldFinding
from estimators.online.robot.findings.record import RobotFinding

SECOND = 1_000_000_000


class FollowedJoint:
    """One joint of a robot, told second by second; friction ± 0.01 N·m, a zero of 0.5 ± 0.01 N·m."""

    def __init__(self) -> None:
        self.records = ChangeRecords(Publication("arm", "elbow", 1, "N·m"), {})
        self.joint = JointInRobot("elbow", "N·m", "rad", DriftSettings(), self.records)
        self.time = 0  # s

    def tell(
        self,
        seconds: int,
        friction: tuple[float, float] = (2.0, 4.0),
        offset: float = 0.5,
        held: dict[str, HeldFinding] | None = None,
        findings: tuple[RobotFinding, ...] = (),
        status: Status = Status.VALID,
    ) -> None:
        for _ in range(seconds):
            self.time += 1
            known = np.array(friction), np.full(2, 0.01)
            self.joint.compare(
                JointNow(self.time * SECOND, 0, status, known, (offset, 0.01), held or {}, list(findings))
            )

    def again(self) -> "FollowedJoint":
        """After a restart: what was kept, as a checkpoint has it."""
        other = FollowedJoint()
        other.records.resume(msgpack.unpackb(msgpack.packb(self.records.keep())))
        other.joint.resume(msgpack.unpackb(msgpack.packb(self.joint.keep())))
        other.time = self.time
        return other

    @property
    def told(self) -> list[tuple[str, float, float, bool, bool]]:
        """Parameter, from, to, whether it is over, whether acknowledged."""
        return [
            (one.parameter, one.before, one.now, bool(one.over), bool(one.acknowledged)) for one in self.records.records
        ]


def finding(number: int, cause: str, since: float, **more: Any) -> RobotFinding:
    return RobotFinding(number, round(since * SECOND), round(since * SECOND), cause, ("elbow",), "", (), True, **more)


@pytest.mark.parametrize(("gradual", "evidence", "since"), [(False, "alarm", 41.0), (True, "gradual", 40.0)])
def test_a_friction_that_a_finding_has_shown_at_once_is_sudden_since_then_and_one_by_steps_gradual(
    gradual: bool, evidence: str, since: float
) -> None:
    one = FollowedJoint()
    one.tell(40)
    found = (finding(1, "friction", 41.0, gradual=gradual),)
    one.tell(3, status=Status.LEARNING)
    assert one.told == [], "values that are not trusted say nothing"
    one.tell(7, (2.0, 6.0), findings=found)
    [record] = one.records.records
    assert (record.parameter, record.evidence, record.since, record.reference) == (
        "friction_fast", evidence, since, "start",
    )  # fmt: skip
    assert (record.before, record.now, record.percent) == (pytest.approx(4.0), 6.0, pytest.approx(50.0))
    one.tell(7, findings=found)
    assert one.told == [("friction_fast", 4.0, 6.0, True, False)], "it is back, and not acknowledged"


def test_a_change_within_the_start_is_one_where_a_finding_has_shown_it() -> None:
    """The reference is taken over half a minute of the start, unless something has happened."""
    with_finding, without = FollowedJoint(), FollowedJoint()
    for one, found in ((with_finding, (finding(1, "friction", 10.5),)), (without, ())):
        one.tell(10)
        one.tell(40, (3.0, 6.0), findings=found)
    assert [one[:2] for one in with_finding.told] == [("friction_slow", 2.0), ("friction_fast", 4.0)]
    assert without.told == []


def test_another_zero_is_recorded_from_its_finding_on_and_follows_until_it_is_acknowledged() -> None:
    one = FollowedJoint()
    one.tell(5)
    one.tell(5, offset=0.9)
    assert one.told == [], "a zero that wanders without a finding is the model's own"
    one.tell(1, offset=1.6, findings=(finding(1, "offset", 8.0),))
    one.tell(1, offset=1.7, findings=(finding(1, "offset", 8.0),))
    assert one.told == [("torque_offset", 0.9, 1.7, False, False)]
    again = one.again()
    again.tell(1, offset=1.8)
    assert again.told == [("torque_offset", 0.9, 1.8, False, False)], "a restart forgets the finding, not the record"
    again.joint.acknowledge(20.0)
    again.tell(3, offset=1.8, findings=(finding(1, "friction", 19.0),))
    assert again.told == [("torque_offset", 0.9, 1.8, True, True)]


def test_what_holds_beside_the_model_is_a_record_while_it_holds_and_once_for_a_person_who_has_seen_it() -> None:
    one = FollowedJoint()
    slipped = {"encoder_slip": HeldFinding(0.03, 0.001, 4 * SECOND)}
    one.tell(5)
    one.tell(5, held=slipped, status=Status.LEARNING)
    [record] = one.records.records
    assert (record.unit, record.since, record.z) == ("rad", 4.0, pytest.approx(30.0))
    assert math.isnan(record.percent), "of nothing there is no per cent"
    assert one.told == [("encoder_slip", 0.0, 0.03, False, False)]
    one.joint.acknowledge(12.0)
    one.records.refer(12.0, 12.0)  # as the joint's own comparison does without a baseline
    again = one.again()
    again.tell(3, status=Status.LEARNING)  # a start, in which it is not found yet
    again.tell(3, held=slipped, status=Status.LEARNING)
    assert again.told == [("encoder_slip", 0.0, 0.03, True, True)], "and no other one"
    again.tell(3)  # the encoder is referenced anew
    again.tell(3, held=slipped, status=Status.LEARNING)
    assert again.told[1:] == [("encoder_slip", 0.0, 0.03, False, False)], "the next slip is another change"


def test_a_new_baseline_of_the_robot_settles_and_the_one_of_before_does_not_over_a_restart() -> None:
    def baseline(since: float, fast: float) -> Baseline:
        values = {"elbow.slow": 2.0, "elbow.fast": fast, "shoulder.slow": 9.0, "shoulder.fast": 9.0}
        return Baseline(since=since, model="robot", values=values, deviations=dict.fromkeys(values, 0.01))

    one = FollowedJoint()
    one.joint.set_baseline(baseline(1.0, 3.0))
    one.tell(7)
    assert one.told == [("friction_fast", 3.0, 4.0, False, False)]
    again = one.again()
    again.joint.set_baseline(baseline(1.0, 3.0))
    again.tell(7)
    again.joint.acknowledge(15.0)
    again.records.acknowledge(15.0)
    again.tell(7)
    assert again.told == [("friction_fast", 3.0, 4.0, False, True)], "it stands, and has been seen"
    again.joint.set_baseline(baseline(20.0, 4.0))
    again.tell(7)
    assert again.told == [("friction_fast", 3.0, 4.0, True, True)]


def test_another_baseline_of_the_joint_itself_makes_the_present_friction_the_reference_once() -> None:
    one = FollowedJoint()
    one.tell(40)
    one.tell(7, (3.0, 4.0))
    one.joint.refer(50.0)
    one.records.refer(50.0, 50.0)
    one.tell(9, (3.0, 4.0))
    assert one.told == [("friction_slow", 2.0, 3.0, True, True)]
    one.tell(40, (3.0, 4.0))
    one.tell(7, (4.0, 4.0), findings=(finding(1, "friction", 97.0),))
    one.joint.refer(50.0)
    one.tell(9, (4.0, 4.0))
    assert one.told[1:] == [("friction_slow", 3.0, 4.0, False, False)], "the same baseline again begins nothing anew"
