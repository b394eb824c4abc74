"""Validity: when a prediction may be trusted, which parameters are known, and when an estimator must start again.

With Σ the covariance of θ, R the mean φφᵀ and s the rms torque of the motion that is remembered:

    the prediction is good      √tr(RΣ) ≤ SMALL · s, lost at LOSE times that, every value is within its range, and the
                                torque is what moves the joint (moves)
    a parameter is known        √Σ*_ii ≤ ℓ_i = max(GOOD·|θ_i|, SMALL · s / leverage_i), lost at LOSE times that
    … is not identifiable       1/√(Σ⁻¹)_ii ≤ ℓ_i: it would be known if some others were (parameter_state.py)

Σ* = Σ + what torques of the angle that the model lacks may have done to θ (misfit/unmodelled_torque.py). They are
included for parameters, but not for the prediction of the remembered motion, which they make right. σ holds Σ and the
part of these torques that is seen, up to the limit of a known parameter, and all of Σ*_ii from LOSE times that limit
on; in between a share of the rest, so that σ does not jump where the state does. σ of one that is not identifiable is
infinite where √Σ*_ii is more than all of the torque would explain. The reasons are in
docs/decisions/026-validity-by-direction.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Knowledge, ParameterState
from estimators.numerics.jit import inline, kernel
from estimators.online.judgement.parameter_state import (
    DOUBTFUL,
    KNOWN,
    NOT_IDENTIFIABLE,
    UNMODELLED_TORQUE,
    conditional,
    partners,
)
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.estimator import LARGEST
from estimators.recursive.learner import Learner, Learnt, covariance_of
from estimators.thresholds import GOOD
from jointwatch_numba.layout import Flags, Integers, Layout, Matrix, Scratch, Vector

#: 1, argued: Share of the torque's rms that may be uncertain: a value, or a window, that changes it by less is good.
SMALL: Final = 0.01
#: 1, argued: A valid value is lost at this many times either limit (hysteresis).
LOSE: Final = 2.0
#: deviations, argued: A value may be outside its plausible range by so much of its own uncertainty.
RANGE_MARGIN: Final = 3.0
#: parameters, argued: Known ones that must all be zero where a torque moves nothing: a single one may be that small.
NEITHER: Final = 2
#: 1, argued: Times the value that alone would explain the torque; beyond it θ has diverged.
RUNAWAY: Final = 1e4


class ValidityState(Layout, version=4):
    """State of a Validity."""

    values: Annotated[Vector, "parameters"]
    deviations: Annotated[Vector, "parameters"]  # of them as reported, what is not known of η left out
    excess: Annotated[Vector, "parameters"]  # √Σ*_ii over the deviation that would be allowed
    low: Annotated[Vector, "parameters"]  # plausible range
    high: Annotated[Vector, "parameters"]
    valid: Annotated[Flags, "parameters"]  # which are known, and within their range
    sure: Annotated[Flags, "parameters"]  # which would be if there were no torque of the angle that the model lacks
    states: Annotated[Integers, "parameters"]  # of parameter_state.py
    partners: Annotated[Integers, "parameters"]  # from which others one is not identifiable, as bits
    covariance: Scratch[Annotated[Matrix, "parameters", "parameters"]]  # Σ
    whole: Annotated[Matrix, "parameters", "parameters"]  # Σ*
    variances: Scratch[Annotated[Vector, "parameters"]]  # of known parameters
    prediction: float = np.inf  # deviation of the prediction, over the rms of the torque
    good: bool = False  # whether the prediction may be trusted
    changes: int = 0  # of states and partners so far
    renew: bool = True  # whether partners are to be found anew
    peak: float = 0.0  # N·m through an elastic gear, the largest so far


class Validity:
    """Decides with hysteresis whether the prediction may be trusted, and which parameters are known."""

    def __init__(self, parameters: Sequence[Parameter], cubic: int | None = None) -> None:
        """cubic: the column that grows with the cube of an elastic gear's torque, if any."""
        self._parameters = parameters
        self._cubic = cubic
        self._states: tuple[int, tuple[ParameterState, ...]] = (-1, ())  # states, and after how many changes
        unknown = np.full(len(parameters), np.inf)
        self.state = ValidityState.zeros(
            parameters=len(parameters),
            states=np.full(len(parameters), DOUBTFUL),
            values=unknown.copy(),
            deviations=unknown.copy(),
            excess=unknown.copy(),
            low=np.array([one.low for one in parameters], np.float64),
            high=np.array([one.high for one in parameters], np.float64),
        )

    def judge(self, learner: Learner) -> None:
        """Judge the present values and deviations of a learner."""
        learner.state.unexcited[:] = learner.unexcited.covariance(learner.rls.variance())
        _judge_learner(learner.state, self.state)

    def weigh(self, values: Floats, deviations: Floats, leverage: Floats, signal: float) -> None:
        """Judge other values and deviations (parameters,), each by itself: the prediction is good when all are known.

        leverage: rms of each column; signal: rms of y. A deviation is small against the value itself, or against what
        the torque would notice.
        """
        state = self.state
        state.values[:], state.variances[:] = values, deviations**2
        state.covariance[:] = state.whole[:] = np.diag(deviations**2)
        _judge(state, leverage, signal)

    @property
    def sure(self) -> NDArray[np.bool_]:
        """Which parameters would be known if there were no torque of the angle that the model lacks: (parameters,)."""
        return self.state.sure

    @property
    def good(self) -> bool:
        """Whether the prediction may be trusted."""
        return self.state.good

    @property
    def readiness(self) -> float:
        """How close the parameters are to being known on average, 0 … 1."""
        return float(np.mean(1.0 / np.maximum(self.state.excess, 1.0)))

    @property
    def states(self) -> tuple[ParameterState, ...]:
        """State of each parameter."""
        state = self.state
        if self._states[0] != state.changes:
            codes, bits = state.states.tolist(), state.partners.tolist()
            self._states = state.changes, tuple(map(self._state, codes, bits))
        return self._states[1]

    def _state(self, code: int, bits: int) -> ParameterState:
        if code == KNOWN:
            return ParameterState(Knowledge.KNOWN)
        if code == DOUBTFUL:
            return ParameterState(Knowledge.DOUBTFUL)
        others = tuple(one.name for j, one in enumerate(self._parameters) if bits >> j & 1)
        return ParameterState(Knowledge.NOT_IDENTIFIABLE, others, code == UNMODELLED_TORQUE)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the prediction may not be trusted."""
        if self.state.good:
            return ()
        return tuple(self._reason(which) for which in self._doubted()) or (self._uncertain(),)

    @property
    def missing(self) -> tuple[Reason, ...]:
        """A reason for each parameter that is not known, or whose value is not possible."""
        return tuple(map(self._reason, self._unknown()))

    def reasons_with_causes(
        self,
        causes: Callable[[int, float], tuple[Reason, ...]],
        of_all: Callable[[], tuple[Reason, ...]],
        starting: bool = False,
    ) -> tuple[Reason, ...]:
        """Reasons as in `reasons`, with causes other than a lack of motion.

        causes: those of a parameter with this deviation; of_all: those of the whole prediction; empty where only motion
        is lacking; starting: whether to report each parameter that is not known, while a person can still choose the
        motion.
        """
        if self.state.good and not starting:
            return ()
        which = self._unknown() if starting else self._doubted()
        if not which:
            if self.state.good:
                return ()
            return (self._uncertain(),) if not moves(self.state) else of_all() or (self._uncertain(),)
        return tuple(one for i in which for one in self._caused(i, causes(i, float(self.state.deviations[i]))))

    def _unknown(self) -> list[int]:
        """Parameters that are not known, or outside their range."""
        return [int(i) for i in np.flatnonzero(~self.state.valid)]

    def _doubted(self) -> list[int]:
        """Parameters that are doubtful, not identifiable whatever the others are, or outside their range."""
        state = self.state
        judged = zip(state.states.tolist(), state.partners.tolist(), strict=True)
        alone = [code == DOUBTFUL or (code == NOT_IDENTIFIABLE and not bits) for code, bits in judged]
        return [i for i, weak in enumerate(alone) if weak or not plausible(state, i)]

    def _uncertain(self) -> Reason:
        """The reason where θ as a whole is not certain enough, or does not explain this torque."""
        if not moves(self.state):
            return Reason("torque_moves_nothing")
        return Reason("prediction_uncertain", None, {"percent": 100.0 * float(self.state.prediction)})

    def _caused(self, which: int, causes: tuple[Reason, ...]) -> tuple[Reason, ...]:
        """The reasons of one parameter: each cause with its value, otherwise that the motion does not show it."""
        if not causes or not plausible(self.state, which):
            return (self._reason(which),)
        parameter, numbers = self._parameters[which], self._numbers(which)
        return tuple(
            Reason(one.code, parameter.name, {**one.numbers, **numbers}, {**one.words, "unit": parameter.unit})
            for one in causes
        )

    def _numbers(self, which: int) -> dict[str, float]:
        deviation = float(np.sqrt(max(self.state.whole[which, which], 0.0)))
        return {"value": float(self.state.values[which]), "deviation": deviation}

    def _reason(self, which: int) -> Reason:
        """The reason why a parameter is not known, or that its value is not possible."""
        parameter, state, numbers = self._parameters[which], self.state, self._numbers(which)
        name, peak, excess = parameter.name, state.peak, float(state.excess[which])
        if not plausible(state, which):
            limits = {"value": numbers["value"], "low": parameter.low, "high": parameter.high}
            return Reason("implausible_value", name, limits, {"unit": parameter.unit})
        if not math.isfinite(numbers["deviation"]):
            return Reason("not_identifiable", name, {}, {"needs": parameter.needs})
        if which == self._cubic and peak > 0.0 and math.isfinite(excess):
            peaks = {"peak": peak, "wanted": peak * excess ** (1 / 3)}
            return Reason("torque_peaks_low", name, {**numbers, **peaks}, {"unit": parameter.unit})
        return Reason("uncertain", name, numbers, {"unit": parameter.unit, "needs": parameter.needs})


@kernel((ValidityState, "i8"))
def plausible(judged: ValidityState, which: int) -> bool:
    """Whether a value is within its range by three deviations."""
    value, margin = judged.values[which], RANGE_MARGIN * judged.deviations[which]
    return bool(judged.low[which] - margin <= value and value <= judged.high[which] + margin)


@kernel((ValidityState,))
def moves(judged: ValidityState) -> bool:
    """Whether the torque may be what moves the joint: then inertia or friction is in it.

    These are the parameters that cannot be negative. Where two of them are known, and no known one is above zero by
    three deviations, the torque only carries the joint while something else moves it, as where it is led by hand.
    """
    nothing = 0
    for i in range(len(judged.valid)):
        if judged.low[i] == 0.0 and judged.valid[i]:
            if judged.values[i] > RANGE_MARGIN * judged.deviations[i]:
                return True
            nothing += 1
    return nothing < NEITHER


@inline
def _reported_deviation(judged: ValidityState, which: int) -> float:
    """Reported σ: with only the seen part up to the limit of a known parameter, √Σ*_ii from LOSE times that limit on.

    In between it changes with Σ*, so it does not jump where the state does.
    """
    seen, whole, excess = judged.variances[which], judged.whole[which, which], judged.excess[which]
    if not (np.isfinite(excess) and np.isfinite(whole) and np.isfinite(seen)):
        return float(np.sqrt(max(whole, 0.0)))
    beyond = whole - seen
    share = min(max((excess * excess - 1.0) / (LOSE * LOSE - 1.0), 0.0), 1.0)
    return float(np.sqrt(max(seen + share * max(beyond, 0.0), 0.0)))


@inline
def _judge_parameter(judged: ValidityState, which: int, alone: float, leverage: float, signal: float) -> None:
    """Write excess, state and deviation of a parameter; alone: its deviation if all others were known."""
    limit, deviation, before = (
        GOOD * abs(judged.values[which]),
        np.sqrt(max(judged.whole[which, which], 0.0)),
        judged.states[which],
    )
    prior = np.inf
    if signal > 0.0 and leverage > 0.0:
        limit, prior = max(limit, SMALL * signal / leverage), signal / leverage
    judged.excess[which] = deviation / limit if limit > 0.0 and np.isfinite(deviation) else np.inf
    own = judged.covariance[which, which]
    judged.sure[which] = own <= (limit * (LOSE if judged.sure[which] else 1.0)) ** 2
    code, bits = DOUBTFUL, 0
    if judged.excess[which] <= (LOSE if before == KNOWN else 1.0):
        code = KNOWN
    elif own <= (limit * (LOSE if before == UNMODELLED_TORQUE else 1.0)) ** 2:
        code = UNMODELLED_TORQUE
    elif alone <= limit * (LOSE if before == NOT_IDENTIFIABLE else 1.0) or alone > prior:
        code = NOT_IDENTIFIABLE
    if code == NOT_IDENTIFIABLE and alone <= prior:
        anew = judged.renew or before != code
        bits = partners(judged.covariance, which, limit) if anew else judged.partners[which]
    if code != before or bits != judged.partners[which]:
        judged.changes += 1
    judged.states[which], judged.partners[which] = code, bits
    judged.deviations[which] = _reported_deviation(judged, which)
    if code != KNOWN and code != DOUBTFUL and deviation > prior:
        judged.deviations[which] = np.inf


@inline
def judge(judged: ValidityState, leverage: Floats, signal: float) -> None:
    """Write the state and the deviation of each parameter from Σ, Σ* and the variances."""
    p = len(judged.valid)
    alone, usable = np.empty(p), True
    for i in range(p):
        alone[i] = np.sqrt(max(judged.covariance[i, i], 0.0))
        usable = usable and np.isfinite(alone[i]) and alone[i] > 0.0
    if usable:
        conditional(judged.covariance, alone)
    for i in range(p):
        _judge_parameter(judged, i, alone[i], leverage[i], signal)
        judged.valid[i] = judged.states[i] == KNOWN and plausible(judged, i)
        judged.sure[i] = judged.sure[i] and plausible(judged, i)
    judged.renew = False


@kernel((ValidityState, "f8[::1]", "f8"))
def _judge(judged: ValidityState, leverage: Floats, signal: float) -> None:
    judge(judged, leverage, signal)
    judged.prediction, judged.good = 0.0, True
    for i in range(len(judged.valid)):
        judged.good = judged.good and judged.valid[i]


@inline
def judge_learner(learnt: Learnt, judged: ValidityState) -> None:
    """Judge the values of a Learner, and write its deviations as they are published."""
    covariance_of(learnt, judged.covariance)
    p, square = len(judged.valid), 0.0
    for i in range(p):
        judged.values[i] = learnt.state.theta[i]
        judged.variances[i] = judged.covariance[i, i] + learnt.seen[i, i]
        for k in range(p):
            judged.whole[i, k] = judged.covariance[i, k] + learnt.unmodelled[i, k]
            square += learnt.gram[i, k] * judged.covariance[i, k]
    judge(judged, learnt.leverage, learnt.signal)
    within, known = True, True
    for i in range(p):
        learnt.deviations[i] = np.sqrt(judged.deviations[i] ** 2 + learnt.searched[i])
        within, known = within and plausible(judged, i), known and judged.valid[i]
    if learnt.power > 0.0:
        judged.prediction = np.sqrt(max(square, 0.0) / learnt.power)
        judged.good = within and moves(judged) and judged.prediction <= SMALL * (LOSE if judged.good else 1.0)
    else:  # there was no torque to compare with
        judged.prediction, judged.good = 0.0, known


@kernel((Learnt, ValidityState))
def _judge_learner(learnt: Learnt, judged: ValidityState) -> None:
    judge_learner(learnt, judged)


@inline
def healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    """Whether reason_to_restart() finds nothing."""
    for i in range(len(theta)):
        if not (np.isfinite(theta[i]) and np.isfinite(d[i]) and d[i] > 0.0):
            return False
        if signal > 0.0 and abs(theta[i]) > RUNAWAY * signal * np.sqrt(bound[i] / LARGEST):
            return False
    return True


@kernel("b1(f8[::1], f8[::1], f8[::1], f8)")
def _healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    return healthy(theta, d, bound, signal)


def reason_to_restart(learner: Learner) -> str:
    """Why a learner must start again, or "" when it need not.

    A value has diverged when it is beyond 10⁴ times the one that explains y with the column at its typical size.
    """
    theta, d = learner.rls.theta, learner.rls.d
    if _healthy(theta, d, learner.rls.bound, learner.state.signal):
        return ""
    if not (np.isfinite(theta).all() and np.isfinite(d).all()):
        return "a parameter is not finite"
    if not (d > 0).all():
        return "the covariance is no longer positive"
    return "a parameter ran away"
