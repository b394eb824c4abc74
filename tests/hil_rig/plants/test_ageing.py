"""The plant of an ageing joint: the published law, and years that are as hard as they say."""

import numpy as np
import pytest

from hil_rig.plants.ageing.friction import AgeingFriction
from hil_rig.plants.ageing.years import DAY, SPEEDS, joint_year, ramp, step

ONE = np.ones(1)


def test_the_law_is_that_of_the_report_at_a_point_calculated_by_hand() -> None:
    torque = AgeingFriction().torque(np.array([35.0]), 0.5 * ONE, 50.0 * ONE, 0.0 * ONE)[0, 0]
    stribeck = (-0.025 + 0.126 * 0.5 + 0.0016 * 50.0) * np.exp(-((35.0 / 25.0) ** 1.3))
    viscous = (1.3e-4 + 1.32e-3 * np.exp(-50.0 / 20.7)) * 35.0
    assert torque == pytest.approx(0.031 + 0.023 * 0.5 + stribeck + viscous)


def test_wear_adds_dry_friction_and_no_viscous_one() -> None:
    law, warm = AgeingFriction(), 40.0 * ONE
    more = law.torque(SPEEDS, 0.4 * ONE, warm, 0.2 * ONE) - law.torque(SPEEDS, 0.4 * ONE, warm, 0.0 * ONE)
    assert (np.diff(more[0]) < 0.0).all(), "less the faster it moves"
    assert more[0, -1] == pytest.approx(0.2 * 0.7 * (0.031 + 0.023 * 0.4), rel=1e-3)
    assert 0.14 < law.growth(SPEEDS[:1], 0.4 * ONE, warm, 0.2 * ONE)[0] < 0.2


def test_a_year_has_all_seasons_loads_and_rests() -> None:
    year = joint_year(np.random.default_rng(5), np.zeros(365 * DAY))
    moving = year.moving > 0.0
    assert 3000 < moving.sum() < 4600
    assert np.ptp(year.gear[moving]) > 35.0
    assert np.nanmin(year.load) < 0.15
    assert np.nanmax(year.load) > 0.7
    assert np.isnan(year.friction[~moving]).all()
    assert np.isfinite(year.friction[moving][:, 0]).all()
    assert (year.losses[~moving] == 0.0).all()


def test_wear_by_step_and_by_ramp() -> None:
    assert step(3, 1, 0.1)[[0, 23, 24, 71]].tolist() == [0.0, 0.0, 0.1, 0.1]
    assert ramp(10, 2, 4, 0.2)[[0, 48, 96, 200]] == pytest.approx([0.0, 0.0, 0.1, 0.2])
