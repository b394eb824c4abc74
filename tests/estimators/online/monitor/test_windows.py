"""What a window says to a monitor, in numbers, against least squares written out."""

from typing import Any

import numpy as np
import pytest

from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online.eta.in_force import EtaInForce
from estimators.online.eta.lookback import Lookback
from estimators.online.judgement.validity import Validity
from estimators.online.monitor.base import Before, Moment, Purpose, WindowRequest
from estimators.online.relearning import Windows
from estimators.quantities import Floats
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner
from estimators.recursive.prior import Prior, nothing
from estimators.rows import Rows
from estimators.window.row_history import RowHistory
from tests.support.signals.histories import put

ROW, ROWS, CHANGED = 0.01, 700, 440
SIGMA, OVERLAP, USUAL = 0.2, 2.5, 1.3
ETA = np.array([0.07, 0.15])  # ω1, ω_s in force, rad/s
BEFORE, AFTER = np.array([25.0, 300.0, 40.0, 20.0]), np.array([30.0, 300.0, 55.0, 20.0])
COVARIANCE = np.array([[4e-4, 1e-4], [1e-4, 9e-4]])  # of ln η
PRIOR = Prior(BEFORE + (0.0, 0.0, 1.0, 0.5), np.diag([0.0, 0.0, 2.0, 0.5]))


def speed() -> Floats:
    t = ROW * np.arange(ROWS)
    return np.asarray(0.3 * np.sin(5.0 * t) + 0.15 * np.sin(11.0 * t + 1.0))


def columns() -> Floats:
    """Coulomb, Stribeck, viscous, spring: (rows, 4), under η in force."""
    v = speed()
    peak = v * np.exp(-np.abs(v) / ETA[1])
    return np.stack([np.tanh(v / ETA[0]), peak, v, ROW * np.cumsum(v)], axis=1)


def tangents(theta: Floats) -> Floats:
    """∂(Φθ)/∂ln η, (rows, 2)."""
    v = speed()
    first = -theta[0] * v / ETA[0] / np.cosh(v / ETA[0]) ** 2
    return np.stack([first, theta[1] * v * np.exp(-np.abs(v) / ETA[1]) * np.abs(v) / ETA[1]], axis=1)


def measured() -> Floats:
    """θ changes at one row, ln η by −0.02 and 0.03 from the first one on."""
    theta = np.where((np.arange(ROWS) < CHANGED)[:, None], BEFORE, AFTER)
    noise = SIGMA * np.random.default_rng(8).standard_normal(ROWS)
    return np.asarray((columns() * theta).sum(axis=1) + tangents(BEFORE) @ (-0.02, 0.03) + noise)


def windows(oldest: int = 0) -> Windows:
    """Everything as it is while an alarm stands; rows before the oldest are no longer there."""
    phi, y, v = columns(), measured(), speed()
    samples = np.stack([v, phi[:, 3], 0.0 * v], axis=1)[:, None, :, None]
    time = np.arange(ROWS) * round(1e9 * ROW)
    learner, history = Learner(4, 1, ROW, Alarm()), RowHistory(2 * ROWS)
    model = FrictionOnlySettings().build()
    eta, validity = EtaInForce(model, np.ones(1), OVERLAP), Validity(model.parameters)
    eta.state.eta, eta.state.covariance, eta.state.sigma = ETA.copy(), COVARIANCE.copy(), np.sqrt(np.diag(COVARIANCE))
    leverage = np.sqrt(np.mean(phi**2, axis=0)) / SIGMA
    learner.learn(phi[:300, None], y[:300, None], np.array([SIGMA**2]), leverage, 10.0, BEFORE)
    for part in (slice(oldest), slice(oldest, ROWS)):
        history.clear()  # numbers go on
        put(history, Rows(time[part], phi[part, None], y[part, None], np.abs(v)[part, None], samples[part]))
    lookback = Lookback(learner, history, eta, validity, ROW)
    own = np.concatenate([phi[:300], tangents(BEFORE)[:300]], axis=1) / SIGMA
    lookback.state.usual, lookback.state.motions, lookback.before = USUAL, own.T @ own / 300, PRIOR
    return Windows(learner, history, eta, lookback)


def moment(now: int = ROWS) -> Moment:
    numbers: dict[str, Any] = {"row": ROW, "block": 10, "now": now, "span": 126, "needed": 190.0, "capacity": 1400}
    states: dict[str, Any] = {"searching": False, "suspicious": False, "basis": 300, "moved": now, "elapsed": 1.0}
    return Moment(**numbers, **states, variance=1.0, level=1.0, covered=True)


