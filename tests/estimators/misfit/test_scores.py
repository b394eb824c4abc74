"""What blocks of rows say of a model, against least squares and covariances written out in NumPy."""

import numpy as np
import pytest

from estimators.misfit import scores
from estimators.misfit.scores import OWN_SUMS, ScoreState
from estimators.quantities import Floats

P, OWN, FADE = 2, 4, 0.97  # own: the lag, and three others
YOUNG, LATE = 4, 2e-3  # blocks without scores; s, how well a lag is known before
SIZE = 2 * P + OWN  # of [φ φ̇ w y]
COUNT = P + OWN


def closed(blocks: list[Floats], lags: Floats) -> ScoreState:
    """State after all blocks, (rows, SIZE) each."""
    state = ScoreState.zeros(outputs=1, n=SIZE, N=COUNT, p=P, regressors=OWN, own_sums=OWN_SUMS)
    for rows in blocks:
        fresh = np.tril(rows.T @ rows)[None]
        scores.close(fresh, np.ones(1), FADE, lags, np.zeros(P), state)
        assert not fresh.any()
    return state


def drawn(seed: int, count: int = 40, rows: int = 60, memory: float = 0.0) -> list[Floats]:
    """Blocks of two columns, their rates, three witnesses, and torque with noise that the block before remembers."""
    rng, blocks, noise = np.random.default_rng(seed), list[Floats](), 0.0
    mixed = np.eye(SIZE - 1) + 0.3 * rng.standard_normal((SIZE - 1, SIZE - 1))
    for _ in range(count):
        columns = rng.standard_normal((rows, SIZE - 1)) @ mixed
        noise = memory * noise + rng.standard_normal()
        y = columns[:, :P] @ (2.0, -1.0) + 0.3 * noise * columns[:, 0] + 0.2 * rng.standard_normal(rows)
        blocks.append(np.column_stack([columns, y]))
    return blocks


class Reference:
    """What `closed` should find, by least squares over all rows, each weighed by what its block has faded by."""

    def __init__(self, blocks: list[Floats], lags: Floats) -> None:
        n = len(blocks)
        self.J, self.sums, self.weights = np.zeros((COUNT, COUNT)), np.zeros(COUNT), np.zeros(2)
        before = np.zeros(COUNT)
        for b in range(n):
            root = np.concatenate([np.full(len(one), FADE ** (0.5 * (b - i))) for i, one in enumerate(blocks[: b + 1])])
            rows = np.concatenate(blocks[: b + 1]) * root[:, None]
            self.theta = np.linalg.lstsq(rows[:, :P], rows[:, -1])[0]
            self.columns = self._seen(rows, lags)
            if b < YOUNG:
                continue
            u = self._seen(blocks[b], lags).T @ (blocks[b][:, -1] - blocks[b][:, :P] @ self.theta)
            f = FADE ** (n - 1 - b)
            self.J += f**2 * (np.outer(u, u) + 0.5 * FADE * (np.outer(u, before) + np.outer(before, u)))
            self.sums, self.weights = self.sums + f * u, self.weights + (f, f**2)
            before = u
        self.y = rows[:, -1]

    def _seen(self, rows: Floats, lags: Floats) -> Floats:
        """[φ φ̇θ w]."""
        return np.column_stack([rows[:, :P], rows[:, P : 2 * P] @ (lags * self.theta), rows[:, 2 * P : -1]])

    @property
    def covariance(self) -> Floats:
        """Covariance of the scores, without what their mean adds."""
        return np.asarray(self.J - np.outer(self.sums, self.sums) * self.weights[1] / self.weights[0] ** 2)

    @property
    def late(self) -> Floats:
        """What a lag that is known to ±LATE before the rows leaves in θ, but for its sign."""
        phi, lag = self.columns[:, :P], self.columns[:, P]
        along = np.linalg.lstsq(phi, lag)[0]
        z, way = lag - phi @ along, np.array([*-along, 1.0])
        told = (
            way @ self.J[: P + 1, : P + 1] @ way
            - (way @ self.sums[: P + 1]) ** 2 * self.weights[1] / self.weights[0] ** 2
        )
        variance = told / (z @ z) ** 2
        sure = LATE**2 / (variance + LATE**2)
        delay = sure * (z @ self.y) / (z @ z)
        return np.asarray(along * np.sqrt(delay**2 + (1.0 - sure) * LATE**2))


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_the_scores_covariance_is_without_their_mean(memory: float) -> None:
    blocks, lags = drawn(3, memory=memory), np.array([1.0, 0.5])
    told, wanted = closed(blocks, lags), Reference(blocks, lags)
    assert told.theta == pytest.approx(wanted.theta, rel=1e-9)
    covariance = np.empty_like(wanted.covariance)
    scores.write_covariance(told, covariance)
    assert covariance == pytest.approx(wanted.covariance, rel=1e-6)


