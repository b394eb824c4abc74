"""Inertia and load-dependent friction of a mechanism from its drives' torque: Guo, Ju, Wang 2024 turned round.

    τ_a = Bᵀ[Y π + Σ_k D_k (r_k f_r s + a_k f_a s + b_k m_b s + c_k ω)],     q̇ = B q̇_a,  s = tanh(ω/ε)

f_r, f_a, m_b of joint k follow from the present inertia, and in a loop from the present friction of all joints, so
inertia, friction and load are found in turn, PASSES times.
r = μ R_p, a = μ R_n, b = μ R_p/R_b and c are not negative; of a slide they are μ, μ/R_n and μ/L. Coefficients are such
products: motion cannot tell μ from an arm. Columns that are zero (a planar mechanism presses nothing along its axes) or
that others imitate are named; their coefficient belongs to the sum. Inertia is corrected around the mechanism's own by
the prior of a whole robot (robots/inertia.py), so that what a motion does not tell stays where the description has it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from estimators.models.mechanisms.description import MOST_FRICTION, Bearing, MechanismError
from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL
from estimators.models.mechanisms.mechanism import EPSILON_INVERSE, Mechanism, MechanismMotion
from estimators.models.robots.inertia import floored, metric
from estimators.models.robots.newton_euler import WRENCH, newton_euler
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS, PRISMATIC
from estimators.numerics.nnls import Integers
from estimators.offline.robot.fit import constrained
from estimators.quantities import Floats
from estimators.recursive.blocks import spread

PASSES: Final = 4
LEAST: Final = 1e-9  # of an arm, or of a slide's μ, that carries nothing
WIDE: Final = 1e9  # m, of an arm that turns moments into no friction
ZERO: Final = 1e-9  # of the largest load: a column below it counts as zero
IMITATED: Final = 0.999  # R² on all other columns
KINDS: Final = ("radial", "axial", "bending", "viscous")
TURNING: Final = ("m", "m", "1", "N·m·s/rad")  # units of the coefficients of a joint that turns
SLIDING: Final = ("1", "1/m", "1/m", "N·s/m")
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
    """The result of a fit."""

    names: tuple[str, ...]  # of the friction coefficients, "radial thigh"
    friction: Floats  # (k,) ≥ 0, in the units of `units`; NaN without a column
    deviations: Floats  # (k,) from blocks
    remarks: tuple[str, ...]  # which columns are zero or imitated
    parameters: Floats  # (n, 10) standard parameters nearest to the given ones that explain the torque
    residual: float  # N·m, rms
    mechanism: Mechanism  # with these parameters and this friction
    group: Integers  # (joints,) which set of coefficients each joint has
    units: tuple[str, ...]  # (k,)

    def predict(self, moved: MechanismMotion, epsilon: float = EPSILON_INVERSE, rows: RowsOf = AS_THEY_ARE) -> Floats:
        """Torque of the drives, (rows, drives)."""
        phi, B = columns(self.mechanism, moved, epsilon)
        phi = rows.filtered(_summed(phi, self.group))
        inertial = np.einsum("rij,ri->rj", B, _inertial(self.mechanism, moved, self.parameters))
        return np.asarray(rows.plain(inertial) + phi @ np.nan_to_num(self.friction))


def columns(mechanism: Mechanism, moved: MechanismMotion, epsilon: float) -> tuple[Floats, Floats]:
    """Friction columns (rows, drives, joints · 4) and B (rows, n, drives), under the forces with the friction there is.

    Where that friction does not settle, under the forces without any.
    """
    rows, n = moved.q.shape
    drives, free = np.flatnonzero(mechanism.drive), np.flatnonzero(mechanism.drive == 0)
    try:
        loads = mechanism.inverse(moved, ALL, epsilon).loads
    except MechanismError:
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

    shared: all joints that turn have the same bearing, and all that slide; the drives of a closed chain tell no more.
    rows: which rows are fitted, and the filter that the torque went through, for what is not linear in the motion; tau
    has as many.
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
    joints, group, units = _groups(mechanism, shared)
    names = tuple(f"{kind} {joint}" for joint in joints for kind in KINDS)
    present = mechanism.with_bearings(bearings_of(mechanism, np.zeros(len(names)), group))
    variance = float(np.mean(y**2))
    for _ in range(PASSES):
        phi = rows.filtered(_summed(columns(present, moved, epsilon)[0], group))
        loaded = _present(phi)
        X = np.concatenate([inertial, phi[..., loaded].reshape(tau.size, -1)], axis=1)
        prior = np.zeros((X.shape[1], X.shape[1]))
        prior[: len(weight), : len(weight)] = weight * variance * correlated
        signed = np.arange(X.shape[1]) >= len(weight)
        theta, _ = constrained(X.T @ X + prior, X.T @ y, signed.astype(np.int64))
        parameters = start + theta[: len(weight)].reshape(n, PARAMETERS)
        friction = np.full(len(names), np.nan)
        friction[loaded] = theta[len(weight) :]
        present = mechanism.with_parameters(parameters).with_bearings(bearings_of(mechanism, friction, group))
        variance = float(np.mean((y - X @ theta) ** 2))
    deviations = np.full(len(names), np.nan)
    deviations[loaded] = _deviations(X, y, prior)[len(weight) :]
    remarks = (*_zero(names, loaded), *_imitated(names, loaded, X, len(weight)))
    residual = float(np.sqrt(variance))
    return MechanismFit(names, friction, deviations, remarks, parameters, residual, present, group, units)


def _groups(mechanism: Mechanism, shared: bool) -> tuple[tuple[str, ...], Integers, tuple[str, ...]]:
    """Names of the sets of coefficients, which set each joint has, and the units of all coefficients."""
    slides = _sliding(mechanism)
    if not shared:
        names, group = mechanism.joints, np.arange(len(slides))
    elif slides.any() and not slides.all():
        names, group = ("joints that turn", "joints that slide"), slides.astype(np.int64)
    else:
        names, group = ("all joints",), np.zeros(len(slides), np.int64)
    first = [int(np.flatnonzero(group == one)[0]) for one in range(len(names))]
    return names, group, tuple(unit for joint in first for unit in (SLIDING if slides[joint] else TURNING))


def bearings_of(mechanism: Mechanism, friction: Floats, group: Integers) -> list[Bearing]:
    """The bearing of every joint that rubs by these coefficients (k,); group: (joints,) which set each joint has."""
    sets = np.nan_to_num(friction).reshape(-1, len(KINDS))
    return [_bearing(sets[own], slides) for own, slides in zip(group, _sliding(mechanism), strict=True)]


def _sliding(mechanism: Mechanism) -> NDArray[np.bool_]:
    """Which joints slide, (joints,); those that close a loop turn."""
    found = np.zeros(len(mechanism.joints), np.bool_)
    found[: mechanism.size()] = mechanism.tree.kind == PRISMATIC
    return found


def _bearing(friction: Floats, slides: bool) -> Bearing:
    """A bearing that rubs by these products of μ and its arms, as joint_load.py has them."""
    radial, axial, bending, viscous = (max(float(one), 0.0) for one in friction)
    if slides:
        mu = min(max(radial, LEAST), MOST_FRICTION)
        return Bearing(
            arm=mu / axial if axial > mu / WIDE else WIDE,
            overlap=mu / bending if bending > mu / WIDE else WIDE,
            coulomb=mu,
            viscous=viscous,
        )
    pin = max(radial, LEAST)
    return Bearing(
        pin=pin,
        arm=max(axial, LEAST),
        bending=pin / bending if bending > pin / WIDE else WIDE,
        coulomb=1.0,
        viscous=viscous,
    )


def _summed(phi: Floats, group: Integers) -> Floats:
    """One column for each kind of each set of coefficients."""
    rows, drives, _ = phi.shape
    parts = phi.reshape(rows, drives, len(group), len(KINDS))
    found = [parts[:, :, group == one].sum(axis=2) for one in range(int(group.max()) + 1)]
    return np.concatenate(found, axis=2)


def _inertial(mechanism: Mechanism, moved: MechanismMotion, parameters: Floats) -> Floats:
    """Torque of the tree alone, (rows, n)."""
    rows, n = moved.q.shape
    tau, wrench = np.empty((rows, n)), np.empty((rows, n, WRENCH))
    newton_euler(*mechanism.tree, *moved, parameters, np.zeros((0, n, WRENCH)), tau, wrench)
    return tau


def _present(phi: Floats) -> Floats:
    """Which columns are not zero: those of loads that occur."""
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


def _zero(names: tuple[str, ...], loaded: Floats) -> list[str]:
    kinds = {name.split(" ", 1)[0] for name, one in zip(names, loaded, strict=True) if not one}
    found = []
    for kind in sorted(kinds):
        joints = [
            name.split(" ", 1)[1] for name, one in zip(names, loaded, strict=True) if not one and name.startswith(kind)
        ]
        found.append(f"no {kind} load at {', '.join(joints)}: its friction cannot show")
    return found


def _imitated(names: tuple[str, ...], loaded: Floats, X: Floats, first: int) -> list[str]:
    """Friction columns that the others imitate, and by which most."""
    listed = [name for name, one in zip(names, loaded, strict=True) if one]
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
            found.append(
                f"{name} cannot be distinguished from the others, most of all from {listed[int(np.argmax(alike))]}"
            )
    return found