def expected(first: int, known: Prior, change: bool) -> dict[str, Any]:
    """Numbers that the evidence of a window from row `first` on should have, by NumPy."""
    root = known.root()
    A, b = columns()[first:] / SIGMA, measured()[first:] / SIGMA
    count = len(b)
    theta = np.linalg.lstsq(np.concatenate([A, root]), np.append(b, root @ known.theta))[0]
    square = float(np.sum((b - A @ theta) ** 2))
    variance = square / (count - 4 + len(root))
    J = np.concatenate([A, tangents(theta)[first:] / SIGMA], axis=1)
    J = np.concatenate([J, np.pad(root, ((0, 0), (0, 2)))])
    left = np.append(b - A @ theta, root @ (known.theta - theta))
    C, step = np.linalg.inv(J.T @ J), np.linalg.lstsq(J, left)[0][4:]
    noise = OVERLAP * (USUAL if change else max(USUAL, variance))
    start = np.concatenate([columns()[:300], tangents(BEFORE)[:300]], axis=1) / SIGMA
    return {
        "variance": variance,
        "signal": float(np.mean(b**2)),
        "unchanged": float(np.sum((b - A @ known.theta) ** 2)) - square,
        "step": step,
        "sigma": np.sqrt(noise * np.diag(C)[4:]),
        "gain": float(step @ np.linalg.inv(noise * C[4:, 4:] + COVARIANCE) @ step),
        "reach": OVERLAP * float(np.mean(np.einsum("ra,ab,rb->r", start, C, start))),
    }


@pytest.mark.parametrize(
    ("purpose", "before", "asked"),
    [
        (Purpose.CHANGE, Before.CHANGE, {"gain", "reach"}),
        (Purpose.CHANGE, Before.NOTHING, {"gain", "reach"}),
        (Purpose.DRIFT, Before.NOTHING, {"gain"}),
        (Purpose.SHARPEN, Before.NOTHING, set()),
    ],
)
@pytest.mark.parametrize("first", [CHANGED, 300])
def test_a_window_is_explained_with_eta_frozen(purpose: Purpose, before: Before, asked: set[str], first: int) -> None:
    """From before the change on nothing explains it, and the window's own residual counts where it is the larger."""
    found = windows().examine(WindowRequest(purpose, first, before, 0), moment()).evidence
    wanted = expected(first, PRIOR if before is Before.CHANGE else nothing(4), purpose is Purpose.CHANGE)
    if before is Before.NOTHING:
        assert (wanted["variance"] > USUAL) is (first == 300)
    for name in ("gain", "reach"):
        if name not in asked:
            assert np.isnan(getattr(found, name)), "it is not asked for"
            del wanted[name]
    for name, value in wanted.items():
        # tangents are central differences of 1e-3: their third derivatives are of the size of the first
        assert getattr(found, name) == pytest.approx(value, rel=1e-4), name
    assert (found.purpose, found.first, found.now, found.rows) == (purpose, first, ROWS, ROWS - first)
    assert (found.needed, found.span, found.usual, found.overlap) == (190.0, 126, USUAL, OVERLAP)
    assert found.known == pytest.approx(np.sqrt(np.diag(COVARIANCE)))
    assert found.parameters == 4


@pytest.mark.parametrize("guessed", [CHANGED - 12, CHANGED, CHANGED + 15])
def test_a_change_is_placed_where_it_most_likely_came_and_rows_of_both_sides_are_left_out(guessed: int) -> None:
    """Rows whose kernel sees both sides: as many say the same, rounded up, less one."""
    found = windows().examine(WindowRequest(Purpose.CHANGE, guessed, Before.CHANGE, 20), moment()).evidence
    assert abs(found.first - (CHANGED + 2)) <= 1, "a row at a speed that tells nothing may be of either side"
    assert found.rows == ROWS - guessed, "since the change, as the alarm has it"
    wanted = expected(found.first, PRIOR, change=True)
    assert found.unchanged == pytest.approx(wanted["unchanged"], rel=1e-4)


def test_a_change_is_placed_among_the_rows_that_are_there() -> None:
    """Twenty rows before the guess are asked for, ten are there."""
    found = windows(oldest=CHANGED - 13).examine(
        WindowRequest(Purpose.CHANGE, CHANGED - 3, Before.CHANGE, 20), moment()
    )
    assert abs(found.evidence.first - (CHANGED + 2)) <= 1


def test_what_was_known_before_is_what_was_asked_for() -> None:
    shown = windows()
    assert shown.before(Before.CHANGE) is PRIOR
    assert not shown.before(Before.NOTHING).information.any()
    now = shown.before(Before.NOW)
    assert now.theta == pytest.approx(np.linalg.lstsq(columns()[:300], measured()[:300])[0], rel=1e-2)
    assert np.flatnonzero(now.information.any(axis=0)).tolist() == [], "all columns here are friction's own"
