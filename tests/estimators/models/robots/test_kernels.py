"""Kernels against Pinocchio on random trees with revolute and prismatic joints about skew axes."""

import numpy as np
import pytest

from estimators.models.robots.base_parameters import base_projection
from estimators.models.robots.kinematics import forward_kinematics
from estimators.models.robots.newton_euler import mass_matrix, newton_euler
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PRISMATIC, REVOLUTE, Tree, tree
from estimators.quantities import Floats

pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")

ROWS = 20
CHAIN = (-1, 0, 1, 2, 3, 4, 5)
BRANCHES = (-1, 0, 1, 1, 0, 4, 4, 6, -1)
TREES = {
    "chain": (CHAIN, (REVOLUTE,) * 7),
    "slides": (CHAIN[:5], (PRISMATIC, REVOLUTE, PRISMATIC, PRISMATIC, REVOLUTE)),
    "branches": (BRANCHES, tuple(PRISMATIC if i in (2, 7) else REVOLUTE for i in range(9))),
}


class Reference:
    """One random robot as Pinocchio's model and as our tree, with random rows of motion."""

    def __init__(self, parent: tuple[int, ...], kind: tuple[int, ...]) -> None:
        random = np.random.default_rng(len(parent))
        self.model = pinocchio.Model()
        places, axes = [], []
        self.parameters = np.empty((len(parent), 10))
        for i, (above, one) in enumerate(zip(parent, kind, strict=True)):
            place = pinocchio.SE3.Random()
            axis = random.normal(size=3)
            axis /= np.linalg.norm(axis)
            make = pinocchio.JointModelPrismaticUnaligned if one else pinocchio.JointModelRevoluteUnaligned
            self.model.addJoint(above + 1, make(axis), place, f"joint{i}")
            inertia = pinocchio.Inertia.Random()
            self.model.appendBodyToJoint(i + 1, inertia, pinocchio.SE3.Identity())
            self.parameters[i] = inertia.toDynamicParameters()
            places.append(place.homogeneous)
            axes.append(axis)
        self.data = self.model.createData()
        self.tree: Tree = tree(parent, kind, np.array(places), np.array(axes), self.model.gravity.linear)
        self.q, self.dq, self.ddq = random.uniform(-2.0, 2.0, (3, ROWS, len(parent)))

    def close(self, ours: Floats, theirs: Floats) -> None:
        assert np.abs(ours - theirs).max() <= 1e-12 * np.abs(theirs).max()


@pytest.fixture(params=TREES)
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(*TREES[request.param])


def test_the_regressor_is_that_of_pinocchio(reference: Reference) -> None:
    n = reference.tree.size()
    Y = np.full((ROWS, n, 10 * n), np.nan)
    regressor(*reference.tree, reference.q, reference.dq, reference.ddq, Y)
    theirs = np.array(
        [
            pinocchio.computeJointTorqueRegressor(reference.model, reference.data, *row).copy()
            for row in zip(reference.q, reference.dq, reference.ddq, strict=True)
        ]
    )
    reference.close(Y, theirs)


def test_torque_and_wrenches_with_external_forces_are_those_of_pinocchio(reference: Reference) -> None:
    n = reference.tree.size()
    external = np.random.default_rng(3).normal(size=(ROWS, n, 6)) * 10.0
    tau, wrench = np.full((ROWS, n), np.nan), np.full((ROWS, n, 6), np.nan)
    newton_euler(*reference.tree, reference.q, reference.dq, reference.ddq, reference.parameters, external, tau, wrench)
    taus, wrenches = [], []
    for row in range(ROWS):
        forces = [pinocchio.Force.Zero(), *(pinocchio.Force(one) for one in external[row])]
        motion = (reference.q[row], reference.dq[row], reference.ddq[row])
        taus.append(pinocchio.rnea(reference.model, reference.data, *motion, forces).copy())
        wrenches.append([np.asarray(one.vector).copy() for one in list(reference.data.f)[1:]])
    reference.close(tau, np.array(taus))
    reference.close(wrench, np.array(wrenches))


def test_the_torque_is_the_regressor_times_the_parameters(reference: Reference) -> None:
    n = reference.tree.size()
    Y, tau = np.empty((ROWS, n, 10 * n)), np.empty((ROWS, n))
    regressor(*reference.tree, reference.q, reference.dq, reference.ddq, Y)
    newton_euler(
        *reference.tree,
        reference.q,
        reference.dq,
        reference.ddq,
        reference.parameters,
        np.zeros((0, n, 6)),
        tau,
        np.empty((ROWS, n, 6)),
    )
    reference.close(Y @ reference.parameters.ravel(), tau)


def test_mass_matrix_and_poses_are_those_of_pinocchio(reference: Reference) -> None:
    n = reference.tree.size()
    M = np.empty((ROWS, n, n))
    rotation, origin = np.empty((ROWS, n, 3, 3)), np.empty((ROWS, n, 3))
    mass_matrix(*reference.tree, reference.q, reference.parameters, M)
    forward_kinematics(*reference.tree, reference.q, rotation, origin)
    for row in range(ROWS):
        theirs = pinocchio.crba(reference.model, reference.data, reference.q[row])
        reference.close(M[row], np.triu(theirs) + np.triu(theirs, 1).T)
        pinocchio.forwardKinematics(reference.model, reference.data, reference.q[row])
        poses = list(reference.data.oMi)[1:]
        reference.close(rotation[row], np.array([one.rotation for one in poses]))
        reference.close(origin[row], np.array([one.translation for one in poses]))


def test_base_parameters_explain_all_that_the_standard_ones_do(reference: Reference) -> None:
    n = reference.tree.size()
    columns, G = base_projection(reference.tree)
    Y = np.empty((ROWS, n, 10 * n))
    regressor(*reference.tree, reference.q, reference.dq, reference.ddq, Y)
    reference.close(Y[:, :, columns] @ G, Y)
    assert np.linalg.matrix_rank(Y.reshape(-1, 10 * n)) == len(columns)
    assert (G[:, columns] == np.eye(len(columns))).all()
