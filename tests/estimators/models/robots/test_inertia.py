"""What a link weighs: against Pinocchio's bodies, and what flooring leaves and lifts."""

import numpy as np
import pytest

from estimators.models.robots.description import moved, pose
from estimators.models.robots.inertia import (
    GYRATION,
    MASS,
    floored,
    parameters_of,
    pseudo_inertia,
    rod,
    standard,
    tensor,
)
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")
CENTRE, ABOUT = (
    np.array([0.1, -0.2, 0.05]),
    np.array([[0.05, 0.01, -0.004], [0.01, 0.06, 0.002], [-0.004, 0.002, 0.03]]),
)


def body() -> Floats:
    return np.array(pin.Inertia(3.0, CENTRE, ABOUT).toDynamicParameters())


def test_a_body_is_pinocchios_in_every_form() -> None:
    np.testing.assert_allclose(standard(3.0, CENTRE, ABOUT), body(), rtol=1e-12)
    theirs = pin.PseudoInertia.FromDynamicParameters(body()).toMatrix()
    np.testing.assert_allclose(pseudo_inertia(body()), theirs, rtol=1e-12)
    np.testing.assert_allclose(parameters_of(theirs), body(), rtol=1e-12, atol=1e-15)
    about_origin = ABOUT - 3.0 * pin.skew(CENTRE) @ pin.skew(CENTRE)
    np.testing.assert_allclose(tensor(body()), about_origin, rtol=1e-12)


def test_a_body_in_another_frame_is_pinocchios() -> None:
    place = pose((0.3, -0.4, 0.9), (0.5, 0.1, -0.7))
    theirs = pin.SE3(place[:3, :3], place[:3, 3]).act(pin.Inertia(3.0, CENTRE, ABOUT)).toDynamicParameters()
    np.testing.assert_allclose(moved(body(), place), theirs, rtol=1e-12)


def test_a_pose_is_roll_pitch_and_yaw_about_fixed_axes() -> None:
    found = pose((0.3, -0.4, 0.9), (0.5, 0.1, -0.7))
    np.testing.assert_allclose(found[:3, :3], pin.rpy.rpyToMatrix(0.3, -0.4, 0.9), rtol=1e-12)
    np.testing.assert_array_equal(found[:, 3], [0.5, 0.1, -0.7, 1.0])
    np.testing.assert_array_equal(found[3, :3], 0.0)


def test_a_link_without_cad_is_a_cylinder_from_its_joint_on() -> None:
    along = np.array([0.3, 0.4, -1.2])
    unit = along / 1.3
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), unit).matrix()
    cylinder = pin.SE3(turn, 0.5 * 0.8 * unit).act(pin.Inertia.FromCylinder(5.0, 0.07, 0.8))
    np.testing.assert_allclose(rod(5.0, along, 0.8, 0.07), cylinder.toDynamicParameters(), rtol=1e-9, atol=1e-12)


def spread(parameters: Floats) -> Floats:
    """∫ (r − c)(r − c)ᵀ dm."""
    centre = parameters[1:4] / parameters[0]
    return pseudo_inertia(parameters)[:3, :3] - parameters[0] * np.outer(centre, centre)


def test_flooring_lifts_what_is_too_thin_and_nothing_else() -> None:
    turn = pin.rpy.rpyToMatrix(0.5, 0.2, -0.3)
    thin = turn @ np.diag([1e-6, 0.02, 0.05]) @ turn.T  # of the second moment of mass
    given = standard(2.0, CENTRE, np.trace(thin) * np.eye(3) - thin)
    found = floored(given)
    np.testing.assert_allclose(found[:4], given[:4], rtol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(spread(found)), [2.0 * GYRATION**2, 0.02, 0.05], rtol=1e-9)
    np.testing.assert_allclose(spread(found) @ turn[:, 2], 0.05 * turn[:, 2], atol=1e-12)


@pytest.mark.parametrize("mass", [0.0, 0.01, -1.0])
def test_a_link_that_weighs_too_little_is_a_small_ball_at_its_joint(mass: float) -> None:
    found = floored(np.array([mass, *(mass * CENTRE), *np.zeros(6)]))
    np.testing.assert_allclose(found[:4], [MASS, 0.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(spread(found), MASS * GYRATION**2 * np.eye(3), rtol=1e-9, atol=1e-12)
