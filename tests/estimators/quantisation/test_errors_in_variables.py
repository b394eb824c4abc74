"""What an encoder's steps do to θ, and to sums of rows."""

import numpy as np
import pytest

from estimators.misfit import scores
from estimators.numerics.directions import Directions
from estimators.quantisation import errors_in_variables
from estimators.quantisation.errors_in_variables import StepNoise, Steps, noise_of_rows
from estimators.quantities import Floats
from estimators.recursive.weights import reversals

P = 4


def bias_of(gram: Floats, noise: Floats, own: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Bias of θ by steps, and Σ w wᵀ along each direction that is lost."""
    bias, lost = np.empty(P), np.empty((P, P))
    errors_in_variables.bias_of(Directions.of(gram), noise, own, theta, bias, lost)
    return bias, lost


def rows(seed: int, count: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(count, P)) * [1.0, 20.0, 0.05, 3.0]
    theta = np.array([2.0, -0.3, 40.0, 1.0])
    return phi, phi @ theta + rng.normal(scale=0.1, size=count), theta


def test_what_noise_in_the_columns_has_moved_least_squares_by_is_taken_off() -> None:
    """Independent of the formula: noise is really added to the columns of many rows."""
    phi, y, theta = rows(1, 200_000)
    spread = np.array([0.5, 0.0, 0.0, 0.4])
    noisy = phi + np.random.default_rng(2).normal(size=phi.shape) * spread
    gram, noise = noisy.T @ noisy, np.diag(spread**2) * len(y)
    found = np.linalg.solve(gram, noisy.T @ y)
    better = found + bias_of(gram, noise, np.zeros(P), found)[0]
    assert np.abs(found - theta).max() > 0.05
    assert better == pytest.approx(theta, rel=0.01)


def test_where_noise_is_most_of_a_direction_nothing_is_told_of_what_has_some() -> None:
    phi, _, theta = rows(3)
    gram = phi.T @ phi
    alone = 1.0 / np.linalg.inv(gram)[0, 0]  # what the other columns leave of the first
    for share, lost in ((0.45, 0), (0.6, 1)):
        noise = np.diag([share * alone, 0.0, 0.0, 0.0])
        bias, square = bias_of(gram, noise, np.zeros(P), theta)
        assert np.linalg.matrix_rank(square) == lost
    assert bias == pytest.approx(np.zeros(P), abs=1e-9), "no other direction has any"
    way = np.linalg.inv(gram)[:, 0] / np.sqrt(np.linalg.inv(gram)[0, 0])
    assert square == pytest.approx(np.outer(way, way)), "where only the first column is left"


def test_the_same_as_lapack_gives() -> None:
    phi, _, theta = rows(4)
    gram, noise, own = phi.T @ phi, np.diag([0.3, 0.2, 0.0, 0.1]), np.array([0.1, 0.0, 0.2, 0.0])
    expected = np.linalg.solve(gram - noise, noise @ theta - own)
    assert bias_of(gram, noise, own, theta)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("outputs", [1, 2])
def test_products_of_all_outputs_and_what_a_theta_leaves(outputs: int) -> None:
    weight, parts, whole, left = np.array([1.0, 0.25])[:outputs], [], np.zeros((P + 1, P + 1)), []
    for output in range(outputs):
        phi, y, theta = rows(output)
        columns = np.column_stack([phi, np.sin(phi), y])  # with others between
        parts.append(np.tril(columns.T @ columns))
        own = np.column_stack([phi, y])
        whole += weight[output] * own.T @ own
        left.append(float(((y - phi @ theta) ** 2).sum()))
    found = scores.products(np.array(parts), weight, P)
    assert found == pytest.approx(whole, rel=1e-12)
    for one, expected in zip(parts, left, strict=True):
        assert reversals.left(one, theta) == pytest.approx(expected, rel=1e-6)


def encoders() -> tuple[Steps, Steps]:
    """Steps of two encoders for two outputs and P parameters, known from 5 ns and from 9 ns on."""
    rng = np.random.default_rng(7)
    sizes = (2, P, P), (2, P)
    first, second = ([rng.normal(size=size) for size in sizes] for _ in range(2))
    return Steps(1e-3, 5, 0.02, *first), Steps(2e-3, 9, 0.03, *second)


def test_steps_add_to_every_output_by_its_rows_and_from_when_they_are_known() -> None:
    both, rows_of = encoders(), np.array([3.0, 0.5])
    for time, known in ((4, ()), (5, both[:1]), (8, both[:1]), (9, both), (10, both)):
        steps, noise, own = StepNoise.zeros(outputs=2, parameters=P), np.empty((P, P)), np.empty(P)
        steps.take(both, time)
        noise_of_rows(steps, rows_of, noise, own)
        assert noise == pytest.approx(sum((3.0 * one.noise[0] + 0.5 * one.noise[1] for one in known), np.zeros((P, P))))
        assert own == pytest.approx(sum((3.0 * one.own[0] + 0.5 * one.own[1] for one in known), np.zeros(P)))
