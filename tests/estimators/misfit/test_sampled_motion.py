"""What samples hide of an acceleration, against the inertia that exact torques at the same instants lead to."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner
from estimators.misfit import regressors
from estimators.misfit.sampled_motion import hidden, hidden_share
from estimators.models.joints.rigid import RigidSettings
from estimators.quantities import Floats
from hil_rig.truth.programs import profile

MOVES, WAY, REST = 60, 0.7, 0.4  # there and back; rad, s


def exact(period: float, samples: float, shape: str) -> tuple[Floats, Floats]:
    """Position and acceleration of moves of so many samples, which begin anywhere between two."""
    length, count = samples * period, round(MOVES * (samples * period + REST) / period)
    t = np.arange(count) * period
    place, acceleration = np.zeros(count), np.zeros(count)
    begins = np.arange(MOVES) * (length + REST) + period * np.random.default_rng(3).uniform(0.0, 1.0, MOVES)
    for number, begin in enumerate(begins):
        way = WAY if number % 2 == 0 else -WAY
        inside = (t >= begin) & (t < begin + length)
        share, _, second = profile((t[inside] - begin) / length, shape)
        place[inside] += way * share
        place[t >= begin + length] += way
        acceleration[inside] = way * second / length**2
    return place, acceleration


def found(rate: float, samples: float, shape: str) -> tuple[float, float, int]:
    """By how much the inertia is too large, and what it may be by the rows; and how many rows there are."""
    conditioner, period = Conditioner(RigidSettings(kind="rigid").build(), 1.0 / rate), 1.0 / rate
    place, acceleration = exact(period, samples, shape)
    time = np.round(np.arange(len(place)) * period * 1e9).astype(np.int64)
    rows = conditioner.absorb(time, np.column_stack([place, acceleration]))  # an inertia of 1, and nothing else
    p, owners = rows.phi.shape[2], np.array([0])
    sums = regressors.BlockSums.of(owners, p, regressors.columns(True), 1e9 * conditioner.row_period, False, inertia=0)
    moving = rows.speed[:, 0] > 0.01
    phi, y = np.ascontiguousarray(rows.phi[moving]), rows.y[moving]
    regressors.gather(rows.time[moving], phi, y, rows.speed[moving], rows.motion[moving], 0.01, sums)
    straight = np.abs(rows.motion[moving, 0, 1]) > 0.9 * rows.speed[moving, 0]
    a, y = phi[straight, 0, 0], y[straight, 0]
    most = hidden_share(sums.steep, hidden(period, conditioner.half_width, conditioner.row_period))
    return float(a @ y / (a @ a)) - 1.0, most, len(a)


@pytest.mark.parametrize("rate", [20.0, 25.0, 33.0, 50.0])
@pytest.mark.parametrize("samples", [12.3, 20.0, 40.0])
def test_of_an_acceleration_that_jumps_it_is_as_much_as_it_is_off(rate: float, samples: float) -> None:
    """On average over where the moves begin: each by itself may be off by a tenth, either way."""
    off, most, rows = found(rate, samples, "trapezoid")
    assert rows > 100
    scatter = 0.35 / samples / np.sqrt(MOVES)
    assert 0.0 < most < 0.02
    assert -3.0 * scatter < off < most + 3.0 * scatter


def test_the_inertia_of_short_smooth_moves_is_too_large_by_as_much() -> None:
    off, most, _ = found(25.0, 7.5, "smooth")
    assert 0.5 * most < off < 1.5 * most


def test_of_more_samples_it_is_next_to_nothing() -> None:
    off, most, _ = found(250.0, 75.0, "smooth")
    assert abs(off) < 1e-4
    assert 0.0 < most < 1e-4
