"""Inspection of a joint, for a person: points of its curves, excitation, and how near an alarm is.

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
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds, Settings
from estimators.recursive.learner import Learner
from estimators.rows import Rows, RowStore, copy_row
from estimators.thresholds import COLLINEAR
from jointwatch_numba.layout import Layout
from jointwatch_numba.matrix import contiguous

#: rows/s, argued: Most rows that are evaluated for the page; they cost time and change no value.
RATE: Final = 50.0
#: rows, argued: Rows that wait for a report, at most.
KEPT: Final = 64
#: s, argued: Time over which excitation is averaged for the page.
MEMORY: Final = 10.0


class Inspection(NamedTuple):
    """Figures of a joint for a person, in addition to its estimate."""

    time: Nanoseconds  # (points,) ns
    points: Floats  # (points, 4), columns estimators.curves.POINT
    excitation: Floats  # (parameters,) 0 … 1
    alarm: float  # CUSUM over its limit, an alarm is 1; NaN where no alarm is set
    usual: float  # standard deviation of the residual when the start ended, N·m (N); NaN before
    law: dict[str, Any] | None = None  # settings of the friction law in use; None: the configured one


class InspectorState(Layout):
    """A ring of rows that wait for a report."""

    rows: RowStore
    every: int  # rows from one that is looked at to the next
    skip: int = 0  # rows until the next one
    looked: int = 0  # looked at so far
    reported: int = 0  # the same before the last report


class Inspector:
    """Keeps some of the rows of one joint until someone asks."""

    def __init__(self, model: Model, taps: Floats, period: float) -> None:
        """taps: of the kernel that smoothed the rows; period: s between rows."""
        self._curves, self._taps = Curves(model), taps
        self._every = max(1, math.ceil(1.0 / (RATE * period)))
        self._keep = math.exp(-self._every * period / MEMORY)  # weight of the past after one row
        count, outputs, joints, laws = len(model.parameters), len(model.outputs), len(model.joints), len(model.blocks)
        rows = RowStore.room(KEPT, outputs, count, joints, laws, len(taps) if model.nonlinear else 0)
        self.state = InspectorState(rows=rows, every=self._every)
        self._gram, self._weight = np.zeros((count, count)), 0.0
        self._largest = np.zeros(count)

    def absorb(self, rows: Rows) -> None:
        """Look at every n-th row."""
        time, phi, y, speed = map(contiguous, rows[:4])
        _look_at(time, phi, y, speed, contiguous(rows.flat_samples()), contiguous(rows.motion), self.state)

    def report(
        self,
        estimate: Estimate,
        learner: Learner,
        recentre: Callable[[Rows], None],
        law: Settings | None = None,
    ) -> Inspection | None:
        """Report on the rows since the last report; None without any.

        recentre: changes rows to what the parameters are for; law: in use, where not the configured one.
        """
        last = self.state.looked
        first = max(self.state.reported, last - KEPT)
        if first == last:
            return None
        passed, self.state.reported = last - self.state.reported, last
        rows = self.state.rows.part(0, KEPT).part(np.arange(first, last) % KEPT)
        recentre(rows)
        points = self._curves.points(rows, estimate.values, self._taps)
        alarm = learner.threshold
        limit, noise = alarm.limit, alarm.noise * learner.rls.noise[0]
        return Inspection(
            rows.time,
            points,
            self._excitation(rows.phi, passed),
            learner.rls.state.cusum / limit if limit > 0 else math.nan,
            math.sqrt(noise) if noise > 0 else math.nan,
            None if law is None else law.model_dump(),
        )

    def _excitation(self, phi: Floats, passed: int) -> Floats:
        """Excitation with these rows, the last ones of those that have passed."""
        flat = np.nan_to_num(phi).reshape(-1, phi.shape[2])
        past = self._keep**passed
        self._gram = past * self._gram + flat.T @ flat
        self._weight = past * self._weight + len(phi)
        rms = np.sqrt(np.diag(self._gram) / self._weight)
        self._largest = np.maximum(self._largest, rms)
        scale = np.where(rms > 0, rms, 1.0)
        alike = self._gram / self._weight / np.outer(scale, scale) + COLLINEAR * np.eye(len(rms))
        own = rms / np.sqrt(np.diag(np.linalg.inv(alike)).clip(1.0))
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
    state: InspectorState,
) -> None:
    """Keep every n-th of `count` rows; samples: (rows, blocks · ARGUMENTS, taps)."""
    for row in range(state.skip, count, state.every):
        place = state.looked % len(state.rows.y)
        copy_row(time[row], phi[row], y[row], speed[row], samples[row], motion[row], state.rows, place)
        state.looked += 1
    state.skip = (state.skip - count) % state.every


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", "f8[:, :, ::1]", InspectorState))
def _look_at(
    time: Nanoseconds,
    phi: Floats,
    y: Floats,
    speed: Floats,
    samples: Floats,
    motion: Floats,
    state: InspectorState,
) -> None:
    look(len(time), time, phi, y, speed, samples, motion, state)
