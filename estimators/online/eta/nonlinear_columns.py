"""Nonlinear columns within a compiled pass: columns of rows under η in force, to the same bits as EtaInForce.shaped.

A law is evaluated once for each instant, however many rows' kernels contain it. It is called by its address, so the
pass need not be compiled for it.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.base import SpringPlace
from estimators.models.friction.base import fill_law
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import smooth
from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE
from jointwatch_numba.layout import Cube, Function, Integers, Layout, Matrix, Vector


class NonlinearColumnsState(Layout):
    """One block of a model, its spring if it has one, and the arguments and columns of its law at each instant."""

    law: Function
    constants: Vector
    eta: Vector  # in force
    motion_scale: float  # what position and speed are multiplied with before the law sees them
    load_scale: float
    sign: float  # of the law's columns
    position: int  # channel
    load: int  # channel
    output: int  # that has the law's columns
    own: Integers  # the law's columns that η moves …
    moving: Integers  # … and where they are in phi
    signs: Vector  # of the spring's torque in each output; empty: no spring
    linear: int  # column of the spring's twist …
    cubic: int  # … and of its cube
    seen: Annotated[Cube, "instants", "arguments", "signals"]
    columns: Annotated[Matrix, "instants", "law_columns"]
    zero: float = 0.0  # rad by which the twist's zero is off
    zero_cube: float = 0.0


# where no law is searched
NOTHING: Final = NonlinearColumnsState.zeros(
    law=None, constants=np.zeros(0), eta=np.zeros(0), own=np.zeros(0, np.int64), moving=np.zeros(0, np.int64),
    signs=np.zeros(0), instants=0, arguments=0, signals=0, law_columns=0,
)  # fmt: skip


class NonlinearColumns:
    """Prepares the state for one block of a model, and its spring if it has one."""

    def __init__(self, block: NonlinearBlock, spring: SpringPlace | None, instants: int) -> None:
        """instants: of the signals that a pass has room for."""
        law, place = block.law, block.place
        self.block = block
        (linear, cubic), signs = ((0, 0), ()) if spring is None else (spring.columns, spring.signs)
        self.state = NonlinearColumnsState(
            law=law.kernel,
            constants=law.constants,
            eta=np.zeros(len(block.nonlinear)),
            motion_scale=place.scale[0],
            load_scale=place.scale[1],
            sign=place.sign,
            position=place.position,
            load=place.load,
            output=place.output,
            own=block.own,
            moving=block.moving,
            signs=np.array(signs, np.float64),
            linear=linear,
            cubic=cubic,
            seen=np.zeros((instants, 1 + law.loads, SIGNALS)),
            columns=np.zeros((instants, len(law.parameters))),
        )

    def set(self, eta: Floats, zero: float) -> None:
        """η (nonlinear,) in force from the next pass on, and what the encoders' zeros differ by, rad."""
        self.state.eta[:], self.state.zero, self.state.zero_cube = eta, zero, zero**3


@inline
def fill_columns(
    starts: NDArray[np.int64], signals: Floats, taps: Floats, phi: Floats, state: NonlinearColumnsState
) -> None:
    """Write the columns that η moves, and move the zero of the spring's twist, in phi (rows, outputs, parameters).

    starts: (rows,) the first of the signals (instants, channels, SIGNALS) under each row's kernel, taps.
    """
    seen, columns, position, load = state.seen, state.columns, state.position, state.load
    first, last = starts[0], starts[len(starts) - 1] + len(taps)
    for m in range(first, last):
        place = state.motion_scale * signals[m, position, SMOOTH]
        speed = state.motion_scale * signals[m, position, SMOOTH_RATE]
        carried = state.load_scale * signals[m, load, SMOOTH]
        seen[m, 0, VALUE], seen[m, 0, SMOOTH] = place, place
        seen[m, 0, RATE], seen[m, 0, SMOOTH_RATE] = speed, speed
        seen[m, 1, VALUE], seen[m, 1, SMOOTH] = carried, carried
    fill_law(state.law, seen[first:last], 0, 1, state.constants, state.eta, columns[first:last])
    smooth(columns, starts, taps, state.own, state.sign, state.output, state.moving, phi)
    zero, cube, linear, cubic = state.zero, state.zero_cube, state.linear, state.cubic
    if zero == 0.0:
        return
    for output in range(len(state.signs)):
        sign = state.signs[output]
        for row in range(len(phi)):
            twist = sign * phi[row, output, linear]
            phi[row, output, linear] -= sign * zero
            phi[row, output, cubic] -= sign * (3.0 * zero * twist * (twist - zero) + cube)
