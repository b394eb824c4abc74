"""Rows as they are under η in force, within a pass: what EtaInForce.shaped does to finished rows, to the same bits.

A law sees each instant once, however many rows' kernels lie over it; it is called by address, so none is compiled in.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.base import SpringPlace
from estimators.models.friction.base import fill_law
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import smooth
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, cube, function, integers, matrix, vector
from estimators.quantities import Floats
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

# of a parcel
CONSTANTS, ETA, SCALES, ZERO, SIGNS = range(5)
OWN, MOVING, PLACES = range(3)
COLUMNS, SEEN, LAW = 0, 0, 0
MOTION, LOAD, SIGN = range(3)  # scales: of position and speed, of the load; and the columns' sign
POSITION, CARRIED, OUTPUT, LINEAR, CUBIC = range(5)  # places: channels; output; columns of the spring's twist
SHIFT, CUBE = range(2)  # rad by which the twist's zero is off, and its cube
NOTHING: Final = Parcel()  # where no law is searched


class Shaping:
    """Of one block of a model, and its spring if it has one."""

    def __init__(self, block: NonlinearBlock, spring: SpringPlace | None, instants: int) -> None:
        """instants: of the signals that a pass has room for."""
        law, place = block.law, block.place
        self.block = block
        self._eta, self._zero = np.zeros(len(block.nonlinear)), np.zeros(2)
        columns, signs = ((0, 0), ()) if spring is None else (spring.columns, spring.signs)
        self.parcel = Parcel(
            [law.constants, self._eta, np.array([*place.scale, place.sign]), self._zero, np.array(signs, np.float64)],
            [np.zeros((instants, len(law.parameters)))],
            [np.zeros((instants, 1 + law.loads, SIGNALS))],
            [block.own, block.moving, np.array([place.position, place.load, place.output, *columns], np.int64)],
            functions=[law.kernel],
        )

    def set(self, eta: Floats, zero: float) -> None:
        """η (nonlinear,) in force from the next pass on, and what the encoders' zeros differ by, rad."""
        self._eta[:], self._zero[:] = eta, (zero, zero**3)


@kernel(f"void(i8[::1], f8[:, :, ::1], f8[::1], f8[:, :, ::1], {TABLE})")
def shape(starts: NDArray[np.int64], signals: Floats, taps: Floats, phi: Floats, table: Table) -> None:
    """Write the columns that η moves, and move the zero of the spring's twist, in phi (rows, outputs, parameters).

    starts: (rows,) the first of the signals (instants, channels, SIGNALS) under each row's kernel, taps; table: of a
    Shaping.
    """
    seen, columns, places, scales = (
        cube(table, SEEN),
        matrix(table, COLUMNS),
        integers(table, PLACES),
        vector(table, SCALES),
    )
    position, load = places[POSITION], places[CARRIED]
    first, last = starts[0], starts[len(starts) - 1] + len(taps)
    for m in range(first, last):
        place, speed = scales[MOTION] * signals[m, position, SMOOTH], scales[MOTION] * signals[m, position, SMOOTH_RATE]
        carried = scales[LOAD] * signals[m, load, SMOOTH]
        seen[m, 0, VALUE], seen[m, 0, SMOOTH] = place, place
        seen[m, 0, RATE], seen[m, 0, SMOOTH_RATE] = speed, speed
        seen[m, 1, VALUE], seen[m, 1, SMOOTH] = carried, carried
    law, constants, eta = function(table, LAW), vector(table, CONSTANTS), vector(table, ETA)
    fill_law(law, seen[first:last], 0, 1, constants, eta, columns[first:last])
    own, moving = integers(table, OWN), integers(table, MOVING)
    smooth(columns, starts, taps, own, scales[SIGN], places[OUTPUT], moving, phi)
    zero, signs, linear, cubic = vector(table, ZERO), vector(table, SIGNS), places[LINEAR], places[CUBIC]
    if zero[SHIFT] == 0.0:
        return
    for output in range(len(signs)):
        sign = signs[output]
        for row in range(len(phi)):
            twist = sign * phi[row, output, linear]
            phi[row, output, linear] -= sign * zero[SHIFT]
            phi[row, output, cubic] -= sign * (3.0 * zero[SHIFT] * twist * (twist - zero[SHIFT]) + zero[CUBE])
