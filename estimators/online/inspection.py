"""What a person wants to see of a joint beside its estimate: points of its curves, excitation, nearness of an alarm.

Excitation of a parameter: rms, over the last seconds, of the part of its column that no combination of the others
imitates (1/√((ΦᵀΦ/n)⁻¹)_kk), as a share of the largest rms that its whole column has had.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import Estimate
from estimators.models.base import Model
from estimators.models.curves import Curves
from estimators.numerics.jit import inline
from estimators.numerics.parcel import Parcel, Table, cube, integers, matrix
from estimators.quantities import Floats, Nanoseconds, Settings
from estimators.recursive import state as at
from estimators.recursive.learner import Learner
from estimators.rows import ARGUMENTS, MOTION, Rows

RATE: Final = 50.0  # rows/s looked at, at most
KEPT: Final = 64  # rows that wait for a report, at most
MEMORY: Final = 10.0  # s, of the excitation
SKIP, EVERY, LOOKED, REPORTED = range(4)  # places
# of a parcel
(ROWS_Y, ROWS_SPEED), (ROWS_PHI, ROWS_SAMPLES, ROWS_MOTION), (ROWS_TIME, PLACES) = range(2), range(3), range(2)
ALIKE: Final = 1e-10  # columns whose own part is less than √ of this share count as the same


class Inspection(NamedTuple):
    """One report."""

    time: Nanoseconds  # (points,) ns
    points: Floats  # (points, 4), columns estimators.curves.POINT
    excitation: Floats  # (parameters,) 0 … 1
    alarm: float  # CUSUM over its limit, an alarm is 1; NaN where no alarm is set
    usual: float  # standard deviation of the residual when the start ended, N·m (N); NaN before
    law: dict[str, Any] | None = None  # settings of the friction law in use; None: the configured one


class Inspector:
    """Keeps some of the rows of one joint until someone asks."""

    def __init__(self, model: Model, taps: Floats, period: float) -> None:
        """taps: of the kernel that smoothed the rows; period: s between rows."""
        self._curves, self._taps = Curves(model), taps
        self._every = max(1, math.ceil(1.0 / (RATE * period)))
        self._keep = math.exp(-self._every * period / MEMORY)  # weight of the past after one row
        count, outputs, joints, laws = len(model.parameters), len(model.outputs), len(model.joints), len(model.blocks)
        self._rows = Rows(  # a ring
            np.zeros(KEPT, np.int64),
            np.zeros((KEPT, outputs, count)),
            np.zeros((KEPT, outputs)),
            np.zeros((KEPT, joints)),
            np.zeros((KEPT, laws, ARGUMENTS, len(taps) if model.nonlinear else 0)),
            np.zeros((KEPT, joints, MOTION)),
        )
        # rows until the next one that is looked at; from one to the next; looked at so far; and before the last report
        self._places = np.array([0, self._every, 0, 0])
        kept, samples = self._rows, self._rows.samples.reshape(KEPT, laws * ARGUMENTS, -1)
        self.parcel = Parcel([], [kept.y, kept.speed], [kept.phi, samples, kept.motion], [kept.time, self._places])
        self._gram, self._weight = np.zeros((count, count)), 0.0
        self._largest = np.zeros(count)

    def absorb(self, rows: Rows) -> None:
        """Look at every n-th row."""
        count = len(rows.time)
        for row in range(int(self._places[SKIP]), count, self._every):
            for column, values in zip(self._rows, rows, strict=True):
                if values.size:
                    column[self._places[LOOKED] % KEPT] = values[row]
            self._places[LOOKED] += 1
        self._places[SKIP] = (self._places[SKIP] - count) % self._every

    def report(
        self,
        estimate: Estimate,
        learner: Learner,
        recentre: Callable[[Rows], None],
        law: Settings | None = None,
    ) -> Inspection | None:
        """What came since the last report; None when nothing did.

        recentre: changes rows to what the parameters are for; law: in use, where not the configured one.
        """
        last = int(self._places[LOOKED])
        first = max(int(self._places[REPORTED]), last - KEPT)
        if first == last:
            return None
        self._places[REPORTED] = last
        rows = self._rows.part(np.arange(first, last) % KEPT)
        recentre(rows)
        points = self._curves.points(rows, estimate.values, self._taps)
        alarm = learner.threshold
        limit, noise = alarm.limit, alarm.noise * learner.rls.noise[0]
        return Inspection(
            rows.time,
            points,
            self._excitation(rows.phi),
            float(learner.kept.state[at.CUSUM] / limit) if limit > 0 else math.nan,
            math.sqrt(noise) if noise > 0 else math.nan,
            None if law is None else law.model_dump(),
        )

    def _excitation(self, phi: Floats) -> Floats:
        flat = np.nan_to_num(phi).reshape(-1, phi.shape[2])
        past = self._keep ** len(phi)
        self._gram = past * self._gram + flat.T @ flat
        self._weight = past * self._weight + len(phi)
        rms = np.sqrt(np.diag(self._gram) / self._weight)
        self._largest = np.maximum(self._largest, rms)
        scale = np.where(rms > 0, rms, 1.0)
        alike = self._gram / self._weight / np.outer(scale, scale) + ALIKE * np.eye(len(rms))
        own = rms / np.sqrt(np.diag(np.linalg.pinv(alike, hermitian=True)).clip(1.0))
        return np.where(self._largest > 0, own / np.where(self._largest > 0, self._largest, 1.0), 0.0)


@inline
def look(
    count: int,
    time: Nanoseconds,
    phi: Floats,
    y: Floats,
    speed: Floats,
    samples: Floats,
    motion: Floats,
    table: Table,
) -> None:
    """`Inspector.absorb` of so many rows; samples: (rows, blocks · ARGUMENTS, taps); table: of an Inspector."""
    places = integers(table, PLACES)
    kept_phi, kept_y = cube(table, ROWS_PHI), matrix(table, ROWS_Y)
    kept_speed, kept_motion = matrix(table, ROWS_SPEED), cube(table, ROWS_MOTION)
    kept_samples = cube(table, ROWS_SAMPLES)
    for row in range(places[SKIP], count, places[EVERY]):
        place = places[LOOKED] % len(kept_y)
        integers(table, ROWS_TIME)[place] = time[row]
        for output in range(y.shape[1]):
            kept_y[place, output] = y[row, output]
            for column in range(phi.shape[2]):
                kept_phi[place, output, column] = phi[row, output, column]
        for joint in range(speed.shape[1]):
            kept_speed[place, joint] = speed[row, joint]
            for which in range(motion.shape[2]):
                kept_motion[place, joint, which] = motion[row, joint, which]
        for argument in range(samples.shape[1]):
            for k in range(samples.shape[2]):
                kept_samples[place, argument, k] = samples[row, argument, k]
        places[LOOKED] += 1
    places[SKIP] = (places[SKIP] - count) % places[EVERY]
