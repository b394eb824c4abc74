"""Counterbalances against their energy: a torque is by how much less is stored at a larger angle."""

import numpy as np
import pytest

from estimators.models.robots.springs import CoilSettings, GasSettings
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
SHAPE = {"distance": 0.6, "crank": 0.15, "rest": 0.45, "angle": 0.3}
Q = np.linspace(-3.0, 3.0, 41)
H = 1e-5


def length(q: Floats) -> Floats:
    """Between the cylinder's two ends, one at rest, the other on the link."""
    far = np.array([SHAPE["distance"], 0.0])
    near = SHAPE["crank"] * np.column_stack([np.cos(q + SHAPE["angle"]), np.sin(q + SHAPE["angle"])])
    return np.linalg.norm(far - near, axis=1)


def slope(energy: object) -> Floats:
    return (energy(Q + H) - energy(Q - H)) / (2.0 * H)  # type: ignore[operator]


def test_a_coil_is_a_spring_of_known_rest_and_a_force() -> None:
    columns = CoilSettings(**SHAPE).columns(Q)
    np.testing.assert_allclose(columns[:, 0], slope(lambda q: 0.5 * (length(q) - 0.45) ** 2), atol=1e-8)
    np.testing.assert_allclose(columns[:, 1], slope(length), atol=1e-8)


def test_a_gas_at_constant_temperature_stores_the_logarithm_of_its_volume() -> None:
    area, volume, energy = 2e-3, 1e-3, 1500.0
    gas = GasSettings(**SHAPE, area=area, volume=volume, energy=energy)
    columns = gas.columns(Q)
    assert columns.shape == (len(Q), 1)
    expected = slope(lambda q: -energy * np.log(volume - (length(q) - 0.45) * area))
    np.testing.assert_allclose(columns[:, 0], expected, atol=1e-4)  # rounding of 1500 J over 2e-5 rad, times 10


def test_a_gas_is_never_pressed_to_nothing() -> None:
    """A length that leaves no volume counts as the last hundredth of it."""
    gas = GasSettings(**SHAPE, area=0.1, volume=1e-3, energy=10.0)
    full = GasSettings(**SHAPE, area=0.1, volume=1e-3, energy=10.0).columns(np.array([np.pi / 2]))
    lever = slope(length)[np.argmin(np.abs(Q - 1.5))]
    at = Q[np.argmin(np.abs(Q - 1.5))]
    assert length(np.array([at]))[0] > 0.45 + 1e-3 / 0.1, "longer than the gas has room for"
    np.testing.assert_allclose(gas.columns(np.array([at]))[0, 0], lever * 0.1 * 10.0 / 1e-5, rtol=1e-6)
    assert np.isfinite(full).all()


def test_coefficients_are_named_with_what_the_data_sheet_says() -> None:
    assert GasSettings(**SHAPE, area=1.0, volume=1.0, energy=1.0).names() == (("counterbalance", "1", 1.0),)
    coil = CoilSettings(**SHAPE, stiffness=2e3, preload=50.0)
    assert coil.names() == (("spring_stiffness", "N/m", 2e3), ("spring_preload", "N", 50.0))
