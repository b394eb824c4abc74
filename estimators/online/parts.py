"""Parts of an estimator, and its state at the end of a block of rows."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from estimators.online.checkpoint import Part
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.model_fit import ModelFit
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import Validity
from estimators.online.monitor.base import Moment, Monitor
from estimators.online.monitor.gradual import GradualChange
from estimators.online.monitor.recall import Recall
from estimators.online.normal_loop import NormalLoop
from estimators.online.start.base import Start
from estimators.quantities import Parameter
from estimators.recursive.learner import Learner
from estimators.window.row_history import RowHistory

if TYPE_CHECKING:  # their kernels are heavy, and a model without η never needs them
    from estimators.online.eta.in_force import EtaInForce
    from estimators.online.eta.lookback import Lookback
    from estimators.online.eta.refits import EtaRefits
    from estimators.online.relearning import Relearning

#: deviations, argued: Deviations, of both together, by which a value that has not changed may have moved (decision 006,
#: point 10).
SAME: Final = 3.0
#: s, argued: Motion after an alarm from which a good prediction is trusted although fewer parameters are known than
#: before: as long as the values from before must explain it to be trusted again (recall.py).
TRUSTED: Final = 3.0


@dataclass(frozen=True, slots=True)
class Nonlinear:
    """Additional parts of a model with nonlinear parameters."""

    eta: "EtaInForce"
    lookback: "Lookback"
    refits: "EtaRefits"
    relearning: "Relearning"


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that the phases are composed of; each has a state of its own."""

    parameters: tuple[Parameter, ...]  # θ
    learner: Learner
    gate: Gate
    validity: Validity
    motion: MotionCount
    history: RowHistory
    log: EventLog
    loop: NormalLoop
    start: Start
    monitor: Monitor
    fit: ModelFit
    nonlinear: Nonlinear | None = None
    recall: Recall | None = None  # of a model without nonlinear parameters, as the next
    gradual: GradualChange | None = None
    names: tuple[str, ...] = field(init=False)  # of θ

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(one.name for one in self.parameters))

    def moment(self, wanted: NDArray[np.bool_]) -> Moment:
        """Describe the end of a block; wanted (parameters,): which values were sure when the last alarm came."""
        nonlinear, rls, motion = self.nonlinear, self.learner.rls, self.motion
        return Moment(
            row=motion.row,
            block=self.loop.block,
            now=self.history.total,
            span=motion.span,
            needed=motion.needed,
            capacity=self.history.capacity,
            searching=self.searching,
            suspicious=rls.state.cusum > 0.0,
            basis=0 if nonlinear is None else nonlinear.eta.state.basis,
            moved=motion.state.count,
            elapsed=rls.state.since * motion.row,
            variance=rls.recent_variance(),
            level=rls.variance(),
            error=0.0 if nonlinear is None else math.sqrt(rls.recent_variance() * nonlinear.eta.noise(rls.noise)),
            covered=self._covered(wanted),
            same=self._same,
        )

    def _covered(self, wanted: NDArray[np.bool_]) -> bool:
        """Whether earlier values are known again after an alarm, or a linear model has predicted well for long enough.

        A push of a second can be explained by a θ along directions of which the motion shows little: less time than
        TRUSTED does not distinguish it from a change.
        """
        if bool((self.validity.sure >= wanted).all()):
            return True
        moved = self.learner.rls.state.since * self.motion.row
        return self.nonlinear is None and self.validity.good and moved >= TRUSTED

    @property
    def _same(self) -> bool:
        (value, deviation), learner = self.loop.good, self.learner
        apart = np.abs(learner.rls.theta - value)
        before = np.maximum(deviation**2 - self.fit.state.answered, 0.0)  # a change that was seen is no uncertainty
        return bool((apart <= SAME * np.sqrt(before + learner.state.deviations**2)).all())

    @property
    def searching(self) -> bool:
        """Whether a refit is under way."""
        return self.nonlinear is not None and self.nonlinear.refits.pending is not None

    def keeping(self) -> dict[str, Part]:
        """Parts whose state outlives a restart of the program, by name."""
        found: dict[str, Part] = {
            "learner": self.learner,
            "unexcited": self.learner.unexcited,
            "gate": self.gate,
            "validity": self.validity,
            "motion": self.motion,
            "history": self.history,
            "log": self.log,
            "loop": self.loop,
            "monitor": self.monitor,
            "fit": self.fit,
        }
        if self.recall is not None:
            found["recall"] = self.recall
        if self.gradual is not None:
            found["gradual"] = self.gradual
        if self.nonlinear is not None:
            found |= {
                "eta": self.nonlinear.eta,
                "lookback": self.nonlinear.lookback,
                "refits": self.nonlinear.refits,
            }
        return found
