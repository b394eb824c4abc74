"""Every registered forgetting law × every rule."""

from typing import Any, get_args

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from estimators.quantities import Floats
from estimators.recursive import forgetting
from estimators.recursive.estimator import RecursiveLeastSquares
from tests.support.signals.layouts import packed

pytestmark = pytest.mark.interpreted

PERIOD = 0.01
TRUTH = np.array([1.2, 4.0, 6.0, 0.5])
ADAPTER: TypeAdapter[Any] = TypeAdapter(forgetting.Forgetting)
LAWS = get_args(get_args(forgetting.Forgetting)[0])

every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.model_fields["kind"].default)


def motion(seconds: float, truth: Floats, seed: int, period: float = PERIOD) -> tuple[Floats, Floats]:
    """Rows of a moving joint: phi (rows, 1, 4), y (rows, 1)."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds / period)) * period
    speed = np.sin(2 * np.pi * 0.7 * t) + np.sin(2 * np.pi * 1.9 * t + seed)
    phi = np.stack([np.gradient(speed, period), speed, np.tanh(speed / 0.01), np.ones_like(t)], axis=1)[:, None, :]
    return phi, phi @ truth + 0.2 * rng.standard_normal((len(t), 1))


def started(law: Any, period: float = PERIOD) -> RecursiveLeastSquares:
    """An estimator after a start-up of 15 s."""
    phi, y = motion(15.0, TRUTH, 0, period)
    rls = RecursiveLeastSquares(4, 1, period, law)
    rls.begin(np.ones(1), np.sqrt(np.mean(phi[:, 0] ** 2, axis=0)))
    rls.absorb(phi, y)
    rls.settle(forgetting.Threshold(rls.variance(), 3.0, 60.0))
    return rls


def sound(rls: RecursiveLeastSquares) -> bool:
    """Whether the state is what a state must always be."""
    finite = all(np.isfinite(one).all() for one in rls.state.as_dict().values())
    whole = finite and (rls.d > 0).all() and 0.0 < rls.state.forgetting <= 1.0
    return bool(whole and np.sum(np.diag(rls.covariance()) / rls.bound) <= 4.0)


@every_law
def test_is_chosen_by_its_kind_and_knows_its_keys(law: Any) -> None:
    kind = law.model_fields["kind"].default
    assert ADAPTER.validate_python({"kind": kind}) == law()
    with pytest.raises(ValidationError, match="Extra inputs"):
        ADAPTER.validate_python({"kind": kind, "lambda": 0.99})
    if "memory" in law.model_fields:
        with pytest.raises(ValidationError, match="greater than 0"):
            ADAPTER.validate_python({"kind": kind, "memory": 0.0})


@every_law
def test_the_covariance_is_bounded_through_a_long_standstill(law: Any) -> None:
    rls = started(law())
    still = np.zeros((500, 1, 4))
    still[:, 0, 3] = 1.0
    rng = np.random.default_rng(1)
    for _ in range(12):
        rls.absorb(still, 0.5 + 0.2 * rng.standard_normal((500, 1)))
        assert sound(rls)


@every_law
def test_the_covariance_is_bounded_without_any_information(law: Any) -> None:
    rls = started(law())
    nothing = np.zeros((500, 1, 4))
    for _ in range(4):
        rls.absorb(nothing, np.full((500, 1), 50.0))  # an error that no parameter explains: alarms without end
        assert sound(rls)


@every_law
def test_a_jump_is_followed(law: Any) -> None:
    rls = started(law() if law is not forgetting.RandomWalk else law(memory=2.0))
    phi, y = motion(60.0, 1.5 * TRUTH, 1)
    scale = np.sqrt(np.mean(phi[:, 0] ** 2, axis=0))
    before = np.linalg.norm(scale * (rls.theta - 1.5 * TRUTH))
    rls.absorb(phi, y)
    assert np.linalg.norm(scale * (rls.theta - 1.5 * TRUTH)) < 0.1 * before
    assert sound(rls)


@every_law
def test_rows_that_are_not_finite_change_nothing(law: Any) -> None:
    rls = started(law())
    phi, y = motion(1.0, TRUTH, 2)
    rls.absorb(phi, y)
    before = rls.state.copied()
    rls.absorb(phi, np.full_like(y, np.nan))
    before.refused, before.masked = before.refused + len(y), before.masked + len(y)
    assert packed(rls.state) == packed(before)


@every_law
def test_results_do_not_depend_on_how_rows_are_cut(law: Any) -> None:
    phi, y = motion(4.0, 1.5 * TRUTH, 3)
    states = set()
    for batch in (1, 8, 32, 1000):
        rls = started(law())
        for first in range(0, len(y), batch):
            rls.absorb(phi[first : first + batch], y[first : first + batch])
        states.add(packed(rls.state))
    assert len(states) == 1


@every_law
def test_memory_means_the_same_at_any_row_rate(law: Any) -> None:
    lost = []
    for period in (0.01, 0.005):
        rls = started(law(), period)
        phi, y = motion(3.0, TRUTH + np.array([0.0, 0.0, 0.0, 1.0]), 4, period)
        rls.absorb(phi, y)
        lost.append(rls.theta[3] - TRUTH[3])
    assert 0.0 < lost[0] < 1.2
    assert lost[0] == pytest.approx(lost[1], abs=0.1)
