"""Makes the report of an estimate, by the phase it is in."""

from functools import partial
from typing import Final, NamedTuple

import numpy as np

from estimators.base import Estimate, Knowledge, ParameterState, Phase, Spectrum, Status, Uncertainty
from estimators.numerics.jit import inline, kernel
from estimators.online.judgement.gate import GateState
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import Validity, ValidityState, healthy, reason_to_restart
from estimators.online.normal_loop import LoopState
from estimators.online.parts import Parts
from estimators.reasons import Reason
from estimators.recursive.forgetting import is_suspicious
from estimators.recursive.learner import Learnt
from jointwatch_numba.layout import Layout, Vector

IDLE = (Phase.WAITING, Phase.FAULTED)
WAITING: Final = Reason("waiting_for_motion")
ALARM: Final = Reason("alarm_stands")
UNEXPLAINED: Final = Reason("unexplained_lately")
RESTARTING: Final = Reason("restarting")
CERTAIN: Final = ParameterState(Knowledge.KNOWN)
UNCERTAIN: Final = ParameterState(Knowledge.DOUBTFUL)
FIGURES: Final = 3  # reported in addition to values and deviations, those of η included


class ReportState(Layout):
    """State that the figures of an estimate are computed from, and the figures themselves."""

    learnt: Learnt
    loop: LoopState
    gate: GateState
    judged: ValidityState
    reported: Vector  # values, deviations, error, λ, what was measured, and the row of it; η after either of the first


class Verdict(NamedTuple):
    """How far a consumer may use the values."""

    phase: Phase
    status: Status
    reasons: tuple[Reason, ...]


