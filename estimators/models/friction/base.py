"""What a friction law is: columns that are linear in its coefficients, given its nonlinear parameters η.

A law names its coefficients and η with units, plausible ranges and equation numbers. It sees a joint's signals, never
its equation of motion; the joint model chooses which channel turns and which one carries the load. Linear columns take
RATE and VALUE, arguments of nonlinear functions SMOOTH_RATE and SMOOTH (see estimators/rows.py).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.plain_columns import Plain
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.quantities import Settings as BaseSettings
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE
from jointwatch_numba.layout import by_address

# of every law's kernel: signals (rows, channels, SIGNALS), which channel is the position, which one the load,
# constants, η (nonlinear,), the columns to write (rows, parameters)
ARGUMENTS: Final = ("f8[:, :, ::1]", "i8", "i8", "f8[::1]", "f8[::1]", "f8[:, :]")
SIGNATURE: Final = f"void({', '.join(ARGUMENTS)})"

fill_law: Final[Any] = by_address("void", *ARGUMENTS)  # within a kernel: a law's kernel, and its arguments

NOTHING: Final[Floats] = np.zeros(0)

# what motion teaches a coefficient, in words that someone at the robot can act on
SPEEDS: Final = "faster and slower motion"
BOTH_WAYS: Final = "motion in both directions"
REVERSALS: Final = "slow passes through standstill"
POSITIONS: Final = "a larger range of positions"
ANGLES: Final = "a larger range of angles"
LOADS: Final = "different loads"


@dataclass(frozen=True, slots=True)
class FrictionLaw:
    """One law in the units of one axis: what its columns are called, and the kernel that fills them."""

    parameters: tuple[Parameter, ...]  # linear coefficients, one column each
    nonlinear: tuple[Parameter, ...]  # η
    start: Floats  # (nonlinear,) the η to begin with
    constants: Floats  # known numbers that the kernel wants
    kernel: Callable[[Floats, int, int, Floats, Floats, Floats], None]
    stops: tuple[float, ...] = ()  # rad (m) at which each of its springs slips; their channels begin at `load` …
    springs_from: int = 0  # … or so many columns after it, where it takes a load, too
    bristle: tuple[float, float] | None = None  # its springs are LuGre's: breakaway, and speed at which it fades
    loads: int = 1  # channels of what the joint carries, the first its torque (force)
    plain: tuple[Plain, ...] | None = None  # the columns, where each is a plain one
    # prior deviation of each coefficient; NaN or none: that by which its column has the joint's rms torque; inf: that
    # torque itself, for a column that is at most 1
    spreads: tuple[float, ...] = ()

    def fill(self, signals: Floats, position: int, load: int, eta: Floats, columns: Floats) -> None:
        """Write columns (rows, parameters) from signals (rows, channels, SIGNALS) and η (nonlinear,)."""
        if self.stops and signals.shape[1] < load + self.springs_from + len(self.stops):
            raise ValueError(f"expected {len(self.stops)} channels of stops after the measured ones, found fewer")
        self.kernel(signals, position, load, self.constants, eta, columns)

    def loaded(self) -> bool:
        """Whether a column depends on the load; found by trying two loads."""
        place, speed, load = (np.linspace(low, 2.0, 24) for low in (-2.0, -1.0, 0.5))
        load = np.repeat(load[:, None], self.loads, axis=1)
        there = self.columns(place, speed, 2.0 * load, self.start)
        return bool((self.columns(place, speed, load, self.start) != there).any())

    def columns(
        self, position: Floats, velocity: Floats, load: Floats, eta: Floats, memory: Floats | None = None
    ) -> Floats:
        """The columns for a known motion, without any filter: arrays (rows,) in SI → (rows, parameters).

        load: (rows,), or (rows, loads) where the law takes more than one; memory: (stops, 2) deflection and position of
        each spring before these rows, NaN while there were none, written to go on from; else it begins unloaded.
        """
        springs = 1 + self.springs_from
        signals = np.zeros((len(velocity), max(1 + self.loads, springs + len(self.stops)), SIGNALS))
        signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = position
        signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = velocity
        carried = np.atleast_1d(load)
        carried = carried.reshape(len(carried), -1)
        signals[:, 1 : 1 + carried.shape[1], VALUE] = signals[:, 1 : 1 + carried.shape[1], SMOOTH] = carried
        if self.stops:
            before = np.full((len(self.stops), 2), np.nan) if memory is None else memory
            breakaway, fades = self.bristle or (0.0, 1.0)
            follow_springs(
                position, velocity, np.array(self.stops), breakaway, fades, memory is None, before, signals[:, springs:]
            )
        columns = np.empty((len(velocity), len(self.parameters)))
        self.fill(signals, 0, 1, np.asarray(eta, np.float64), columns)
        return columns


@kernel("void(f8[:], f8[:], f8[::1], f8, f8, b1, f8[:, :], f8[:, :, :])")
def follow_springs(
    position: Floats, velocity: Floats, reach: Floats, breakaway: float, fades: float, fresh: bool, memory: Floats,
    signals: Floats,
) -> None:  # fmt: skip
    """Write deflection and rate of springs that slip at `reach` (stops,) along a path (rows,).

    breakaway, fades: of LuGre's bristles, 0 for stops; memory: (stops, 2), written to go on from; fresh: none is known,
    then a joint that stands is one whose springs have slipped long since; signals: (rows, stops, SIGNALS).
    """
    rows = len(position)
    stands = fresh
    for row in range(1, rows):
        stands &= position[row] == position[0]
    for i in range(len(reach)):
        deflection, before = memory[i, 0], memory[i, 1]
        if not (np.isfinite(deflection) and np.isfinite(before)):
            deflection, before = 0.0, position[0]
        for row in range(rows):
            v = velocity[row]
            most = 1.0 + (breakaway - 1.0) * np.exp(-((v / fades) ** 2)) if breakaway > 0.0 else 1.0
            if stands:
                signals[row, i, VALUE], signals[row, i, RATE] = np.sign(v) * most, 0.0
                continue
            moved = (position[row] - before) / reach[i]
            before = position[row]
            if breakaway > 0.0:
                end = math.copysign(most, moved)
                deflection = end + (deflection - end) * np.exp(-abs(moved) / most)
                signals[row, i, RATE] = (v - abs(v) * deflection / most) / reach[i]
            else:
                deflection = min(max(deflection + moved, -1.0), 1.0)
                signals[row, i, RATE] = 0.0
            signals[row, i, VALUE] = deflection
        memory[i, 0], memory[i, 1] = deflection, before


class FrictionSettings(BaseSettings):
    """What the configuration's `kind = "…"` selects: one settings type per law, listed in friction/__init__.py."""

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        raise NotImplementedError

    def fixed(self, axis: Axis) -> dict[str, Any]:
        """What is chosen and not searched: with other such numbers the coefficients mean something else."""
        searched = {parameter.name for parameter in self.law(axis).nonlinear}
        return {key: value for key, value in self.model_dump(mode="json").items() if key not in searched}

    def alternatives(self) -> "tuple[FrictionSettings, ...]":
        """Laws with the same columns and other constants, against which a wrong choice of these is tested."""
        return ()


def viscous(axis: Axis, equation: str) -> Parameter:
    """The coefficient of velocity."""
    unit, meaning = f"{axis.effort}·s/{axis.length}", "friction that grows with speed"
    return Parameter("viscous", unit, 0.0, math.inf, equation, meaning, SPEEDS)


def coulomb(axis: Axis, equation: str) -> Parameter:
    """The coefficient of the velocity's sign."""
    meaning = "friction that only depends on direction"
    return Parameter("coulomb", axis.effort, 0.0, math.inf, equation, meaning, BOTH_WAYS)


def offset(axis: Axis, equation: str) -> Parameter:
    """A constant torque (force) in addition to the friction."""
    meaning = "constant part, such as a sensor's bias"
    return Parameter("offset", axis.effort, -math.inf, math.inf, equation, meaning, BOTH_WAYS)


def stiffness(axis: Axis, equation: str) -> Parameter:
    """The coefficient of position."""
    unit, meaning = f"{axis.effort}/{axis.length}", "friction that grows with position"
    return Parameter("stiffness", unit, -math.inf, math.inf, equation, meaning, POSITIONS)


def numbers(*values: float) -> NDArray[np.float64]:
    """Constants or η as a kernel takes them."""
    return np.array(values, np.float64)
