"""Deviations as published, against the covariance written out."""

import numpy as np
import pytest

from estimators.online.judgement.validity import Validity
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner


def test_deviations_are_those_of_the_covariance() -> None:
    """Against UDUᵀ written out."""
    rng = np.random.default_rng(0)
    learner = Learner(3, 2, 0.01, Alarm())
    validity = Validity([Parameter(name, "1", -np.inf, np.inf, "") for name in "abc"])
    learner.rls.begin(np.array([0.5, 2.0]), np.ones(3))
    learner.rls.absorb(rng.standard_normal((200, 2, 3)), rng.standard_normal((200, 2)))
    learner.deviation_factor[:], learner.searched[:] = (1.0, 2.0, 3.0), (0.0, 0.0, 5.0)
    mixed = rng.standard_normal((3, 3))
    learner.correlated[:], learner.misfit[:] = mixed @ mixed.T, np.outer((0.1, -0.2, 0.3), (0.1, -0.2, 0.3))
    validity.judge(learner)
    state = learner.rls.state
    share = state.squared_weight / state.weight
    root = np.linalg.cholesky(learner.rls.covariance()[::-1, ::-1])[::-1, ::-1]  # upper triangular, as U√D
    root = np.diag(learner.deviation_factor) @ root * np.sqrt(learner.rls.variance() * share)
    covariance = root @ learner.correlated @ root.T + learner.misfit + learner.state.unexcited
    assert validity.state.covariance == pytest.approx(covariance, rel=1e-9)
    wanted = np.sqrt(np.diag(covariance))
    assert validity.state.deviations == pytest.approx(wanted, rel=1e-9)
    assert learner.state.deviations == pytest.approx(np.sqrt(wanted**2 + (0.0, 0.0, 5.0)), rel=1e-9)


def test_what_is_not_excited_widens_a_deviation() -> None:
    learner, validity = Learner(2, 1, 0.01, Alarm()), Validity([Parameter(n, "1", -np.inf, np.inf, "") for n in "ab"])
    phi = np.zeros((50, 1, 2))
    phi[:, 0, 0] = 1.0
    learner.learn(phi, phi[:, :, 0] * 3.0, np.ones(1), np.ones(2), 3.0, np.zeros(2))
    validity.judge(learner)
    assert learner.state.deviations[0] < 0.1
    assert learner.state.deviations[1] > 1.0, "all that explains y may be its"
