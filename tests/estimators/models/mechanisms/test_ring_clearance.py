"""What the rows of a ring say of its bearing's clearance, from rows that are the equation of the ring itself."""

import numpy as np
import pytest

from estimators.models.mechanisms.pin_circle import BINS
from estimators.models.mechanisms.ring import SWINGS, RingClearance, RingRows, load_direction, ring_clearance
from estimators.quantities import Floats

RADIUS, SKEW, HEAD = 0.03, 2e-3, 0.7  # m, s, rad from the upright


def told(clearance: float, turns: float, noise: float = 0.0, twist: float = 0.0) -> RingClearance:
    """A minute at 100 Hz; turns: of the load around the pin; twist: m of the ring for each N·m of a torque."""
    t = np.arange(6000) * 0.01
    at, random = turns * 2.0 * np.pi * t / 60.0, np.random.default_rng(3)
    speed, torque = 0.5 * np.cos(1.9 * t), 5.0 * np.cos(at - HEAD) * (1.0 + 0.3 * np.sin(0.05 * at))
    shift = 1e-3 + RADIUS * SKEW * speed + clearance * np.cos(at - HEAD) + twist * torque
    shift += noise * random.standard_normal(len(t))
    rows = RingRows(np.sin(1.9 * t) * 0.5 / 1.9, speed, -0.95 * np.sin(1.9 * t), shift, torque)
    return ring_clearance(rows, np.column_stack([np.cos(at), np.sin(at)]), RADIUS)


@pytest.mark.parametrize("clearance", [2e-5, 2e-4])
def test_half_of_what_the_ring_swings_by_is_the_clearance(clearance: float) -> None:
    found = told(clearance, 12.0)
    assert found.clearance == pytest.approx(clearance, rel=0.02)
    assert found.halves == pytest.approx((clearance, clearance), rel=0.02)
    assert found.skew == pytest.approx(SKEW, rel=0.02)
    assert found.late == pytest.approx(0.5 * SKEW**2 * RADIUS * 0.95, rel=0.05)
    assert found.explained > 0.98
    assert found.swings == pytest.approx(24, abs=2)
    assert found.arc == pytest.approx(2.0 * np.pi)
    assert found.enough


def test_without_swings_it_is_that_of_the_fit() -> None:
    found = told(1e-4, 0.9)
    assert found.swings < SWINGS
    assert found.clearance == pytest.approx(1e-4, rel=0.02)
    assert np.isnan(found.halves).all()
    assert found.deviation >= 0.03 * found.clearance
    assert found.enough


def test_what_the_load_does_not_explain_is_no_clearance() -> None:
    found = told(1e-5, 12.0, noise=1e-4)
    assert 0.0 <= found.explained < 0.1
    assert not found.enough


def test_a_swing_that_grows_with_the_torque_is_a_twist() -> None:
    assert told(1e-4, 12.0, noise=1e-7).grows == pytest.approx(0.0, abs=0.02)
    assert told(5e-5, 12.0, noise=1e-7, twist=1e-5).grows == pytest.approx(0.5, abs=0.1)


def test_fewer_rows_than_places_of_the_load_are_refused() -> None:
    few = RingRows(*np.zeros((5, BINS - 1)))
    with pytest.raises(ValueError, match=f"expected at least {BINS} rows of both encoders, found {BINS - 1}"):
        ring_clearance(few, np.ones((BINS - 1, 2)), RADIUS)


@pytest.mark.parametrize(
    ("angle", "speed", "acceleration", "pull", "wanted"),
    [
        (0.0, 0.0, 0.0, 40.0, (-1.0, 0.0)),  # weight alone: away from the upright
        (0.3, 2.0, 0.0, 0.0, (np.cos(0.3), np.sin(0.3))),  # a turning body alone: along its centre
        (0.3, 0.0, 5.0, 0.0, (np.sin(0.3), -np.cos(0.3))),  # one that speeds up: against it
        (0.5, 0.0, 0.0, 0.0, (0.0, 0.0)),  # nothing
    ],
)
def test_the_load_has_the_direction_of_what_the_body_asks_of_its_pin(
    angle: float, speed: float, acceleration: float, pull: float, wanted: tuple[float, float]
) -> None:
    upright = 0.4

    def one(value: float) -> Floats:
        return np.array([value])

    rows = RingRows(one(angle + upright), one(speed), one(acceleration), one(0.0), one(0.0))
    assert load_direction(rows, pull, upright)[0] == pytest.approx(wanted, abs=1e-12)
