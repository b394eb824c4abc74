"""Lost motion: what lies between the two encoders of a joint, linear in its parameters.

    d = θ_m − θ_l = o + τ'/K + w λ − sgn(w) F_c/K + E(θ_m) + sgn(τ_w) b,        τ' = τ_m − J_m θ̈_m
    E = c₂ cos 2Nθ_m + s₂ sin 2Nθ_m + c₁ cos Nθ_m + s₁ sin Nθ_m

on the link side, N the gear ratio; 2b is the lost motion, and λ holds the skew of the encoders less F_v/K. τ_w is the
torque that the link takes from the gear, J_l θ̈_l + gravity, of which the sign is enough, where it is certain. There
the gap is taken up to one side and b is linear: its width need not be guessed. The sign comes from the link: taken from
τ' and the F_c of the same fit it turns into sgn(w), which is −b for no gap at all. A spring that is softer at first
shows in the same column: what is watched is lost motion, not backlash alone (Weigand 2021 models both as a gap).

The sign of τ_w is that of the gear's torque where τ_w is larger than what it may be wrong by: `band`, and KNOWN of its
two parts. Where the link drives the motor (τ_w w < 0) also the link's friction f_c + f_v|w|, which is learnt.
With τ_w in the place of τ' the same columns give −f_c/K and λ_w = skew + f_v/K, so f_v ≤ K(λ_w − λ) = f_v + F_v.

A spring that is soft beyond the smallest loads used gives itself away: with a column of their own, rows of
|τ_w| < `small` show the same b where there is a gap, and less of it where the spring has not yet stiffened.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Parameter, Settings

# columns
ONE: Final = 0  # 1
TORQUE: Final = 1  # τ', N·m
SPEED: Final = 2  # w, rad/s
FRICTION: Final = 3  # −sgn w
COS2: Final = 4  # cos 2Nθ_m
SIN2: Final = 5  # sin 2Nθ_m
COS1: Final = 6  # cos Nθ_m
SIN1: Final = 7  # sin Nθ_m
GAP: Final = 8  # sgn τ_w
NEAR: Final = 9  # sgn τ_w where |τ_w| < `small`, else 0
LOAD: Final = 10  # τ_w, N·m
COLUMNS: Final = 11
BY_TORQUE: Final = (ONE, TORQUE, SPEED, FRICTION, COS2, SIN2, COS1, SIN1, GAP)  # of a fit; the gap's is the last
WITH_NEAR: Final = (*BY_TORQUE, NEAR)
BY_LOAD: Final = (ONE, LOAD, SPEED, FRICTION, COS2, SIN2, COS1, SIN1, GAP)
KNOWN: Final = 0.1  # of the link's inertia and gravity, each: no better are they known, as a rule
ORIGIN: Final = "clearance, B"
SIDES: Final = "loads on either side, away from where the motion turns"
PARAMETERS: Final = (
    Parameter("gear_stiffness", "N·m/rad", 0.0, math.inf, f"{ORIGIN}, K", "torque per twist between the encoders"),
    Parameter(
        "lost_motion", "rad", 0.0, 0.1, f"{ORIGIN}, 2b", "what the gear gives when its load changes sides", SIDES
    ),
    Parameter("gear_friction", "N·m", 0.0, math.inf, f"{ORIGIN}, F_c", "dry friction of the motor's side"),
    Parameter("gear_lag", "s", -0.1, 0.1, f"{ORIGIN}, λ", "skew of the encoders, less viscous friction over stiffness"),
    *(
        Parameter(f"gear_error_{part}{turn}", "rad", -0.1, 0.1, f"{ORIGIN}, {part[0]}", f"error {often} a motor's turn")
        for turn, often in ((2, "twice"), (1, "once"))
        for part in ("cos", "sin")
    ),
    Parameter("link_friction", "N·m", 0.0, math.inf, f"{ORIGIN}, f_c", "dry friction of the link's side"),
)
WEARS: Final = PARAMETERS[:3]  # what a baseline remembers
# places of PARAMETERS
STIFFNESS: Final = 0  # K
LOST_MOTION: Final = 1  # 2b
COULOMB: Final = 2  # F_c
LAG: Final = 3  # λ
LINK_FRICTION: Final = len(PARAMETERS) - 1


class Watching(Settings):
    """How lost motion is watched, whatever the joint."""

    still: Annotated[float, Field(gt=0)] = 0.02  # rad/s below which the motor's direction is not known
    cutoff: Annotated[float, Field(gt=0)] = 20.0  # Hz, of the low pass that every column passes
    rows: Annotated[float, Field(gt=0)] = 100.0  # Hz
    block: Annotated[float, Field(gt=0)] = 1.5  # s of used rows that make a block
    blocks: Annotated[int, Field(ge=10, le=400)] = 40  # blocks remembered; as many estimates of what an error is
    growth: Annotated[float, Field(gt=0)] = 0.25  # of the first lost motion: growth from which an event is reported


class GearWatchSettings(Watching):
    """`lost_motion` of a joint in the configuration; what its model knows need not be said."""

    watch: bool = True
    encoders: Literal[1, 2] = 2  # 1: the motor's alone, the link's is not there or not used
    inertia_motor: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None  # kg·m², on the link side
    inertia_link: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None  # kg·m²
    gravity: Annotated[float, Field(allow_inf_nan=False)] | None = None  # N·m, signed, θ_l from the upright
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None  # N; without it the model's, else 100
    band: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None  # N·m of load whose sign is noise


class OneEncoderSettings(Settings):
    """Settings of a gear whose lost motion is estimated from the motor alone."""

    inertia_motor: Annotated[float, Field(gt=0, allow_inf_nan=False)]  # kg·m², on the link side
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 100.0  # N
    growth: Annotated[float, Field(gt=0)] = 0.25  # of the first lost motion: growth from which an event is reported


class LostMotionSettings(Watching):
    """What is known of the joint, and how its lost motion is watched."""

    inertia_motor: Annotated[float, Field(ge=0, allow_inf_nan=False)]  # kg·m², on the link side
    inertia_link: Annotated[float, Field(ge=0, allow_inf_nan=False)]  # kg·m²
    gravity: Annotated[float, Field(allow_inf_nan=False)] = 0.0  # N·m, signed, θ_l from the upright
    load: bool = False  # the link's torque comes as a channel, from a model of the robot, instead of the two above
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 100.0  # N
    band: Annotated[float, Field(gt=0, allow_inf_nan=False)]  # N·m of load below which its sign is not known
    small: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # N·m, of the rows that are asked for a soft spring

    def channels(self) -> tuple[str, ...]:
        """Roles: both angles (rad) and the motor's torque (N·m), on the link side."""
        return ("position", "link_position", "torque") + ("load",) * self.load


def physical(by_torque: Floats, by_load: Floats) -> Floats:
    """(…, columns of BY_TORQUE) coefficients of both fits → (…, PARAMETERS) in their units."""
    K = 1.0 / by_torque[..., TORQUE]
    head = (K, 2.0 * by_torque[..., GAP], by_torque[..., FRICTION] * K, by_torque[..., SPEED])
    errors = (by_torque[..., column] for column in (COS2, SIN2, COS1, SIN1))
    return np.stack([*head, *errors, -by_load[..., FRICTION] / by_load[..., TORQUE]], axis=-1)
