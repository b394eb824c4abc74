"""The ratio of a gear between two encoders: q = r·q_l − lag·q̇_l + turning·sign q̇ + zero + twist·T + gap·sign τ.

q: position, as configured on the joint's side; q_l: link_position, behind the gear; T: what the gear carries, as a
sensor says or the motor's τ − J q̈. So r is 1 where the ratio in the position's scale is right. What else makes the two
differ has a column each, for it would pass for a ratio (da Silva, de Souza, Schäfer 2007, Δθ of (4.1)): the link's
encoder read late, the encoders' zeros, a gear that twists, lost motion on the side of the load or, without one, of the
motion. Where T is the motor's, its friction over the gear's stiffness is in lag and turning. Gear errors by the angle
are `ripple`.
"""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from estimators.models import filler
from estimators.models.base import Constant, Model, ModelSettings, NonlinearPlace, SpringPlace
from estimators.models.friction.base import ANGLES, BOTH_WAYS, LOADS, POSITIONS, SPEEDS
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.ripple import Harmonics, Ripple, repeat
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import Parcel, Table, vector
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SECOND, SMOOTH, SMOOTH_RATE, VALUE, Rows

POSITION, LINK, EFFORT = range(3)  # channels
KNOWN, CYCLES = range(2)  # of its parcel
RATIO, LAG, TURNING, ZERO, TWIST, GAP, OWN = range(7)  # columns
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
        own, parts = OWN if loaded else TWIST, harmonics.parameters
        waves = tuple(one._replace(unit=axis.length, meaning="gear error", late=0.0) for one in parts)
        self.parameters: tuple[Parameter, ...] = (*_parameters(axis)[:own], *waves)
        self.nonlinear: tuple[Parameter, ...] = ()
        self.start = np.zeros(0)
        nothing = ViscousCoulombSettings(viscous=False, coulomb=False)
        self.blocks: tuple[NonlinearPlace, ...] = (
            NonlinearPlace(nothing, axis, POSITION, LINK, (1.0, 1.0), 0, (), 1.0),
        )
        self.filler: Parcel | None = Parcel([np.array([loaded, settings.inertia]), harmonics.cycles], functions=[_fill])
        self._table = self.filler.table
        self.springs: tuple[SpringPlace, ...] = ()
        self.straight = False
        self.joints: tuple[int, ...] = (POSITION,)
        self.owners: tuple[int, ...] = (0,)

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill Φ and y = position at the full rate."""
        _fill(signals, eta, self._table, phi, y)

    def constants(self, _rows: Rows, _taps: Floats, _theta: Floats) -> tuple[Constant, ...]:
        """Nothing whose error could be told from that of a parameter."""
        return ()


def _parameters(axis: Axis) -> tuple[Parameter, ...]:
    length, effort = axis.length, axis.effort
    ratio = "position told for each of the link's: 1 where the gear ratio is right"
    told = (
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
    return tuple(one._replace(late=-1.0 if one.needs == LOADS else 0.0) for one in told)


@kernel(filler.SIGNATURE)
def _fill(signals: Floats, _eta: Floats, table: Table, phi: Floats, y: Floats) -> None:
    known, cycles = vector(table, KNOWN), vector(table, CYCLES)
    loaded, inertia = known[0] > 0.0, known[1]
    repeat(signals, POSITION, cycles, phi[:, 0, OWN if loaded else TWIST :])
    for row in range(len(signals)):
        phi[row, 0, RATIO] = signals[row, LINK, VALUE]
        phi[row, 0, LAG] = -signals[row, LINK, RATE]
        phi[row, 0, TURNING] = np.sign(signals[row, POSITION, SMOOTH_RATE])
        phi[row, 0, ZERO] = 1.0
        if loaded:
            phi[row, 0, TWIST] = signals[row, EFFORT, VALUE] - inertia * signals[row, POSITION, SECOND]
            phi[row, 0, GAP] = np.sign(signals[row, EFFORT, SMOOTH])
        y[row, 0] = signals[row, POSITION, VALUE]