class EstimateReport:
    """Reports the estimates of one estimator."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._names, self._fit = parts, parts.names, parts.fit.state
        self._count, self._time = len(parts.names), parts.log.state
        self._reported = np.empty(2 * self._count + FIGURES + self._count)
        if parts.nonlinear is not None:
            self._names += tuple(one.name for one in parts.nonlinear.eta.block.nonlinear)
            self._reported = np.full(len(self._reported) + 2 * len(parts.nonlinear.eta.state.eta), np.nan)
        end = 2 * len(self._names) + FIGURES  # views: figures are asked for fifty times a second
        self._values, self._figures, self._row = (
            self._reported[: self._count],
            self._reported[:end],
            self._reported[end:],
        )
        self._unsure = False  # whether there is a reason other than its deviation to doubt η
        self._judged: tuple[bytes, tuple[Reason, ...]] = (b"", ())  # values that were judged, and reasons against them
        self.state = ReportState(
            learnt=parts.learner.state,
            loop=parts.loop.state,
            gate=parts.gate.state,
            judged=parts.validity.state,
            reported=self._reported,
        )

    @property
    def time(self) -> int:
        """ns, of the last row."""
        return self._time.time

    @property
    def doubted(self) -> bool:
        """Whether there is a reason other than deviations not to trust the values, as of the last `put_in_force`."""
        return self._unsure or self._fit.spoiled or self._fit.varies > 0

    def put_in_force(self, phase: Phase) -> None:
        """Write the figures of η, which are valid until the next decision."""
        self._judged = b"", ()
        if self._parts.nonlinear is None:
            return
        eta, count, all_of_them = self._parts.nonlinear.eta, self._count, len(self._names)
        self._reported[count:all_of_them] = np.nan if phase in IDLE else eta.state.eta
        self._reported[all_of_them + count : 2 * all_of_them] = eta.deviations
        self._unsure = bool(self._parts.nonlinear.lookback.wrong or eta.reasons)

    def numbers(self) -> tuple[list[float], float, float]:
        """Return the last `figures`: values, deviations, error and λ in one list; measured torque; predicted torque."""
        predicted = self._row.dot(self._values).item()
        numbers = self._figures.tolist()
        return numbers, numbers.pop(), predicted

    def estimate(self, phase: Phase, spectrum: Spectrum, certain_resting: tuple[bool, bool] | None = None) -> Estimate:
        """Report the present estimate.

        phase: of the state machine; spectrum: of the rows that were last learnt from; certain_resting:
        whether all values are certain and whether the joint rests, if `figures` was just called.
        """
        parts, names, count = self._parts, self._names, len(self._names)
        if certain_resting is None:
            self.put_in_force(phase)
            certain_resting = _figures(phase in IDLE, phase is Phase.TRANSIENT, self.state), parts.gate.resting
        certain, resting = certain_resting
        reported = self._reported.copy()
        values, deviations = reported[:count], reported[count : 2 * count]
        reasons: tuple[Reason, ...] = ()
        if phase is Phase.STARTING:
            reasons = _reasons(parts, starting=True)
        elif phase is Phase.NORMAL and (not certain or self.doubted):
            reasons = self.reasons()
            if reasons[:1] != (RESTARTING,) and parts.loop.alarm():  # its review follows at the end of the block
                phase, (values[: self._count], deviations[: self._count]) = Phase.TRANSIENT, parts.loop.good
        predicted = reported[2 * count + FIGURES :].dot(values[: self._count]).item()
        error, forgetting, measured = reported[2 * count : 2 * count + FIGURES].tolist()
        now, status, reasons = verdict(phase, resting, reasons)
        if phase is Phase.STARTING:
            reasons += parts.start.unsure
        done = progress(phase, parts.motion, parts.validity)
        return Estimate(
            self._time.time, now, status, reasons, names, values, deviations, error, forgetting, measured, predicted,
            done, spectrum, self.states(phase), self.uncertainty(phase),
        )  # fmt: skip

    def reasons(self) -> tuple[Reason, ...]:
        """Why the values of normal mode may not be used, other than an alarm.

        Uncertain values and their causes are found once for each judgement, ten times a second.
        """
        values, learner = self.state.judged.values.tobytes(), self._parts.learner
        if values != self._judged[0]:
            self._judged = values, _reasons(self._parts, starting=False)
        if reason_to_restart(learner):
            return RESTARTING, *self._judged[1]
        if is_suspicious(learner.rls.state) and not self._parts.loop.alarm():
            return UNEXPLAINED, *self._judged[1]
        return self._judged[1]

    def would_repeat(self, reasons: tuple[Reason, ...]) -> bool:
        """Whether these are the reasons of the last judgement, which holds until the next one or the next decision."""
        return reasons is self._judged[1] and self.state.judged.values.tobytes() == self._judged[0]

    def states(self, phase: Phase) -> tuple[ParameterState, ...]:
        """State of each value in a phase; none is known before a start."""
        if phase in IDLE:
            return ()
        if phase is Phase.TRANSIENT:  # any of them may have changed
            return (UNCERTAIN,) * len(self._names)
        return self._parts.validity.states + self._eta_states

    def uncertainty(self, phase: Phase) -> Uncertainty | None:
        """How certain the values are by direction; None where values from before an alarm are reported, or η is."""
        learnt, judged = self.state.learnt, self.state.judged
        if phase is not Phase.NORMAL or self._parts.nonlinear is not None or not learnt.power > 0.0:
            return None
        return Uncertainty(judged.covariance + learnt.seen, learnt.gram / learnt.power)

    @property
    def _eta_states(self) -> tuple[ParameterState, ...]:
        """State of each nonlinear parameter."""
        if self._parts.nonlinear is None:
            return ()
        doubted = {one.parameter for one in self._parts.nonlinear.eta.reasons}
        return tuple(UNCERTAIN if name in doubted else CERTAIN for name in self._names[self._count :])


def _reasons(parts: Parts, starting: bool) -> tuple[Reason, ...]:
    """Why the prediction may not be trusted; of a start, what it does not know yet."""
    fit, learner = parts.fit, parts.learner
    of_all = partial(fit.cause_of_all, learner)
    weak = parts.validity.reasons_with_causes(fit.cause_of(learner), of_all, starting)
    if parts.nonlinear is None:
        return (*parts.fit.reasons, *weak)
    return (*parts.nonlinear.lookback.wrong, *parts.nonlinear.eta.reasons, *parts.fit.reasons, *weak)


@inline
def is_sound(state: ReportState) -> bool:
    """Whether the last judgement is all there is to say about the values: no alarm, and a healthy learner."""
    learnt, recursive = state.learnt, state.learnt.state
    if recursive.alarms != state.loop.alarms or is_suspicious(recursive):
        return False
    return bool(healthy(recursive.theta, recursive.d, recursive.bound, learnt.signal))


@inline
def figures(idle: bool, alarmed: bool, state: ReportState) -> bool:
    """Write the figures of an estimate into `reported`; returns whether its prediction may be trusted.

    None is while an alarm waits for its review or may be on its way, or the learner is not healthy: reviews follow at
    ends of blocks only.

    idle: whether nothing is known yet; alarmed: whether an alarm stands, so that the values from before it are
    reported.
    """
    reported, learnt, loop = state.reported, state.learnt, state.loop
    recursive, deviations = learnt.state, learnt.deviations
    count = len(deviations)
    certain = state.judged.good and is_sound(state)
    first = (len(reported) - FIGURES - count) // 2  # of the deviations: η, if there is one, stands after each
    for i in range(count):
        reported[i], reported[first + i] = recursive.theta[i], deviations[i]
        if idle:
            reported[i] = reported[first + i] = np.nan
        elif alarmed:
            reported[i], reported[first + i] = loop.good_values[i], loop.good_deviations[i]
    signal, last = recursive.signal, 2 * first
    reported[last] = np.sqrt(recursive.error / signal) if signal > 0.0 else np.nan
    reported[last + 1], reported[last + 2] = recursive.forgetting, loop.y[0]
    for i in range(count):
        reported[last + FIGURES + i] = loop.phi[0, i]
    return bool(certain)


@kernel(("b1", "b1", ReportState))
def _figures(idle: bool, alarmed: bool, state: ReportState) -> bool:
    return figures(idle, alarmed, state)


def verdict(phase: Phase, resting: bool, reasons: tuple[Reason, ...]) -> Verdict:
    """Verdict by the phase of the state machine; reasons: why parameters may not be trusted."""
    if phase is Phase.WAITING:
        return Verdict(Phase.WAITING, Status.UNESTIMATED, (WAITING,))
    if phase is Phase.FAULTED:
        return Verdict(Phase.FAULTED, Status.FAULTED, (RESTARTING, WAITING))
    rest = (Reason("at_standstill"),) if resting else ()
    if phase is Phase.STARTING:
        return Verdict(Phase.STARTING, Status.LEARNING, (*rest, *reasons))
    if phase is Phase.TRANSIENT:
        return Verdict(Phase.TRANSIENT, Status.LEARNING, (ALARM, *rest))
    if reasons:
        return Verdict(Phase.HELD if rest else Phase.NORMAL, Status.LEARNING, (*rest, *reasons))
    return Verdict(Phase.HELD, Status.HELD, rest) if rest else Verdict(Phase.NORMAL, Status.VALID, ())


def progress(phase: Phase, motion: MotionCount, validity: Validity) -> float:
    """Progress of the start, per cent."""
    if phase in IDLE:
        return 0.0
    if phase is not Phase.STARTING:
        return 100.0
    share = min(motion.state.count / motion.needed, validity.readiness)
    return float(100.0 * min(1.0, max(share, motion.seconds / motion.patience)))
