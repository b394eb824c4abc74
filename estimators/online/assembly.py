"""Builds the parts of an estimator: for a model with nonlinear parameters, and for one without."""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final

from estimators.models.base import Model
from estimators.online.compiled import CompiledSoFar
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.model_fit import ModelFit
from estimators.online.judgement.motion import LOOK_BACK, MotionCount
from estimators.online.judgement.validity import Validity
from estimators.online.monitor import DESIGNS
from estimators.online.monitor.gradual import GradualChange
from estimators.online.monitor.plain import PlainMonitor
from estimators.online.monitor.recall import Recall
from estimators.online.normal_loop import NormalLoop
from estimators.online.parts import Nonlinear, Parts
from estimators.online.phases import Phases
from estimators.online.start.linear import LinearStart
from estimators.quantisation import quantisation_weights
from estimators.quantities import Axis, Floats, Parameter
from estimators.recursive.forgetting import Forgetting
from estimators.recursive.learner import Learner
from estimators.recursive.weights import timing_weights
from estimators.refit.settings import MonitorSettings
from estimators.rows import Rows
from estimators.window.row_history import RowHistory

#: periods, argued: Least motion periods of a start, so that its residual is that of whole periods.
LINEAR_PERIODS: Final = 2.0
#: periods, tuned: The same where the start ends with a search for η, for which a motion must be whole: Case 2 (decision
#: 006).
SEARCHED_PERIODS: Final = 1.5


def linear(
    parameters: Sequence[Parameter],
    owners: Sequence[int],
    row: float,
    forgetting: Forgetting,
    start: float,
    standstill: float,
    turns: bool = True,
    remembers: bool = False,
    sample: float = 0.0,
    overlap: float = 1.0,
    hidden: float = 0.0,
    compiled: CompiledSoFar | None = None,
) -> Phases:
    """Build the estimator of a model without nonlinear parameters.

    owners: the joint of each output; row: s between rows; start: s of motion; standstill: rad/s (m/s); turns: whether
    positions are angles; remembers: whether friction has a memory; sample: s between readings, 0: at an instant each;
    overlap: rows that say the same; hidden: factor of misfit/sampled_motion.py; compiled: which kernels there are, by
    default all.
    """
    compiled = compiled or CompiledSoFar()
    learner, log = Learner(len(parameters), len(owners), row, forgetting), EventLog()
    gate, validity, motion = (
        Gate(standstill, row, owners),
        Validity(parameters),
        MotionCount(row, start, LINEAR_PERIODS),
    )
    history = RowHistory(round(LOOK_BACK / row), whole=False)
    weights = learner.state

    def tempered(rows: Rows) -> Rows:
        return timing_weights.temper(
            quantisation_weights.temper(rows, weights.rounding, weights.usual_rounding, gate.owners),
            weights.timing,
            gate.owners,
        )

    loop = NormalLoop(learner, gate, history, motion, tempered, faster=True, keeps=True)
    fit = ModelFit(parameters, owners, row, gate, turns, remembers, True, sample, overlap, hidden=hidden)
    begin = LinearStart(
        tuple(parameters), learner, validity, motion, loop.block, gate, fit.weigh_rounding, tempered,
        fit.reduce_step_noise, overlap, compiled,
    )  # fmt: skip
    recall, gradual = Recall(learner, fit.state), GradualChange(learner)
    parts = (tuple(parameters), learner, gate, validity, motion, history, log, loop, begin, PlainMonitor(), fit)
    return Phases(Parts(*parts, recall=recall, gradual=gradual), compiled)


def rows_alike(taps: Floats, decimation: int) -> float:
    """Number of rows that contain the same information, where a kernel gives one row for `decimation` samples."""
    return max(1.0, 1.0 / (float(taps @ taps) * max(1.0, decimation)))


def searched(
    model: Model,
    taps: Floats,
    decimation: int,
    row: float,
    forgetting: Forgetting,
    start: float,
    standstill: float,
    monitor: MonitorSettings,
    executor: Executor | None = None,
) -> Phases:
    """Build the estimator of a model with nonlinear parameters.

    taps: of the kernel that smoothed the rows, of which one in `decimation` left; row: s between rows; executor: where
    refits run, by default inline.
    """
    from estimators.online.eta.in_force import EtaInForce  # and others: their kernels are heavy, see phases.py
    from estimators.online.eta.lookback import Lookback
    from estimators.online.eta.refits import EtaRefits
    from estimators.online.relearning import Relearning
    from estimators.online.start.searched import SearchedStart

    overlap = rows_alike(taps, decimation)
    learner, log = Learner(len(model.parameters), len(model.outputs), row, forgetting), EventLog()
    gate = Gate(standstill, row, model.owners)
    validity = Validity(model.parameters, next((spring.columns[1] for spring in model.springs), None))
    motion = MotionCount(row, start, SEARCHED_PERIODS, monitor.period)
    history, eta = RowHistory(round(LOOK_BACK / row)), EtaInForce(model, taps, overlap, monitor.accept)
    lookback = Lookback(learner, history, eta, validity, row)
    loop = NormalLoop(learner, gate, history, motion, eta.shaped, faster=True)
    refits = EtaRefits(learner, history, eta, log, row, monitor.refit, executor)
    begin = SearchedStart(model, learner, validity, motion, loop.block, history, eta, lookback, refits, log, monitor)
    checked = monitor.design != "paper"
    relearning = Relearning(
        model.parameters, learner, validity, motion, history, eta, lookback, refits, loop, log, checked
    )
    nonlinear = Nonlinear(eta, lookback, refits, relearning)
    watch, turns = DESIGNS[monitor.design](row, monitor), model.blocks[0].axis is Axis.ROTARY
    fit = ModelFit(model.parameters, model.owners, row, gate, turns)
    parts = Parts(model.parameters, learner, gate, validity, motion, history, log, loop, begin, watch, fit, nonlinear)
    return Phases(parts)
