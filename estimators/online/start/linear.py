"""The start of a model without nonlinear parameters: it ends when its prediction is certain enough, or patience ends.

It does not wait for parameters that this motion does not separate: their σ shows that, and predictions are right
without them.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from estimators.base import UNKNOWN, Spectrum
from estimators.online.compiled import CompiledSoFar
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import SMALL, Validity
from estimators.online.start.base import StartWait, Verdict
from estimators.online.start.gathering import Gathering
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.cusum import calibrate, least_of
from estimators.recursive.learner import Learner
from estimators.refit.outcome import EndedRefit
from estimators.rows import Rows
from estimators.window.spectrum import spectrum

#: 1, argued: Share of the start's length that must be motion: a joint that moves from place to place shows as many
#: moves in that time as others show periods, although it rests in between.
IN_MOTION: Final = 0.5
#: 1, argued: Factor by which motion must grow before the deviation of a prediction is computed again: it falls with the
#: root of the motion, by 1.5 %, and is itself known to about 10 % (decision 065).
GROWN: Final = 1.03

#: s, argued: Between instants of a change that are tried: as long as rows in which one is sought after a start.
APART: Final = 2.0


class LinearStart:
    """Learns with λ = 1 from a wide prior, over enough motion."""

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        learner: Learner,
        validity: Validity,
        motion: MotionCount,
        block: int,
        gate: Gate,
        roughen: Callable[[Learner, int], None],
        weighed: Callable[[Rows], Rows],
        lighten: Callable[[Floats], None],
        overlap: float,
        compiled: CompiledSoFar,
    ) -> None:
        """block: rows between verdicts; roughen … lighten: as of Gathering.weigh; overlap: rows that say the same;
        compiled: which kernels there are."""
        self.gathering = Gathering(learner, validity, motion, gate)
        self.spectrum: Spectrum = UNKNOWN
        self.unsure: tuple[Reason, ...] = ()
        self._try = 0.0  # rows of motion before which certainty is not computed
        self._names = tuple(parameter.name for parameter in parameters)
        self._learner, self._validity, self._motion, self._block = learner, validity, motion, block
        self._roughen, self._weighed, self._lighten, self._overlap = roughen, weighed, lighten, overlap
        self._owners, self._compiled = gate.owners, compiled
        self._held = False  # whether it would have ended if all kernels were compiled

    def absorb(self, rows: Rows) -> int:
        """Take rows that taught; returns how many had no finite output."""
        return 0 if self._held else self.gathering.absorb(rows)

    def begin(self) -> bool:
        """Learn the scale of columns and outputs; returns whether enough rows are finite."""
        self._try, self._held = 0.0, False
        if not self.gathering.begin():
            return False
        self._look(self.gathering.noise())
        self._validity.judge(self._learner)
        return True

    def verdict(self, resting: bool) -> Verdict:
        """Decide at the end of a block what follows."""
        gathering, motion = self.gathering, self._motion
        self._held = self._held and not self._compiled.ending
        if self._held:  # it ends with the rows that were enough
            return StartWait()
        if gathering.due(self._block, resting):
            self._look(gathering.noise())
            gathering.check()
        over = self._is_ready() or motion.seconds >= motion.patience
        self._held = over and not self._compiled.ending
        if not over or self._held:
            return StartWait()
        gathering.solve()
        gathering.weigh(self._roughen, self._weighed, self._lighten, self._owners)
        threshold = gathering.calibrate(partial(calibrate, least=least_of(self._overlap), overlap=self._overlap))
        self._look(self._learner.rls.noise)
        self._validity.judge(self._learner)
        return gathering.started(threshold, 0, str(self.spectrum), self._validity.missing)

    def _is_ready(self) -> bool:
        """Whether there was enough motion for a prediction that is certain."""
        motion, length = self._motion, self._motion.length
        enough = motion.state.count >= max(IN_MOTION * length, motion.state.cycle, self._try)
        enough = enough and self.gathering.elapsed >= length * motion.row and self.gathering.shown
        if enough and self.gathering.prediction <= SMALL and self._is_constant():
            return True
        if enough:
            self._try = GROWN * motion.state.count
        return False

    def _is_constant(self) -> bool:
        """Whether rows before and after any instant have the values of all: of two truths a mean is no prediction, and
        what it leaves would be taken for what is usual from then on."""
        length = round(APART / self._motion.row)
        constant = self.gathering.rows.change(self.gathering.noise(), length, self._overlap) <= SMALL
        self.unsure = () if constant else (Reason("residual_not_noise"),)
        return constant

    def found(self, _found: EndedRefit) -> Verdict:
        """Wait: this start searches nothing."""
        return StartWait()

    def restart(self) -> None:
        """Forget everything."""
        self.gathering.restart()
        self.unsure = ()
        self.spectrum = UNKNOWN

    def _look(self, noise: Floats) -> None:
        """Find the identifiable directions of the window; noise: (outputs,) variances."""
        self.spectrum = spectrum(self.gathering.rows.products(noise), self._names)
