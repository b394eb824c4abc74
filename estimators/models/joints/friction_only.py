"""The friction of a drive alone: τ − τ_joint − J·q̈ = friction(q, q̇, τ_joint; η) + offset + ripple, J known.

Where the torque constant and the motor's inertia are not trusted, they are learnt beside it, with a torque sensor as
the measure of both: τ = k·τ_joint + J·q̈ + friction + offset + ripple; k is 1 where both torques have the right scale.

Reference: da Silva, de Souza, Schäfer 2007, Case 2, y = T_d,in of (3.5). The torque that the friction takes is measured
(then J = 0 and nothing is subtracted), or it is what a motor gives and a joint torque sensor no longer sees.
"""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from estimators.models import filler
from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import fill_law, offset
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.ripple import Harmonics, Ripple, repeat
from estimators.models.temperature import Reference, Warmth, warm
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import Parcel, Table, function, integers, vector
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import SECOND, VALUE, Rows

POSITION, EFFORT, JOINT = range(3)  # channels
# of its parcel; among its places: from which column on drive, temperature and ripple have theirs; channel of the load;
# whether the joint's torque is subtracted; whether it, and the acceleration, have a column; channel of the temperature,
# 0 where there is none; columns of the law
(CONSTANTS, KNOWN, CYCLES), PLACES, LAW = range(3), 0, filler.FILL + 1
OWN, WARM, RIPPLE, CARRIED, SUBTRACTED, SCALED, ACCELERATED, THERMOMETER, COLUMNS = range(9)
INERTIA, REFERENCE = range(2)  # known


class FrictionOnlySettings(ModelSettings):
    """Which law, and what stands between the measured torque and the friction."""

    kind: Literal["friction"] = "friction"
    axis: Axis = Axis.ROTARY
    friction: AnyFriction = TanhStribeckSettings(stiffness=True)
    inertia: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # J, kg·m² (kg)
    joint_torque: bool = False  # the channel is there and is subtracted
    torque_scale: bool = False  # k is learnt
    inertia_motor: bool = False  # J is learnt
    offset: bool = False
    temperature: Reference | None = None  # °C at which friction is as told; a channel has that of the joint
    ripple: Ripple = ()

    @model_validator(mode="after")
    def _a_measure_of_what_is_learnt(self) -> Self:
        for name in ("torque_scale", "inertia_motor"):
            if getattr(self, name) and not self.joint_torque:
                raise ValueError(f"expected joint_torque = true with {name}: without a sensor nothing measures it")
        if self.inertia_motor and self.inertia:
            raise ValueError("expected either inertia, which is known, or inertia_motor = true, found both")
        return self

    @model_validator(mode="after")
    def _a_load_of_its_own(self) -> Self:
        if self.friction.law(self.axis).loaded() and not self.joint_torque:
            raise ValueError(
                f'friction of kind "{self.friction.kind}" grows with the load: expected joint_torque = true, for '
                "measured against the torque itself it would be predicted from what it explains"
            )
        return self

    def build(self) -> Model:
        """The model."""
        return FrictionOnly(self)


class FrictionOnly:
    """Columns in the order friction, offset, torque scale, inertia, temperature, ripple."""

    def __init__(self, settings: FrictionOnlySettings) -> None:
        self._settings = settings
        axis = settings.axis
        effort = "torque" if axis is Axis.ROTARY else "force"
        self.channels = ("position", effort) + (f"joint_{effort}",) * settings.joint_torque
        warmth, law = Warmth(settings.temperature, axis), settings.friction.law(axis)
        self.channels += warmth.channels
        self.outputs: tuple[str, ...] = (axis.effort,)
        self.nonlinear, self.start = law.nonlinear, law.start
        harmonics = Harmonics(settings.ripple, axis)
        learnt = (settings.torque_scale, settings.inertia_motor)
        drive = tuple(one for one, wanted in zip(_drive(axis), learnt, strict=True) if wanted)
        self.parameters: tuple[Parameter, ...] = (
            law.parameters
            + (offset(axis, "irj-joint design §1, d1"),) * settings.offset
            + drive
            + warmth.parameters
            + harmonics.parameters
        )
        ripple = len(self.parameters) - len(harmonics.parameters)
        warm_from = ripple - len(warmth.parameters)
        own, thermometer = warm_from - len(drive), len(self.channels) - 1 if warmth.parameters else 0
        subtracted = settings.joint_torque and not settings.torque_scale
        load = len(self.channels) if law.stops else JOINT if settings.joint_torque else EFFORT
        place = tuple(range(len(law.parameters)))
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(settings.friction, axis, POSITION, load, (1.0, 1.0), 0, place, 1.0),
        )
        self.filler: Parcel | None = Parcel(
            [law.constants, np.array([settings.inertia, warmth.reference]), harmonics.cycles],
            integers=[np.array([own, warm_from, ripple, load, subtracted, *learnt, thermometer, len(place)], np.int64)],
            functions=[_fill, law.kernel],
        )
        self._table = self.filler.table
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = True
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def __reduce__(self) -> tuple[type["FrictionOnly"], tuple[FrictionOnlySettings]]:
        """As its settings: addresses of compiled functions mean nothing to another process."""
        return FrictionOnly, (self._settings,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y at the full rate."""
        _fill(signals, eta, self._table, phi, y)

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be told from that of a parameter."""
        return ()


def _drive(axis: Axis) -> tuple[Parameter, Parameter]:
    return (
        Parameter(
            "torque_scale",
            "1",
            0.0,
            math.inf,
            "τ = k τ_joint + …, k",
            "torque told for each that the sensor sees: 1 where the torque constant is right",
            "different loads",
        ),
        Parameter(
            "inertia_motor",
            axis.inertia,
            0.0,
            math.inf,
            "τ = J q̈ + …, J",
            "resistance to acceleration between motor and sensor",
            "stronger accelerations",
        ),
    )


@kernel(filler.SIGNATURE)
def _fill(signals: Floats, eta: Floats, table: Table, phi: Floats, y: Floats) -> None:
    places, known = integers(table, PLACES), vector(table, KNOWN)
    own, warm_from, ripple, laws = places[OWN], places[WARM], places[RIPPLE], places[COLUMNS]
    for row in range(len(signals)):
        phi[row, 0, own - 1] = 1.0  # the offset, or the law's last column that comes next
        y[row, 0] = signals[row, EFFORT, VALUE] - known[INERTIA] * signals[row, POSITION, SECOND]
        if places[SUBTRACTED] == 1:
            y[row, 0] -= signals[row, JOINT, VALUE]
        if places[SCALED] == 1:
            phi[row, 0, own] = signals[row, JOINT, VALUE]
        if places[ACCELERATED] == 1:
            phi[row, 0, own + places[SCALED]] = signals[row, POSITION, SECOND]
    repeat(signals, POSITION, vector(table, CYCLES), phi[:, 0, ripple:])
    if places[THERMOMETER] > 0:
        warm(signals, POSITION, places[THERMOMETER], known[REFERENCE], phi[:, 0, warm_from:ripple])
    columns = phi[:, 0, :laws]
    fill_law(function(table, LAW), signals, POSITION, places[CARRIED], vector(table, CONSTANTS), eta, columns)
