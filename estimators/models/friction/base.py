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
from estimators.quantities import Axis, Floats, Parameter
from estimators.quantities import Settings as BaseSettings
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE
from jointwatch_layout import by_address

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
    stops: tuple[float, ...] = ()  # rad (m) at which each of its springs slips; `load` is then the first one's channel
    bristle: tuple[float, float] | None = None  # its springs are LuGre's: breakaway, and speed at which it fades
    loads: int = 1  # channels of what the joint carries, the first its torque (force)
    plain: tuple[Plain, ...] | None = None  # the columns, where each is a plain one

    def fill(self, signals: Floats, position: int, load: int, eta: Floats, columns: Floats) -> None:
        """Write columns (rows, parameters) from signals (rows, channels, SIGNALS) and η (nonlinear,)."""
        if self.stops and signals.shape[1] < load + len(self.stops):
            raise ValueError(f"expected {len(self.stops)} channels of stops behind the measured ones, found fewer")
        self.kernel(signals, position, load, self.constants, eta, columns)

    def loaded(self) -> bool:
        """Whether a column follows the load: found by looking."""
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
        signals = np.zeros((len(velocity), 1 + max(self.loads, len(self.stops)), SIGNALS))
        signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = position
        signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = velocity
        carried = np.atleast_1d(load)
        carried = carried.reshape(len(carried), -1)
        signals[:, 1 : 1 + carried.shape[1], VALUE] = signals[:, 1 : 1 + carried.shape[1], SMOOTH] = carried
        for i, reach in enumerate(self.stops):
            signals[:, 1 + i, VALUE], signals[:, 1 + i, RATE] = _spring(
                position, velocity, reach, self.bristle, None if memory is None else memory[i]
            )
        columns = np.empty((len(velocity), len(self.parameters)))
        self.fill(signals, 0, 1, np.asarray(eta, np.float64), columns)
        return columns


def _spring(
    position: Floats, velocity: Floats, reach: float, bristle: tuple[float, float] | None, memory: Floats | None
) -> tuple[Floats, Floats]:
    """Deflection and rate of a spring that slips at `reach` along a path (rows,); where there is none, and no memory
    (2,) of one, a spring that has slipped long since."""
    most = np.ones(len(position))
    if bristle is not None:
        most = 1.0 + (bristle[0] - 1.0) * np.exp(-((velocity / bristle[1]) ** 2))
    if memory is None and np.ptp(position) == 0.0:
        return np.sign(velocity) * most, np.zeros(len(position))
    deflection, before, found = 0.0, float(position[0]), np.empty(len(position))
    if memory is not None and np.isfinite(memory).all():
        deflection, before = memory.tolist()
    for row, moved in enumerate(np.diff(position, prepend=before) / reach):
        if bristle is None:
            deflection = min(max(deflection + moved, -1.0), 1.0)
        else:
            end = math.copysign(most[row], moved)
            deflection = end + (deflection - end) * math.exp(-abs(moved) / most[row])
        found[row] = deflection
    if memory is not None:
        memory[:] = deflection, position[-1]
    rate = np.zeros(len(position)) if bristle is None else (velocity - np.abs(velocity) * found / most) / reach
    return found, rate


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
    """A constant torque (force) beside the friction."""
    meaning = "constant part, such as a sensor's bias"
    return Parameter("offset", axis.effort, -math.inf, math.inf, equation, meaning, BOTH_WAYS)


def stiffness(axis: Axis, equation: str) -> Parameter:
    """The coefficient of position."""
    unit, meaning = f"{axis.effort}/{axis.length}", "friction that grows with position"
    return Parameter("stiffness", unit, -math.inf, math.inf, equation, meaning, POSITIONS)


def numbers(*values: float) -> NDArray[np.float64]:
    """Constants or η as a kernel takes them."""
    return np.array(values, np.float64)
