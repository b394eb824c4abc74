"""The friction of a drive alone: τ − τ_joint − J·q̈ = friction(q, q̇, τ_joint; η) + offset + ripple, J known.

Where the torque constant and the motor's inertia are not trusted, they are learnt with it, with a torque sensor as
the measure of both: τ = k·τ_joint + J·q̈ + friction + offset + ripple; k is 1 where both torques have the right scale.

Reference: da Silva, de Souza, Schäfer 2007, Case 2, y = T_d,in of (3.5). The torque that the friction takes is measured
(then J = 0 and nothing is subtracted), or it is what a motor gives and a joint torque sensor no longer sees.
"""

import math
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.filler import FILL
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import fill_law, offset
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.ripple import Harmonics, Ripple, repeat
from estimators.models.temperature import Reference, Warmth, warm
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import SECOND, VALUE, Rows
from jointwatch_numba.layout import Function, Layout, Own, Vector, own_as

POSITION: Final = 0  # channels
EFFORT: Final = 1
JOINT: Final = 2


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
    temperature: Reference | None = None  # °C at which friction is as stated; a channel has that of the joint
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


class FrictionOnlyTerms(Layout):
    """Which terms the friction of a drive has, for the kernel that fills its rows."""

    law: Function
    law_constants: Vector
    law_columns: int
    load: int  # channel that the law takes as its load
    inertia: float  # J that is known, kg·m² (kg)
    subtracts: bool  # whether the joint's torque is taken off
    torque_scale: bool  # whether the joint's torque has a column
    inertia_motor: bool  # whether the acceleration has one
    drive_first: int  # first of these columns
    thermometer: int  # channel of the joint's temperature; 0: none
    reference: float  # °C at which friction is as stated
    warm_first: int  # first of the columns of temperature
    ripple_first: int  # first of the columns of ripple
    cycles: Vector  # a turn, of each ripple


as_friction_only: Final = own_as(FrictionOnlyTerms)


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
        self.kernel: Any = fill_friction
        self.terms: Own = FrictionOnlyTerms(
            law=law.kernel,
            law_constants=law.constants,
            law_columns=len(place),
            load=load,
            inertia=settings.inertia,
            subtracts=subtracted,
            torque_scale=settings.torque_scale,
            inertia_motor=settings.inertia_motor,
            drive_first=own,
            thermometer=thermometer,
            reference=warmth.reference,
            warm_first=warm_from,
            ripple_first=ripple,
            cycles=harmonics.cycles,
        )
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = True
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def __reduce__(self) -> tuple[type["FrictionOnly"], tuple[FrictionOnlySettings]]:
        """Pickle the settings only: addresses of compiled functions are invalid in another process."""
        return FrictionOnly, (self._settings,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y at the full rate."""
        fill_friction(signals, eta, self.terms, phi, y)

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be distinguished from that of a parameter."""
        return ()


def _drive(axis: Axis) -> tuple[Parameter, Parameter]:
    return (
        Parameter(
            "torque_scale",
            "1",
            0.0,
            math.inf,
            "τ = k τ_joint + …, k",
            "torque reported for each that the sensor sees: 1 where the torque constant is right",
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


@kernel(FILL)
def fill_friction(signals: Floats, eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    """Fill the rows of the friction of a drive; own: FrictionOnlyTerms."""
    terms = as_friction_only(own)
    drive = terms.drive_first
    for row in range(len(signals)):
        phi[row, 0, drive - 1] = 1.0  # the offset, or the law's last column that comes next
        y[row, 0] = signals[row, EFFORT, VALUE] - terms.inertia * signals[row, POSITION, SECOND]
        if terms.subtracts:
            y[row, 0] -= signals[row, JOINT, VALUE]
        if terms.torque_scale:
            phi[row, 0, drive] = signals[row, JOINT, VALUE]
        if terms.inertia_motor:
            phi[row, 0, drive + int(terms.torque_scale)] = signals[row, POSITION, SECOND]
    repeat(signals, POSITION, terms.cycles, phi[:, 0, terms.ripple_first :])
    if terms.thermometer > 0:
        columns = phi[:, 0, terms.warm_first : terms.ripple_first]
        warm(signals, POSITION, terms.thermometer, terms.reference, columns)
    columns = phi[:, 0, : terms.law_columns]
    fill_law(terms.law, signals, POSITION, terms.load, terms.law_constants, eta, columns)
