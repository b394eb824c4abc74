"""Rows of a recording that were sent once more, against a state whose instants are known."""

import numpy as np
import pytest

from estimators.conditioning.repeated_rows import without_repeats
from estimators.offline.robot.motion import pieces
from estimators.quantities import Floats

SENT = 1.0 / 30.0  # s between two rows


def motion(time: Floats) -> tuple[Floats, Floats]:
    """Positions and torques of two joints, one of which always moves."""
    return np.stack([np.sin(time), np.cos(time)], axis=1), np.stack([np.cos(3.0 * time), 1.0 + time], axis=1)


@pytest.mark.parametrize("rate", [29.4, 28.3])
def test_the_rows_of_a_slower_state_are_steps_of_its_own_clock_apart(rate: float) -> None:
    time: Floats = np.asarray(np.arange(600) * SENT, np.float64)
    number = np.floor(time * rate + 1e-6)
    again = np.diff(number, prepend=-1.0) == 0.0
    found, once = without_repeats(time, *motion(number / rate))
    inner = (time > 1.0) & (time < time[-1] - 1.0)
    np.testing.assert_array_equal(once[inner], ~again[inner])
    inner &= once
    assert np.ptp((found - number / rate)[inner]) < 0.1 * SENT, "all are as late"
    assert np.ptp((time - number / rate)[inner]) > 0.8 * SENT, "by their stamps they are not"


@pytest.mark.parametrize("what", ["stands", "coarse", "other", "late", "soon", "half"])
def test_what_is_no_slower_clock_stays_as_it_is(what: str) -> None:
    """A robot that stands without noise, coarse encoders, a torque that goes on, rows in the place of others."""
    time: Floats = np.asarray(np.arange(300) * SENT, np.float64)
    q, tau = motion(np.minimum(time, 5.0 if what == "stands" else np.inf))
    if what == "coarse":
        q, tau = np.round(q / 0.02) * 0.02, np.round(tau / 0.5) * 0.5
    for row in (50, 100, 150, 200):
        if what == "other":
            q[row], tau[row, 0] = q[row - 1], tau[row - 1, 0]
        if what in ("late", "soon"):
            taken = row - 1 if what == "late" else row + 1
            q[row], tau[row] = q[taken], tau[taken]
    if what == "half":
        q[1::2], tau[1::2] = q[::2], tau[::2]
    found, once = without_repeats(time, q, tau)
    assert once.all()
    np.testing.assert_array_equal(found, time)


def test_a_recording_that_has_some_moves_as_smoothly_as_the_robot() -> None:
    """Each repeat left half of an acceleration of 1 rad/s² in the rows about it."""
    time: Floats = np.asarray(np.arange(600) * SENT, np.float64)
    q, tau = motion(np.floor(time * 29.4 + 1e-6) / 29.4)
    [piece] = pieces(time, q, tau)
    inner = slice(30, -30)
    np.testing.assert_allclose(piece.ddq[inner], -piece.q[inner], atol=0.03)
