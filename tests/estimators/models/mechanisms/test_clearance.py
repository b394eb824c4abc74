"""A pin in a bearing with clearance: what presses it, against the motion of the mass; what it adds, in closed forms."""

import numpy as np
import pytest

from estimators.models.mechanisms.clearance import (
    CLEARANCE,
    FRICTION,
    INERTIA,
    MOMENT_X,
    MOMENT_Y,
    NAMES,
    OFFSET,
    SIBLINGS,
    VISCOUS,
    Known,
    Path,
    Sibling,
    axes,
    columns,
    direction,
    load,
)
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
PERIOD = 1e-3
KNOWN = Known(mass=3.0, radius=0.01, slip=1e-3, gravity=9.81)
X, Y, MU = 0.189, -0.05, 0.1  # kg·m, kg·m, friction
THETA = np.array([0.0365, 0.2, 0.1, X, Y, MU, 2e-4])
T = np.arange(400) * PERIOD


def place(t: Floats) -> Floats:
    return 0.9 * np.sin(5.0 * t) + 0.3 * np.sin(11.0 * t + 1.0)


PATH = Path(
    place(T),
    4.5 * np.cos(5.0 * T) + 3.3 * np.cos(11.0 * T + 1.0),
    -22.5 * np.sin(5.0 * T) - 36.3 * np.sin(11.0 * T + 1.0),
)


def centre(t: Floats) -> Floats:
    """Place of the centre of mass in the bearing's plane, (rows, 2)."""
    q = place(t)
    return np.column_stack([X * np.cos(q) - Y * np.sin(q), X * np.sin(q) + Y * np.cos(q)]) / KNOWN.mass


def test_the_link_asks_its_pin_for_its_weight_less_what_accelerates_it() -> None:
    h = 1e-4
    acceleration = (centre(T + h) - 2.0 * centre(T) + centre(T - h)) / h**2
    asked = np.array([-KNOWN.gravity, 0.0]) - acceleration
    np.testing.assert_allclose(load(PATH, KNOWN, X, Y), asked, atol=1e-5)  # h²/12 of the fourth derivative


def test_the_pin_lies_where_force_and_friction_balance() -> None:
    """Off the load's direction by the angle of friction, against the slip; F_n and μ' F_n together are the load."""
    asked = load(PATH, KNOWN, X, Y)
    u, normal = direction(PATH, KNOWN, THETA)
    slope = MU * np.tanh(PATH.speed * KNOWN.radius / KNOWN.slip)
    across = np.column_stack([-u[:, 1], u[:, 0]])
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        normal[:, None] * u + (slope * normal)[:, None] * across, KNOWN.mass * asked, rtol=1e-9, atol=1e-9
    )


def test_columns_are_those_of_a_pendulum_that_rubs() -> None:
    """Gravity's from its potential, −m g·(centre), friction's from the force that presses."""
    gravity = np.array([-KNOWN.gravity, 0.0])
    h = 1e-5
    l, t = axes(PATH)  # noqa: E741
    ahead, behind = (axes(PATH._replace(angle=PATH.angle + s)) for s in (h, -h))
    smooth = np.tanh(PATH.speed * KNOWN.radius / KNOWN.slip)
    _, normal = direction(PATH, KNOWN, THETA)
    pressed = KNOWN.mass * 9.81
    friction = {
        "ideal": pressed * np.sign(PATH.speed),
        "control": pressed * smooth / np.sqrt(1.0 + (MU * smooth) ** 2),
        "load": normal * smooth,
        "clearance": normal * smooth,
    }
    for sibling in SIBLINGS:
        phi = columns(PATH, KNOWN, sibling, THETA, PERIOD)
        assert phi.shape == (len(T), len(NAMES))
        np.testing.assert_array_equal(phi[:, INERTIA], PATH.acceleration)
        np.testing.assert_array_equal(phi[:, VISCOUS], PATH.speed)
        assert (phi[:, OFFSET] == 1.0).all()
        for column, side in ((MOMENT_X, 0), (MOMENT_Y, 1)):  # dV/dq of a first moment along l, or t
            slope = -((ahead[side] - behind[side]) @ gravity) / (2.0 * h)
            np.testing.assert_allclose(phi[:, column], slope, atol=1e-7)
        np.testing.assert_allclose(phi[:, FRICTION], KNOWN.radius * friction[sibling], rtol=1e-12)
        assert phi[:, CLEARANCE].any() == (sibling == "clearance")
    assert np.allclose(np.einsum("ri,ri->r", l, t), 0.0)


@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_a_link_that_spins_evenly_about_a_vertical_axis_carries_its_pin_round(speed: float) -> None:
    """u turns with the link, so ü = −ω² u; u is along the centre, turned back by the angle of friction."""
    known = KNOWN._replace(gravity=0.0)
    spin = Path(speed * T, np.full(len(T), speed), np.zeros(len(T)))
    slope = MU * np.tanh(speed * known.radius / known.slip)
    arm = np.hypot(X, Y)  # moment of the centre about the pin, per metre of clearance: arm × the turned direction
    expected = -(speed**2) * arm * -slope / np.sqrt(1.0 + slope**2)
    found = columns(spin, known, "clearance", THETA, PERIOD)[:, CLEARANCE]
    np.testing.assert_allclose(found[1:-1], expected, rtol=1e-5)  # second differences: (ω h)²/12
    assert not found[[0, -1]].any(), "there is no second difference at the ends"


@pytest.mark.parametrize("sibling", SIBLINGS)
def test_a_link_at_rest_that_weighs_nothing_gives_numbers(sibling: Sibling) -> None:
    rest = Path(*np.zeros((3, 5)))
    assert np.isfinite(columns(rest, KNOWN._replace(gravity=0.0), sibling, THETA, PERIOD)).all()
