"""The ratio of a gear between two encoders: q = r·q_l − lag·q̇_l + turning·sign q̇ + zero + twist·T + gap·sign τ.

q: position, as configured on the joint's side; q_l: link_position, behind the gear; T: what the gear carries, as a
sensor says or the motor's τ − J q̈. So r is 1 where the ratio in the position's scale is right. What else makes the two
differ has a column each, for it would pass for a ratio (da Silva, de Souza, Schäfer 2007, Δθ of (4.1)): the link's
encoder read late, the encoders' zeros, a gear that twists, lost motion on the side of the load or, without one, of the
motion. Where T is the motor's, its friction over the gear's stiffness is in lag and turning. Gear errors by the angle
are `ripple`.
"""

import math
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.filler import FILL
from estimators.models.friction.base import ANGLES, BOTH_WAYS, LOADS, POSITIONS, SPEEDS
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.ripple import Harmonics, Ripple, repeat
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SECOND, SMOOTH, SMOOTH_RATE, VALUE, Rows
from jointwatch_numba.layout import Layout, Own, Vector, own_as

POSITION: Final = 0  # channels
LINK: Final = 1
EFFORT: Final = 2
RATIO: Final = 0  # columns
LAG: Final = 1
TURNING: Final = 2
ZERO: Final = 3
TWIST: Final = 4  # this one and the next where the load is known
GAP: Final = 5
RIPPLE: Final = 6  # the first of ripple then
EQUATION = "q = r q_l + …, "


class TransmissionSettings(ModelSettings):
    """Whether the gear's torque is known, and what its errors repeat with."""

    kind: Literal["transmission"] = "transmission"
    axis: Axis = Axis.ROTARY
    load: Literal["motor", "joint", "none"] = "motor"  # which torque (force) there is of what twists the gear
    inertia: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # J, kg·m² (kg): of the motor, where load is its
    ripple: Ripple = ()  # errors of the gear, n of the position

    @model_validator(mode="after")
    def _an_inertia_of_the_motor(self) -> Self:
        if self.inertia and self.load != "motor":
            raise ValueError(f'expected inertia with load = "motor" only, found it with "{self.load}"')
        return self

    def build(self) -> Model:
        """The model."""
        return Transmission(self)


class TransmissionTerms(Layout):
    """Which terms a gear has, for the kernel that fills its rows."""

    loaded: bool  # whether what the gear carries is known
    inertia: float  # kg·m² (kg) of the motor
    cycles: Vector  # a turn, of each ripple


as_transmission: Final = own_as(TransmissionTerms)


class Transmission:
    """Columns in the order ratio, lag, turning, zero, twist, gap, ripple."""

    def __init__(self, settings: TransmissionSettings) -> None:
        axis = settings.axis
        effort = "torque" if axis is Axis.ROTARY else "force"
        loaded = settings.load != "none"
        effort = f"joint_{effort}" if settings.load == "joint" else effort
        self.channels = ("position", "link_position") + (effort,) * loaded
        self.outputs: tuple[str, ...] = (axis.length,)
        harmonics = Harmonics(settings.ripple, axis)
        own, parts = RIPPLE if loaded else TWIST, harmonics.parameters
        waves = tuple(one._replace(unit=axis.length, meaning="gear error", late=0.0) for one in parts)
        self.parameters: tuple[Parameter, ...] = (*_parameters(axis)[:own], *waves)
        self.nonlinear: tuple[Parameter, ...] = ()
        self.start = np.zeros(0)
        nothing = ViscousCoulombSettings(viscous=False, coulomb=False)
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(nothing, axis, POSITION, LINK, (1.0, 1.0), 0, (), 1.0),
        )
        self.kernel: Any = fill_transmission
        self.terms: Own = TransmissionTerms(loaded=loaded, inertia=settings.inertia, cycles=harmonics.cycles)
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = False
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y = position at the full rate."""
        fill_transmission(signals, eta, self.terms, phi, y)

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be distinguished from that of a parameter."""
        return ()


def _parameters(axis: Axis) -> tuple[Parameter, ...]:
    length, effort = axis.length, axis.effort
    ratio = "position reported for each of the link's: 1 where the gear ratio is right"
    listed = (
        Parameter("ratio", "1", 0.0, math.inf, f"{EQUATION}r", ratio, POSITIONS),
        Parameter("lag", "s", -1.0, 1.0, f"{EQUATION}lag", "by which the link's encoder is read late", SPEEDS),
        Parameter(
            "turning", length, -math.inf, math.inf, f"{EQUATION}turning", "between the directions, half", BOTH_WAYS
        ),
        Parameter("zero", length, -math.inf, math.inf, f"{EQUATION}zero", "of one encoder against the other", ANGLES),
        Parameter(
            "twist", f"{length}/({effort})", -math.inf, math.inf, f"{EQUATION}twist", "of the gear by its load", LOADS
        ),
        Parameter("gap", length, -math.inf, math.inf, f"{EQUATION}gap", "half of the lost motion", LOADS),
    )
    return tuple(one._replace(late=-1.0 if one.needs == LOADS else 0.0) for one in listed)


@kernel(FILL)
def fill_transmission(signals: Floats, _eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    """Fill the rows of a gear; own: TransmissionTerms."""
    terms = as_transmission(own)
    repeat(signals, POSITION, terms.cycles, phi[:, 0, RIPPLE if terms.loaded else TWIST :])
    for row in range(len(signals)):
        phi[row, 0, RATIO] = signals[row, LINK, VALUE]
        phi[row, 0, LAG] = -signals[row, LINK, RATE]
        phi[row, 0, TURNING] = np.sign(signals[row, POSITION, SMOOTH_RATE])
        phi[row, 0, ZERO] = 1.0
        if terms.loaded:
            phi[row, 0, TWIST] = signals[row, EFFORT, VALUE] - terms.inertia * signals[row, POSITION, SECOND]
            phi[row, 0, GAP] = np.sign(signals[row, EFFORT, SMOOTH])
        y[row, 0] = signals[row, POSITION, VALUE]
