"""What a window says about θ and η, against least squares written out."""

import numpy as np
import pytest

from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.recursive.prior import Prior, nothing
from estimators.rows import POSITION, VELOCITY, Rows
from estimators.window.row_history import RowHistory
from estimators.window.score_test import Score, explain
from hil_rig.papers.space_joint.case2 import OMEGAS, case
from tests.support.signals.histories import put

pytestmark = pytest.mark.compiled


def tangent(rows: Rows, eta: Floats, theta: Floats, k: int) -> Floats:
    """∂(Φθ)/∂ln η_k by hand: τ = C1·tanh(v/ω1) + C2·v·exp(−|v/ω_s|)."""
    v = rows.samples[:, 0, VELOCITY, 0]
    if k == 0:
        return -theta[0] * v / eta[0] / np.cosh(v / eta[0]) ** 2
    return theta[1] * v * np.exp(-np.abs(v / eta[1])) * np.abs(v) / eta[1]


@pytest.mark.parametrize("known", [False, True])
def test_it_is_one_gauss_newton_step_of_theta_and_eta(known: bool) -> None:
    model = FrictionOnlySettings().build()
    shape, rows, eta = NonlinearBlock(model, np.ones(1)), case(3, 0.01, end=9.0).rows, 1.05 * OMEGAS
    rows.y[50:60] = np.nan
    shape.refill(rows, eta)
    history = RowHistory(2000)
    put(history, rows)
    before = nothing(4)
    if known:
        before = Prior(np.array([20.0, 500.0, 70.0, 41.0]), np.diag([0.0, 0.0, 3.0, 8.0]))
    slopes = history.slopes(rows, shape, eta)
    noise = np.array([0.3])
    found = explain(rows, slopes, history.total - len(rows.time), shape, noise, before)
    told = np.isfinite(rows.y[:, 0])
    root = np.sqrt(before.information)
    A = np.concatenate([rows.phi[told, 0] / np.sqrt(noise), root])
    b = np.concatenate([rows.y[told, 0] / np.sqrt(noise), root @ before.theta])
    theta, *_ = np.linalg.lstsq(A, b, rcond=None)
    assert found.theta == pytest.approx(theta, rel=1e-9)
    residual = (b - A @ theta)[: told.sum()]
    freedom = told.sum() - 4 + (2 if known else 0)
    assert found.variance == pytest.approx(residual @ residual / freedom, rel=1e-9)
    T = np.stack([tangent(rows, eta, theta, k)[told] for k in range(2)], axis=1) / np.sqrt(noise)
    J = np.concatenate([A, np.concatenate([T, np.zeros((4, 2))])], axis=1)
    step, *_ = np.linalg.lstsq(J, b - A @ theta, rcond=None)
    assert found.step == pytest.approx(step[4:], rel=1e-4)  # the slopes are central differences
    assert found.inverse == pytest.approx(np.linalg.inv(J.T @ J), rel=1e-4)
    old = (rows.y[told, 0] - rows.phi[told, 0] @ before.theta) / np.sqrt(noise)
    assert found.unchanged == pytest.approx(old @ old - residual @ residual, rel=1e-9)


def test_slopes_are_formed_once_and_anew_for_another_eta() -> None:
    model = FrictionOnlySettings().build()
    shape, rows = NonlinearBlock(model, np.ones(1)), case(3, 0.01, end=60.0).rows
    history = RowHistory(500)
    for first in range(0, 6000, 70):
        put(history, rows.part(slice(first, min(6000, first + 70))))
        window = history.since(history.total - 300)
        for eta in (OMEGAS, OMEGAS) if first % 1000 else (OMEGAS, 1.1 * OMEGAS):
            ring = history.slopes(window, shape, eta)
            numbers = np.arange(history.total - len(window.time), history.total)
            assert np.array_equal(ring[numbers % len(ring)], shape.slopes(window, eta))
    assert window.samples.shape[1:] == (1, 3, 1)
    assert not np.array_equal(window.samples[:, 0, POSITION], window.samples[:, 0, VELOCITY])


def test_slopes_that_a_worker_has_formed_are_taken_and_the_rows_around_them_are_formed() -> None:
    model = FrictionOnlySettings().build()
    shape, rows = NonlinearBlock(model, np.ones(1)), case(3, 0.01, end=12.0).rows
    history = RowHistory(900)
    put(history, rows)
    window, marked = history.since(500), np.full((300, len(shape.moving), 2), 7.0)  # of rows 600 to 900
    history.take_slopes(marked, 600, shape, OMEGAS)
    ring = history.slopes(window, shape, OMEGAS)[np.arange(500, 1200) % history.room]
    own = shape.slopes(window, OMEGAS)
    assert np.array_equal(ring[100:400], marked)
    assert np.array_equal(ring[:100], own[:100])
    assert np.array_equal(ring[400:], own[400:])
    assert np.array_equal(
        history.slopes(window, shape, 1.1 * OMEGAS)[600 % history.room], shape.slopes(window, 1.1 * OMEGAS)[100]
    )


def test_directions_that_a_window_does_not_tell_have_a_large_spread() -> None:
    model = FrictionOnlySettings().build()
    shape, rows = NonlinearBlock(model, np.ones(1)), case(3, 0.01, end=9.0).rows
    shape.refill(rows, OMEGAS)
    whole = look_at(shape, rows, nothing(4))
    rows.phi[:, 0, 3] = 0.0
    zero = look_at(shape, rows, nothing(4))
    assert zero.spread[3] > 1e5 * whole.spread[3]
    assert (zero.spread[:3] <= 1.001 * whole.spread[:3]).all()
    rows.phi[:, 0, 3] = rows.phi[:, 0, 2] * (1.0 + 1e-8)
    alike = look_at(shape, rows, nothing(4))
    assert (alike.spread[2:] > 1e3 * whole.spread[2:]).all()
    assert alike.theta[2] + alike.theta[3] == pytest.approx(zero.theta[2], rel=1e-3)


def look_at(shape: NonlinearBlock, rows: Rows, before: Prior) -> Score:
    history = RowHistory(2000)
    put(history, rows)
    return explain(rows, history.slopes(rows, shape, OMEGAS), 0, shape, np.ones(1), before)
