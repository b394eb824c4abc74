"""Friction beyond the speeds that a law was identified at: what is not known of it, and that it is no contact."""

import numpy as np
import pytest

from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.robots.description import RobotDescription, RobotJoint
from estimators.models.robots.inertia import standard
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.findings.unseen_speed import UnseenSpeed
from estimators.quantities import Axis, Floats

pytestmark = pytest.mark.compiled
LAW = TanhStribeckSettings(omega_tanh=0.05, omega_stribeck=0.15)
SLOW, FAST = np.full((10, 2), 0.5), np.full((10, 2), (1.5, -0.5))


def arm() -> RobotDescription:
    z = np.array([0.0, 0.0, 1.0])
    joints = (RobotJoint("one", Axis.ROTARY, -1, np.eye(4), z), RobotJoint("two", Axis.ROTARY, 0, np.eye(4), z))
    return RobotDescription("arm", joints, np.array([standard(4.0, np.array((0.2, 0.0, 0.0)), 0.05 * np.eye(3))] * 2))


def theta(model: WholeRobot) -> Floats:
    """Viscous friction of 2, Coulomb friction of 3, Stribeck friction of 40; no links."""
    each = {"viscous": 2.0, "coulomb": 3.0, "stribeck": 40.0}
    return np.array([each.get(name.split(".")[0], 0.0) for name in model.names])


def test_what_a_law_may_be_off_is_what_it_would_add_and_lasts_as_long_as_the_low_passes_remember() -> None:
    model = WholeRobot(arm(), (LAW, LAW))
    unseen = UnseenSpeed(model, np.array([1.0, 1.0]), 3)
    unseen.notice(SLOW, SLOW)
    assert not unseen.joints.any()
    np.testing.assert_array_equal(unseen.torque(theta(model)), [0.0, 0.0])
    unseen.notice(SLOW, FAST)
    assert unseen.joints.tolist() == [True, False]
    v = np.array([1.0, 1.5])
    law = 2.0 * v + 3.0 * np.tanh(v / LAW.omega_tanh) + 40.0 * v * np.exp(-v / LAW.omega_stribeck)
    np.testing.assert_allclose(unseen.torque(theta(model)), [abs(law[1] - law[0]), 0.0], rtol=1e-9)
    unseen.notice(SLOW, SLOW)
    unseen.notice(SLOW, SLOW)
    assert unseen.joints.tolist() == [True, False], "the low-passes still hold it"
    unseen.notice(SLOW, SLOW)
    assert not unseen.joints.any()


def test_a_law_that_is_not_held_there_and_a_joint_that_never_moved_have_nothing_unseen() -> None:
    plain = UnseenSpeed(WholeRobot(arm()), np.array([1.0, 1.0]), 3)
    plain.notice(FAST, FAST)
    assert not plain.joints.any()
    still = UnseenSpeed(WholeRobot(arm(), (LAW, LAW)), np.zeros(2), 3)
    still.notice(FAST, FAST)
    assert not still.joints.any()
