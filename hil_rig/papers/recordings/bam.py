"""The published friction models M1–M6 of the XL330 (Rhoban bam), solved for the voltage that a motion requires.

    τ_m = J q̈ + T_g + b q̇ + F·sign(q̇),   U = (R/kt) τ_m + kt q̇,   T_g = m g l sin(q + q₀),   e = exp(−|q̇/ω|^α)
    F = F₀ + e F_s + (µ + e µ_s)|T_g + τ_m| + |µ_e T_g + µ_m τ_m| + e |µ_es T_g + µ_ms τ_m| + quadratic part

The load is defined as in bam: gravity and motor torque together, without inertia; absent coefficients are zero. F
depends on τ_m, so τ_m is found by iteration, which contracts by µ < 1. Reference: Duclusaud, Passault, Padois, Ly,
"Extended friction models for the physics simulation of servo actuators", arXiv 2410.08650, and the authors' program.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from estimators.quantities import Floats

MODELS: Final = ("m1", "m2", "m3", "m4", "m5", "m6")
GRAVITY: Final = 9.80665  # m/s²
STEPS: Final = 60  # µ ≤ 0.35 in the published models, so the error is 1e-27


def voltage(published: Mapping[str, float], motion: Floats, mass: float, length: float) -> Floats:
    """The voltage U, V, (rows,), of a motion (rows, 4): q̈, q̇ (never zero), sin q, cos q."""
    acceleration, velocity, sine, cosine = motion.T
    zero = published["q_offset"]
    external = mass * GRAVITY * length * (sine * np.cos(zero) + cosine * np.sin(zero))
    inertia = mass * length**2 + published["armature"]
    without = inertia * acceleration + external + published["friction_viscous"] * velocity
    torque = without
    for _ in range(STEPS):
        torque = without + np.sign(velocity) * friction(published, velocity, external, torque)
    return np.asarray(published["R"] / published["kt"] * torque + published["kt"] * velocity)


def friction(published: Mapping[str, float], velocity: Floats, external: Floats, motor: Floats) -> Floats:
    """The friction F, N·m."""

    def known(name: str) -> float:
        return published.get(name, 0.0)

    speed, exponent = published.get("dtheta_stribeck", 1.0), published.get("alpha", 1.0)
    e = np.exp(-(np.abs(velocity / speed) ** exponent))
    whole = np.abs(external + motor)
    loss = known("friction_base") + e * known("friction_stribeck")
    loss += (known("load_friction_base") + e * known("load_friction_stribeck")) * whole
    loss += np.abs(known("load_friction_external") * external + known("load_friction_motor") * motor)
    peak = known("load_friction_external_stribeck") * external + known("load_friction_motor_stribeck") * motor
    square = np.where(
        np.abs(external) < np.abs(motor),
        known("load_friction_external_quad") * external**2,
        known("load_friction_motor_quad") * motor**2,
    )
    return np.asarray(loss + e * (np.abs(peak) + (external * motor > 0.0) * square))
