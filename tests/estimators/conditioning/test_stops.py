"""Stops against springs and sliders written out one by one."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from estimators.conditioning.stops import Stops, follow
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted


def followed(stops: Stops, values: Floats) -> Floats:
    """Rows (rows, channels) with the springs behind them."""
    wide = np.hstack([values, np.empty((len(values), len(stops.state.thresholds)))])
    for row in wide:
        follow(row, values.shape[1], stops.state)
    return wide


def test_follows_the_path_as_a_spring_with_a_slider_does() -> None:
    t = np.arange(4000) * 1e-3
    q = 0.02 * np.sin(2.0 * t) + 0.004 * np.sin(11.0 * t)
    found = followed(Stops((0.003, 0.02)), np.column_stack([q, np.zeros(4000)]))
    for column, reach in ((2, 0.003), (3, 0.02)):
        slider, wanted = q[0], []
        for place in q:  # the slider is dragged along where the spring is at its end
            slider = min(max(slider, place - reach), place + reach)
            wanted.append((place - slider) / reach)
        np.testing.assert_allclose(found[:, column], wanted, atol=1e-9)
    np.testing.assert_array_equal(found[:, 0], q)


def test_a_gap_hides_nothing_but_what_lies_in_it() -> None:
    q = np.concatenate([np.linspace(0.0, 0.1, 100), np.linspace(0.1, -0.1, 300)])
    holes = q.copy()
    holes[95:140:2] = np.nan
    whole = followed(Stops((0.01,)), q[:, None])[:, 1]
    found = followed(Stops((0.01,)), holes[:, None])[:, 1]
    assert np.isnan(found[np.isnan(holes)]).all()
    np.testing.assert_allclose(found[200:], whole[200:])


def test_how_rows_are_cut_does_not_matter() -> None:
    q = np.cumsum(np.random.default_rng(0).normal(0.0, 1e-3, (500, 1)), axis=0)
    one, other = Stops((0.001, 0.01)), Stops((0.001, 0.01))
    together = followed(one, q)
    apart = np.concatenate([followed(other, q[i : i + 13]) for i in range(0, 500, 13)])
    np.testing.assert_array_equal(together, apart)


def test_a_bristle_follows_lugres_differential_equation() -> None:
    reach, breakaway, speed = 0.005, 1.4, 0.05

    def place(t: float) -> float:
        return 0.03 * math.sin(2.0 * t) + 0.004 * math.sin(7.0 * t)

    def rate(t: float) -> float:
        return 0.06 * math.cos(2.0 * t) + 0.028 * math.cos(7.0 * t)

    def bends(t: float, state: list[float]) -> list[float]:
        v = rate(t)
        g = 1.0 + (breakaway - 1.0) * math.exp(-((v / speed) ** 2))
        return [(v - abs(v) * state[0] / g) / reach]

    t = np.arange(6000) * 1e-3
    theirs = solve_ivp(bends, (0.0, 6.0), [0.0], t_eval=t, rtol=1e-9, atol=1e-11, max_step=0.002).y[0]
    q = np.array([place(one) for one in t])
    ours = followed(Stops((reach,), period=1e-3, bristle=(breakaway, speed)), q[:, None])[:, 1]
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert np.abs(ours).max() > 1.1, "more than while sliding fast"
