"""A repair is a fall that stays; a day of noise or weather is none."""

import numpy as np

from estimators.wear.repairs import last_repair


def test_wear_that_was_repaired_begins_anew() -> None:
    random = np.random.default_rng(1)
    drift = np.concatenate([np.linspace(0.0, 0.2, 60), np.linspace(0.01, 0.05, 30)]) + 0.005 * random.normal(size=90)
    assert abs(last_repair(drift) - 60) <= 1
    again = np.concatenate([drift, np.linspace(0.0, 0.1, 40) + 0.005 * random.normal(size=40)])
    assert abs(last_repair(np.concatenate([drift, 0.2 + 0.0 * again, again])) - (90 + 130 + 90)) <= 1


def test_noise_weather_and_single_days_are_no_repair() -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        weather = 0.01 * np.sin(np.arange(200) / 9.0 + random.uniform(0.0, 6.0))
        drift = np.linspace(0.02, 0.2, 200) + weather + 0.006 * random.normal(size=200)
        drift[random.integers(200)] = 0.0
        assert last_repair(drift) == 0
    assert last_repair(np.zeros(4)) == 0