def test_a_lag_that_nobody_knows_is_owed() -> None:
    blocks, lags = drawn(4, count=12), np.array([1.0, 0.5])
    told, wanted = closed(blocks, lags), Reference(blocks, lags)
    assert not told.coefficients.any()
    assert np.outer(told.lag, told.lag) == pytest.approx(np.outer(wanted.late, wanted.late), rel=1e-6)


def test_what_is_left_out_is_found_and_what_it_did_to_theta_is_its_bias() -> None:
    blocks = drawn(5)
    for rows in blocks:
        rows[:, -1] += 0.6 * rows[:, 2 * P + 1]  # the second of the three
    told = closed(blocks, np.ones(P))
    root = np.concatenate([np.full(len(one), FADE ** (0.5 * (len(blocks) - i - 1))) for i, one in enumerate(blocks)])
    rows = np.concatenate(blocks) * root[:, None]
    with_it = np.linalg.lstsq(rows[:, [0, 1, 2 * P + 1]], rows[:, -1])[0]
    assert np.flatnonzero(told.coefficients).tolist() == [2]
    assert told.coefficients[2] == pytest.approx(with_it[-1], rel=1e-9)
    assert told.theta - told.bias == pytest.approx(with_it[:P], rel=1e-9)
    left = [
        np.sum((rows[:, -1] - rows[:, c] @ np.linalg.lstsq(rows[:, c], rows[:, -1])[0]) ** 2)
        for c in ([0, 1], [0, 1, 5])
    ]
    power = np.sum(rows[:, -1] ** 2)
    assert told.unexplained == pytest.approx(np.sqrt(left[0] / power), rel=1e-9)
    assert told.gains[2] == pytest.approx((left[0] - left[1]) / power, rel=1e-9)
    assert told.explained == pytest.approx(np.sqrt(told.gains.sum()), rel=1e-9)


def in_bursts(seed: int, size: float) -> list[Floats]:
    """40 blocks, every second with a column of three times the size, which is left out; size: of its effect."""
    blocks = drawn(seed)
    for number, rows in enumerate(blocks):
        rows[:, -1] -= rows[:, :P] @ (2.0, -1.0)
        rows[:, 2 * P + 1] *= 3.0 if number % 2 else 0.5
        rows[:, -1] += rows[:, :P] @ (2.0, -1.0) + size * rows[:, 2 * P + 1]
    return blocks


def test_an_effect_that_comes_in_bursts_is_not_hidden_by_them() -> None:
    """Its score changes from block to block by as much as it is, which bounds t by the root of their number."""
    found = [closed(in_bursts(seed, 0.6), np.ones(P)).coefficients[2] for seed in range(8)]
    assert found == pytest.approx([0.6] * 8, rel=0.1)
    assert not any(closed(in_bursts(seed, 0.0), np.ones(P)).coefficients.any() for seed in range(20))


def test_noise_is_not_found() -> None:
    """No draw of noise alone names a column: at 2.2 deviations a fifth of these 60 draws of 16 blocks would."""
    assert not any(closed(drawn(100 + seed, count=16, rows=20), np.ones(P)).coefficients.any() for seed in range(60))


@pytest.mark.parametrize("blocks", [20.0, 50.0, 1000.0])
def test_the_level_is_students(blocks: float) -> None:
    import scipy.stats

    assert scores.critical(blocks) == pytest.approx(scipy.stats.t.isf(0.5e-5, blocks - 1.0), rel=0.02)
