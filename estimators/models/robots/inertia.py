"""What a link weighs, as a 4 × 4 pseudo-inertia: flooring, the pullback metric of a prior, and guesses without CAD.

    P = [[Σ, h], [hᵀ, m]],  Σ = tr(I)/2·1 − I,  physical if and only if P is positive definite
    prior N(π0, σ² H⁻¹),  H_ab = tr(P0⁻¹ B_a P0⁻¹ B_b),  B = ∂P/∂π

Reference: Lee, Wensing, Park, "Geometric robot dynamic identification", IEEE T-RO 36, 2020: coordinate-free, one
number.
"""

from typing import Final

import numpy as np

from estimators.models.robots.tree import PARAMETERS
from estimators.quantities import Floats

#: 1, argued: Weights of −log det P, one after the other: the last moves a body by a hundredth of its deviations.
WEIGHTS: Final = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
#: steps, argued: Newton steps for each weight; damped ones are quadratic from a decrement of a quarter on.
STEPS: Final = 30
#: 1, derived: Newton decrement below which a damped step is a full one (Nesterov, self-concordance).
FULL: Final = 0.25
#: 1, argued: Newton decrement at which a weight's minimum is reached.
REACHED: Final = 1e-3
MASS: Final = 0.05  # kg, the least a link is taken to weigh
GYRATION: Final = 0.03  # m about the centre of mass, on every axis, at least

_PLACES: Final = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of Ixx Ixy Iyy Ixz Iyz Izz


def pseudo_inertia(parameters: Floats) -> Floats:
    """P (4, 4) of ten standard parameters."""
    P, inertia = np.empty((4, 4)), tensor(parameters)
    P[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    P[:3, 3] = P[3, :3] = parameters[1:4]
    P[3, 3] = parameters[0]
    return P


def parameters_of(P: Floats) -> Floats:
    """The ten standard parameters of a pseudo-inertia (4, 4)."""
    inertia = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *(inertia[place] for place in _PLACES)])


def tensor(parameters: Floats) -> Floats:
    """The inertia (3, 3) about the frame's origin."""
    inertia = np.empty((3, 3))
    for place, value in zip(_PLACES, parameters[4:], strict=True):
        inertia[place] = inertia[place[::-1]] = value
    return inertia


def standard(mass: float, centre: Floats, inertia: Floats) -> Floats:
    """Ten parameters from the inertia (3, 3) about the centre of mass, in the frame's axes."""
    c = np.asarray(centre, np.float64)
    about = inertia + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([mass, *(mass * c), *(about[place] for place in _PLACES)])


BASIS: Final[Floats] = np.array([pseudo_inertia(one) for one in np.eye(PARAMETERS)])  # B_a, (10, 4, 4)


def floored(parameters: Floats) -> Floats:
    """The nearest link that weighs something: mass ≥ 0.05 kg, gyration about its centre ≥ 3 cm on each axis."""
    mass = max(parameters[0], MASS)
    centre = parameters[1:4] / parameters[0] if parameters[0] > MASS else np.zeros(3)
    spread = pseudo_inertia(parameters)[:3, :3] - parameters[0] * np.outer(centre, centre)
    values, vectors = np.linalg.eigh(0.5 * (spread + spread.T))
    spread = (vectors * np.maximum(values, mass * GYRATION**2)) @ vectors.T
    P = np.empty((4, 4))
    P[:3, :3] = spread + mass * np.outer(centre, centre)
    P[:3, 3] = P[3, :3] = mass * centre
    P[3, 3] = mass
    return parameters_of(P)


def nearest_physical(parameters: Floats, covariance: Floats) -> Floats:
    """The body nearest to ten parameters, by their covariance (10, 10), that can exist.

    Its mass is positive, and its inertia about the centre is positive definite with the triangle inequalities: all of
    that is P > 0. Parameters for which it holds are returned as they are; others are moved by an interior point method
    (½ x′C⁻¹x − weight · log det P, damped Newton), whose steps never leave the cone.
    """
    if float(np.linalg.eigvalsh(pseudo_inertia(parameters))[0]) > 0.0:
        return parameters
    information = np.linalg.inv(covariance)
    found = floored(parameters)
    for weight in WEIGHTS:
        for _ in range(STEPS):
            inverse = np.linalg.inv(pseudo_inertia(found))
            slope = information @ (found - parameters) - weight * np.einsum("ij,aji->a", inverse, BASIS)
            step = -np.linalg.solve(information + weight * metric(found), slope)
            decrement = float(np.sqrt(max(-slope @ step, 0.0) / weight))
            found = found + step / (1.0 + (decrement if decrement > FULL else 0.0))
            if decrement < REACHED:
                break
    return found


def metric(parameters: Floats) -> Floats:
    """H (10, 10) of one link at π0, which must be positive definite."""
    inverse = np.linalg.inv(pseudo_inertia(parameters))
    left = np.einsum("ij,ajk->aik", inverse, BASIS)
    return np.asarray(np.einsum("aij,bji->ab", left, left))


def rod(mass: float, along: Floats, length: float, radius: float) -> Floats:
    """A solid cylinder from the frame's origin to length·along: what a link without CAD is taken for."""
    unit = along / max(float(np.linalg.norm(along)), 1e-12)
    across = mass * (radius**2 / 4 + length**2 / 12)
    inertia = across * np.eye(3) + (mass * radius**2 / 2 - across) * np.outer(unit, unit)
    return standard(mass, 0.5 * length * unit, inertia)
