"""An elastic joint: motor and link, a cubic spring between them, friction on either side, gravity on the link.

On the link's side (motor angle and torque divided and multiplied by the gear, so that N + 1 = 1), Δθ = θ_in − θ_out:

    J_in θ̈_in − T_m               = −k1 Δθ − k2 Δθ³ − T_d,in(θ̇_in, θ_in; η) + d1
    T_out, or J_out θ̈_out − T_g sin θ_out = k1 Δθ + k2 Δθ³ − T_d,out(θ̇_out, θ_out)   + d2
    T_stiff, where it is measured = k1 Δθ + k2 Δθ³ + d3

Reference: da Silva, de Souza, Schäfer 2007, (4.1), (4.6), with T_d,in of (3.5) and T_d,out + T_fscs of (4.6). A sensor
of joint torque is after the output friction (T_out: link_torque) or before it (T_stiff: spring_torque). The link's row
says nothing while the link sticks: sign(0) is any torque between ±b_outC (irj-joint design, §6). Unless T_stiff is
measured, the motor's row says nothing while the motor turns and the link's encoder stays on one step: the rounding,
times k1, is not noise there but repeats with the motion. An encoder's zero shows as Δθ₀ = (d1 − d2)/(2 k1).
"""

import math
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.filler import FILL
from estimators.models.friction import AnyFriction
from estimators.models.friction.base import POSITIONS, fill_law, offset
from estimators.models.friction.cyclic import CyclicSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.ripple import Harmonics, Ripple, repeat
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import LOAD, SECOND, SMOOTH, SMOOTH_RATE, VALUE, Rows
from jointwatch_numba.layout import Function, Layout, Own, Vector, own_as

MOTOR: Final = 0  # channels
LINK: Final = 1
EFFORT: Final = 2
JOINT: Final = 3
# columns
K1: Final = 0
K2: Final = 1
# Of `stick`, below which the link's encoder stays on one step for longer than a sample: 18 bits at 1 kHz 24 mrad/s, and
# rows see 20 ms further, in which a joint becomes 10 mrad/s faster.
STEPPING = 0.5
TURNS = 0.005  # rad/s of the motor, below which the joint is at rest: that its rows say so


class TwoMassSettings(ModelSettings):
    """What is known of the joint; everything else is identified."""

    kind: Literal["two_mass"] = "two_mass"
    inertia_motor: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.5  # J_in, kg·m²; of the motor where gear > 1
    inertia_link: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0  # J_out, kg·m²
    gravity: Annotated[float, Field(allow_inf_nan=False)] = 0.0  # T_g, N·m, signed, θ_out from the upright
    link_torque: Literal["inertial", "measured"] = "inertial"  # either form of the second row
    spring_torque: bool = False  # joint_torque is measured before the link's friction: a third row
    gear: Annotated[float, Field(gt=0, le=1e6)] = 1.0  # N + 1 where the motor's channels are motor-side
    motor_friction: AnyFriction = TanhStribeckSettings(stiffness=True)
    link_friction: AnyFriction = CyclicSettings()
    ripple: Ripple = ()  # on the motor's side, n counted in turns of the link
    offsets: bool = True  # d1, d2, d3: torque offsets, and the encoders' zero
    stick: Annotated[float, Field(ge=0, le=1)] = 0.03  # rad/s of the smoothed velocity below which the link may stick

    @model_validator(mode="after")
    def _friction_that_can_be_identified(self) -> Self:
        names = ", ".join(parameter.name for parameter in self.link_friction.law(Axis.ROTARY).nonlinear)
        if names:
            raise ValueError(f"expected a link_friction without nonlinear parameters, found {names}")
        if self.motor_friction.law(Axis.ROTARY).loaded():
            raise ValueError(
                f'motor_friction of kind "{self.motor_friction.kind}" grows with the load, here the torque that it '
                "explains: expected one that does not"
            )
        return self

    @model_validator(mode="after")
    def _friction_without_memory(self) -> Self:
        for law in (self.motor_friction, self.link_friction):
            if law.law(Axis.ROTARY).stops:
                raise ValueError(f'friction of kind "{law.kind}" remembers, which an elastic joint cannot follow yet')
        return self

    @model_validator(mode="after")
    def _one_sensor(self) -> Self:
        if self.spring_torque and self.link_torque == "measured":
            raise ValueError('expected one joint torque: spring_torque, or link_torque = "measured"')
        return self

    def build(self) -> Model:
        """The model."""
        return TwoMass(self)

    def bodies(self) -> tuple[float, float, float] | None:
        """Inertia of motor and link (kg·m²) and weight (N·m), where channels are on the link's side and all stated."""
        stated = {"inertia_motor", "inertia_link", "gravity"} <= self.model_fields_set
        inertial = self.link_torque == "inertial" and self.gear == 1.0
        return (self.inertia_motor, self.inertia_link, self.gravity) if stated and inertial else None


