"""Friction with memory, a law of the whole robot's model only: a ladder of stops over three decades of presliding.

    τ_f = c q̇ + C s_0 + Σ w_i s_i  [+ μ |T| s_0]  [+ d |q̇|/v]  [+ Σ_i g_i q̇/(|q̇| + k_i v)]  [+ Σ_k p_k u^k s_0]

s_i are Prandtl–Ishlinskii stops that slip at r_i, linear in their weights; s_0 slips at next to nothing: it is the sign
of the last motion and holds at rest, where sign(q̇) is that of the noise. T is the rigid body's torque, v the fastest
speed seen, u = (q − centre)/half in −1 … 1. g bends friction over speed: lubricants thin as they are sheared, and the
peak at low speed fades (sigmoids as of Makkar, Dixon, Sawyer, Hu, AIM 2005, (5), with fixed knees k_i, so that they are
linear). The columns of w, d, g and p are at most 1, and these weights have a prior about zero whose deviation is what
plain friction leaves of the recordings' torque: what the data do not tell stays there. μ is what a gear loses by its
load. Reference: Al-Bender, Lampaert, Swevers, IEEE Trans. Autom. Control 50:1883–1887, 2005, (4),
without its slip dynamics.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import (
    BOTH_WAYS,
    LOADS,
    NOTHING,
    POSITIONS,
    REVERSALS,
    SIGNATURE,
    SPEEDS,
    FrictionLaw,
    FrictionSettings,
    coulomb,
    follow_springs,
    numbers,
    viscous,
)
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

HOLDING: Final = 1e-5  # rad (m): below every presliding of a gear, above rounding of a filtered position
LADDER: Final = tuple(float(f"{one:.3g}") for one in np.geomspace(1e-4, 0.1, 8))  # rad (m)
LOST: Final = 0.1  # of the load, one deviation: the efficiency of gears is 80 to 95 %
DEGREE: Final = 5  # of the polynomial in position
KNEES: Final = (0.02, 0.1, 0.5)  # of the fastest speed: two decades, as far apart as such curves differ
SLIP: Final = "Al-Bender 2005 (4), W_i"

Threshold = Annotated[float, Field(gt=0, le=10)]
Half = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class MaxwellSlipSettings(FrictionSettings):
    """Which columns, where the stops slip, and how large their weights may be."""

    kind: Literal["maxwell_slip"] = "maxwell_slip"
    thresholds: Annotated[tuple[Threshold, ...], Field(max_length=12)] = LADDER
    load: bool = False
    directional: Half | None = None  # v, rad/s (m/s); None: no such column
    curve: Half | None = None  # v, rad/s (m/s), of g; None: no such columns
    position: tuple[float, Half] | None = None  # centre and half range, rad (m); None: no such columns
    spread: Half | None = None  # N·m (N), deviation of w, d, g and p before any motion; None: the joint's rms torque

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        effort, length = axis.effort, axis.length
        more, slower = [], "by how much friction grows faster with speed forward than backward"
        if self.load:
            words = "friction that grows with the load"
            more.append(Parameter("load", "1", 0.0, math.inf, "Guo 2024 (42), µ_c", words, LOADS))
        if self.directional is not None:
            more.append(Parameter("directional", effort, -math.inf, math.inf, "Liu 2023 (10)", slower, BOTH_WAYS))
        if self.curve is not None:
            more += [
                Parameter(f"curve{i}", effort, -math.inf, math.inf, "Makkar 2005 (5)", "how friction bends", SPEEDS)
                for i in range(1, len(KNEES) + 1)
            ]
        more += [
            Parameter(
                f"stop{i}", effort, 0.0, math.inf, SLIP, f"friction that builds up over {reach:g} {length}", REVERSALS
            )
            for i, reach in enumerate(self.thresholds, 1)
        ]
        if self.position is not None:
            more += [
                Parameter(f"position{k}", effort, -math.inf, math.inf, "", f"friction by place, power {k}", POSITIONS)
                for k in range(1, DEGREE + 1)
            ]
        parameters = (viscous(axis, "EMPS IDM, Fv"), coulomb(axis, SLIP), *more)
        centre, half = self.position or (0.0, 0.0)
        spread = math.nan if self.spread is None else self.spread
        return FrictionLaw(
            parameters,
            (),
            NOTHING,
            numbers(self.load, self.directional or 0.0, len(self.thresholds), centre, half, self.curve or 0.0),
            kernel=_fill,
            stops=(HOLDING, *self.thresholds),
            springs_from=1,
            spreads=(math.nan, math.inf, *(LOST if one.name == "load" else spread for one in more)),
        )


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    loaded, fastest, stops = constants[0] > 0.0, constants[1], int(constants[2])
    half, curve = constants[4], constants[5]
    held = load + 1
    for row in range(len(signals)):
        sign = signals[row, held, VALUE]
        columns[row, 0] = signals[row, position, RATE]
        columns[row, 1] = sign
        k = 2
        if loaded:
            columns[row, k] = abs(signals[row, load, SMOOTH]) * sign
            k += 1
        if fastest > 0.0:
            columns[row, k] = abs(signals[row, position, SMOOTH_RATE]) / fastest
            k += 1
        if curve > 0.0:
            v = signals[row, position, SMOOTH_RATE]
            for knee in KNEES:
                columns[row, k] = v / (abs(v) + knee * curve)
                k += 1
        for i in range(stops):
            columns[row, k] = signals[row, held + 1 + i, VALUE]
            k += 1
        if half > 0.0:
            u = min(max((signals[row, position, SMOOTH] - constants[3]) / half, -1.0), 1.0)
            power = sign
            for i in range(DEGREE):
                power *= u
                columns[row, k + i] = power


@inline
def fill_slip_table(
    q: Floats, dq: Floats, ddq: Floats, load: Floats, reach: Floats, stops: Floats, constants: Floats, memory: Floats,
    count: int, first: Integers, rotors: Integers, found: Floats,
) -> None:  # fmt: skip
    """Columns of all joints that have this law, and their rotors', in the table's order: found (rows, terms).

    stops, constants: (n, …) of each joint's law; memory: (n, stops, 2); count: parameters of the law.
    """
    rows, n = len(q), len(reach)
    found[:] = 1.0
    signals, nothing = np.zeros((rows, 2 + stops.shape[1], SIGNALS)), np.empty(0)
    columns = np.empty((rows, count))
    for j in range(n):
        for row in range(rows):
            speed = min(max(dq[row, j], -reach[j]), reach[j])
            signals[row, 0, VALUE] = signals[row, 0, SMOOTH] = q[row, j]
            signals[row, 0, RATE] = signals[row, 0, SMOOTH_RATE] = speed
            signals[row, 1, VALUE] = signals[row, 1, SMOOTH] = load[row, j]
        follow_springs(signals[:, 0, VALUE], signals[:, 0, RATE], stops[j], 0.0, 1.0, False, memory[j], signals[:, 2:])
        _fill(signals, 0, 1, constants[j], nothing, columns)
        for row in range(rows):
            for k in range(count):
                found[row, first[j] + k] = columns[row, k]
            if rotors[j] >= 0:
                found[row, rotors[j]] = ddq[row, j]


@kernel(
    "void(f8[:, :], f8[:, :], f8[:, :], f8[:, :], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8, i8[::1],"
    " i8[::1], f8[:, ::1])"
)
def slip_table(
    q: Floats, dq: Floats, ddq: Floats, load: Floats, reach: Floats, stops: Floats, constants: Floats, memory: Floats,
    count: int, first: Integers, rotors: Integers, found: Floats,
) -> None:  # fmt: skip
    fill_slip_table(q, dq, ddq, load, reach, stops, constants, memory, count, first, rotors, found)
