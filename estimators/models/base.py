"""What a model is: an equation of motion, linear in θ given η, y = Φ(x; η) θ."""

from typing import Any, NamedTuple, Protocol

from estimators.quantities import Axis, Floats, Parameter, Settings
from estimators.rows import Rows
from jointwatch_numba.layout import Own


class NonlinearPlace(NamedTuple):
    """Where an equation of motion has a law (of friction) whose columns its own part of η moves, if it has any."""

    law: Settings  # a friction law's settings (estimators.models.friction)
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
    offsets: tuple[int, int] | None = None  # of phi: the constant torques on its two sides, motor's and link's


class Constant(NamedTuple):
    """Something that an equation of motion takes as known, and what an error of it would leave in the residual."""

    name: str  # as a user would say it
    unit: str  # of its error; "" where that is relative
    column: Floats  # (rows, outputs) ∂(y − Φθ)/∂error


class Model(Protocol):
    """An equation of motion of one joint or several."""

    channels: tuple[str, ...]  # roles it needs, e.g. ("position", "torque")
    parameters: tuple[Parameter, ...]  # θ
    nonlinear: tuple[Parameter, ...]  # η: that of each block, one after the other
    outputs: tuple[str, ...]  # units of y's components, e.g. ("N·m",)
    start: Floats  # (nonlinear,) the η to begin with
    blocks: tuple[NonlinearPlace, ...]  # laws; the first block's curve is the one that is drawn
    springs: tuple[SpringPlace, ...]
    straight: bool  # whether arguments of laws are smoothed so that cubics stay: noisier, but no peak is lowered
    joints: tuple[int, ...]  # for each joint the channel whose rate decides its standstill
    owners: tuple[int, ...]  # for each output the joint whose standstill masks it
    kernel: Any  # what does `fill` within a pass, see filler.py …
    terms: Own  # … and what it is given

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill the rows at the full rate; NaN in y masks that output at that instant.

        signals: (rows, channels, SIGNALS); eta: (nonlinear,); phi: (rows, outputs, parameters) and y: (rows, outputs),
        all C-contiguous, every entry of phi and y is written.
        """

    def constants(self, rows: Rows, taps: Floats, theta: Floats, /) -> tuple[Constant, ...]:
        """What is taken as known, over finished rows; taps: of the kernel that smoothed them."""


class ModelSettings(Settings):
    """What the configuration's `kind = "…"` selects: one settings type per model, listed in joints/__init__.py."""

    def build(self) -> Model:
        """The model."""
        raise NotImplementedError

    def roles(self) -> tuple[str, ...]:
        """The channels a joint must have."""
        return self.build().channels

    def unit(self) -> str:
        """Unit of the residual."""
        return self.build().outputs[0]

    def bodies(self) -> tuple[float, float, float] | None:
        """Inertia of motor and link (kg·m²) and weight (N·m) of an elastic joint, where all of them are stated."""
        return None
