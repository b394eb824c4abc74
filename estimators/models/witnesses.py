"""Columns of what a rigid model leaves out, formed beside its own: by them a misfit shows, and by them it has a name.

    cause      columns                                                 what its weight would be
    lag        Ṫ                                                       − s by which the torque is late against the
    position
    angle      sin nq, cos nq, n = 1 … 4 (rotary; those of the model left out)    a torque that repeats with the angle
    speed      q̇|q̇|, q̇³, sign(q̇)·exp(−|q̇|/v), v = 0.03 and 0.15      friction of another shape over speed
    direction  |q̇|, |q̇|q̇²                                             friction that differs between the directions
    memory     stops at 1, 6 and 40 mrad (mm), each less sign(q̇)       friction that remembers where it turned

A weight that is significant says that the model is wrong, and how its parameters would move were it right
(adequacy.py).
"""

from typing import Final

import numpy as np

from estimators.models.base import Constant, Model
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SMOOTH, SMOOTH_RATE, VALUE, Rows

STOPS: Final = (0.001, 0.006, 0.04)  # rad (m)
HARMONICS: Final = 4
SLOW: Final = (0.03, 0.15)  # rad/s (m/s)
LAG, SPEED, DIRECTION, MEMORY, ANGLE, NONE = "lag", "speed", "direction", "memory", "angle", ""


class Witnessed:
    """A model with one position and one effort, and the columns of what it leaves out behind its own."""

    def __init__(self, model: Model, stops: int, rotary: bool) -> None:
        """stops: of the model's own, whose channels stand behind the measured ones; this one's own come behind them."""
        self.inner = model
        measured = len(model.channels)
        self.channels = (*model.channels, *(f"stop{i}" for i in range(stops + len(STOPS))))
        self._first = measured + stops
        self._effort = next(i for i, role in enumerate(model.channels) if role in ("torque", "force"))
        remembers = [MEMORY if stops == 0 else NONE] * len(STOPS)  # else the model's own say what these would
        groups = [LAG, *[SPEED] * 4, *[DIRECTION] * 2, *remembers, *[ANGLE] * (2 * HARMONICS * rotary)]
        self.groups: tuple[str, ...] = tuple(groups)
        self.own = len(model.parameters)
        self.parameters = (
            *model.parameters,
            *(model.parameters[0]._replace(name=f"witness{i}") for i in range(len(groups))),
        )
        self.nonlinear, self.outputs, self.start = model.nonlinear, model.outputs, model.start
        self.blocks, self.springs, self.joints, self.owners = model.blocks, model.springs, model.joints, model.owners

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill the rows at the full rate."""
        own = np.empty((len(phi), phi.shape[1], self.own))
        self.inner.fill(signals, eta, own, y)
        phi[:, :, : self.own] = own
        _fill(signals, self._effort, self._first, phi[:, 0, self.own :])

    def constants(self, rows: Rows, taps: Floats, theta: Floats) -> tuple[Constant, ...]:
        """As the model's own."""
        return self.inner.constants(rows, taps, theta)


def witnessed(model: Model, stops: int) -> Witnessed | None:
    """The model with its witnesses; None where nobody knows what they would be: with η, and of more than one output."""
    if model.nonlinear or len(model.outputs) != 1 or model.springs or len(model.joints) != 1:
        return None
    return Witnessed(model, stops, model.blocks[0].axis is Axis.ROTARY)


@kernel("void(f8[:, :, ::1], i8, i8, f8[:, :])")
def _fill(signals: Floats, effort: int, first: int, columns: Floats) -> None:
    for row in range(len(signals)):
        q, v = signals[row, 0, SMOOTH], signals[row, 0, SMOOTH_RATE]
        size, side = abs(v), np.sign(v)
        columns[row, 0] = signals[row, effort, RATE]
        columns[row, 1] = v * size
        columns[row, 2] = v * size * size
        columns[row, 3] = side * np.exp(-size / 0.03)
        columns[row, 4] = side * np.exp(-size / 0.15)
        columns[row, 5] = size
        columns[row, 6] = size * size * size
        for i in range(3):
            columns[row, 7 + i] = signals[row, first + i, VALUE] - side
        for n in range((columns.shape[1] - 10) // 2):
            columns[row, 10 + 2 * n] = np.sin((n + 1) * q)
            columns[row, 11 + 2 * n] = np.cos((n + 1) * q)
