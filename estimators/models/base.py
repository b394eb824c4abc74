"""estimators/models/base.py."""

from typing import NamedTuple, Protocol

from estimators.quantities import Axis, Floats, Parameter, Settings
from estimators.rows import Rows


class FrictionPlace(NamedTuple):
    """Where an equation of motion has the friction law that η belongs to."""

    law: Settings  # a friction law's settings (estimators.friction)
    axis: Axis
    position: int  # channel
    load: int  # channel
    scale: tuple[float, float]  # what position and load are multiplied with before the law sees them
    output: int  # the output whose rows hold the law's columns
    columns: tuple[int, ...]  # of phi, in the law's order
    sign: float  # of the law's columns there


class SpringPlace(NamedTuple):
    """Where an equation of motion has an elastic gear: torque = linear·twist + cubic·twist³."""

    signs: tuple[float, ...]  # of its torque in each output
    output: int  # one where it is plus
    columns: tuple[int, int]  # of phi: twist (rad) and its cube


class Constant(NamedTuple):
    """Something that an equation of motion takes as known, and what an error of it would leave in the residual."""

    name: str  # as a user would say it
    unit: str  # of its error; "" where that is relative
    column: Floats  # (rows, outputs) ∂(y − Φθ)/∂error


class JointModel(Protocol):
    """A joint's equation of motion, linear in θ given η: y = Φ(x; η) θ."""

    channels: tuple[str, ...]  # roles it needs, e.g. ("position", "torque"); the first one's rate decides standstill
    parameters: tuple[Parameter, ...]  # θ
    nonlinear: tuple[Parameter, ...]  # η
    outputs: tuple[str, ...]  # units of y's components, e.g. ("N·m",)
    start: Floats  # (nonlinear,) the η to begin with
    friction: FrictionPlace
    spring: SpringPlace | None

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill the rows at the full rate; NaN in y masks that output at that instant.

        signals: (rows, channels, SIGNALS); eta: (nonlinear,); phi: (rows, outputs, parameters) and y: (rows, outputs),
        all C-contiguous, every entry of phi and y is written.
        """
        ...

    def constants(self, rows: Rows, taps: Floats, theta: Floats, /) -> tuple[Constant, ...]:
        """What is taken as known, over finished rows; taps: of the kernel that smoothed them."""
        ...
