"""The rows of a start and what is made of them, against NumPy over the same rows."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

from estimators.misfit.recent_values import BY_CHANCE
from estimators.numerics.robust import OUTLIER, deviation_factors
from estimators.online.start.rows import StartRows
from estimators.quantities import Floats
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Fixed
from estimators.rows import ROUNDING, Rows, moved

pytestmark = pytest.mark.interpreted

THETA = np.array([2.0, -1.0, 0.5])
NOISE = np.array([0.04, 0.25])  # of two outputs


def made(rows: int = 600, seed: int = 3) -> tuple[Floats, Floats]:
    """φ (rows, 2, 3) and y (rows, 2) of THETA and NOISE."""
    rng = np.random.default_rng(seed)
    phi = rng.standard_normal((rows, 2, 3)) * (1.0, 5.0, 0.2)
    return phi, phi @ THETA + np.sqrt(NOISE) * rng.standard_normal((rows, 2))


def gathered(phi: Floats, y: Floats, **more: Any) -> StartRows:
    """In three parts."""
    start, cuts = StartRows(), (0, len(y) // 6, len(y) // 6 + 1, len(y))
    for first, last in itertools.pairwise(cuts):
        part = slice(first, last)
        own = {name: values[part] for name, values in more.items()}
        assert start.add(1_000 * np.arange(first, last), phi[part], y[part], **own) == 0
    return start


def whitened(phi: Floats, y: Floats, noise: Floats = NOISE) -> tuple[Floats, Floats]:
    """As one output a row."""
    weight = 1.0 / np.sqrt(noise)
    return (phi * weight[:, None]).reshape(-1, phi.shape[2]), (y * weight).ravel()


def test_rows_are_counted_timed_and_forgotten() -> None:
    start = gathered(*made())
    assert (len(start), start.span) == (600, (0, 599_000))
    start.clear()
    assert (len(start), start.span) == (0, None)
    phi, y = made(5)
    start.add(np.arange(7, 12), phi, y)
    assert (len(start), start.span) == (5, (7, 11))


def test_an_output_that_is_not_finite_counts_as_none_and_a_row_without_any_is_refused() -> None:
    phi, y = made(50)
    y[3, 0], phi[4, 1, 2] = np.nan, np.inf
    y[[0, 10]] = np.nan
    y[11, 0], phi[11, 1, 0] = np.inf, np.nan
    start = StartRows()
    seen, ways = np.zeros((50, 2), np.bool_), np.ones((50, 2))
    assert start.add(np.arange(50), phi, y, seen, ways, np.zeros((50, 2, 6))) == 3
    assert start.add(np.arange(50, 60), *made(10)) == 0
    assert len(start) == 57
    assert start.span == (1, 59), "a row that is refused has no instant"
    told = np.isfinite(y) & np.isfinite(phi).all(axis=2)
    rest, more = made(10)
    some = np.where(told, y, 0.0)
    squares = (some**2).sum(axis=0) + (more**2).sum(axis=0)
    assert start.power() == pytest.approx(squares / 57.0, rel=1e-12)
    flat = np.concatenate([phi[told], rest.reshape(-1, 3)])
    assert start.products(np.ones(2)) == pytest.approx(flat.T @ flat, rel=1e-12)


def test_the_scale_of_things_is_the_rms_of_columns_and_of_y_whitened() -> None:
    phi, y = made()
    phi[:, :, 2] = 0.0
    scale, signal = gathered(phi, y).scale(NOISE)
    A, b = whitened(phi, y)
    assert scale[:2] == pytest.approx(np.sqrt((A[:, :2] ** 2).sum(axis=0) / 600), rel=1e-12)
    assert scale[2] == pytest.approx(1.0 / np.sqrt(0.04)), "of ones, in the output that is best known"
    assert signal == pytest.approx(np.sqrt((b**2).sum() / 600), rel=1e-12)
    y[:, 1] = 0.0
    assert gathered(phi, y).power()[1] == 1.0
    assert gathered(phi, y).power()[0] == pytest.approx(np.mean(y[:, 0] ** 2))


def test_the_noise_of_each_output_is_what_theta_leaves_without_outliers_and_masked_rows() -> None:
    phi, y = made(2000)
    y[5, 0] += 100.0
    y[7, 1] = np.nan
    found = gathered(phi, y).noise(THETA)
    left = y - phi @ THETA
    assert found[0] == pytest.approx(np.mean(np.delete(left[:, 0], 5) ** 2), rel=1e-9)
    assert found[1] == pytest.approx(np.mean(np.delete(left[:, 1], 7) ** 2), rel=1e-9)
    exact = gathered(phi, phi @ THETA)
    assert exact.noise(THETA) == pytest.approx(1e-12 * exact.power(), rel=1e-6), "a millionth of its rms, at least"


def test_its_solution_is_weighted_least_squares_whatever_the_scale() -> None:
    phi, y = made()
    A, b = whitened(phi, y)
    start = gathered(phi, y)
    expected = np.linalg.lstsq(A, b)[0]
    for scale in (np.ones(3), np.array([10.0, 1.0, 0.1])):
        assert start.solution(NOISE, scale, 0.0) == pytest.approx(expected, rel=1e-9)
    which = np.random.default_rng(1).random((600, 2)) < 0.5
    some = np.linalg.lstsq(A[which.ravel()], b[which.ravel()])[0]
    assert start.solution(NOISE, np.ones(3), 0.0, which) == pytest.approx(some, rel=1e-9)
    products = A[which.ravel()].T @ A[which.ravel()]
    assert start.products(NOISE, which) == pytest.approx(products, rel=1e-9)


def test_along_directions_that_few_rows_tell_the_solution_is_nothing() -> None:
    phi, y = made()
    phi[:, :, 2] = phi[:, :, 1]  # nothing tells them apart
    found = gathered(phi, y).solution(NOISE, np.ones(3), 0.0)
    A, b = whitened(phi, y)
    assert found == pytest.approx(np.linalg.pinv(A, rcond=1e-9) @ b, rel=1e-6), "the least that explains as much"
    own = np.stack([np.diag((3.0, 2.0, 1.0))] * 30)[:, :2]  # rows that tell two directions, and one of them better
    start = StartRows()
    start.add(np.arange(30), own, np.full((30, 2), 6.0))
    assert start.solution(np.ones(2), np.ones(3), 30.0 * 4.0 - 1.0) == pytest.approx([2.0, 3.0, 0.0])
    assert start.solution(np.ones(2), np.ones(3), 30.0 * 4.0 + 1.0) == pytest.approx([2.0, 0.0, 0.0])
    assert start.solution(np.ones(2), np.array([1.0, 0.1, 1.0]), 30.0 * 9.0 + 1.0) == pytest.approx([0.0, 3.0, 0.0])


def learnt(phi: Floats, y: Floats) -> RecursiveLeastSquares:
    rls = RecursiveLeastSquares(3, 2, 0.01, Fixed())
    rls.begin(NOISE, np.ones(3))
    rls.absorb(phi, y)
    return rls


def test_squared_residuals_are_means_over_the_outputs() -> None:
    phi, y = made()
    rls = learnt(phi, y)
    expected = ((y - phi @ rls.theta) ** 2 / rls.noise).mean(axis=1)
    assert gathered(phi, y).squared(rls) == pytest.approx(expected, rel=1e-12)


def test_deviations_are_honest_by_batch_means_of_the_score() -> None:
    """A slow error, which rows share: blocks of rows of a ninth part of them tell, 3 for each parameter."""
    phi, y = made(905)
    y += 2.0 * np.sin(np.arange(905) / 40.0)[:, None]
    phi[:, :, 0] = 1.0 + np.abs(phi[:, :, 0])
    rls = learnt(phi, y)
    block = 905 // 9
    A, b = whitened(phi[: 9 * block], y[: 9 * block], rls.noise)
    score = (A * (b - A @ rls.theta)[:, None]).reshape(9, 2 * block, 3).sum(axis=1)
    P, v = rls.covariance(), rls.variance()
    variance = np.diag(P @ (score.T @ score) @ P) * 9 / (9 - 3)
    expected = np.sqrt(np.maximum(variance / (v * np.diag(P)), 1.0))
    assert gathered(phi, y).deviation_factors(rls) == pytest.approx(expected, rel=1e-9)
    assert expected.max() > 2.0


def test_its_period_is_that_of_the_first_output() -> None:
    t = np.arange(1000)
    phi, y = made(1000)
    y[:, 0], y[:, 1] = np.sin(2.0 * np.pi * t / 160.0), np.sin(2.0 * np.pi * t / 90.0)
    assert abs(gathered(phi, y).cycle() - 160) <= 1


# --- rows with a reversal


@pytest.mark.parametrize(("least", "enough"), [(100, True), (101, False)])
def test_every_joint_has_to_have_moved_either_way(least: int, enough: bool) -> None:
    phi, y = made()
    ways = np.zeros((600, 2))
    ways[:300, 0], ways[300:, 0] = 1.0, -1.0
    ways[:100, 1], ways[200:400, 1] = -1.0, 1.0
    assert gathered(phi, y, ways=ways).either_way(least) is enough
    assert gathered(phi, y, ways=-ways).either_way(least) is enough
    assert gathered(phi, y).either_way(1) is False, "where nothing is said of directions it is one"


def test_moves_are_counted_from_stop_to_stop_and_of_the_joint_that_made_the_fewest() -> None:
    phi, y = made()
    ways = np.ones((600, 2))
    ways[100:110], ways[200:201, 0], ways[590:] = 0.0, 0.0, 0.0
    assert gathered(phi, y, ways=ways[:, :1].repeat(2, axis=1)).moves() == 3
    assert gathered(phi, y, ways=ways).moves() == 2
    assert gathered(phi, y).moves() == 1


def test_how_much_a_deviation_rests_on_rows_with_a_reversal() -> None:
    phi, y = made()
    phi[:, :, 0] *= np.where(np.arange(600) < 500, 0.1, 1.0)[:, None]  # told by the last rows
    ways = np.where(np.arange(600) < 500, 1.0, 0.0)[:, None] * np.ones(2)
    A, _ = whitened(phi, y)
    one, without = (np.sqrt(np.diag(np.linalg.inv(part.T @ part))) for part in (A, A[: 2 * 500]))
    start = gathered(phi, y, ways=ways)
    assert start.rests_on_reversals(NOISE) == pytest.approx(without / one, rel=1e-9)
    assert without[0] / one[0] > 2.0
    phi[:500, :, 0] = 0.0
    assert np.isinf(gathered(phi, y, ways=ways).rests_on_reversals(NOISE)).all(), "nothing else tells"


def test_rows_that_stick_weigh_by_their_own_variance_once_all_is_identified_without_them() -> None:
    phi, y = made()
    seen = np.zeros((600, 2), np.bool_)
    seen[::10, 0] = seen[5::10, 1] = True
    wrong = np.where(np.arange(600) % 20 < 10, 3.0, -3.0)
    y[:, 0] += np.where(seen[:, 0], wrong, 0.0)  # 15 deviations; of the other output they are as good as any
    y[7, 0] = np.nan
    start = gathered(phi, y, seen=seen)
    A, b = whitened(phi, y)
    straight = np.isfinite(b) & ~seen.ravel()
    theta = np.linalg.lstsq(A[straight], b[straight])[0]
    left = (y - phi @ theta)[:, 0]
    told = np.isfinite(left)
    ratio = np.mean(left[told & ~seen[:, 0]] ** 2) / np.mean(left[told & seen[:, 0]] ** 2)
    weights = start.discount(NOISE, np.ones(3), 0.0, proven=True)
    assert weights == pytest.approx([np.sqrt(ratio), 1.0], rel=1e-9)
    factor = np.where(seen, weights, 1.0)
    lighter = whitened(phi * factor[:, :, None], np.nan_to_num(y * factor))
    told = np.isfinite(b)
    expected = np.linalg.lstsq(lighter[0][told], lighter[1][told])[0]
    assert start.solution(NOISE, np.ones(3), 0.0) == pytest.approx(expected, rel=1e-9)
    assert len(start) == 600
    rows, outputs = start.raw()
    assert np.array_equal(rows[~seen], phi[~seen]), "the others stay as they are"
    assert np.array_equal(outputs[~seen], y[~seen], equal_nan=True)


def test_rows_with_a_reversal_hardly_weigh_until_a_joint_has_moved_either_way() -> None:
    phi, y = made()
    seen = np.arange(600)[:, None] % 10 == np.array([0, 5])
    start = gathered(phi, y, seen=seen)
    assert start.discount(NOISE, np.ones(3), 0.0, proven=False).tolist() == [1e-3, 1e-3]
    factor = np.where(seen, 1e-3, 1.0)
    A, b = whitened(phi * factor[:, :, None], y * factor)
    assert start.solution(NOISE, np.ones(3), 0.0) == pytest.approx(np.linalg.lstsq(A, b)[0], rel=1e-9)


def test_rows_that_do_not_stick_stay_as_they_are() -> None:
    phi, y = made()
    seen = np.arange(600)[:, None] % 10 == np.array([0, 5])
    start = gathered(phi, y, seen=seen)
    assert start.discount(NOISE, np.ones(3), 0.0, proven=True).tolist() == [1.0, 1.0]
    assert start.raw()[1] == pytest.approx(y, abs=0.0)


def test_at_the_end_every_row_weighs_as_it_will_and_what_is_left_of_its_noise_is_reported() -> None:
    """A quarter of the steps' noise is left in a joint whose rows weigh half; a joint without steps reports 1."""
    phi, y = made(60)
    motion = moved(np.zeros((60, 2)), np.ones((60, 2)))
    motion[:, 0, ROUNDING], motion[:, 1, ROUNDING] = 0.8, 0.0
    start = StartRows()
    start.add(np.arange(30), phi[:30], y[:30], motion=motion[:30])
    start.add(np.arange(30, 60), phi[30:], y[30:], motion=motion[30:])

    def weighed(rows: Rows) -> Rows:
        lighter = rows.motion.copy()
        lighter[:, :, ROUNDING] *= 0.25
        return rows._replace(phi=0.5 * rows.phi, y=0.5 * rows.y, motion=lighter)

    assert start.weigh(weighed, np.array([1, 0])) == pytest.approx([1.0, 0.25])
    assert start.products(NOISE) == pytest.approx(0.25 * whitened(phi, y)[0].T @ whitened(phi, y)[0], rel=1e-9)
    assert start.power() == pytest.approx(0.25 * np.mean(y**2, axis=0))
    assert start.weigh(weighed, np.array([0, 0])) == pytest.approx([0.25, 0.25])


