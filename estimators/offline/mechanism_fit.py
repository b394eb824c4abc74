"""Inertia and load-dependent friction of a mechanism from its drives' torque: Guo, Ju, Wang 2024 turned round.

    τ_a = Bᵀ[Y π + Σ_k D_k (r_k f_r s + a_k f_a s + b_k m_b s + c_k ω)],     q̇ = B q̇_a,  s = tanh(ω/ε)

f_r, f_a, m_b of joint k follow from the present inertia, so inertia, load and friction are found in turn, PASSES times.
r = μ R_p, a = μ R_n, b = μ R_p/R_b and c are not negative. Coefficients are found as such products: motion cannot tell
μ from an arm. Columns that are zero (a planar mechanism presses nothing along its axes) or that others imitate are
named; their coefficient belongs to the sum. Inertia is corrected around the mechanism's own by the prior of a whole
robot (robots/inertia.py), so that what a motion does not tell stays where the description has it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from estimators.models.mechanisms.dynamics import IDEAL
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL
from estimators.models.mechanisms.mechanism import EPSILON_INVERSE, Mechanism, MechanismMotion
from estimators.models.robots.inertia import floored, metric
from estimators.models.robots.newton_euler import WRENCH, newton_euler
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS
from estimators.offline.robot.fit import constrained
from estimators.quantities import Floats
from estimators.recursive.blocks import spread

PASSES: Final = 4
ZERO: Final = 1e-9  # of the largest load: a column below it says nothing
IMITATED: Final = 0.999  # R² on all other columns
KINDS: Final = ("radial", "axial", "bending", "viscous")
LOADS_OF: Final = (RADIAL, AXIAL, BENDING)
BLOCKS: Final = 20
PRIOR: Final = 0.5  # σ of the links' prior, in its own metric
CORRELATED: Final = 20.0  # rows that one error lasts: the residual is model error, not noise


class RowsOf(NamedTuple):
    """How rows of a fit follow from a motion at its full rate: (samples, …) → (rows, …)."""

    plain: Callable[[Floats], Floats]
    filtered: Callable[[Floats], Floats]  # through the torque's low-pass too


AS_THEY_ARE: Final = RowsOf(lambda values: values, lambda values: values)


class MechanismFit(NamedTuple):
    """What the torque says."""

    names: tuple[str, ...]  # of the friction coefficients, "radial thigh"
    friction: Floats  # (k,) ≥ 0: m for radial and axial, 1 for bending, N·m·s/rad for viscous; NaN without a column
    deviations: Floats  # (k,) from blocks
    remarks: tuple[str, ...]  # which columns are zero or imitated
    parameters: Floats  # (n, 10) standard parameters nearest to the given ones that explain the torque
    residual: float  # N·m, rms
    mechanism: Mechanism  # with these parameters
    shared: bool  # one set of coefficients for all joints

    def predict(self, moved: MechanismMotion, epsilon: float = EPSILON_INVERSE, rows: RowsOf = AS_THEY_ARE) -> Floats:
        """Torque of the drives, (rows, drives)."""
        phi, B = columns(self.mechanism, moved, epsilon)
        phi = rows.filtered(_summed(phi) if self.shared else phi)
        inertial = np.einsum("rij,ri->rj", B, _inertial(self.mechanism, moved, self.parameters))
        return np.asarray(rows.plain(inertial) + phi @ np.nan_to_num(self.friction))


def columns(mechanism: Mechanism, moved: MechanismMotion, epsilon: float) -> tuple[Floats, Floats]:
    """Friction columns (rows, drives, joints · 4) and B (rows, n, drives)."""
    rows, n = moved.q.shape
    drives, free = np.flatnonzero(mechanism.drive), np.flatnonzero(mechanism.drive == 0)
    loads = mechanism.inverse(moved, IDEAL, epsilon).loads
    J, turns = mechanism.loops(moved.q)
    B = np.zeros((rows, n, len(drives)))
    B[:, drives, range(len(drives))] = 1.0
    if len(free):
        B[:, free] = -np.linalg.solve(J[:, :, free], J[:, :, drives])
    ways = np.concatenate([np.tile(np.eye(n), (rows, 1, 1)), turns], axis=1)  # (rows, joints, n)
    speed = np.einsum("rjn,rn->rj", ways, moved.dq)
    sense, seen = np.tanh(speed / epsilon), ways @ B  # (rows, joints), (rows, joints, drives)
    phi = np.empty((rows, len(drives), len(mechanism.joints) * len(KINDS)))
    for kind, load in enumerate(LOADS_OF):
        phi[:, :, kind :: len(KINDS)] = np.swapaxes(seen * (loads[:, :, load] * sense)[..., None], 1, 2)
    phi[:, :, len(LOADS_OF) :: len(KINDS)] = np.swapaxes(seen * speed[..., None], 1, 2)
    return phi, B


def identify(
    mechanism: Mechanism,
    moved: MechanismMotion,
    tau: Floats,
    epsilon: float = EPSILON_INVERSE,
    shared: bool = False,
    rows: RowsOf = AS_THEY_ARE,
    correlated: float = CORRELATED,
) -> MechanismFit:
    """moved fits the loops; tau: (rows, drives) N·m. The mechanism's own parameters are where inertia begins.

    shared: all joints have the same bearing; the one drive of a closed chain tells no more. rows: which rows are
    fitted, and the filter that the torque went through, for what is not linear in the motion; tau has as many.
    correlated: rows that one error lasts, against which the prior of the links is weighed.
    """
    n = mechanism.size()
    Y = np.empty((len(tau), n, PARAMETERS * n))
    q, dq, ddq = (np.ascontiguousarray(rows.plain(one)) for one in moved)
    regressor(*mechanism.tree, q, dq, ddq, Y)
    B = rows.plain(columns(mechanism, moved, epsilon)[1])
    inertial = np.einsum("rij,rik->rjk", B, Y).reshape(tau.size, -1)
    start = np.array([floored(link) for link in mechanism.parameters])
    weight = block_diag(*[metric(link) / PRIOR**2 for link in start])
    y = tau.ravel() - inertial @ start.ravel()
    joints = ("all joints",) if shared else mechanism.joints
    names = tuple(f"{kind} {joint}" for joint in joints for kind in KINDS)
    present, variance = mechanism, float(np.mean(y**2))
    for _ in range(PASSES):
        phi = rows.filtered(columns(present, moved, epsilon)[0])
        phi = _summed(phi) if shared else phi
        told = _told(phi)
        X = np.concatenate([inertial, phi[..., told].reshape(tau.size, -1)], axis=1)
        prior = np.zeros((X.shape[1], X.shape[1]))
        prior[: len(weight), : len(weight)] = weight * variance * correlated
        signed = np.arange(X.shape[1]) >= len(weight)
        theta, _ = constrained(X.T @ X + prior, X.T @ y, signed.astype(np.int64))
        parameters = start + theta[: len(weight)].reshape(n, PARAMETERS)
        present = mechanism.with_parameters(parameters)
        variance = float(np.mean((y - X @ theta) ** 2))
    friction, deviations = np.full((2, len(names)), np.nan)
    friction[told] = theta[len(weight) :]
    deviations[told] = _deviations(X, y, prior)[len(weight) :]
    remarks = (*_zero(names, told), *_imitated(names, told, X, len(weight)))
    return MechanismFit(names, friction, deviations, remarks, parameters, float(np.sqrt(variance)), present, shared)


def _summed(phi: Floats) -> Floats:
    """One column a kind."""
    rows, drives, _ = phi.shape
    return np.asarray(phi.reshape(rows, drives, -1, len(KINDS)).sum(axis=2))


def _inertial(mechanism: Mechanism, moved: MechanismMotion, parameters: Floats) -> Floats:
    """Torque of the tree alone, (rows, n)."""
    rows, n = moved.q.shape
    tau, wrench = np.empty((rows, n)), np.empty((rows, n, WRENCH))
    newton_euler(*mechanism.tree, *moved, parameters, np.zeros((0, n, WRENCH)), tau, wrench)
    return tau


def _told(phi: Floats) -> Floats:
    """Which columns are there at all."""
    size = np.sqrt(np.mean(phi**2, axis=(0, 1)))
    return np.asarray(size > ZERO * size.max())


def _deviations(X: Floats, y: Floats, prior: Floats) -> Floats:
    """Delete-one jackknife over blocks of rows, without the signs."""
    whole, moments = X.T @ X + prior, X.T @ y
    scale = 1.0 / np.sqrt(np.diag(whole))
    left_out = []
    for part, target in zip(np.array_split(X, BLOCKS), np.array_split(y, BLOCKS), strict=True):
        A, c = whole - part.T @ part, moments - part.T @ target
        left_out.append(scale * np.linalg.lstsq(A * scale * scale[:, None], c * scale, rcond=1e-12)[0])
    return spread(np.array(left_out))


def _zero(names: tuple[str, ...], told: Floats) -> list[str]:
    kinds = {name.split(" ", 1)[0] for name, one in zip(names, told, strict=True) if not one}
    found = []
    for kind in sorted(kinds):
        joints = [
            name.split(" ", 1)[1] for name, one in zip(names, told, strict=True) if not one and name.startswith(kind)
        ]
        found.append(f"no {kind} load at {', '.join(joints)}: its friction cannot show")
    return found


def _imitated(names: tuple[str, ...], told: Floats, X: Floats, first: int) -> list[str]:
    """Friction columns that the others imitate, and by which most."""
    listed = [name for name, one in zip(names, told, strict=True) if one]
    lengths = np.linalg.norm(X, axis=0)
    unit = X[:, lengths > 0.0] / lengths[lengths > 0.0]
    first = int(np.sum(lengths[:first] > 0.0))
    found = []
    for place, name in enumerate(listed):
        own = unit[:, first + place]
        others = np.delete(unit, first + place, axis=1)
        left = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
        if left @ left < 1.0 - IMITATED:
            alike = np.abs(unit[:, first:].T @ own)
            alike[place] = 0.0
            found.append(f"{name} cannot be told from the others, most of all from {listed[int(np.argmax(alike))]}")
    return found
