"""A window learnt anew together with its re-fit: the state is the one that the core itself would have come to."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Alarm
from estimators.recursive.prior import Prior
from estimators.recursive.restart import COUNTERS, relearn, relearnt
from estimators.recursive.state import RecursiveState
from estimators.refit.job import job, run
from estimators.refit.settings import RefitSettings
from hil_rig.papers.space_joint.case2 import LINEAR, PERIOD, case, estimator, play
from jointwatch_numba.layout import copy
from tests.support.signals.layouts import packed

pytestmark = pytest.mark.compiled

BEFORE = Prior(LINEAR, np.diag([0.0, 0.0, 4.0, 1.0]))
SENT = 300  # rows that the worker has; the rest come meanwhile


def test_the_worker_learns_its_window_and_the_core_goes_on_from_there_to_the_same_state() -> None:
    rows = case(0, 0.01, end=24.0).rows
    joint = estimator()
    play(joint, rows.part(slice(0, 1600)))
    window = rows.part(slice(1600, 2000))
    shape = NonlinearBlock(FrictionOnlySettings().build(), np.ones(1))
    state, leverage = joint.parts.learner.rls.state.as_dict(), np.array([1.0, 0.1, 0.5, 1.0])
    task = job(shape, window.part(slice(0, SENT)), joint.parts.learner.rls.noise, BEFORE, False, RefitSettings())
    outcome = run(pickle.loads(pickle.dumps(replace(task, learner=(state, leverage)))))
    shape.refill(window, outcome.eta)
    ours, theirs = (RecursiveLeastSquares(4, 1, PERIOD, Alarm()) for _ in range(2))
    copy(RecursiveState(**state), ours.state)
    relearn(ours, leverage, BEFORE, outcome.theta, window.phi, window.y)
    counters = {name: outcome.learnt[name] + state[name] for name in COUNTERS}
    copy(RecursiveState(**outcome.learnt | counters), theirs.state)
    theirs.absorb(window.phi[SENT:].copy(), window.y[SENT:].copy())
    assert ours.state.rows > len(window.time)
    assert packed(ours.state) == packed(theirs.state)


def test_refused_rows_of_the_window_are_counted_and_nothing_else_is_changed() -> None:
    rows = case(1, 0.01, end=4.0).rows
    shape = NonlinearBlock(FrictionOnlySettings().build(), np.ones(1))
    shape.refill(rows, shape.law.start)
    y = rows.y.copy()
    y[[7, 80]] = np.nan
    rls = RecursiveLeastSquares(4, 1, PERIOD, Alarm())
    rls.begin(np.ones(1), np.ones(4))
    state = rls.state.as_dict() | dict.fromkeys(COUNTERS, 5)
    before = packed(RecursiveState(**state))
    learnt = relearnt(state, np.ones(4), BEFORE, LINEAR, rows.phi, y)
    assert packed(RecursiveState(**state)) == before
    assert learnt["refused"] == 2
    assert learnt["alarms"] == 0
