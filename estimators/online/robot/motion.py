"""Rows of a whole robot, live: motion, torque and columns pass the same causal filters, chunk by chunk.

Every channel passes the same two low-passes: a quick one, after which all columns that are not linear in the speed are
formed, then a slow one. So torque, inertia and friction of one row belong to the same instant. Friction with memory
follows the position through a quick low-pass that makes no reversal of its own: an encoder's step would turn it.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning.gap_bridge import GapBridge
from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.maxwell_slip import fill_slip_table
from estimators.models.robots.newton_euler import WRENCH, forces
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.causal_low_pass import CausalLowPass, MonotoneLowPass, low_pass, monotone_low_pass
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats
from estimators.thresholds import AT_REST
from jointwatch_numba.direct import direct

#: Hz, argued: Cut-off of the low-pass that decides; it knows of a reversal after 6 ms (decision 018, point 5).
QUICK: Final = 40.0
#: Hz, tuned: The same where a joint was taught slowly (below 0.05 rad/s). Noise of a speed grows with the power 1.5 of
#: the cut-off: after 40 Hz it rounded off the turn of such a joint's friction, after 10 Hz a stop was reported as a
#: contact (decision 067). A reversal is known 9 ms later.
QUICK_OF_SLOW_JOINTS: Final = 15.0
#: Hz, argued: Cut-off of the low-pass that teaches; motion of an arm is below it.
SLOW: Final = 10.0
#: Hz, tuned: The same where a joint was taught slowly. Noise of the speed, where friction turns, falls with it, too:
#: from 2.1 times the error of `identify` on the same rows to 1.0 (decision 073).
SLOW_OF_SLOW_JOINTS: Final = 5.0
#: 1, argued: Largest cut-off of the low-pass that teaches, over the rate of a slow recording or bus: half of the
#: frequencies that its samples contain. Noise above that is as large as below, and no model explains it.
OF_RATE: Final = 0.25
#: s, argued: Time between two filtered rows that contacts are judged on.
CHUNK: Final = 0.01


def cutoffs(at_rest: Floats) -> tuple[float, float]:
    """Cut-offs in Hz of the low-passes that decide and that teach; at_rest: (n,) speeds up to which joints stand."""
    return (QUICK_OF_SLOW_JOINTS, SLOW_OF_SLOW_JOINTS) if (at_rest < AT_REST).any() else (QUICK, SLOW)


class Chunk(NamedTuple):
    """Filtered rows of CHUNK s of n joints."""

    q: Floats  # (rows, n)
    dq: Floats
    quick: Floats  # (rows, n) dq before the slow low-pass: its sign changes when friction does
    place: Floats  # (rows, n) q before the slow low-pass
    ddq: Floats
    tau: Floats
    rate: Floats  # (rows, n) of tau, N·m/s (N/s)
    columns: Floats  # (rows, columns): of friction, offsets, rotors, couplings, see RobotMotion.places
    usable: NDArray[np.bool_]  # (rows,) every value was there, and the low-passes have settled
    whole: bool  # all of them are usable
    twist: Floats  # (rows, n) difference of a gear's encoders, 0 where there is one only; no rows unless followed
    twist_rate: Floats  # (rows, n) of it


class RobotMotion:
    """Turns rows of positions and torques into chunks."""

    def __init__(
        self,
        model: WholeRobot,
        reach: Floats,
        loading: Floats,
        period: float,
        follow_twist: bool = False,
        slow: float = SLOW,
        quick: float = QUICK,
    ) -> None:
        """reach: (n,) rad/s (m/s) at most in a friction law; loading: (n, 10) whose torque loads it; period: s.

        follow_twist: chunks contain the gears' twist, too; slow: Hz, cut-off of the low-pass that teaches;
        quick: of the one that decides.
        """
        self.slow, self.quick = slow, quick
        n = model.tree.size()
        self._twisted = model.twisted
        m = len(self._twisted)
        self._followed = m if follow_twist else 0
        self.model, self._reach, self._loading = model, reach, loading
        still = np.zeros((1, n))
        found = model.others(still, still, still, still, reach, still)
        self.places = np.array([(joint, term) for joint, term, _ in found], np.int64).reshape(-1, 2)
        self._Y = np.empty((1, n, PARAMETERS * n))
        self._columns = np.ascontiguousarray(model.projection.columns, np.int64)
        self._memory = model.memory()
        own_load = model.loaded and model.loads == 1
        self._carried = np.ascontiguousarray(loading) if own_load else np.empty((0, PARAMETERS))
        self._period, self._no_twists = period, np.zeros((2, 0, n))
        self._quick = CausalLowPass(2 * n + m, quick, period)
        self._slow = CausalLowPass(2 * n + self._followed + len(found), slow, period)
        self._path, self._remembers = MonotoneLowPass(n, quick, period), any(map(len, self._memory))
        self._bridge = GapBridge(2 * n + m, period, (self._quick, self._slow, self._path))

    def absorb(self, readings: Floats) -> Chunk:
        """Filter a chunk (rows, 2 or 3, n) of positions, torques and, if there are any, second encoders.

        A missing value is NaN.
        """
        n, twisted, twist = readings.shape[2], self._twisted, None
        flat = readings[:, :2].reshape(len(readings), 2 * n)
        if twisted:
            flat = np.concatenate((flat, (readings[:, 0] - readings[:, 2])[:, twisted]), axis=1)
        values, usable, whole = self._bridge.absorb(flat)
        rows, first = len(values), 2 * n + self._followed
        quick, load, motions = np.empty((3, *values.shape)), np.empty((rows, n)), np.empty((4, rows, n))
        slow = np.empty((3, rows, first + len(self.places)))
        speeding = values, self._quick.omega, self._period, self._quick.state, *self.model.tree, self._carried
        slowing = first, self._slow.omega, self._period, self._slow.state, slow, motions
        memory, slips = self._memory, self.model.slips
        if slips is not None and isinstance(memory, np.ndarray):
            stops, constants, count, order, rotors = slips
            table = np.empty((rows, len(self.places)))
            both_passes(
                *speeding, quick, load, self._path.state, self._reach, stops, constants, memory, count, order, rotors,
                table, *slowing,
            )  # fmt: skip
        else:
            quick_pass(*speeding, quick, load)
            if twisted:
                twist = np.zeros((rows, n))
                twist[:, twisted] = quick[0, :, 2 * n :]
            place, speed, second = quick[0, :, :n], quick[1, :, :n], quick[2, :, :n]
            if self.model.loads > 1:
                load = self.model.load(self._loading, place, speed, second)
            if self._remembers:
                place = self._path.absorb(values[:, :n])
            slow_pass(quick, self.model.table(place, speed, second, load, self._reach, twist, memory), *slowing)
        twists = self._no_twists
        if self._followed:
            twists = np.zeros((2, rows, n))
            twists[:, :, twisted] = slow[:2, :, 2 * n : first]
        q, dq, ddq, speed = motions
        torques = slow[0, :, n : 2 * n], slow[1, :, n : 2 * n]
        return Chunk(q, dq, speed, quick[0, :, :n], ddq, *torques, slow[0, :, first:], usable, whole, *twists)

    def row(self, chunk: Chunk, at: int, X: Floats, last: Floats) -> None:
        """Write the row of an instant into X (n, p + n), lags last, and that of the last link into last (n, 10)."""
        now = slice(at, at + 1)
        regressor(*self.model.tree, chunk.q[now], chunk.dq[now], chunk.ddq[now], self._Y)
        _row(self._Y, self._columns, chunk.columns[at], self.places, chunk.rate[at], X, last)

    def shares(self, coefficients: Floats) -> Floats:
        """Factors (columns, n) of the columns of a chunk that give the torque without the rigid body's."""
        found = np.zeros((len(self.places), self.model.tree.size()))
        found[np.arange(len(self.places)), self.places[:, 0]] = coefficients[self.places[:, 1]]
        return found


