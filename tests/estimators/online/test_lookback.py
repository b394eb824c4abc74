"""What θ owes to η not being known, and what a step of η is worth, against a joint least squares in NumPy."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from estimators.online.eta.lookback import Lookback
from estimators.quantities import Floats
from estimators.window.score_test import Score

P, Q = 3, 2
OVERLAP, USUAL = 3.0, 1.5


def window(seed: int) -> tuple[Floats, Score]:
    """[Φ T] of 400 rows whose columns have much in common, and what they say."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((400, P + Q)) @ (np.eye(P + Q) + 0.4 * rng.standard_normal((P + Q, P + Q)))
    gram, nothing = columns.T @ columns, np.zeros(P)
    inverse, step = np.linalg.inv(gram), np.array([0.3, -0.2])
    return columns, Score(
        nothing, 2.0, 0.0, 1.0, step, np.ones(Q), np.sqrt(np.diag(inverse)), gram, inverse, gram / 400, 400
    )


def lookback(covariance: Floats, steps: Floats) -> tuple[Lookback, Any]:
    learner = SimpleNamespace(rls=SimpleNamespace(p=P), searched=np.zeros(P))
    eta = SimpleNamespace(
        overlap=OVERLAP,
        state=SimpleNamespace(covariance=covariance),
        steps=steps,
        covariance=covariance + steps,
    )
    found = Lookback(cast(Any, learner), cast(Any, None), cast(Any, eta), cast(Any, SimpleNamespace(judge=id)), 0.01)
    found.state.usual = USUAL
    return found, learner


def test_theta_owes_what_eta_takes_along() -> None:
    columns, score = window(3)
    covariance, steps = np.array([[0.04, 0.01], [0.01, 0.09]]), np.diag([0.25, 0.0])
    found, learner = lookback(covariance, steps)
    found.state.owed[:], found.state.constants[:] = (0.0, 5.0, 0.0), (0.5, 0.0, 0.25)
    found.inflate(score)
    along = -np.linalg.lstsq(columns[:, :P], columns[:, P:])[0]  # θ of least squares where s is one more
    known, grid = (np.diag(along @ one @ along.T) for one in (covariance, steps))
    assert learner.searched == pytest.approx(known + np.maximum(grid, (0.0, 5.0, 0.0)) + (0.5, 0.0, 0.25), rel=1e-9)


def test_a_step_is_worth_what_it_is_beyond_either_uncertainty() -> None:
    columns, score = window(4)
    covariance = np.array([[0.04, 0.01], [0.01, 0.09]])
    found, _ = lookback(covariance, np.zeros((Q, Q)))
    rest = columns[:, P:] - columns[:, :P] @ np.linalg.lstsq(columns[:, :P], columns[:, P:])[0]
    noise = found.noise(score)
    assert noise == OVERLAP * 2.0, "the window's variance, which is larger than the usual one"
    assert found.noise(score, least=False) == OVERLAP * USUAL
    spread = noise * np.linalg.inv(rest.T @ rest) + covariance
    assert found.gain(score, noise) == pytest.approx(score.step @ np.linalg.inv(spread) @ score.step, rel=1e-9)
