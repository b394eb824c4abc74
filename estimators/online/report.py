"""What is told of an estimate, by the phase it is in."""

import math
from typing import NamedTuple

import numpy as np

from estimators.base import Estimate, Phase, Spectrum, Status
from estimators.online.motion import Motion
from estimators.online.normal_loop import NormalLoop
from estimators.online.parts import Parts
from estimators.online.validity import Validity
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.learner import Learner

IDLE = (Phase.WAITING, Phase.FAULTED)
WEIGHED = (Phase.STARTING, Phase.NORMAL)  # phases in which it matters why a value may not be trusted


class Verdict(NamedTuple):
    """What a consumer may do with the values."""

    phase: Phase
    status: Status
    reasons: tuple[str, ...]


def estimate(parts: Parts, phase: Phase, spectrum: Spectrum) -> Estimate:
    """What is known by now; phase: of the state machine; spectrum: of what was learnt from last."""
    state, loop = parts.learner.rls.state, parts.loop.kept
    theta, deviations = values(phase, parts.learner, parts.loop)
    reasons: tuple[str, ...] = ()
    if phase in WEIGHED:
        weak = parts.validity.told(lambda which, deviation: parts.fit.cause(parts.learner, which, deviation))
        wrong = "" if parts.nonlinear is None else parts.nonlinear.lookback.kept.wrong
        reasons = (*filter(None, (wrong,)), *parts.fit.reasons, *weak)
    told = verdict(phase, parts.gate.resting, reasons)
    names, known, reasons = parts.names, theta, told.reasons
    if parts.nonlinear is not None:
        eta = parts.nonlinear.eta
        unknown = np.full(len(eta.kept.eta), np.nan)
        names += tuple(one.name for one in eta.block.nonlinear)
        known = np.concatenate([theta, unknown if phase in IDLE else eta.kept.eta])
        deviations = np.concatenate([deviations, eta.deviations])
        reasons += parts.start.unsure if phase is Phase.STARTING else ()
    error, signal = state.item(at.ERROR), state.item(at.SIGNAL)
    return Estimate(
        time=parts.log.kept.time,
        phase=told.phase,
        status=told.status,
        reasons=reasons,
        names=names,
        values=known,
        deviations=deviations,
        error=math.sqrt(error / signal) if signal > 0 else math.nan,
        forgetting=state.item(at.LAMBDA),
        measured=loop.y.item(0),
        predicted=loop.phi[0].dot(theta).item(),
        progress=progress(phase, parts.motion, parts.validity),
        spectrum=spectrum,
    )


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


def values(phase: Phase, learner: Learner, loop: NormalLoop) -> tuple[Floats, Floats]:
    """θ and its deviations (parameters,) as published: NaN before a start, those of before while an alarm stands."""
    if phase in IDLE:
        nothing = np.full(learner.rls.p, np.nan)
        return nothing, nothing
    if phase is Phase.TRANSIENT:
        return loop.kept.good[0].copy(), loop.kept.good[1].copy()
    return learner.rls.theta.copy(), learner.kept.deviations.copy()


def progress(phase: Phase, motion: Motion, validity: Validity) -> float:
    """Of the start, per cent."""
    if phase in IDLE:
        return 0.0
    if phase is not Phase.STARTING:
        return 100.0
    share = min(motion.kept.count / motion.needed, validity.readiness)
    return float(100.0 * min(1.0, max(share, motion.seconds / motion.patience)))
