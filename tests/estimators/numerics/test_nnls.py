"""Non-negative least squares from normal equations against scipy's, and its unsigned coefficients against lstsq."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from estimators.numerics.nnls import DEPENDENT, PASSIVE, _lawson_hanson, nnls

pytestmark = pytest.mark.interpreted


def solve(A, y, signed):
    count = A.shape[1]
    x, state, scratch = np.empty(count), np.empty(count, np.int64), np.empty((count + 1, count))
    K = A.T @ A
    gain = nnls(K, A.T @ y, np.array(signed, np.int64), np.diag(K).copy(), float(y @ y), x, state, scratch)
    return x, state, gain


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**31))
def test_signed_coefficients_as_scipys(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(30, count)) + 2.0 * rng.normal(size=(30, 1)), rng.normal(size=30)
    x, state, gain = solve(A, y, [1] * count)
    expected, norm = optimize.nnls(A, y)
    assert x == pytest.approx(expected, abs=1e-8)
    assert y @ y - gain == pytest.approx(norm**2, rel=1e-9)
    assert ((state == PASSIVE) | (x == 0.0)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.booleans(), min_size=4, max_size=4))
def test_mixed_signs_as_bounded_least_squares(seed: int, signed: list[bool]) -> None:
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    x, _, gain = solve(A, y, signed)
    low = np.where(signed, 0.0, -np.inf)
    expected = optimize.lsq_linear(A, y, (low, np.inf), method="bvls", tol=1e-14)
    assert y @ y - gain == pytest.approx(2.0 * expected.cost, rel=1e-7)
    assert x == pytest.approx(expected.x, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.booleans(), min_size=5, max_size=5))
def test_one_column_at_a_time_leads_to_the_same(seed: int, signed: list[bool]) -> None:
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(20, 5)) + rng.normal(size=(20, 1)), rng.normal(size=20)
    together, _, _ = solve(A, y, signed)
    K, x, scratch = A.T @ A, np.empty(5), np.empty((6, 5))
    arguments = K, A.T @ y, np.array(signed, np.int64), np.diag(K).copy(), float(y @ y)
    _lawson_hanson(*arguments, x, np.empty(5, np.int64), scratch)
    assert x == pytest.approx(together, abs=1e-8)


def test_a_column_said_twice_gets_one_coefficient() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=20)
    A = np.stack([a, rng.normal(size=20), a], axis=1)
    y = 2.0 * A[:, 0] + 3.0 * A[:, 1]
    x, state, _ = solve(A, y, [1, 1, 1])
    assert x == pytest.approx([2.0, 3.0, 0.0])
    assert state[2] == DEPENDENT
