"""What is told of an estimate, by the phase it is in."""

from typing import Final, NamedTuple

import numpy as np

from estimators.base import Estimate, Phase, Spectrum, Status
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, flags, matrix, vector
from estimators.online.gate import at_rest
from estimators.online.motion import Motion
from estimators.online.parts import Parts
from estimators.online.validity import Validity
from estimators.recursive import state as at

IDLE = (Phase.WAITING, Phase.FAULTED)
WEIGHED = (Phase.STARTING, Phase.NORMAL)  # phases in which it matters why a value may not be trusted
FIGURES: Final = 3  # told beside values and deviations
# of a parcel
STATE, DEVIATIONS, LAST_Y, TOLD = range(4)
GOOD, GATE = range(2)
VALID: Final = 0


class Verdict(NamedTuple):
    """What a consumer may do with the values."""

    phase: Phase
    status: Status
    reasons: tuple[str, ...]


class Report:
    """Of one estimator: what it looks at each time lies side by side."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._names, self._fit = parts, parts.names, parts.fit.kept
        learner, loop = parts.learner.kept, parts.loop.kept
        self._count, self._phi, self._time = len(parts.names), loop.phi[0], parts.log.kept
        self._told = np.empty(2 * self._count + FIGURES)
        self.parcel = Parcel(
            [learner.state, learner.deviations, loop.y, self._told],
            [loop.good, parts.gate.kept.state],
            flags=[parts.validity.kept.valid],
        )

    def estimate(self, phase: Phase, spectrum: Spectrum, figured: tuple[bool, bool] | None = None) -> Estimate:
        """What is known by now; phase: of the state machine; spectrum: of what was learnt from last; figured: what
        `figures` gave, if it was just called."""
        parts, names, count = self._parts, self._names, self._count
        certain, resting = figured or _figures(phase in IDLE, phase is Phase.TRANSIENT, self.parcel.table)
        told = self._told.copy()
        values, deviations = told[:count], told[count : 2 * count]
        reasons: tuple[str, ...] = ()
        linear = parts.nonlinear is None
        if phase in WEIGHED and not (certain and linear and not self._fit.spoiled):
            reasons = _reasons(parts)
        predicted = self._phi.dot(values).item()
        error, forgetting, measured = told[2 * count :].tolist()
        now, status, reasons = verdict(phase, resting, reasons)
        if parts.nonlinear is not None:
            eta = parts.nonlinear.eta
            unknown = np.full(len(eta.kept.eta), np.nan)
            names += tuple(one.name for one in eta.block.nonlinear)
            values = np.concatenate([values, unknown if phase in IDLE else eta.kept.eta])
            deviations = np.concatenate([deviations, eta.deviations])
            reasons += parts.start.unsure if phase is Phase.STARTING else ()
        done = progress(phase, parts.motion, parts.validity)
        return Estimate(
            self._time.time, now, status, reasons, names, values, deviations, error, forgetting, measured, predicted,
            done, spectrum,
        )  # fmt: skip


def _reasons(parts: Parts) -> tuple[str, ...]:
    """Why parameters may not be trusted."""
    weak = parts.validity.told(lambda which, deviation: parts.fit.cause(parts.learner, which, deviation))
    if parts.nonlinear is None:
        return (*parts.fit.reasons, *weak)
    wrong = parts.nonlinear.lookback.kept.wrong
    return (*filter(None, (wrong,)), *parts.nonlinear.eta.reasons, *parts.fit.reasons, *weak)


@inline
def figures(idle: bool, alarmed: bool, table: Table) -> tuple[bool, bool]:
    """Whether every value is certain, and whether the joint rests.

    idle, alarmed: whether nothing is known yet, or an alarm stands, and the values of before it are told; table: of a
    Report, where they are left (2 parameters + FIGURES,): values, deviations, error, λ and what was measured.
    """
    told = vector(table, TOLD)
    state, deviations, good = vector(table, STATE), vector(table, DEVIATIONS), matrix(table, GOOD)
    valid, count, certain = flags(table, VALID), len(deviations), True
    for i in range(count):
        certain = certain and valid[i]
        told[i], told[count + i] = state[at.HEADER + i], deviations[i]
        if idle:
            told[i] = told[count + i] = np.nan
        elif alarmed:
            told[i], told[count + i] = good[0, i], good[1, i]
    signal = state[at.SIGNAL]
    told[2 * count] = np.sqrt(state[at.ERROR] / signal) if signal > 0.0 else np.nan
    told[2 * count + 1], told[2 * count + 2] = state[at.LAMBDA], vector(table, LAST_Y)[0]
    return bool(certain), at_rest(matrix(table, GATE))


@kernel("UniTuple(b1, 2)(b1, b1, " + TABLE + ")")
def _figures(idle: bool, alarmed: bool, table: Table) -> tuple[bool, bool]:
    return figures(idle, alarmed, table)


def verdict(phase: Phase, resting: bool, reasons: tuple[str, ...]) -> Verdict:
    """From the phase of the state machine; reasons: why parameters may not be trusted."""
    if phase is Phase.WAITING:
        return Verdict(Phase.WAITING, Status.UNESTIMATED, ("waiting for motion",))
    if phase is Phase.FAULTED:
        return Verdict(Phase.FAULTED, Status.FAULTED, ("the estimator starts again", "waiting for motion"))
    rest = ("at standstill",) if resting else ()
    if phase is Phase.STARTING:
        return Verdict(Phase.STARTING, Status.LEARNING, (*rest, *reasons))
    if phase is Phase.TRANSIENT:
        return Verdict(Phase.TRANSIENT, Status.LEARNING, ("an alarm stands: values from before it", *rest))
    if reasons:
        return Verdict(Phase.HELD if rest else Phase.NORMAL, Status.LEARNING, (*rest, *reasons))
    return Verdict(Phase.HELD, Status.HELD, rest) if rest else Verdict(Phase.NORMAL, Status.VALID, ())


def progress(phase: Phase, motion: Motion, validity: Validity) -> float:
    """Of the start, per cent."""
    if phase in IDLE:
        return 0.0
    if phase is not Phase.STARTING:
        return 100.0
    share = min(motion.kept.count / motion.needed, validity.readiness)
    return float(100.0 * min(1.0, max(share, motion.seconds / motion.patience)))
