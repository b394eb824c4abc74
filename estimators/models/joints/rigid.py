"""One rigid joint: τ = J·q̈ + friction(q, q̇, T; η) + offset + A·sin q + B·cos q + ripple, each switchable.

Reference: Janot, Gautier, Brunot, "Data set and reference models of EMPS", 2019, inverse dynamic model
τ = M·q̈ + Fv·q̇ + Fc·sign(q̇) + offset; gravity as in da Silva, de Souza, Schäfer 2007, A1 sin θ + A2 cos θ in (4.6).
"""

import math
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.filler import FILL
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import ANGLES, fill_law, offset
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.plain_columns import ACCELERATION, COSINE, ONE, OTHER, PLACES, SINE, Plain, fill
from estimators.models.ripple import Harmonics, Ripple
from estimators.models.temperature import Reference, Warmth, warm
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import Rows
from jointwatch_numba.layout import Function, Layout, Matrix, Own, Vector, own_as

POSITION: Final = 0  # channels
EFFORT: Final = 1
LOAD: Final = 2
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
    temperature: Reference | None = None  # °C at which friction is as stated; a channel has that of the joint
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


class RigidTerms(Layout):
    """Which terms a rigid joint has, for the kernel that fills its rows."""

    plan: Annotated[Matrix, "parameters", "3"]  # of the columns that are one function of one signal, plain_columns.py
    law: Function  # of friction
    law_constants: Vector
    law_first: int  # columns that the law's own kernel fills: from this one …
    law_last: int  # … to before this one
    load: int  # channel that the law takes as its load
    thermometer: int  # channel of the joint's temperature; 0: none
    warm_first: int  # first of the two columns that temperature has
    reference: float  # °C at which friction is as stated


as_rigid: Final = own_as(RigidTerms)


class Rigid:
    """Columns: inertia, friction, offset, gravity_sin, gravity_cos, temperature, ripple, those left out excepted."""

    def __init__(self, settings: RigidSettings) -> None:
        self._settings = settings
        axis = settings.axis
        self.channels = ("position", "torque" if axis is Axis.ROTARY else "force") + ("load",) * settings.load
        warmth, law = Warmth(settings.temperature, axis), settings.friction.law(axis)
        self.channels += warmth.channels
        self.outputs: tuple[str, ...] = (axis.effort,)
        self.nonlinear, self.start = law.nonlinear, law.start
        harmonics = Harmonics(settings.ripple, axis)
        inertia, constant, sine, cosine = _terms(axis)
        self.parameters: tuple[Parameter, ...] = (
            (inertia,) * settings.inertia
            + law.parameters
            + (constant,) * settings.offset
            + (sine,) * settings.gravity_sin
            + (cosine,) * settings.gravity_cos
            + warmth.parameters
            + harmonics.parameters
        )
        first = int(settings.inertia)
        last = first + len(law.parameters)
        warm_from = len(self.parameters) - len(harmonics.parameters) - len(warmth.parameters)
        repeats = tuple(Plain(kind, cycles) for cycles in settings.ripple for kind in (SINE, COSINE))
        plan = np.array(
            (Plain(ACCELERATION),) * settings.inertia
            + (law.plain or (Plain(OTHER),) * len(law.parameters))
            + (Plain(ONE),) * settings.offset
            + (Plain(SINE, 1.0),) * settings.gravity_sin
            + (Plain(COSINE, 1.0),) * settings.gravity_cos
            + (Plain(OTHER),) * len(warmth.parameters)
            + repeats,
            np.float64,
        ).reshape(-1, PLACES)
        load = LOAD if settings.load else len(self.channels) if law.stops else EFFORT
        thermometer = len(self.channels) - 1 if warmth.parameters else 0
        self.kernel: Any = fill_rigid
        self.terms: Own = RigidTerms(
            plan=plan,
            law=law.kernel,
            law_constants=law.constants,
            law_first=first,
            law_last=first if law.plain else last,
            load=load,
            thermometer=thermometer,
            warm_first=warm_from,
            reference=warmth.reference,
        )
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(settings.friction, axis, POSITION, load, (1.0, 1.0), 0, tuple(range(first, last)), 1.0),
        )
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = False  # on EMPS it would cost a tenth of what laws explain, decision 007
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def __reduce__(self) -> tuple[type["Rigid"], tuple[RigidSettings]]:
        """Pickle the settings only: addresses of compiled functions are invalid in another process."""
        return Rigid, (self._settings,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y = measured torque (force) at the full rate."""
        fill_rigid(signals, eta, self.terms, phi, y)

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be distinguished from that of a parameter."""
        return ()


@kernel(FILL)
def fill_rigid(signals: Floats, eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    """Fill the rows of a rigid joint; own: RigidTerms."""
    terms = as_rigid(own)
    fill(signals, terms.plan, phi, y)
    if terms.law_last > terms.law_first:
        columns = phi[:, 0, terms.law_first : terms.law_last]
        fill_law(terms.law, signals, POSITION, terms.load, terms.law_constants, eta, columns)
    if terms.thermometer > 0:
        columns = phi[:, 0, terms.warm_first : terms.warm_first + 2]
        warm(signals, POSITION, terms.thermometer, terms.reference, columns)


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