@inline
def _quicken(
    values: Floats, omega: float, period: float, state: Floats, parent: Integers, kind: Integers, geometry: Floats,
    gravity: Floats, links: Floats, quick: Floats, load: Floats,
) -> None:  # fmt: skip
    """Pass rows of positions and torques through the quick low-pass, and fill the torque that loads friction.

    links: (n, 10) standard parameters whose torque does; none: the measured torque.
    """
    low_pass(values, omega, period, state, quick)
    rows, n = load.shape
    if len(links) == 0:
        for row in range(rows):
            for j in range(n):
                load[row, j] = quick[0, row, n + j]
        return
    frames, wrench, nothing = np.empty((n, FRAME)), np.empty((rows, n, WRENCH)), np.zeros((0, n, WRENCH))
    for row in range(rows):
        motion(parent, kind, geometry, gravity, quick[0], quick[1], quick[2], row, frames)
        forces(parent, kind, geometry, links, nothing, frames, row, load, wrench)


@inline
def _slow_down(
    quick: Floats, columns: Floats, first: int, omega: float, period: float, state: Floats, slow: Floats,
    motions: Floats,
) -> None:  # fmt: skip
    """Pass the first channels after the quick low-pass, and the columns formed of them, through the slow one.

    motions: (4, rows, n) q, q̇ and q̈ after it, and q̇ before it.
    """
    rows, n = motions.shape[1:]
    values = np.empty((rows, slow.shape[2]))
    for row in range(rows):
        for k in range(first):
            values[row, k] = quick[0, row, k]
        for k in range(columns.shape[1]):
            values[row, first + k] = columns[row, k]
    low_pass(values, omega, period, state, slow)
    for row in range(rows):
        for j in range(n):
            for k in range(3):
                motions[k, row, j] = slow[k, row, j]
            motions[3, row, j] = quick[1, row, j]


