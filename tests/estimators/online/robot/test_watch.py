"""What a robot's residual is compared with, and what of it nothing explains."""

from dataclasses import replace

import numpy as np
import pytest

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.payload import PayloadCause
from estimators.online.robot.motion import RobotMotion
from estimators.online.robot.prediction import Prediction
from estimators.online.robot.residual_attribution import torque_scale
from estimators.online.robot.watch import RobotWatch, Unexplained
from estimators.quantities import Floats
from tests.support.signals.crane import NOISE, RATE, motion, taught, torque

CHUNK = 0.01


def watched(learnt: IdentifiedRobot) -> RobotWatch:
    return RobotWatch(learnt.model(), learnt, CHUNK, None, 10.0, 0.0, 40.0)


def test_more_than_a_twentieth_of_the_torque_is_too_much_until_it_is_less_than_seven_tenths_of_that() -> None:
    """The share is that of all joints together, and recent looks count most.

    Each look of half a second counts a twentieth less than the next, which is a memory of ten seconds.
    """
    one, torques = Unexplained(), np.full((25, 2), 10.0)
    told = []
    for percent in (4.9, 5.1, 3.6, 3.4, 3.6, 5.1):
        for _ in range(400):  # what was before is forgotten
            one.absorb(np.full((25, 2), 0.1 * percent), torques)
        assert one.share == pytest.approx(0.01 * percent)
        told.append(one.too_much)
    assert told == [False, True, True, False, False, True]
    weak = Unexplained()
    weak.absorb(np.full((25, 2), 1e-5), np.full((25, 2), 1e-4))
    assert weak.share == pytest.approx(0.1), "however small the torque is"
    one.forget()
    assert (one.share, one.too_much) == (0.0, False)
    one.absorb(np.zeros((25, 2)), torques)
    for look in range(1, 30):
        one.absorb(np.array([[3.0, 4.0]] * 25), torques)  # an eighth of the torque's squares
        assert one.share**2 == pytest.approx(0.125 * (1.0 - 0.95**look) / (1.0 - 0.95 ** (look + 1)))


def test_a_mass_is_known_no_better_than_the_unit_of_a_motors_torque() -> None:
    """Torque at a joint has a known unit, but that of a motor's current is known only as well as the links are."""
    learnt, body = taught(), standard(2.0, np.zeros(3), 0.01 * np.eye(3))
    base = learnt.model().base
    motors = tuple(replace(joint, by_current=j == 1) for j, joint in enumerate(learnt.robot.joints))
    current = replace(learnt, robot=replace(learnt.robot, joints=motors))
    unit = torque_scale(learnt.prior[:base], learnt.prior_covariance[:base, :base])
    assert unit > 0.05
    for one, deviation in ((learnt, 0.01), (current, np.hypot(0.01, 2.0 * unit))):
        attribution = watched(one).attribution
        moves = PayloadCause().moves(attribution.known())
        attribution.explanation.hold(Fitted(PayloadCause(), body, 1e-4 * np.eye(10), 20.0, moves))
        assert attribution.payload.mass_deviation == pytest.approx(deviation)


def test_where_nobody_has_seen_the_live_residual_its_deviation_is_that_of_identification() -> None:
    known = watched(taught()).contact
    np.testing.assert_allclose(known.deviations, 0.4 * NOISE)
    other = watched(replace(taught(), variance=np.array([4.0, 0.09]), deviations=None)).contact
    np.testing.assert_allclose(other.deviations, [2.0, 0.3])
    assert other.ready
    assert not watched(replace(taught(), peaks=None)).contact.ready


def test_rows_times_parameters_are_the_torque_that_is_predicted_and_a_row_begins_with_its_links() -> None:
    """Whatever the parameters are, lags of the torques among them: two ways to the same torque."""
    learnt, moves = taught(), motion(2.0)
    model, tau = learnt.model(), torque(moves)
    rows = RobotMotion(model, learnt.reach(), learnt.loading, 1.0 / RATE)
    theta = np.random.default_rng(1).uniform(0.5, 2.0, model.size + 2) * np.append(np.ones(model.size), [1e-3, -2e-3])
    prediction = Prediction(model, theta, rows.shares(theta[model.base : model.size]))
    for first in range(0, 400, 2):
        chunk = rows.absorb(np.stack([moves.q[first : first + 2], tau[first : first + 2]], axis=1))
    predicted, left = prediction.of(chunk)
    X, last = np.empty((2, model.size + 2)), np.empty((2, 10))
    for at in range(2):
        rows.row(chunk, at, X, last)
        np.testing.assert_allclose(X @ theta, predicted[at], rtol=1e-9)
        np.testing.assert_allclose(left[at], chunk.tau[at] - predicted[at], rtol=1e-12)
        body = standard(1.3, np.array([0.1, 0.2, 0.3]), 0.05 * np.eye(3))
        bodies = np.stack([np.zeros(10), body])
        wanted = model.torque(bodies, chunk.q[at : at + 1], chunk.dq[at : at + 1], chunk.ddq[at : at + 1])
        np.testing.assert_allclose(last @ body, wanted[0], rtol=1e-9)


def test_where_a_contact_acts_is_less_certain_where_friction_may_hold_a_joint_that_rests() -> None:
    """And the last link's outer end is the centre of what it carries."""
    learnt, friction = taught(), np.array([4.0, 0.8])
    model, tau = learnt.model(), np.zeros((2, 2))
    rows = RobotMotion(model, learnt.reach(), learnt.loading, 1.0 / RATE)
    chunk = rows.absorb(np.stack([np.full((2, 2), 0.3), tau], axis=1))
    residual: Floats = np.array([[10.0, 3.0]] * 2)
    found = []
    for moving in (True, False):
        one = watched(learnt)
        one.attribution.bodies = learnt.parameters
        one.contact.reported[:] = True
        one.contact._turned[:] = 10**6 if moving else 0  # chunks since it rested
        one.locate(chunk, residual, friction, False)
        place = one.location.found
        assert place is not None
        found.append(place)
    along = [place.deviation[0] for place in found]
    noise = [np.hypot(one, 0.03 * 10.0) for one in (0.12, np.hypot(0.12, 4.0))]
    assert along == pytest.approx(noise, rel=0.01), "the slide's own direction"
    one.locate(chunk, residual, friction, True)
    assert one.location.found is None, "of a start nothing is told"
    assert one.where(("slide", "swing")) == ""
