"""Laws that remember, along a known path: stops against sliders, bristles against their differential equation."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.lugre import LuGreSettings
from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.memory import bristle, thresholds
from estimators.quantities import Axis, Floats
from estimators.rows import SIGNALS

pytestmark = pytest.mark.interpreted
REACHES = (0.003, 0.02)
T = np.arange(3000) * 1e-3
Q = 0.02 * np.sin(2.0 * T) + 0.004 * np.sin(11.0 * T)
V = 0.04 * np.cos(2.0 * T) + 0.044 * np.cos(11.0 * T)
NO_LOAD = np.zeros(len(T))
STOPS = PrandtlIshlinskiiSettings(thresholds=REACHES).law(Axis.ROTARY)
BRISTLE = LuGreSettings(reach=0.005, breakaway=1.4, speed=0.05).law(Axis.ROTARY)


def dragged(q: Floats, reach: float, slider: float) -> Floats:
    """Deflection of a spring whose other end is a slider, dragged along where the spring is at its end."""
    found = []
    for place in q:
        slider = min(max(slider, place - reach), place + reach)
        found.append((place - slider) / reach)
    return np.array(found)


def test_every_stop_is_a_spring_with_a_slider() -> None:
    columns = STOPS.columns(Q, V, NO_LOAD, STOPS.start)
    np.testing.assert_array_equal(columns[:, 0], V)
    for i, reach in enumerate(REACHES):
        np.testing.assert_allclose(columns[:, 1 + i], dragged(Q, reach, Q[0]), atol=1e-9)


def test_bristles_follow_lugres_differential_equation() -> None:
    """But for g, taken at the end of each millisecond: it falls by less than √(2/e) (B − 1)/v_s a rad/s."""
    late = math.sqrt(2.0 / math.e) * 0.4 / 0.05 * (0.08 + 0.484) * 1e-3

    def bends(t: float, state: list[float]) -> list[float]:
        v = 0.04 * math.cos(2.0 * t) + 0.044 * math.cos(11.0 * t)
        g = 1.0 + 0.4 * math.exp(-((v / 0.05) ** 2))
        return [(v - abs(v) * state[0] / g) / 0.005]

    zeta = solve_ivp(bends, (0.0, 3.0), [0.0], t_eval=T, rtol=1e-9, atol=1e-11, max_step=0.002).y[0]
    columns = BRISTLE.columns(Q, V, NO_LOAD, BRISTLE.start)
    np.testing.assert_array_equal(columns[:, 0], V)
    np.testing.assert_allclose(columns[:, 1], zeta, atol=late)
    rate = np.array([bends(t, [z])[0] for t, z in zip(T, zeta, strict=True)])
    np.testing.assert_allclose(columns[:, 2], rate, atol=2.0 * late * 0.084 / 0.005)  # |v|/r for each of ζ/g, both late


@pytest.mark.parametrize("law", [STOPS, BRISTLE], ids=["stops", "bristle"])
def test_rows_that_go_on_from_others_are_the_same_as_all_at_once(law: FrictionLaw) -> None:
    whole = law.columns(Q, V, NO_LOAD, law.start)
    memory = np.full((len(law.stops), 2), np.nan)
    parts = [
        law.columns(Q[cut], V[cut], NO_LOAD[cut], law.start, memory)
        for cut in (slice(0, 1), slice(1, 700), slice(700, 3000))
    ]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-12)
    np.testing.assert_allclose(memory[:, 1], Q[-1])
    np.testing.assert_allclose(memory[:, 0], whole[-1, 1 : 1 + len(law.stops)], atol=1e-12)


def test_a_place_that_stays_says_nothing_new_to_springs_that_are_remembered() -> None:
    still, speed = np.full(3, 0.4), np.array([0.3, -0.3, 0.0])
    slipped = STOPS.columns(still, speed, np.zeros(3), STOPS.start)
    np.testing.assert_array_equal(slipped[:, 1:], np.sign(speed)[:, np.newaxis] * [1.0, 1.0])
    memory = np.array([[0.5, 0.4], [-0.25, 0.4]])
    kept = STOPS.columns(still, speed, np.zeros(3), STOPS.start, memory)
    np.testing.assert_array_equal(kept[:, 1:], [[0.5, -0.25]] * 3)


def test_springs_without_channels_of_their_own_are_refused() -> None:
    signals, columns = np.zeros((4, 2, SIGNALS)), np.empty((4, 3))
    with pytest.raises(ValueError, match="expected 2 channels of stops after the measured ones"):
        STOPS.fill(signals, 0, 1, STOPS.start, columns)
    STOPS.fill(np.zeros((4, 3, SIGNALS)), 0, 1, STOPS.start, columns)


def test_a_joint_says_which_springs_its_friction_has() -> None:
    stops = RigidSettings(friction=PrandtlIshlinskiiSettings(thresholds=REACHES)).build()
    bristles = RigidSettings(friction=LuGreSettings(reach=0.005, breakaway=1.4, speed=0.05)).build()
    plain = RigidSettings().build()
    assert (thresholds(stops), bristle(stops)) == (REACHES, None)
    assert (thresholds(bristles), bristle(bristles)) == ((0.005,), (1.4, 0.05))
    assert (thresholds(plain), bristle(plain)) == ((), None)
