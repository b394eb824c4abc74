"""One rigid joint: τ = J·q̈ + friction(q, q̇, T; η) + offset + A·sin q + B·cos q + ripple, each switchable.

Reference: Janot, Gautier, Brunot, "Data set and reference models of EMPS", 2019, inverse dynamic model
τ = M·q̈ + Fv·q̇ + Fc·sign(q̇) + offset; gravity as in da Silva, de Souza, Schäfer 2007, A1 sin θ + A2 cos θ in (4.6).
"""

import math
from typing import Final, Literal, Self

import numpy as np
from pydantic import model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import ANGLES, offset
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.plain_columns import ACCELERATION, COSINE, ONE, OTHER, PLACES, SINE, Plain, fill_plain
from estimators.models.ripple import Harmonics, Ripple
from estimators.models.temperature import Reference, Warmth
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import Rows

POSITION, EFFORT, LOAD = range(3)  # channels
WEIGHT_MEANS: Final = "torque of the weight, by angle"


class RigidSettings(ModelSettings):
    """Which terms the joint has, and whether it turns or slides."""

    kind: Literal["rigid"] = "rigid"
    axis: Axis = Axis.ROTARY
    inertia: bool = True
    friction: AnyFriction = ViscousCoulombSettings()
    offset: bool = True
    gravity_sin: bool = False
    gravity_cos: bool = False
    temperature: Reference | None = None  # °C at which friction is as told; a channel has that of the joint
    ripple: Ripple = ()
    load: bool = False  # a channel has the load that friction grows with, N·m (N)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not Rigid(self).parameters:
            raise ValueError("expected at least one term (inertia, friction, offset, gravity, ripple), found none")
        if self.axis is Axis.PRISMATIC and (self.gravity_sin or self.gravity_cos):
            raise ValueError(
                "expected gravity_sin and gravity_cos on a rotary axis only (offset holds a slide's weight)"
            )
        if self.friction.law(self.axis).loaded() is not self.load:
            raise ValueError(
                "expected friction that grows with the load where load = true, found none"
                if self.load
                else f'friction of kind "{self.friction.kind}" grows with the load: expected load = true and a channel '
                "load, for measured against the torque itself it would be predicted from what it explains"
            )
        return self

    def build(self) -> Model:
        """The model."""
        return Rigid(self)


class Rigid:
    """Columns: inertia, friction, offset, gravity_sin, gravity_cos, temperature, ripple, those left out excepted."""

    def __init__(self, settings: RigidSettings) -> None:
        axis = settings.axis
        self.channels = ("position", "torque" if axis is Axis.ROTARY else "force") + ("load",) * settings.load
        self._warmth = Warmth(settings.temperature, axis)
        self.channels += self._warmth.channels
        self.outputs: tuple[str, ...] = (axis.effort,)
        self._law = settings.friction.law(axis)
        self.nonlinear = self._law.nonlinear
        self.start = self._law.start
        harmonics = Harmonics(settings.ripple, axis)
        inertia, constant, sine, cosine = _terms(axis)
        self.parameters: tuple[Parameter, ...] = (
            (inertia,) * settings.inertia
            + self._law.parameters
            + (constant,) * settings.offset
            + (sine,) * settings.gravity_sin
            + (cosine,) * settings.gravity_cos
            + self._warmth.parameters
            + harmonics.parameters
        )
        first = int(settings.inertia)
        self._friction = slice(first, first + len(self._law.parameters))
        ripple = len(self.parameters) - len(harmonics.parameters)
        self._warm = slice(ripple - len(self._warmth.parameters), ripple)
        repeats = tuple(Plain(kind, cycles) for cycles in settings.ripple for kind in (SINE, COSINE))
        self._columns = np.array(
            (Plain(ACCELERATION),) * settings.inertia
            + (self._law.plain or (Plain(OTHER),) * len(self._law.parameters))
            + (Plain(ONE),) * settings.offset
            + (Plain(SINE, 1.0),) * settings.gravity_sin
            + (Plain(COSINE, 1.0),) * settings.gravity_cos
            + (Plain(OTHER),) * len(self._warmth.parameters)
            + repeats,
            np.float64,
        ).reshape(-1, PLACES)
        plain = self._law.plain is not None and not self._warmth.parameters
        self.plan: Floats | None = self._columns if plain else None
        place = tuple(range(len(self.parameters))[self._friction])
        self._load = LOAD if settings.load else len(self.channels) if self._law.stops else EFFORT
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(settings.friction, axis, POSITION, self._load, (1.0, 1.0), 0, place, 1.0),
        )
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = False  # on EMPS it would cost a tenth of what laws explain, decision 007
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y = measured torque (force) at the full rate."""
        fill_plain(signals, self._columns, phi, y)
        if self.plan is None:
            self._law.fill(signals, POSITION, self._load, eta, phi[:, 0, self._friction])
            self._warmth.fill(signals, POSITION, len(self.channels) - 1, phi[:, 0, self._warm])

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be told from that of a parameter."""
        return ()


def _terms(axis: Axis) -> tuple[Parameter, ...]:
    effort = axis.effort
    return (
        Parameter(
            "inertia" if axis is Axis.ROTARY else "mass",
            axis.inertia,
            0.0,
            math.inf,
            "EMPS IDM, M",
            "resistance to acceleration",
            "stronger accelerations",
        ),
        offset(axis, "EMPS IDM, offset"),
        Parameter("gravity_sin", effort, -math.inf, math.inf, "da Silva 2007 (4.6), A1", WEIGHT_MEANS, ANGLES),
        Parameter("gravity_cos", effort, -math.inf, math.inf, "da Silva 2007 (4.6), A2", WEIGHT_MEANS, ANGLES),
    )
