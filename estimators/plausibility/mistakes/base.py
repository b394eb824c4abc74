"""What the plausibility look takes and gives: the motion of one joint, a quick fit of it, and findings."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Axis, Floats
from estimators.reasons import Reason

Mask = NDArray[np.bool_]


class KnownBodies(NamedTuple):
    """What the configuration states of an elastic joint, on the link's side."""

    inertia_motor: float  # kg·m²
    inertia_link: float  # kg·m²
    gravity: float  # N·m, of sin(link's angle), positive from the upright


class Motion(NamedTuple):
    """Some seconds of one joint, as a configuration or a table of columns gives it."""

    time: Floats  # (rows,) s
    position: Floats  # (rows,) rad (m); NaN where missing
    effort: Floats  # (rows,) N·m (N); NaN where missing
    axis: Axis = Axis.ROTARY
    velocity: Floats | None = None  # (rows,) rad/s (m/s), where the device gives one
    link: Floats | None = None  # (rows,) rad, of an encoder behind the gear
    known: KnownBodies | None = None
    spring: bool = False  # whether the joint's model has a torque in proportion to the position
    limit: float = np.inf  # N·m (N) that the drive cannot exceed
    source: str = ""  # name of the column that the effort comes from


class MotionRows(NamedTuple):
    """A motion on equidistant instants, smoothed by one kernel: (rows,) each."""

    period: float  # s
    q: Floats
    v: Floats
    a: Floats
    effort: Floats
    usable: Mask  # rows without a gap nearby, in motion
    noise: float  # (N·m)² ((N)²), power of the effort's white noise after the kernel, at least


class JointFit(NamedTuple):
    """Least squares of the equation of motion of fit.py."""

    theta: Floats  # (columns,) those that are not negative first: inertia, viscous and dry friction, others
    columns: Floats  # (rows, columns) of the usable rows
    residual: Floats  # (rows of the motion,) over the standard deviation of the effort; NaN where a row is not usable
    unexplained: float  # standard deviation of the residual


class Subject(NamedTuple):
    """What every hypothesis looks at."""

    motion: Motion
    rows: MotionRows
    fit: JointFit

    @property
    def columns(self) -> Floats:
        """The columns of the fit (rows of the motion, columns), 0 where a row is not usable."""
        whole = np.zeros((len(self.rows.q), self.fit.columns.shape[1]))
        whole[self.rows.usable] = self.fit.columns
        return whole


class Finding(NamedTuple):
    """A mistake that the data show."""

    reason: Reason
    z: float  # standard deviations of the evidence against the data as they are; inf: it follows from an exact bound
    fit: JointFit | None = None  # with the mistake undone, where this is how it was found


class Mistake(Protocol):
    """One hypothesis: a function of a subject, None where the data do not show it."""

    def __call__(self, subject: Subject, /) -> Finding | None:
        """Return what the data show."""
