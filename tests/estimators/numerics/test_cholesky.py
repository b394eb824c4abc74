"""What is solved with a triangle, against NumPy's general solution."""

import numpy as np
import pytest

from estimators.numerics.cholesky import backwards, forwards

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("n", [1, 7])
def test_a_triangle_is_solved_forwards_and_its_transpose_backwards(n: int) -> None:
    rng = np.random.default_rng(n)
    root, columns, vector = np.tril(rng.normal(size=(n, n))) + 3.0 * np.eye(n), rng.normal(size=(n, 4)), np.ones(n)
    wanted = np.linalg.solve(root, columns), np.linalg.solve(root.T, vector)
    forwards(root, columns)
    backwards(root, vector)
    np.testing.assert_allclose(columns, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(vector, wanted[1], rtol=1e-12)
