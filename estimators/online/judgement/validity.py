"""Validity: when a value may be trusted, why it may not, and when an estimator must start again."""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.estimator import LARGEST
from estimators.recursive.learner import Learner, Learnt, own_deviations
from estimators.thresholds import GOOD
from jointwatch_layout import Flags, Layout, Vector

#: 1, argued: Share of the torque's rms that may be uncertain: a value or a window that moves it by less is known well
#: enough.
SMALL: Final = 0.01
#: 1, argued: A valid value is lost at this many times either limit (hysteresis).
LOSE: Final = 2.0
#: deviations, argued: A value may be outside its plausible range by this much, since it is not known better.
RANGE_MARGIN: Final = 3.0
#: 1, argued: Times the value that alone would explain the torque; beyond it θ has run away.
RUNAWAY: Final = 1e4


class ValidityState(Layout, version=2):
    """State of a Validity."""

    values: Annotated[Vector, "parameters"]
    deviations: Annotated[Vector, "parameters"]  # of them, what is not known of η left out
    excess: Annotated[Vector, "parameters"]  # times the deviation that would be allowed
    low: Annotated[Vector, "parameters"]  # plausible range
    high: Annotated[Vector, "parameters"]
    valid: Annotated[Flags, "parameters"]
    peak: float = 0.0  # N·m through an elastic gear, the largest so far


class Validity:
    """Decides which parameters may be trusted, with hysteresis."""

    def __init__(self, parameters: Sequence[Parameter], cubic: int | None = None) -> None:
        """cubic: the column that grows with the cube of an elastic gear's torque, if any."""
        self._parameters = parameters
        self._cubic = cubic
        unknown = np.full(len(parameters), np.inf)
        self.kept = ValidityState(
            values=unknown.copy(),
            deviations=unknown.copy(),
            excess=unknown.copy(),
            low=np.array([one.low for one in parameters], np.float64),
            high=np.array([one.high for one in parameters], np.float64),
            valid=np.zeros(len(parameters), np.bool_),
        )

    def judge(self, learner: Learner) -> None:
        """Judge the present values and deviations of a learner."""
        learner.unexcited_variance[:] = learner.unexcited.variances(learner.rls.variance())
        _judge_learner(learner.kept, self.kept)

    def weigh(self, values: Floats, deviations: Floats, leverage: Floats, signal: float) -> None:
        """Judge other values and deviations (parameters,); leverage: rms of each column; signal: rms of y.

        A deviation is small against the value itself, or against what the torque would notice.
        """
        self.kept.values[:], self.kept.deviations[:] = values, deviations
        _judge(self.kept, leverage, signal)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which parameters may be trusted: (parameters,)."""
        return self.kept.valid

    @property
    def readiness(self) -> float:
        """How near the parameters are to valid on average, 0 … 1."""
        return float(np.mean(1.0 / np.maximum(self.kept.excess, 1.0)))

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the others may not be trusted."""
        return tuple(self._reason(which) for which in map(int, np.flatnonzero(~self.kept.valid)))

    def told(self, causes: Callable[[int, float], tuple[Reason, ...]]) -> tuple[Reason, ...]:
        """Reasons as in `reasons`, with causes other than a lack of motion.

        causes: what it is, of a parameter with this deviation; none where it is nothing else.
        """
        if False not in self.kept.valid.tolist():  # a tenth of what `all` costs
            return ()
        which = map(int, np.flatnonzero(~self.kept.valid))
        return tuple(one for i in which for one in self._caused(i, causes(i, float(self.kept.deviations[i]))))

    def _caused(self, which: int, causes: tuple[Reason, ...]) -> tuple[Reason, ...]:
        """Those of one parameter: each cause with its value, else that the motion does not show it."""
        if not causes or not plausible(self.kept, which):
            return (self._reason(which),)
        parameter, numbers = self._parameters[which], self._numbers(which)
        return tuple(
            Reason(one.code, parameter.name, {**one.numbers, **numbers}, {**one.words, "unit": parameter.unit})
            for one in causes
        )

    def _numbers(self, which: int) -> dict[str, float]:
        return {"value": float(self.kept.values[which]), "deviation": float(self.kept.deviations[which])}

    def _reason(self, which: int) -> Reason:
        """What the motion does not show of a parameter, or that its value cannot be."""
        parameter, kept, numbers = self._parameters[which], self.kept, self._numbers(which)
        name, peak, excess = parameter.name, kept.peak, float(kept.excess[which])
        if not plausible(kept, which):
            limits = {"value": numbers["value"], "low": parameter.low, "high": parameter.high}
            return Reason("implausible_value", name, limits, {"unit": parameter.unit})
        if not math.isfinite(numbers["deviation"]):
            return Reason("not_identifiable", name, {}, {"needs": parameter.needs})
        if which == self._cubic and peak > 0.0 and math.isfinite(excess):
            peaks = {"peak": peak, "wanted": peak * excess ** (1 / 3)}
            return Reason("torque_peaks_low", name, {**numbers, **peaks}, {"unit": parameter.unit})
        return Reason("uncertain", name, numbers, {"unit": parameter.unit, "needs": parameter.needs})


