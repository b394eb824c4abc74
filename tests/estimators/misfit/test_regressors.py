"""Products of a model's columns and of those that show what it leaves out, against the columns written out."""

import numpy as np
import pytest

from estimators.misfit import regressors
from estimators.quantities import Floats
from estimators.rows import ROUNDING, WEIGHT, moved

ROWS, P, SLOW, PERIOD = 60, 2, 0.005, 10_000_000
OWNERS = np.array([0, 1, 1])
SIZE = 2 * P + regressors.columns(True)
THETA, LEVEL = np.array([0.7, -1.2]), np.array([10.0, 20.0, 40.0])  # 3 % of the last: of the size of what is predicted


class Given:
    """Rows of two joints and three outputs: a gap, a row that is not finite, reversals, and rows that weigh less."""

    def __init__(self) -> None:
        rng, k = np.random.default_rng(11), np.arange(ROWS)
        self.time = PERIOD * np.where(k < 30, k, k + 5)
        t = 1e-9 * self.time[:, None] * (9.0, 7.0)
        self.q, self.v = 0.1 * np.sin(t + (0.0, 1.0)) + (0.0, 0.7), 0.2 * np.cos(t + (0.0, 1.0))
        self.phi, self.y = rng.standard_normal((ROWS, 3, P)), rng.standard_normal((ROWS, 3))
        self.y[12, 0], self.phi[44, 1, 0] = np.nan, np.inf
        self.motion = moved(self.q, self.v)
        self.motion[:, :, ROUNDING] = rng.uniform(0.5, 2.0, (ROWS, 2))
        self.motion[7, 1, WEIGHT], self.motion[50, 0, WEIGHT] = 0.25, 0.5
        self.speed = np.abs(self.v) + np.where(np.arange(ROWS) % 2, 0.02, 0.0)[:, None]
        weight = self.motion[:, OWNERS, WEIGHT]
        self.phi, self.y = self.phi * weight[..., None], self.y * weight

    def gathered(
        self, cuts: tuple[int, ...], remembers: bool = False, starting: bool = False, level: Floats | float = LEVEL
    ) -> regressors.BlockSums:
        """Products, those of rows with a reversal and after one, counts."""
        sums = regressors.BlockSums.of(OWNERS, P, regressors.columns(True), float(PERIOD), remembers)
        sums.theta[:], sums.level[:], sums.loads[:], sums.starting = THETA, level, (1.0, 0.0), starting
        for first, last in zip((0, *cuts), (*cuts, ROWS), strict=True):
            part = [one[first:last] for one in (self.time, self.phi, self.y, self.speed, self.motion)]
            regressors.gather(*part, SLOW, sums)
        return sums

    def accelerations(self, joint: int) -> Floats:
        """That after the high-pass of an elastic drive, and all of it (rows, 2)."""
        found, low, lower, high = np.zeros((ROWS, 2)), 0.0, 0.0, 0.0
        v, step = self.v[:, joint], 1e-9 * PERIOD
        for row in range(ROWS):
            if row == 0 or self.time[row] - self.time[row - 1] > 1.5 * PERIOD:
                low, lower, high = v[row], v[row], 0.0
                continue
            low += (1.0 - np.exp(-step / 0.05)) * (v[row] - low)
            lower += (1.0 - np.exp(-step / 0.05)) * (low - lower)
            found[row] = (v[row] - 2.0 * low + lower - high) / step, (v[row] - v[row - 1]) / step
            high = v[row] - 2.0 * low + lower
        return found

    def stops(self, joint: int) -> Floats:
        """Prandtl's stops (rows, stops), between −1 and 1."""
        found, last = np.zeros((ROWS, 3)), np.zeros(3)
        for row, step in enumerate(np.diff(self.q[:, joint], prepend=self.q[0, joint])):
            last = found[row] = np.clip(last + step / np.array([1e-3, 6e-3, 40e-3]), -1.0, 1.0)
        return found

    def written_out(self, output: int) -> tuple[Floats, Floats, Floats, list[int]]:
        """[φ φ̇ w y] of the rows that say something, [φ y] of those with a reversal and after one, and the numbers of
        the first."""
        j = OWNERS[output]
        stops, rows, turned, behind, kept = self.stops(j), list[Floats](), list[Floats](), list[Floats](), list[int]()
        last = -1  # row to which the change of φ is told
        for row in range(ROWS):
            phi, y, q, v = self.phi[row, output], self.y[row, output], self.q[row, j], self.v[row, j]
            rms, weight = self.speed[row, j], self.motion[row, j, WEIGHT]
            if not np.isfinite([*phi, y]).all():
                continue
            if abs(v) < 0.9 * (rms + 0.1 * SLOW):
                turned.append(np.append(phi, y))
                last = -1
                continue
            if abs(stops[row, 2]) < 1.0:
                behind.append(np.append(phi, y))
            rate = np.zeros(P)
            if last >= 0 and self.time[row] - self.time[last] < 1.5 * PERIOD:
                rate = (phi / weight - self.phi[last, output] / self.motion[last, j, WEIGHT]) / (1e-9 * PERIOD) * weight
            side = v / (rms + 0.1 * SLOW)
            shape = [v * abs(v), *(side * np.exp(-abs(v) / (n * SLOW)) for n in (6.0, 30.0)), abs(v), v**2]
            torque = phi @ THETA / weight
            near = [np.clip(torque / (share * LEVEL[output]), -1.0, 1.0) for share in (0.02, 0.1)]
            near.append(torque**3)
            high, a = self.accelerations(j)[row]
            angle = [f(n * q) for n in (1, 2, 3, 4) for f in (np.sin, np.cos)]
            off = [np.cos(q) * v, -np.sin(q) * v, np.cos(q) * a - np.sin(q) * v**2, -np.sin(q) * a - np.cos(q) * v**2]
            carried = side * abs(phi[0] * THETA[0] / weight)
            worn = [side * np.sin(q), side * np.cos(q)]
            own = [*shape, *(stops[row] - side), *near, high, carried, *angle, *off, *worn]
            rows.append(np.concatenate([phi, rate, weight * np.array(own), [y]]))
            last = row
            kept.append(row)
        return np.array(rows), np.array(turned), np.array(behind), kept