@kernel(
    "void(f8[:, ::1], f8, f8, f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, :, ::1], f8[:, ::1])"
)
def _quick_pass(
    values: Floats, omega: float, period: float, state: Floats, parent: Integers, kind: Integers, geometry: Floats,
    gravity: Floats, links: Floats, quick: Floats, load: Floats,
) -> None:  # fmt: skip
    _quicken(values, omega, period, state, parent, kind, geometry, gravity, links, quick, load)


@kernel("void(f8[:, :, ::1], f8[:, :], i8, f8, f8, f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1])")
def _slow_pass(
    quick: Floats, columns: Floats, first: int, omega: float, period: float, state: Floats, slow: Floats,
    motions: Floats,
) -> None:  # fmt: skip
    _slow_down(quick, columns, first, omega, period, state, slow, motions)


@kernel(
    "void(f8[:, ::1], f8, f8, f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, :, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8, i8[::1], i8[::1], f8[:, ::1],"
    " i8, f8, f8, f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1])"
)
def _both_passes(
    values: Floats, omega: float, period: float, state: Floats, parent: Integers, kind: Integers, geometry: Floats,
    gravity: Floats, links: Floats, quick: Floats, load: Floats, path_state: Floats, reach: Floats, stops: Floats,
    constants: Floats, memory: Floats, count: int, order: Integers, rotors: Integers, table: Floats, first: int,
    slow_omega: float, same_period: float, slow_state: Floats, slow: Floats, motions: Floats,
) -> None:  # fmt: skip
    """Both passes, and between them the columns of friction with memory, where all joints have that: see slip_table."""
    _quicken(values, omega, period, state, parent, kind, geometry, gravity, links, quick, load)
    path = np.empty(load.shape)
    monotone_low_pass(values, omega, period, path_state, path)
    fill_slip_table(path, quick[1], quick[2], load, reach, stops, constants, memory, count, order, rotors, table)
    _slow_down(quick, table, first, slow_omega, same_period, slow_state, slow, motions)


@kernel("void(f8[:, :, ::1], i8[::1], f8[:], i8[:, ::1], f8[:], f8[:, ::1], f8[:, ::1])")
def _row(
    Y: Floats, base_columns: Integers, columns: Floats, places: Integers, rate: Floats, X: Floats, last: Floats
) -> None:  # fmt: skip
    """Fill X (n, p + n): base columns of Y (1, n, 10 n), other columns at (joint, term), lags; and last (n, 10)."""
    n, base = len(X), len(base_columns)
    X[:] = 0.0
    for j in range(n):
        for k in range(PARAMETERS):
            last[j, k] = Y[0, j, Y.shape[2] - PARAMETERS + k]
        for k in range(base):
            X[j, k] = Y[0, j, base_columns[k]]
        X[j, X.shape[1] - n + j] = rate[j]
    for k in range(len(places)):
        X[places[k, 0], base + places[k, 1]] = columns[k]


quick_pass: Final = direct(_quick_pass)
slow_pass: Final = direct(_slow_pass)
both_passes: Final = direct(_both_passes)
