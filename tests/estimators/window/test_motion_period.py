"""The period of a motion, and that there is none in noise."""

import numpy as np
import pytest

from estimators.window.motion_period import motion_period

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("period", [130, 400, 777])
def test_the_period_of_a_motion_is_found(period: int) -> None:
    t = np.arange(1400)
    y = np.sign(np.sin(2 * np.pi * t / period)) + 0.5 * np.sin(4 * np.pi * t / period)
    y = y + 0.2 * np.random.default_rng(3).standard_normal(len(t))
    assert motion_period(y) == pytest.approx(period, abs=2)


@pytest.mark.parametrize("y", [np.zeros(500), np.arange(500.0), np.ones(3)], ids=["zero", "ramp", "short"])
def test_no_period_where_there_is_none(y: np.ndarray) -> None:
    assert motion_period(y) == 0


def test_no_period_in_noise() -> None:
    assert motion_period(np.random.default_rng(4).standard_normal(1000)) == 0
