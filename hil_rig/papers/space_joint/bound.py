"""The Cramér–Rao bound of the elastic joint's parameters, from the rig's equations and noise.

Every sample gives equations f(x; θ) = 0 (two_mass.py): of the motor, of the link (not while it sticks) and, where its
torque is measured, of the spring. x are both angles at three instants (velocity and acceleration are their central
differences) and the torques; the motion is known only by its measurement x + n. The linearised residual is Φ δθ + H n.
With R the covariance of n, no unbiased estimator has a smaller covariance than (weighted total least squares, known as
Gauss–Helmert; van Huffel & Vandewalle 1991)

    [Φᵀ (H R Hᵀ)⁻¹ Φ]⁻¹

Rounding of an encoder is modelled as white noise of variance step²/12. This is optimistic: rounding errors vary slowly
where the joint is slow and repeat with a periodic motion, so that an estimator may do worse, but not better on average.
The torques' offsets are unknown here as they are to the estimator.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.special import ndtri

from hil_rig.plants.base import Floats
from hil_rig.plants.joints.two_mass import ELASTIC, TwoMassPlantSettings

# equations of one sample
MOTOR: Final = 0
LINK: Final = 1
SPRING: Final = 2
REACH: Final = 2  # samples between equations that share an encoder's reading


def bound(settings: TwoMassPlantSettings, seconds: float) -> dict[str, float]:
    """Least standard deviation of each parameter of ELASTIC after this time, per cent of its value."""
    exact = settings.build(1, 0, []).exact(round(seconds * settings.rate))[1:-1]
    equations = 3 if settings.spring_torque else 2
    phi = _sensitivities(settings, exact)[:, :equations]
    coefficients, white = _noise(settings, exact)
    sticks = np.abs(exact[:, 3]) <= np.abs(np.diff(exact[:, 3], prepend=0.0))  # the velocity's sign may have changed
    covariance = _banded(coefficients[:, :equations], white[:equations], sticks)
    phi[sticks, LINK] = 0.0
    design = phi.reshape(-1, phi.shape[2])
    scale = np.sqrt(covariance[0])
    for distance in range(len(covariance)):
        covariance[distance, : len(scale) - distance] /= scale[: len(scale) - distance] * scale[distance:]
    design = design / scale[:, np.newaxis]
    information = design.T @ cho_solve_banded((cholesky_banded(covariance, lower=True), True), design)
    lengths = np.sqrt(np.diag(information))
    least = np.sqrt(np.diag(np.linalg.inv(information / np.outer(lengths, lengths)))) / lengths
    return dict(zip(ELASTIC, (100.0 * least).tolist(), strict=False))


def worst(count: int) -> float:
    """The value, in σ, that the worst of `count` Gaussian draws exceeds with probability ½."""
    return float(ndtri(0.5 + 0.5 * 0.5 ** (1.0 / count)))


def _sensitivities(s: TwoMassPlantSettings, exact: Floats) -> Floats:
    """∂f/∂ln θ in the order of ELASTIC, then the offsets: (samples, 3, parameters)."""
    q_in, q_out, w_in, w_out = exact[:, :4].T
    twist = q_in - q_out
    bent = np.abs(w_in / s.omega_s) ** s.delta_s
    tanh, stribeck = np.tanh(w_in / s.omega1), s.C2 * w_in * np.exp(-bent)
    columns = {name: np.zeros((len(exact), 3)) for name in ELASTIC}
    for name, torque in (("stiffness", s.k1 * twist), ("stiffness_cubic", s.k2 * twist**3)):
        columns[name][:] = torque[:, np.newaxis] * (1.0, -1.0, 1.0)
    columns["motor_coulomb"][:, MOTOR] = s.C1 * tanh
    columns["motor_stribeck"][:, MOTOR] = stribeck
    columns["motor_viscous"][:, MOTOR] = s.b_in * w_in
    columns["motor_stiffness"][:, MOTOR] = s.b_inD * q_in
    columns["omega_tanh"][:, MOTOR] = -s.C1 * (1.0 - tanh**2) * w_in / s.omega1
    columns["omega_stribeck"][:, MOTOR] = stribeck * s.delta_s * bent
    columns["link_viscous"][:, LINK] = s.b_out * w_out
    columns["link_coulomb"][:, LINK] = s.b_outC * np.sign(w_out)
    columns["link_cyclic_sin"][:, LINK] = s.A1 * np.sin(q_out)
    columns["link_cyclic_cos"][:, LINK] = s.A2 * np.cos(q_out)
    offsets = np.eye(3)[: 3 if s.spring_torque else 2]
    return np.stack([*columns.values(), *(np.tile(one, (len(exact), 1)) for one in offsets)], axis=2)


def _noise(s: TwoMassPlantSettings, exact: Floats) -> tuple[Floats, Floats]:
    """∂f/∂(angle) × rounding of each equation, (samples, 3, encoders, 3 instants); variance of its torque, (3,)."""
    q_in, q_out, w_in = exact[:, :3].T
    spring = s.k1 + 3.0 * s.k2 * (q_in - q_out) ** 2
    bent = np.abs(w_in / s.omega_s) ** s.delta_s
    damping = s.C1 / s.omega1 / np.cosh(w_in / s.omega1) ** 2 + s.b_in + s.C2 * np.exp(-bent) * (1.0 - s.delta_s * bent)
    gravity = (s.A1 - s.T_g) * np.cos(q_out) - s.A2 * np.sin(q_out)
    second, rate = s.rate**2 * np.array([1.0, -2.0, 1.0]), 0.5 * s.rate * np.array([-1.0, 0.0, 1.0])
    found = np.zeros((len(exact), 3, 2, 3))
    found[:, MOTOR, 0] = s.J_in * second + damping[:, np.newaxis] * rate
    found[:, LINK, 1] = s.J_out * second + s.b_out * rate
    found[:, MOTOR, 0, 1] += spring + s.b_inD
    found[:, LINK, 1, 1] += spring + gravity
    found[:, MOTOR, 1, 1] = found[:, LINK, 0, 1] = -spring
    found[:, SPRING, 0, 1], found[:, SPRING, 1, 1] = spring, -spring
    rounding = 2.0 * np.pi / np.exp2([s.motor_bits, s.link_bits]) / np.sqrt(12.0)
    return found * rounding[:, np.newaxis], np.array([s.motor_noise**2, 0.0, s.joint_noise**2])


def _banded(coefficients: Floats, white: Floats, without: NDArray[np.bool_]) -> Floats:
    """H R Hᵀ in lower banded form, with the equations of a sample next to each other.

    without: (samples,) where the link's equation is left out.
    """
    samples, equations = coefficients.shape[:2]
    banded = np.zeros(((REACH + 1) * equations, samples * equations))
    for later in range(REACH + 1):
        early, late = coefficients[: samples - later, ..., later:], coefficients[later:, ..., : 3 - later]
        shared = np.einsum("taei,tbei->tab", early, late)
        if later == 0:
            shared += np.diag(white)
        shared[without[: samples - later], LINK] = 0.0
        shared[without[later:], :, LINK] = 0.0
        if later == 0:
            shared[without, LINK, LINK] = 1.0
        for a in range(equations):
            for b in range(a if later == 0 else 0, equations):
                distance = later * equations + b - a
                banded[distance, a : a + len(shared) * equations : equations] = shared[:, a, b]
    return banded