def test_rows_that_say_nothing_of_motion_are_weighed_without() -> None:
    phi, y = made(60)
    start, seen = gathered(phi, y), list[int]()

    def weighed(rows: Rows) -> Rows:
        seen.append(len(rows.motion))
        return rows._replace(phi=2.0 * rows.phi, y=2.0 * rows.y)

    assert start.weigh(weighed, np.array([0, 0])) == pytest.approx([1.0, 1.0])
    assert seen == [0]
    assert start.power() == pytest.approx(4.0 * np.mean(y**2, axis=0))


# --- how certain a prediction is


def expected_prediction(phi: Floats, y: Floats, usual: Floats) -> float:
    """By Huber's estimate of the usual rows, from SciPy."""
    A, b = whitened(phi[usual], y[usual])
    theta = least_squares(lambda theta: A @ theta - b, np.zeros(3), loss="huber", f_scale=OUTLIER).x
    left = b - A @ theta
    clipped = np.clip(left, -OUTLIER, OUTLIER)
    weight = np.minimum(1.0, OUTLIER / np.abs(left))
    variance, P, rows = float(np.mean(clipped**2)), np.linalg.inv(A.T @ (weight[:, None] * A)), np.count_nonzero(usual)
    factors = deviation_factors(A, clipped, P, variance, 2 * (rows // 9))
    return float(np.sqrt(3.0 * variance / rows) * np.exp(np.mean(np.log(factors))))


def test_wild_rows_count_less_in_how_certain_a_prediction_is() -> None:
    phi, y = made(900)
    plain = gathered(phi, y).prediction(NOISE)
    assert plain == pytest.approx(expected_prediction(phi, y, np.full(900, True)), rel=0.01)
    wild = np.arange(900) % 50 == 7
    y[wild] += np.sqrt(NOISE) * np.where(np.arange(900) % 100 == 7, 60.0, -60.0)[wild, None]
    found = gathered(phi, y).prediction(NOISE)
    assert found == pytest.approx(expected_prediction(phi, y, np.full(900, True)), rel=0.02)
    assert 1.1 * plain < found < 2.0 * plain, "60 deviations of one row in fifty would make it nine times as large"


@pytest.mark.parametrize(("clear", "left_out"), [(9, True), (8, False)])
def test_rows_with_a_reversal_are_left_out_of_it_where_three_a_parameter_are_left(clear: int, left_out: bool) -> None:
    phi, y = made(300)
    seen = np.zeros((300, 2), np.bool_)
    seen[clear:, 1] = True
    found = gathered(phi, y, seen=seen).prediction(NOISE)
    usual = np.arange(300) < clear if left_out else np.full(300, True)
    assert found == pytest.approx(expected_prediction(phi, y, usual), rel=0.02)


def test_rows_after_a_change_are_seen_and_noise_is_not() -> None:
    """The share of their torque that their own least squares explain beyond those of all rows, and chance."""
    phi, y = made(600)
    assert gathered(phi, y).change(NOISE, 100, 1.0) == 0.0, "one truth"
    y += (0.3 * THETA[0] * phi[:, :, 0]) * (np.arange(600) >= 500)[:, None]
    A, b = whitened(phi, y)
    theta, part = np.linalg.lstsq(A, b)[0], slice(1000, 1200)
    before = float(np.sum((b[part] - A[part] @ theta) ** 2))
    gain = before - float(np.linalg.lstsq(A[part], b[part])[1][0]) - BY_CHANCE * 3 / 200 * before
    expected = np.sqrt(gain / np.sum(b[part] ** 2))
    assert gathered(phi, y).change(NOISE, 100, 1.0) == pytest.approx(expected, rel=1e-9)
    turned = np.zeros((600, 2), np.bool_)
    turned[500:] = True
    assert gathered(phi, y, seen=turned).change(NOISE, 100, 1.0) == 0.0, "rows with a reversal say nothing of it"


# --- limits


def test_rows_of_which_none_is_finite_leave_no_instant_and_no_row() -> None:
    start = StartRows()
    assert start.add(np.arange(4), np.zeros((4, 2, 3)), np.full((4, 2), np.nan)) == 4
    assert (len(start), start.span) == (0, None)
    phi, y = made(20)
    y[3] = np.nan
    assert start.add(np.arange(10, 30), phi, y, motion=np.zeros((0, 2, 6))) == 1
    assert (len(start), start.span) == (19, (10, 29))
    assert start.weigh(lambda rows: rows, np.array([0, 0])) == pytest.approx([1.0, 1.0]), "nothing is said of motion"


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_how_much_a_deviation_rests_on_reversals_does_not_depend_on_units(unit: float) -> None:
    phi, y = made()
    phi[:, :, 0] *= np.where(np.arange(600) < 500, 0.1, 1.0)[:, None]
    ways = np.where(np.arange(600) < 500, 1.0, 0.0)[:, None] * np.ones(2)
    expected = gathered(phi, y, ways=ways).rests_on_reversals(NOISE)
    other = gathered(phi * (unit, 1.0, 1.0 / unit), y, ways=ways)
    assert other.rests_on_reversals(NOISE) == pytest.approx(expected, rel=1e-6)
    phi[:500, :, 2] = phi[:500, :, 1]
    alike = gathered(phi * (unit, 1.0, 1.0), y, ways=ways)
    assert np.isinf(alike.rests_on_reversals(NOISE)).all(), "two columns that only stops tell apart"


def test_a_direction_that_only_rounding_tells_stays_at_zero_and_one_above_it_does_not() -> None:
    """A part of 1e-3 by which two columns differ is found, but float64 sums lose one below 1e-5."""
    for part, told in ((1e-3, True), (1e-7, False)):
        phi, _ = made()
        phi[:, :, 1] = phi[:, :, 0] + part * phi[:, :, 1]
        y = phi @ np.array([2.0, -1.0, 0.5])
        scale = np.sqrt(np.mean(phi**2, axis=(0, 1)))
        found = gathered(phi, y).solution(NOISE, scale, 0.0)
        if told:
            assert found == pytest.approx([2.0, -1.0, 0.5], rel=1e-3)
        else:
            assert found == pytest.approx([0.5, 0.5, 0.5], rel=1e-3), "the sum is told, the difference is not"


def test_a_few_rows_are_honest_by_blocks_of_one_row() -> None:
    phi, y = made(12)
    rls = learnt(phi, y)
    found = gathered(phi, y).deviation_factors(rls)
    assert (found >= 1.0).all()
    assert np.isfinite(found).all()
    few = gathered(*made(8))
    assert np.isfinite(few.deviation_factors(rls)).all(), "eight rows for nine blocks"


def test_the_squares_of_a_row_are_the_mean_over_its_outputs_whitened() -> None:
    phi, y = made(40)
    y[3, 1] = np.nan
    rls = learnt(phi, np.nan_to_num(y))
    left = (np.nan_to_num(y) - phi @ rls.theta) ** 2 / rls.noise
    found = gathered(phi, y).squared(rls)
    assert found[[0, 20, 39]] == pytest.approx(left.mean(axis=1)[[0, 20, 39]])
    assert found[3] == pytest.approx(0.5 * left[3, 0]), "an output that is not finite leaves nothing"
