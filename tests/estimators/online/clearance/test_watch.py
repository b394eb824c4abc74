"""The clearance of a bearing, live: a value that its deviation covers, no number on a short arc, growth, restarts."""

import math

import numpy as np
import pytest

from estimators.base import Event
from estimators.online.clearance.watch import APART, POINTS, ClearanceWatch
from estimators.quantities import Floats
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.journal import TICK, Journal, chirp

pytestmark = pytest.mark.compiled
WINDOW = APART * POINTS  # s


def places(clearance: float, seconds: float, seed: int, noise: float = 1e-7, arc: float = 2.0 * math.pi) -> Floats:
    """(rows, 2) m at 100 Hz: a pin that is pressed about by turns, round a centre that is not known."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 0.01)
    angle = 0.5 * arc * np.sin(2.0 * np.pi * 0.31 * t + rng.uniform(0.0, 6.0))
    circle = clearance * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(circle + (3e-5, -2e-5) + noise * rng.standard_normal((len(t), 2)))


def feed(to: ClearanceWatch, near: Floats, begin: float = 0.0, period: float = 0.01) -> list[Event]:
    events = []
    for first in range(0, len(near), 37):
        part = near[first : first + 37]
        time = 1 + np.round(1e9 * (begin + period * (first + np.arange(len(part))))).astype(np.int64)
        to.absorb(time, part)
        events += to.events()
    return events


def test_the_deviation_covers_the_error_for_seeds_clearances_and_noise() -> None:
    z = []
    for seed, clearance in enumerate(np.random.default_rng(91).uniform(2e-5, 2e-4, 8)):
        to = ClearanceWatch(0.01)
        events = feed(to, places(clearance, WINDOW + 0.1, seed, noise=(1e-7, 2e-6)[seed % 2]))
        assert [one.kind for one in events] == ["clearance_known"]
        z.append((to.report.clearance - clearance) / to.report.deviation)
    assert np.abs(z).max() < 3.0
    assert np.sqrt(np.mean(np.square(z))) < 1.3


def test_a_pin_that_touches_by_hertz_and_flies_at_times_is_covered_too() -> None:
    played = Journal(vertical=True, steel=Steel(clearance=60e-6)).play(chirp(6.0, 1.1, 2.7, 0.55))
    near = np.tile(played[::5, 2:4], (6, 1)) + 1e-7 * np.random.default_rng(3).standard_normal((7200, 2))
    to = ClearanceWatch(5.0 * TICK)
    feed(to, near, period=5.0 * TICK)
    assert abs(to.report.clearance - 60e-6) < 3.0 * to.report.deviation < 3e-6


def test_a_short_arc_gives_no_number_however_long_it_lasts() -> None:
    to = ClearanceWatch(0.01)
    assert not feed(to, places(5e-5, 50.0, 1, arc=1.2))
    assert math.isnan(to.report.clearance)
    assert [one.code for one in to.report.reasons] == ["clearance_arc"]


def test_noise_alone_is_no_clearance() -> None:
    to = ClearanceWatch(0.01)
    assert not feed(to, places(0.0, 35.0, 8, noise=1e-6))
    assert "clearance_none" in [one.code for one in to.report.reasons]


def test_growth_is_reported_and_never_by_a_window_that_is_half_of_each() -> None:
    to = ClearanceWatch(0.01)
    feed(to, places(5e-5, 40.0, 2))
    events, seen, codes = [], [], set()
    for second in range(45):
        events += feed(to, places(7e-5, 46.0, 3)[100 * second : 100 * second + 100], 40.0 + second)
        seen.append(to.report.clearance)
        codes |= {one.code for one in to.report.reasons}
    assert [one.kind for one in events] == ["clearance_grown"]
    assert to.grown
    assert "clearance_changing" in codes
    told = np.array([one for one in seen if math.isfinite(one)])
    near = np.minimum(np.abs(told - 5e-5), np.abs(told - 7e-5))
    assert near.max() < 3e-6, "either clearance, or no number"
    assert events[0].text == f"clearance has grown from {1e6 * to.first:.1f} µm, the last rows say {1e6 * seen[-1]:.1f}"
    to.refer()
    assert not to.grown
    assert not [one for one in feed(to, places(7e-5, 10.0, 4), 85.0) if one.kind == "clearance_grown"]
    assert to.first == pytest.approx(7e-5, rel=0.02)


def test_minutes_without_growth_tell_none() -> None:
    to, events = ClearanceWatch(APART), []
    for minute in range(3):
        near = places(5e-5, 60.0, 100 + minute, noise=1e-6)[::5]
        events += feed(to, near, 60.0 * minute, APART)
    assert [one.kind for one in events] == ["clearance_known"]


def test_spikes_and_missing_values_are_left_out() -> None:
    near = places(5e-5, 40.0, 5)
    near[::97] += 1e-3
    near[::41] = np.nan
    to = ClearanceWatch(0.01)
    feed(to, near)
    assert abs(to.report.clearance - 5e-5) < 3.0 * to.report.deviation < 3e-6


def test_the_first_window_outlives_a_restart() -> None:
    to = ClearanceWatch(0.01)
    assert to.keep() is None
    feed(to, places(5e-5, 40.0, 6))
    kept = to.keep()
    assert kept is not None
    after = ClearanceWatch(0.01)
    after.resume(kept)
    events = feed(after, places(8e-5, 45.0, 7))
    assert [one.kind for one in events] == ["clearance_grown"]
    assert after.first == to.first
    with pytest.raises(ValueError, match="another version"):
        ClearanceWatch(0.01).resume(kept | {"version": 0})
