"""The friction of a drive alone: τ − τ_joint − J·q̈ = friction(q, q̇, τ_joint; η) + offset + ripple, J known.

Where the torque constant and the motor's inertia are not trusted, they are learnt beside it, with a torque sensor as
the measure of both: τ = k·τ_joint + J·q̈ + friction + offset + ripple; k is 1 where both torques have the right scale.

Reference: da Silva, de Souza, Schäfer 2007, Case 2, y = T_d,in of (3.5). The torque that the friction takes is measured
(then J = 0 and nothing is subtracted), or it is what a motor gives and a joint torque sensor no longer sees.
"""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import offset
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.ripple import Harmonics, Ripple
from estimators.models.temperature import Reference, Warmth
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import SECOND, VALUE, Rows

POSITION, EFFORT, JOINT = range(3)  # channels


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
        axis = settings.axis
        effort = "torque" if axis is Axis.ROTARY else "force"
        self.channels = ("position", effort) + (f"joint_{effort}",) * settings.joint_torque
        self._warmth = Warmth(settings.temperature, axis)
        self.channels += self._warmth.channels
        self.outputs: tuple[str, ...] = (axis.effort,)
        self._law = settings.friction.law(axis)
        self.nonlinear = self._law.nonlinear
        self.start = self._law.start
        self._harmonics = Harmonics(settings.ripple, axis)
        learnt = (settings.torque_scale, settings.inertia_motor)
        drive = tuple(one for one, wanted in zip(_drive(axis), learnt, strict=True) if wanted)
        self.parameters: tuple[Parameter, ...] = (
            self._law.parameters
            + (offset(axis, "irj-joint design §1, d1"),) * settings.offset
            + drive
            + self._warmth.parameters
            + self._harmonics.parameters
        )
        self._ripple = len(self.parameters) - len(self._harmonics.parameters)
        self._warm = self._ripple - len(self._warmth.parameters)
        self._own = self._warm - len(drive)
        self._inertia, self._subtracted = settings.inertia, settings.joint_torque and not settings.torque_scale
        self._learnt = [
            signal for signal, wanted in zip(((JOINT, VALUE), (POSITION, SECOND)), learnt, strict=True) if wanted
        ]
        place = tuple(range(len(self._law.parameters)))
        self._load = JOINT if settings.joint_torque else EFFORT
        if self._law.stops:
            self._load = len(self.channels)
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(settings.friction, axis, POSITION, self._load, (1.0, 1.0), 0, place, 1.0),
        )
        self.plan: Floats | None = None
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = True
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y at the full rate."""
        _fill(signals, self._inertia, self._subtracted, y)
        phi[:, 0, self._own - 1] = 1.0  # the offset, or the law's last column that comes next
        self._harmonics.fill(signals, POSITION, phi[:, 0, self._ripple :])
        self._warmth.fill(signals, POSITION, len(self.channels) - 1, phi[:, 0, self._warm : self._ripple])
        for column, (channel, signal) in enumerate(self._learnt, self._own):
            phi[:, 0, column] = signals[:, channel, signal]
        self._law.fill(signals, POSITION, self._load, eta, phi[:, 0, : len(self._law.parameters)])

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


@kernel("void(f8[:, :, ::1], f8, b1, f8[:, ::1])")
def _fill(signals: Floats, inertia: float, joint: bool, y: Floats) -> None:
    for row in range(len(signals)):
        y[row, 0] = signals[row, EFFORT, VALUE] - inertia * signals[row, POSITION, SECOND]
        if joint:
            y[row, 0] -= signals[row, JOINT, VALUE]
