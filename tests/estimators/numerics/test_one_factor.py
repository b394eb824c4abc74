"""A torque that is scaled is told from a joint that has changed."""

import numpy as np
import pytest

from estimators.numerics.one_factor import one_factor

pytestmark = pytest.mark.interpreted
BEFORE = np.array([2.0, 8.0, 5.0, 12.0, 3.0])
EVERY = np.ones(5, np.bool_)


def found(after: np.ndarray, share: float = 0.01, seed: int = 1) -> object:
    rng, sigma = np.random.default_rng(seed), share * BEFORE
    return one_factor(
        BEFORE + sigma * rng.standard_normal(5), sigma, after + sigma * rng.standard_normal(5), sigma, EVERY
    )


@pytest.mark.parametrize("factor", [0.7, 0.9, 1.4, 3.0])
def test_one_factor_is_found_with_its_deviation(factor: float) -> None:
    told = [found(factor * BEFORE, seed=seed) for seed in range(40)]
    values = np.array([one.value for one in told if one is not None])  # type: ignore[attr-defined]
    assert len(values) >= 38
    z = [(one.value - factor) / one.deviation for one in told if one is not None]  # type: ignore[attr-defined]
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.4
    assert "the torque constant or its sensor" in str(told[0])


@pytest.mark.parametrize(
    "factors",
    [
        [1.0, 1.0, 1.0, 1.0, 1.0],  # nothing
        [1.0, 1.5, 1.5, 1.0, 1.0],  # friction
        [1.3, 1.0, 1.0, 1.3, 1.3],  # a payload
        [1.0, 1.0, 1.4, 1.0, 1.0],  # one
        [1.4, 1.4, 1.4, 1.4, 1.0],  # all but one
        [-1.0, -1.0, -1.0, -1.0, -1.0],  # a sign that was turned is no constant
    ],
)
def test_anything_else_is_not_called_so(factors: list[float]) -> None:
    assert [found(np.array(factors) * BEFORE, seed=seed) for seed in range(40)] == [None] * 40


def test_what_is_not_known_well_says_nothing() -> None:
    assert found(1.4 * BEFORE, share=0.3) is None
    known = np.array([0.01, 0.01, 5.0, 5.0, 5.0])
    assert one_factor(BEFORE, known, 1.4 * BEFORE, known, EVERY) is None
    assert one_factor(BEFORE, 0.01 * BEFORE, 1.4 * BEFORE, 0.01 * BEFORE, EVERY & (BEFORE > 6.0)) is None
    assert one_factor(BEFORE, 0.0 * BEFORE, np.full(5, np.nan), 0.0 * BEFORE, EVERY) is None