def products_of(rows: Floats) -> Floats:
    """Sums of the products of the columns [φ φ̇ w y], as a lower triangle.

    A change of φ lies between two rows, so it is multiplied by the mean of both.
    """
    rate = slice(P, 2 * P)
    before = np.vstack([np.zeros(SIZE), rows[:-1]])
    mean = 0.5 * (rows + np.where(rows[:, rate].any(axis=1)[:, None], before, 0.0))  # without a change, by itself
    found = rows.T @ rows
    found[rate], found[:, rate] = rows[:, rate].T @ mean, mean.T @ rows[:, rate]
    found[rate, rate] = mean[:, rate].T @ mean[:, rate]
    return np.asarray(np.tril(found))


def test_an_error_of_the_position_is_no_lag() -> None:
    """Noise of φ that the torque does not follow: with the row's own φ the lag would be half a row."""
    rng, rows = np.random.default_rng(5), 4000
    time, noise = PERIOD * np.arange(rows), rng.standard_normal((rows, 1, 1))
    motion = moved(np.zeros((rows, 1)), np.ones((rows, 1)))
    sums = regressors.BlockSums.of(np.array([0]), 1, regressors.columns(True), float(PERIOD), False)
    regressors.gather(time, noise, -noise[:, :, 0], np.ones((rows, 1)), motion, SLOW, sums)
    lag = sums.products[0, -1, 1] / sums.products[0, 1, 1]
    assert abs(lag) < 0.01 * 1e-9 * PERIOD


