"""Rows in which the torque changes within a sample, against a joint whose drive holds it."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.models.joints.rigid import RigidSettings
from estimators.recursive.weights.timing_weights import NOTICED, temper
from estimators.rows import SLOPE, WEIGHT, Rows

PERIOD, ACCELERATION = 4e-3, 9.0
OWNERS = np.array([0])


def corners() -> Rows:
    """Rows of J = 1 whose drive holds each torque for one period: an acceleration that jumps every half second."""
    drive = np.repeat(np.where(np.arange(40) % 2 == 0, ACCELERATION, -ACCELERATION), round(0.5 / PERIOD))
    speed = np.concatenate(([0.0], np.cumsum(drive) * PERIOD))
    place = np.concatenate(([0.0], np.cumsum(speed[:-1] * PERIOD + 0.5 * drive * PERIOD**2)))[:-1]
    conditioner = Conditioner(RigidSettings().build(), PERIOD, Conditioning(half_width=0.055))
    time = np.round(np.arange(len(drive)) * PERIOD * 1e9).astype(np.int64)
    return conditioner.absorb(time, np.column_stack((place, drive)))


def test_the_error_of_such_a_row_is_what_its_weight_says() -> None:
    rows = corners()
    error = rows.y[:, 0] - rows.phi[:, 0, 0]  # the torque leads by half a period
    assert np.abs(error).max() > 0.02 * ACCELERATION
    bound = 0.5 * PERIOD * np.sqrt(rows.motion[:, 0, SLOPE])
    assert np.abs(error) == pytest.approx(bound, abs=0.2 * bound.max())
    sigma = 1e-3 * ACCELERATION
    tempered = temper(rows, np.array([PERIOD**2 / 12.0 / sigma**2]), OWNERS)
    left = tempered.y[:, 0] - tempered.phi[:, 0, 0]
    assert np.abs(error).max() > 70.0 * sigma
    assert np.abs(left).max() < 2.5 * sigma, "half a period is √3 deviations of an instant that lies evenly within one"
    np.testing.assert_allclose(tempered.y[:, 0] / tempered.motion[:, 0, WEIGHT], rows.y[:, 0], rtol=1e-12)


def test_rows_of_a_torque_that_changes_slowly_stay_as_they_are() -> None:
    rows = corners()
    held = np.array([0.9 * NOTICED / rows.motion[:, 0, SLOPE].max()])
    assert temper(rows, held, OWNERS) is rows
    assert temper(rows, np.zeros(1), OWNERS) is rows
