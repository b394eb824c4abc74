import numpy as np
import pytest
import scipy.linalg

from estimators.numerics.symmetric import largest_share, smallest


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 6, 12])
def test_the_smallest_eigenvalue_is_that_of_lapack(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n))
    symmetric = a + a.T
    assert smallest(symmetric) == pytest.approx(np.linalg.eigvalsh(symmetric)[0], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("least", [1e-12, 0.0, -1e-12])
def test_one_near_zero_has_the_sign_that_it_has(least: float) -> None:
    q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    symmetric = (q * [least, 0.3, 0.7, 1.0, 2.0]) @ q.T
    assert smallest(symmetric) == pytest.approx(least, abs=1e-15 * 50)


def test_nothing_is_changed_and_nothing_is_nothing() -> None:
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    smallest(a)
    assert a.tolist() == [[2.0, 1.0], [1.0, 2.0]]
    assert np.isnan(smallest(np.array([[1.0, np.nan], [np.nan, 1.0]])))


@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_the_largest_share_is_that_of_lapacks_general_problem(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, n + 3)), rng.normal(size=(n, n))
    whole, part, way = a @ a.T, b + b.T, np.empty(n)
    shares, ways = scipy.linalg.eigh(part, whole)
    assert largest_share(part, whole, way) == pytest.approx(shares[-1], rel=1e-10)
    assert abs(way @ whole @ ways[:, -1]) == pytest.approx(1.0, rel=1e-8)
    assert np.isnan(largest_share(part, -whole, way))