def test_the_products_are_those_of_the_columns() -> None:
    given = Given()
    sums = given.gathered(())
    products, special = sums.products, sums.special
    for output in range(3):
        rows, reversing, behind, kept = given.written_out(output)
        assert len(reversing) > 3
        assert 5 < len(behind) < len(rows)
        np.testing.assert_allclose(products[output], products_of(rows), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(special[output], np.tril(reversing.T @ reversing), rtol=1e-9)
        np.testing.assert_allclose(special[3 + output], np.tril(behind.T @ behind), rtol=1e-9)
        v, rms = given.motion[:, OWNERS[output], 1], given.speed[:, OWNERS[output]]
        usable = np.isfinite(given.phi[:, output]).all(axis=1) & np.isfinite(given.y[:, output])
        clear = usable & (np.abs(v) >= 0.99 * (rms + 0.1 * SLOW))
        own = np.column_stack([given.phi[:, output], given.y[:, output]])[clear]
        assert 5 < len(own) < len(rows)
        np.testing.assert_allclose(special[6 + output], np.tril(own.T @ own), rtol=1e-9, atol=1e-12)
        joint = OWNERS[output]
        assert sums.count[output] == len(rows)
        assert sums.turned_count[output] == len(reversing)
        assert sums.forth[output] == (given.v[kept, joint] > 0.0).sum()
        rest = [
            r for r in range(ROWS) if r not in kept and np.isfinite([*given.phi[r, output], given.y[r, output]]).all()
        ]
        noise = given.motion[:, joint, ROUNDING]
        assert np.isclose(sums.noise[output], noise[kept].sum())
        assert np.isclose(sums.turned_noise[output], noise[rest].sum())


def test_during_a_start_the_torque_is_the_predicted_one_and_widths_follow_the_rows_so_far() -> None:
    """Of the measured one, whose noise is in what is to be explained, a column would explain that."""
    given, cube = Given(), 2 * P - 1 + regressors.CAUSES.index(regressors.SATURATION)
    known, starting = given.gathered(()), given.gathered((), starting=True, level=0.0)
    for output in range(3):
        *_, kept = given.written_out(output)
        weight = given.motion[kept, OWNERS[output], WEIGHT]
        y, torque = given.y[kept, output], given.phi[kept, output] @ THETA / weight
        assert starting.products[output, -1, cube] == pytest.approx(known.products[output, -1, cube])
        so_far = np.sqrt(np.cumsum(y**2) / np.arange(1, len(y) + 1))
        near = np.clip(torque / (0.1 * so_far), -1.0, 1.0)
        assert starting.products[output, -1, cube - 1] == pytest.approx(np.sum(y * weight * near))


def test_how_rows_are_cut_does_not_matter() -> None:
    given = Given()
    whole, cut = given.gathered(()), given.gathered((1, 7, 8, 13, 31, 45))
    for one in whole.fields():
        if one.kept:
            first, second = np.asarray(getattr(whole, one.name)), np.asarray(getattr(cut, one.name))
            assert first.tobytes() == second.tobytes(), one.name


def test_the_high_pass_of_an_elastic_drive_is_the_second_derivative_at_low_frequency() -> None:
    """(sT)²/(1 + sT)² of the acceleration; in steps of 10 ms each low-pass is 45 ms behind, for 50 ms without steps."""
    step, w = 0.01, 2.0
    T = step / np.expm1(step / 0.05)
    t = np.arange(4000) * step
    sums = regressors.BlockSums.of(np.array([0]), 1, regressors.columns(True), 1e9 * step, False)
    v = np.cos(w * t)
    found = np.empty(len(t))
    for row in range(len(t)):
        motion = moved(np.array([[np.sin(w * t[row]) / w]]), np.array([[v[row]]]))
        parts = np.array([round(1e9 * t[row])]), np.ones((1, 1, 1)), np.ones((1, 1)), np.array([[1.0]]), motion
        regressors.gather(*parts, SLOW, sums)
        found[row] = sums.rates[0, 0]
    wave = np.exp(1j * w * t[2000:])
    gain = 2.0 * np.mean(found[2000:] * np.conj(wave)) / 1j  # of the acceleration, −w sin wt
    exact = (1j * w * T / (1.0 + 1j * w * T)) ** 2
    assert abs(gain / w - exact) < 0.05 * abs(exact)


def test_a_model_with_a_memory_of_its_own_is_not_asked_for_one() -> None:
    memory = slice(2 * P + 5, 2 * P + 8)
    assert not Given().gathered((), remembers=True).products[:, memory].any()
    assert Given().gathered(()).products[:, memory].any()


def test_the_slow_acceleration_is_that_behind_two_low_passes() -> None:
    given = Given()
    sums = given.gathered(())
    for output, joint in enumerate(OWNERS):
        _, _, _, kept = given.written_out(output)
        fast, all_of_it = given.accelerations(joint).T
        follows = np.diff(given.time, prepend=-np.inf) < 1.5 * PERIOD
        once = np.zeros(ROWS)  # the acceleration after one low-pass
        for row in range(1, ROWS):
            once[row] = once[row - 1] if follows[row] else 0.0
            once[row] += (1.0 - np.exp(-0.2)) * (all_of_it[row] - once[row]) if follows[row] else 0.0
        z = ((fast - all_of_it + 2.0 * once) * given.motion[:, joint, WEIGHT])[kept]
        phi, y = given.phi[kept, output], given.y[kept, output]
        assert np.allclose(sums.slow[output], [*(z @ phi), z @ y, z @ z], rtol=1e-9, atol=1e-12)