@inline
def plausible(judged: ValidityState, which: int) -> bool:
    """Whether a value is within its range, give or take three deviations."""
    value, margin = judged.values[which], RANGE_MARGIN * judged.deviations[which]
    return bool(judged.low[which] - margin <= value and value <= judged.high[which] + margin)


@inline
def judge(judged: ValidityState, leverage: Floats, signal: float) -> None:
    """Write by how much each deviation is too large, and which values are valid."""
    for i in range(len(judged.valid)):
        deviation, size = judged.deviations[i], GOOD * abs(judged.values[i])
        excess = np.inf
        if np.isfinite(deviation):
            if size > 0.0:
                excess = deviation / size
            if signal > 0.0:
                excess = min(excess, deviation * leverage[i] / (SMALL * signal))
            if np.isnan(size):
                excess = np.inf
        judged.excess[i] = excess
        judged.valid[i] = plausible(judged, i) and excess <= (LOSE if judged.valid[i] else 1.0)


@kernel((ValidityState, "f8[::1]", "f8"))
def _judge(judged: ValidityState, leverage: Floats, signal: float) -> None:
    judge(judged, leverage, signal)


@inline
def judge_learner(learnt: Learnt, judged: ValidityState) -> None:
    """Judge the values of a Learner, and write its deviations as they are published."""
    own_deviations(learnt, judged.deviations)
    for i in range(len(judged.valid)):
        judged.values[i] = learnt.state.theta[i]
        learnt.deviations[i] = judged.deviations[i]
        if learnt.searched[i] > 0.0:
            learnt.deviations[i] = np.sqrt(learnt.deviations[i] ** 2 + learnt.searched[i])
    judge(judged, learnt.leverage, learnt.signal)


@kernel((Learnt, ValidityState))
def _judge_learner(learnt: Learnt, judged: ValidityState) -> None:
    judge_learner(learnt, judged)


@inline
def healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    """Whether sick() finds nothing."""
    for i in range(len(theta)):
        if not (np.isfinite(theta[i]) and np.isfinite(d[i]) and d[i] > 0.0):
            return False
        if signal > 0.0 and abs(theta[i]) > RUNAWAY * signal * np.sqrt(bound[i] / LARGEST):
            return False
    return True


@kernel("b1(f8[::1], f8[::1], f8[::1], f8)")
def _healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    return healthy(theta, d, bound, signal)


def sick(learner: Learner) -> str:
    """Why a learner must start again, or "" when it need not.

    A value is runaway when it is beyond 10⁴ times what explains y with the column at its typical size.
    """
    theta, d = learner.rls.theta, learner.rls.d
    if _healthy(theta, d, learner.rls.bound, learner.kept.signal):
        return ""
    if not (np.isfinite(theta).all() and np.isfinite(d).all()):
        return "a parameter is not finite"
    if not (d > 0).all():
        return "the covariance is no longer positive"
    return "a parameter ran away"
