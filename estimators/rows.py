"""What a regression row is, and what a model sees of a channel at one instant."""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.jit import inline
from jointwatch_numba.layout import Cube, Integers, Layout, Matrix, Vector

# What a friction law takes as arguments, an axis of Rows.samples.
VELOCITY: Final = 0
POSITION: Final = 1
LOAD: Final = 2
ARGUMENTS: Final = 3


# How a joint moved under a row's kernel, the last axis of Rows.motion.
PLACE: Final = 0
SPEED: Final = 1
ROUNDING: Final = 2  # noise of its encoder's steps in the acceleration, times that of white rounding (rounding.py)
WEIGHT: Final = 3  # what its outputs have been multiplied by (quantisation_weights.py)
SLOPE: Final = 4  # square of d/dt of its outputs, smoothed
MOST: Final = 5  # what ROUNDING may be at most, as far as the speed is known
MOTION: Final = 6


class Rows(NamedTuple):
    """Conditioned, decimated, whole regression rows: y = Φ θ + error, ready for an estimator.

    An output that the model masked for a row (e.g. a link that sticks) is NaN there in phi and y, never all of them.
    """

    time: Nanoseconds  # (rows,) the instant each row speaks of, filter delay removed
    phi: Floats  # (rows, outputs, parameters)
    y: Floats  # (rows, outputs)
    speed: Floats  # (rows, joints) rms speed over the row's support, rad/s (m/s): standstill is decided on it
    samples: Floats = np.zeros((0, 1, ARGUMENTS, 0))  # (rows, blocks, ARGUMENTS, taps) what laws with η saw; else empty
    motion: Floats = np.zeros((0, 1, MOTION))  # (rows, joints, MOTION) smoothed, means of the support; empty: not known

    def part(self, which: "slice | NDArray[np.bool_] | NDArray[np.int64]") -> "Rows":
        """Some of the rows."""
        time, phi, y, speed, samples, motion = self
        samples, motion = (one[which] if len(one) else one for one in (samples, motion))
        return Rows(time[which], phi[which], y[which], speed[which], samples, motion)

    def copy(self) -> "Rows":
        """These rows in arrays of their own."""
        time, phi, y, speed, samples, motion = self
        return Rows(time.copy(), phi.copy(), y.copy(), speed.copy(), samples.copy(), motion.copy())

    def flat_samples(self) -> Floats:
        """What laws saw as a RowStore has it: (rows, blocks · ARGUMENTS, taps)."""
        rows, blocks, arguments, taps = self.samples.shape
        return self.samples.reshape(rows, blocks * arguments, taps)


class RowStore(Layout):
    """Room for regression rows, which kernels write and read; columns as those of Rows."""

    time: Annotated[Integers, "rows"]  # ns
    phi: Annotated[Cube, "rows", "outputs", "parameters"]
    y: Annotated[Matrix, "rows", "outputs"]
    speed: Annotated[Matrix, "rows", "joints"]
    samples: Annotated[Cube, "rows", "arguments", "taps"]  # what laws with η saw: arguments of each, one law after
    motion: Annotated[Cube, "rows", "joints", "quantities"]  # the other

    @classmethod
    def room(cls, rows: int, outputs: int, parameters: int, joints: int, laws: int, taps: int) -> "RowStore":
        """An empty store for so many rows; taps: 0 where no law has η."""
        return cls.zeros(
            rows=rows, outputs=outputs, parameters=parameters, joints=joints, arguments=laws * ARGUMENTS, taps=taps,
            quantities=MOTION,
        )  # fmt: skip

    def alike(self) -> "RowStore":
        """Another one with the same room."""
        return RowStore(**{one.name: np.zeros_like(getattr(self, one.name)) for one in self.fields()})

    def write(self, rows: Rows) -> None:
        """Put rows in front; where they do not say how their joints moved, motion is that of rows of weight one."""
        count = len(rows.time)
        self.time[:count], self.phi[:count], self.y[:count], self.speed[:count] = rows[:4]
        if len(rows.samples) == count:
            self.samples[:count] = rows.flat_samples()
        self.motion[:count] = rows.motion if len(rows.motion) == count else 1.0

    def part(self, first: int, last: int) -> Rows:
        """Views of these of the rows."""
        which = slice(first, last)
        samples = self.samples[which]
        seen = samples.reshape(len(samples), samples.shape[1] // ARGUMENTS, ARGUMENTS, samples.shape[2])
        return Rows(self.time[which], self.phi[which], self.y[which], self.speed[which], seen, self.motion[which])


class FormedRows(Layout):
    """Rows as they leave a row former, and what lies under them."""

    rows: RowStore
    starts: Annotated[Integers, "rows"]  # of each the instant that is first under its kernel
    signals: Annotated[Cube, "instants", "channels", "signals"]  # of instants; none: rows are as they are learnt
    taps: Vector  # of the kernel
    owners: Annotated[Integers, "outputs"]  # joint of each output


@inline
def copy_row(
    time: int, phi: Floats, y: Floats, speed: Floats, samples: Floats, motion: Floats, store: RowStore, place: int
) -> None:
    """Write a row into a store: phi (outputs, parameters), y (outputs,), speed (joints,), samples (arguments, taps),
    motion (joints, MOTION)."""
    store.time[place] = time
    own_phi, own_y, own_speed, own_samples, own_motion = store.phi, store.y, store.speed, store.samples, store.motion
    for output in range(len(y)):
        own_y[place, output] = y[output]
        for column in range(phi.shape[1]):
            own_phi[place, output, column] = phi[output, column]
    for joint in range(len(speed)):
        own_speed[place, joint] = speed[joint]
        for which in range(motion.shape[1]):
            own_motion[place, joint, which] = motion[joint, which]
    for argument in range(len(samples)):
        for k in range(samples.shape[1]):
            own_samples[place, argument, k] = samples[argument, k]


# What a model sees of each channel at one instant, the last axis of `signals` (rows, channels, SIGNALS). Linear columns
# take the raw value and its exact central differences, arguments of nonlinear functions the smoothed ones; the finished
# row then passes the smoothing kernel as a whole (see conditioning/conditioner.py).
VALUE: Final = 0  # raw
RATE: Final = 1  # raw, first central difference, 1/s
SECOND: Final = 2  # raw, second central difference, 1/s²
SMOOTH: Final = 3  # smoothed value
SMOOTH_RATE: Final = 4  # its first central difference, 1/s
SIGNALS: Final = 5


def moved(place: Floats, speed: Floats) -> Floats:
    """Rows.motion of mean positions and speeds (rows, joints), whose encoders have no steps and whose outputs stay."""
    motion = np.ones((*place.shape, MOTION))
    motion[..., PLACE], motion[..., SPEED], motion[..., SLOPE] = place, speed, 0.0
    return motion


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))
