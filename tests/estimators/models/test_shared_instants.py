"""Samples that neighbouring rows share: kept once, and the same columns to the bit, in the core or in a worker."""

import pickle

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import distinct, smooth
from estimators.recursive.prior import nothing
from estimators.refit.job import job, run
from estimators.refit.settings import RefitSettings
from estimators.rows import ARGUMENTS, Rows
from estimators.window.row_history import RowHistory
from tests.support.signals.histories import put

LOST = slice(4000, 4003)  # samples


@pytest.fixture(scope="module")
def conditioner() -> Conditioner:
    return Conditioner(FrictionOnlySettings().build(), 1e-3)


@pytest.fixture(scope="module")
def rows(conditioner: Conditioner) -> Rows:
    """9 s at 1 kHz with a hole, a torque of the model's own and noise."""
    t = np.arange(9000) * 1e-3
    position, velocity = 0.8 * np.sin(0.9 * t) + 0.1 * np.sin(4.0 * t), 0.72 * np.cos(0.9 * t) + 0.4 * np.cos(4.0 * t)
    torque = 25.0 * np.tanh(velocity / 0.07) + 500.0 * velocity * np.exp(-np.abs(velocity / 0.12)) + 76.0 * velocity
    torque += 40.0 * position + np.random.default_rng(0).normal(0.0, 0.3, len(t))
    values = np.column_stack([position, torque])
    values[LOST] = np.nan
    return conditioner.absorb(np.round(1e9 * t).astype(np.int64), values)


@pytest.mark.compiled
@pytest.mark.parametrize("arguments", [1, ARGUMENTS])
def test_each_instant_is_kept_once_and_every_row_finds_its_own(rows: Rows, arguments: int) -> None:
    stretch, first = distinct(rows.samples[:, 0], arguments)
    taps = rows.samples.shape[3]
    under = first[:, np.newaxis] + np.arange(taps)
    assert np.array_equal(stretch[:, under].transpose(1, 0, 2), rows.samples[:, 0, :arguments])
    steps = np.diff(first)
    assert (steps == taps).sum() == 1, "the hole, and nothing else, begins a new stretch"
    assert (steps == 10).sum() == len(steps) - 1


@pytest.mark.compiled
def test_rows_in_any_order_and_rows_of_one_sample_are_found_too(rows: Rows) -> None:
    seen = rows.samples[:, 0]
    for samples in (seen[np.random.default_rng(1).permutation(len(seen))], seen[:, :, :1]):
        stretch, first = distinct(samples, ARGUMENTS)
        under = first[:, np.newaxis] + np.arange(samples.shape[2])
        assert np.array_equal(stretch[:, under].transpose(1, 0, 2), samples)


@pytest.mark.compiled
def test_columns_are_the_same_to_the_bit_row_by_row_all_at_once_and_from_a_worker(
    conditioner: Conditioner, rows: Rows
) -> None:
    shape = NonlinearBlock(FrictionOnlySettings().build(), conditioner.taps)
    task = job(shape, rows, np.ones(1), nothing(4), False, RefitSettings())
    outcome = run(pickle.loads(pickle.dumps(task)))
    at_once, one_by_one = rows._replace(phi=rows.phi.copy()), rows._replace(phi=rows.phi.copy())
    shape.refill(at_once, outcome.eta)
    for row in range(len(rows.time)):
        shape.refill(one_by_one.part(slice(row, row + 1)), outcome.eta)
    assert (at_once.phi != rows.phi)[:, 0, shape.moving].all()
    assert np.array_equal(at_once.phi, one_by_one.phi)
    assert np.array_equal(at_once.phi[:, 0, shape.moving], outcome.columns)


@pytest.mark.compiled
def test_a_job_is_no_larger_than_what_it_says(conditioner: Conditioner, rows: Rows) -> None:
    shape = NonlinearBlock(FrictionOnlySettings().build(), conditioner.taps)
    task = job(shape, rows, np.ones(1), nothing(4), False, RefitSettings())
    told = rows.phi.nbytes + rows.y.nbytes + 9000 * 8  # bytes: the velocity alone is looked at, once per sample
    assert len(pickle.dumps(task)) < told + 8 * len(rows.time) + 4096


@pytest.mark.compiled
def test_rows_are_refilled_when_someone_looks_back_so_far_and_not_before(rows: Rows) -> None:
    history, filled = RowHistory(500), list[int]()

    def refill(old: Rows) -> None:
        old.phi[:] = 7.0
        filled.append(len(old.time))

    put(history, rows.part(slice(0, 400)))
    history.outdate(300, refill)
    assert np.array_equal(history.since(300).phi, rows.phi[300:400])
    assert filled == []
    assert (history.since(250).phi[:50] == 7.0).all()
    assert np.array_equal(history.since(250).phi[50:], rows.phi[300:400])
    assert filled == [50]
    put(history, rows.part(slice(400, 800)))  # the oldest leave, those that are outdated among them
    begin = history.oldest
    assert 800 - 1.25 * 500 <= begin <= 300
    assert np.array_equal(history.since(300).phi, rows.phi[300:800])
    assert filled == [50]
    history.since(0)
    assert filled == ([50, 250 - begin] if begin < 250 else [50]), "only what is still there, and not yet written"


@pytest.mark.interpreted
@pytest.mark.parametrize("arguments", [1, 2, ARGUMENTS])
@pytest.mark.parametrize("taps", [1, 2, 7])
def test_windows_at_any_distance_are_one_stretch_as_far_as_they_overlap(arguments: int, taps: int) -> None:
    """Windows over a long series, at steps that change, with gaps, and one that stays where it was."""
    series = np.random.default_rng(4).normal(size=(ARGUMENTS, 200))
    begins = np.cumsum([0, 3, 3, 3, 1, 6, 7, 20, 3, 3, 0, 2, 2, 50, 1])
    samples = np.array([series[:, b : b + taps] for b in begins])
    stretch, first = distinct(samples, arguments)
    assert len(stretch) == arguments
    for row, begin in enumerate(first):
        np.testing.assert_array_equal(stretch[:, begin : begin + taps], samples[row, :arguments])
    if taps == 7:  # an instant is kept twice where the step changes back to a smaller one, or not at all
        seen = {int(b) + k for b in begins for k in range(taps)}
        assert len(seen) <= stretch.shape[1] < len(begins) * taps
        even, _ = distinct(np.array([series[:, b : b + taps] for b in range(0, 60, 3)]), arguments)
        assert even.shape[1] == 57 + taps


@pytest.mark.interpreted
def test_a_rows_kernel_is_laid_over_its_own_instants() -> None:
    random = np.random.default_rng(5)
    columns, first, g = random.normal(size=(40, 4)), np.array([0, 3, 20, 35]), random.normal(size=5)
    own, places = np.array([3, 1]), np.array([4, 2])
    phi = np.zeros((4, 2, 6))
    smooth(columns, first, g, own, -1.0, 1, places, phi)
    expected = np.zeros_like(phi)
    for row, begin in enumerate(first):
        for column, place in zip(own, places, strict=True):
            expected[row, 1, place] = -np.dot(g, columns[begin : begin + 5, column])
    np.testing.assert_allclose(phi, expected, rtol=1e-12, atol=1e-15)
