"""The warmth of a joint hour by hour, against conditioning a joint normal distribution of a whole day at once."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.wear.thermal_state import AMBIENT_NOISE, BEGIN, NOISE, RISES, TIMES, ThermalModel, fit, smooth

HOURS = 24


def conditioned(measured: Floats, deviation: Floats, losses: Floats, model: ThermalModel) -> tuple[Floats, Floats]:
    """Mean and deviation of θ (hours,) given all that was measured: θ is linear in the beginning and in the noises."""
    gain = 1.0 - np.exp(-1.0 / model.time)
    unknown = 2 + 2 * HOURS  # θ and θ_a at the beginning, then their noises of each hour
    warmth, ambient, known = np.eye(unknown)[0], np.eye(unknown)[1], 0.0
    rows, means = [], []
    for hour in range(HOURS):
        known += gain * (model.rise * losses[hour] - known)
        warmth = warmth + gain * (ambient - warmth) + np.eye(unknown)[2 + 2 * hour]
        ambient = ambient + np.eye(unknown)[3 + 2 * hour]
        rows.append(warmth)
        means.append(known)
    H, mean = np.array(rows), np.array(means)
    prior = np.diag([BEGIN**2, BEGIN**2, *[NOISE**2, AMBIENT_NOISE**2] * HOURS])
    P, seen = H @ prior @ H.T, np.isfinite(measured)
    weights = P[:, seen] @ np.linalg.inv(P[np.ix_(seen, seen)] + np.diag(deviation[seen] ** 2))
    variance = np.diag(P - weights @ P[seen])
    return mean + weights @ (measured - mean)[seen], np.sqrt(variance)


def test_a_day_is_smoothed_as_the_joint_normal_distribution_of_it_says() -> None:
    rng, model = np.random.default_rng(1), ThermalModel(2.0, 0.4)
    losses = rng.uniform(0.0, 3.0, HOURS) * (np.arange(HOURS) % 12 > 3)
    measured, deviation = 0.5 * rng.standard_normal(HOURS), rng.uniform(0.02, 0.4, HOURS)
    measured[[0, 5, 6, 7, 20]] = np.nan
    expected, deviations = conditioned(measured, deviation, losses, model)
    found = smooth(measured, deviation, losses, model)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(found[:, 1], deviations, rtol=1e-9)


def test_of_a_second_day_nothing_changes_the_first() -> None:
    rng = np.random.default_rng(2)
    measured, deviation, losses = rng.standard_normal((3, 2 * HOURS))
    deviation, losses, model = np.abs(deviation) + 0.05, np.abs(losses), ThermalModel(1.2, 0.3)
    whole = smooth(measured, deviation, losses, model)
    first = smooth(*(np.ascontiguousarray(one[:HOURS]) for one in (measured, deviation, losses)), model)
    np.testing.assert_array_equal(whole[:HOURS], first)


@pytest.mark.parametrize(("time", "rise"), [(TIMES[1], RISES[5]), (TIMES[4], RISES[2])])
def test_the_time_constant_and_the_rise_of_a_joint_are_found(time: float, rise: float) -> None:
    rng, hours = np.random.default_rng(3), 60 * HOURS
    losses = 2.0 * (np.sin(np.arange(hours) * 2.0 * np.pi / 24.0) > 0.3) * rng.uniform(0.5, 1.5, hours)
    usual, warmth, true = losses[losses > 0.0].mean(), 0.0, np.empty(hours)
    for hour in range(hours):
        warmth += (1.0 - np.exp(-1.0 / time)) * (rise / usual * losses[hour] - warmth) + 0.02 * rng.standard_normal()
        true[hour] = warmth
    found = fit(true + 0.05 * rng.standard_normal(hours), np.full(hours, 0.05), losses)
    assert found.time == time
    assert found.rise == pytest.approx(rise / usual)
    assert fit(np.full(9, np.nan), np.ones(9), np.zeros(9)).rise * 0.0 == 0.0, "finite where nothing is known"
