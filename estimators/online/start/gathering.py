"""Shared by all starts: gather rows, give the learner their scale, check them each second, calibrate at the end."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.online.judgement.gate import Gate
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import LOSE, Validity
from estimators.online.start.base import Started
from estimators.online.start.rows import StartRows
from estimators.quantities import Floats
from estimators.reasons import Reason, joined
from estimators.recursive.forgetting import Threshold
from estimators.recursive.learner import Learner
from estimators.recursive.weights import reversals
from estimators.rows import Rows

#: s, argued: Motion that gives the scale of the columns.
SCALE_WINDOW: Final = 1.0
#: s, tuned: Motion in either direction without which a start is not over; 120 s trials of moves and scans (decision
#: 019, point 30).
EITHER: Final = 1.0
#: moves, argued: Moves of a joint that goes one way only, without which its prediction does not end a start: one shows
#: no acceleration apart from rounding, nor how the residual swells at a stop; of two the first may begin midway.
MOVES: Final = 3
#: periods, argued: Number of whole periods from which on the rows of an incomplete one are left out of the alarm's
#: calibration: with fewer periods these may be half of all rows, and their loss is worse than a phase that counts
#: twice.
PERIODS: Final = 2
#: 1, argued: Uncertainty of a direction, over the rms of the torque, above which the start leaves it at zero.
IDENTIFIABLE: Final = 0.5


class Gathering:
    """Gathers the rows of one start, and lets the learner learn from them."""

    def __init__(self, learner: Learner, validity: Validity, motion: MotionCount, gate: Gate | None = None) -> None:
        """gate: of a model whose rows with a reversal may weigh less; None: they never do."""
        self._learner, self._validity, self._motion = learner, validity, motion
        self._gate = gate
        self.rows = StartRows()
        self.anchor = np.zeros(learner.rls.p)  # mean of the wide prior, towards which it pulls weak directions

    def absorb(self, rows: Rows) -> int:
        """Append rows; returns how many had no finite output."""
        gate, seen, ways = self._gate, None, None
        if gate is not None:
            slow = max(gate.standstill, reversals.UNSEEN)
            seen, ways = reversals.turning(rows, gate.owners, slow)
        return self.rows.add(rows.time, rows.phi, rows.y, seen, ways, rows.motion)

    def begin(self) -> bool:
        """Learn from the rows so far, with the outputs' power as noise; returns whether enough of them are finite."""
        if len(self.rows) * self._motion.row < 0.5 * SCALE_WINDOW:
            self.rows.clear()
            self._motion.state.count = 0
            return False
        self._learner.reversal[:] = 1.0
        self.learn(self.rows.power())
        return True

    def noise(self) -> Floats:
        """Residual variances (outputs,) under the learner's θ."""
        return self.rows.noise(self._learner.rls.theta)

    def learn(self, noise: Floats) -> None:
        """θ and P from all rows, with these variances of the outputs."""
        leverage, signal = self.rows.scale(noise)
        self._learner.learn(*self.rows.raw(), noise, leverage, signal, self.anchor)

    def due(self, block: int, resting: bool) -> bool:
        """Whether there is another second of motion to check; block: rows between two calls."""
        return self._motion.state.count % max(1, round(SCALE_WINDOW / self._motion.row)) < block and not resting

    def check(self) -> None:
        """Find the motion's period, and the factor of the deviations for the residual's structure."""
        self._motion.found(self.rows.cycle())
        self._learner.deviation_factor[:] = self._deviation_factors()

    def _deviation_factors(self) -> Floats:
        """Factor of each deviation for the residual's structure: (parameters,).

        Of a linear model one for all, their geometric mean: a factor of its own for each parameter would turn the
        directions that the rows do not identify into others. A search judges its values one by one.
        """
        factors = self.rows.deviation_factors(self._learner.rls)
        return factors if self._gate is None else np.full_like(factors, np.exp(np.mean(np.log(factors))))

    @property
    def proven(self) -> bool:
        """Whether the joint has moved either way, or valid values do not depend on rows that saw it stop."""
        if self._gate is None or self.rows.either_way(round(EITHER / self._motion.row)):
            return True
        factor = self.rows.rests_on_reversals(self._learner.rls.noise)
        return bool(((factor * self._validity.state.excess <= LOSE) | (factor <= reversals.GROSS)).all())

    @property
    def shown(self) -> bool:
        """Whether the joint has moved either way, or often enough one way, or rows do not show how it moved."""
        if self._gate is None or not self.rows.moving or self.rows.either_way(round(EITHER / self._motion.row)):
            return True
        return self.rows.moves() >= MOVES

    @property
    def prediction(self) -> float:
        """Deviation of the prediction over the rms of the torque, each output weighed by its own noise."""
        noise = self.noise()
        _, signal = self.rows.scale(noise)
        return self.rows.prediction(noise) / signal if signal > 0.0 else np.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the first row, rests included."""
        return 0.0 if self.rows.span is None else (self.rows.span[1] - self.rows.span[0]) / 1e9

    def solve(self) -> None:
        """Begin with least squares over all rows, 0 along directions that are not identifiable."""
        learner = self._learner
        learner.reversal[:] = self.rows.discount(learner.rls.noise, learner.leverage, self._least, self.proven)
        self.anchor = self.rows.solution(learner.rls.noise, learner.leverage, self._least)

    def weigh(
        self,
        roughen: Callable[[Learner, int], None],
        weighed: Callable[[Rows], Rows],
        lighten: Callable[[Floats], None],
        owners: NDArray[np.int64],
    ) -> None:
        """Learn all rows again, weighed as in normal mode.

        roughen: finds the weights at a time (ns); weighed: applies them to rows; lighten: takes the share of step noise
        that is left in each output; owners: the joint of each output.
        """
        learner = self._learner
        self.learn(self.noise())
        roughen(learner, self.rows.span[1] if self.rows.span else 0)
        lighten(self.rows.weigh(weighed, owners))
        learner.state.weighed[:] = self.rows.squared_weights(owners)
        self.anchor = self.rows.solution(learner.rls.noise, learner.leverage, self._least)

    @property
    def _least(self) -> float:
        """Information of a direction, whitened, below which it stays at 0."""
        learner, signal = self._learner, self._learner.state.signal
        return learner.rls.variance() / (IDENTIFIABLE * signal) ** 2 if signal > 0 else np.inf

    def calibrate(self, threshold: Callable[[Floats], Threshold]) -> Threshold:
        """Whiten, learn all rows again, set alarm and memory from their residual over whole periods.

        threshold: of the alarm, from squared residuals, whitened: (rows,).
        """
        rows, rls, cycle = self.rows, self._learner.rls, self._motion.state.cycle
        self.learn(self.noise())
        squared = rows.squared(rls)
        periods = len(squared) // cycle if cycle else 0
        whole = periods * cycle if periods >= PERIODS else len(squared)
        found = threshold(squared[-whole:])
        rls.settle(found, self._motion.memory)
        self._learner.deviation_factor[:] = self._deviation_factors()
        return found

    def started(self, threshold: Threshold, first: int, directions: str, weak: tuple[Reason, ...]) -> Started:
        """End the start; directions: those that are identifiable, in words; weak: values that are not to be trusted."""
        rows = self.rows
        text = f"from {len(rows) * self._motion.row:.1f} s of motion, {directions}"
        verdict = Started(threshold, first, text + (f"; but {joined(weak)}" if weak else ""), rows.span)
        rows.clear()
        return verdict

    def restart(self) -> None:
        """Forget everything."""
        self.rows.clear()
        self.anchor = np.zeros(self._learner.rls.p)