class TwoMassTerms(Layout):
    """What is known of an elastic joint, for the kernel that fills its rows."""

    inertia_motor: float  # on the link's side, kg·m²
    inertia_link: float  # kg·m²
    gravity: float  # N·m
    stick: float  # rad/s below which the link may stick
    gear: float  # N + 1 where the motor's channels are motor-side
    offsets: bool
    measured: bool  # whether the link's torque is measured
    motor_law: Function
    motor_constants: Vector
    link_law: Function
    link_constants: Vector
    link_eta: Vector
    link_first: int  # columns of the link's friction: from this one …
    link_last: int  # … to before this one, the first offset's
    ripple_first: int
    cycles: Vector  # a turn of the link, of each ripple


as_two_mass: Final = own_as(TwoMassTerms)


class TwoMass:
    """Columns in the order stiffness, cubic stiffness, motor friction, link friction, offsets, motor ripple."""

    def __init__(self, settings: TwoMassSettings) -> None:
        self._settings = settings
        axis = Axis.ROTARY
        sensor = settings.spring_torque or settings.link_torque == "measured"
        self.channels = ("position", "link_position", "torque") + ("joint_torque",) * sensor
        rows = ("motor", "link", "spring")[: 2 + settings.spring_torque]
        self.outputs: tuple[str, ...] = (axis.effort,) * len(rows)
        law, link = settings.motor_friction.law(axis), settings.link_friction.law(axis)
        self.nonlinear, self.start = law.nonlinear, law.start
        harmonics = Harmonics(settings.ripple, axis)
        self.parameters: tuple[Parameter, ...] = (
            *_spring(),
            *(_of("motor", parameter) for parameter in law.parameters),
            *(_of("link", parameter) for parameter in link.parameters),
            *(
                _of(side, offset(axis, f"irj-joint design §1, d{number}"))
                for number, side in enumerate(rows, 1)
                if settings.offsets
            ),
            *(_of("motor", parameter) for parameter in harmonics.parameters),
        )
        first = K2 + 1 + len(law.parameters)
        last, ripple = first + len(link.parameters), len(self.parameters) - len(harmonics.parameters)
        gear, measured = settings.gear, settings.link_torque == "measured"
        self._measured, self._gravity = measured, settings.gravity
        self.kernel: Any = fill_two_mass
        self.terms: Own = TwoMassTerms(
            inertia_motor=gear**2 * settings.inertia_motor,
            inertia_link=settings.inertia_link,
            gravity=settings.gravity,
            stick=settings.stick,
            gear=gear,
            offsets=settings.offsets,
            measured=measured,
            motor_law=law.kernel,
            motor_constants=law.constants,
            link_law=link.kernel,
            link_constants=link.constants,
            link_eta=link.start,
            link_first=first,
            link_last=last,
            ripple_first=ripple,
            cycles=harmonics.cycles,
        )
        place = tuple(range(K2 + 1, first))
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(settings.motor_friction, axis, MOTOR, EFFORT, (1.0 / gear, gear), 0, place, -1.0),
        )
        self._signs = (-1.0, 1.0, 1.0)[: len(rows)]
        self.springs: tuple[SpringPlace, ...] = (
            SpringPlace(self._signs, 1, (K1, K2), (last, last + 1) if settings.offsets else None),
        )
        self.straight = True
        self.joints: tuple[int, ...] = (MOTOR,)
        self.owners: tuple[int, ...] = (0,) * len(rows)

    def __reduce__(self) -> tuple[type["TwoMass"], tuple[TwoMassSettings]]:
        """Pickle the settings only: addresses of compiled functions are invalid in another process."""
        return TwoMass, (self._settings,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ (rows, outputs, parameters) and y (rows, outputs) at the full rate."""
        fill_two_mass(signals, eta, self.terms, phi, y)

    def constants(self, rows: Rows, taps: Floats, theta: Floats) -> tuple[Constant, ...]:
        """Scales, inertias, and the link encoder's zero and delay: these show where the spring is not linear."""
        phi, y = rows.phi, rows.y
        torque = rows.samples[:, 0, LOAD] @ taps
        motor, link, sensed = (np.zeros(y.shape) for _ in range(3))
        motor[:, 0], link[:, 1], sensed[:, 2:] = torque, y[:, 1], y[:, 2:]
        sine = [i for i, parameter in enumerate(self.parameters) if parameter.name == "link_cyclic_sin"]
        if not self._measured and sine:
            link[:, 1] -= self._gravity * phi[:, 1, sine[0]]  # J_out θ̈_out = y + T_g sin θ, the column is −sin θ
        inertia = np.zeros(y.shape)
        inertia[:, 0] = y[:, 0] + torque
        spring = theta[K1] + 3.0 * theta[K2] * phi[:, 0, K1] ** 2  # the link's row may be masked
        zero = spring[:, np.newaxis] * -np.array(self._signs)
        viscous = [i for i, parameter in enumerate(self.parameters) if parameter.name == "link_viscous"]
        late = zero * -phi[:, 1, viscous[:1]] if viscous else zero[:, :0]
        return (
            Constant("the scale of torque", "", -motor),
            Constant("inertia_motor", "", inertia),
            Constant("the scale of joint_torque" if self._measured else "inertia_link", "", link),
            Constant("the zero of link_position against position", "rad", zero),
            *(Constant("the scale of joint_torque", "", sensed) for _ in self.outputs[2:]),
            *(Constant("the delay of link_position against position", "s", late) for _ in viscous[:1]),
        )


def _spring() -> tuple[Parameter, Parameter]:
    return (
        Parameter(
            "stiffness",
            "N·m/rad",
            0.0,
            math.inf,
            "da Silva 2007 (4.6), k1",
            "torque per twist of the gear",
            POSITIONS,
        ),
        Parameter(
            "stiffness_cubic",
            "N·m/rad³",
            -math.inf,
            math.inf,
            "da Silva 2007 (4.6), k2",
            "how much stiffer the gear becomes with twist",
            "larger torque peaks",
        ),
    )


def _of(side: str, parameter: Parameter) -> Parameter:
    """A parameter of the motor's, the link's or the spring's row."""
    return parameter._replace(name=f"{side}_{parameter.name}", meaning=f"{parameter.meaning}, on the {side}'s side")


@kernel("f8[:, :, ::1](f8[:, :, ::1], f8)")
def _geared(signals: Floats, gear: float) -> Floats:
    """Signals with the motor's angle and torque on the link's side."""
    scaled = np.empty_like(signals)
    for row in range(len(signals)):
        for channel in range(signals.shape[1]):
            for which in range(signals.shape[2]):
                value = signals[row, channel, which]
                if channel == MOTOR:
                    value /= gear
                elif channel == EFFORT:
                    value *= gear
                scaled[row, channel, which] = value
    return scaled


@kernel(FILL)
def fill_two_mass(signals: Floats, eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    """Fill the rows of an elastic joint; own: TwoMassTerms."""
    terms = as_two_mass(own)
    stick, first, friction, ripple = terms.stick, terms.link_first, terms.link_last, terms.ripple_first
    if terms.gear != 1.0:
        signals = _geared(signals, terms.gear)
    for row in range(len(phi)):
        for output in range(phi.shape[1]):
            for column in range(phi.shape[2]):
                phi[row, output, column] = 0.0
    columns = phi[:, 0, K2 + 1 : first]
    fill_law(terms.motor_law, signals, MOTOR, EFFORT, terms.motor_constants, eta, columns)
    columns = phi[:, 1, first:friction]
    fill_law(terms.link_law, signals, LINK, EFFORT, terms.link_constants, terms.link_eta, columns)
    repeat(signals, MOTOR, terms.cycles, phi[:, 0, ripple:])
    for row in range(len(signals)):
        motor, link = signals[row, MOTOR], signals[row, LINK]
        twist = motor[VALUE] - link[VALUE]
        cube = (motor[SMOOTH] - link[SMOOTH]) ** 3
        for column in range(K2 + 1, friction):
            phi[row, 0, column] *= -1.0
            phi[row, 1, column] *= -1.0
        for column in range(ripple, phi.shape[2]):
            phi[row, 0, column] *= -1.0
        for output in range(1, y.shape[1]):
            phi[row, output, K1], phi[row, output, K2] = twist, cube
        phi[row, 0, K1], phi[row, 0, K2] = -twist, -cube
        for output in range(y.shape[1] if terms.offsets else 0):
            phi[row, output, friction + output] = 1.0
        if y.shape[1] > 2:
            y[row, 2] = signals[row, JOINT, VALUE]
        y[row, 0] = terms.inertia_motor * motor[SECOND] - signals[row, EFFORT, VALUE]
        if abs(link[SMOOTH_RATE]) < stick:
            y[row, 1] = np.nan
            if y.shape[1] == 2 and abs(link[SMOOTH_RATE]) < STEPPING * stick and abs(motor[SMOOTH_RATE]) > TURNS:
                y[row, 0] = np.nan
        elif terms.measured:
            y[row, 1] = signals[row, JOINT, VALUE]
        else:
            y[row, 1] = terms.inertia_link * link[SECOND] - terms.gravity * np.sin(link[SMOOTH])
