"""Recordings of few samples a second: friction follows the path between them, as the torque that was sampled did."""

import numpy as np
import pytest

from estimators.models.robots.maxwell_slip import MaxwellSlipSettings
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.motion import FINE, pieces
from estimators.offline.robot.rows import build
from tests.support.signals.three_joints import arm

SECONDS, QUICK = 20, 2000  # s; Hz, of the true path
FREQUENCIES = 2 * np.pi * np.array([0.31, 0.47, 0.73])  # rad/s


def path() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, and the position, speed and acceleration at them, which turns round between samples."""
    time = np.arange(SECONDS * QUICK) / QUICK
    phase = np.outer(time, FREQUENCIES) + 0.3
    return time, np.sin(phase), FREQUENCIES * np.cos(phase), -(FREQUENCIES**2) * np.sin(phase)


@pytest.mark.compiled
@pytest.mark.parametrize("rate", [20, 25, 50, 125])
def test_friction_with_memory_follows_the_path_between_samples(rate: int) -> None:
    time, q, dq, ddq = path()
    model = WholeRobot(arm(), (MaxwellSlipSettings(spread=1.0),) * 3)
    every, reach = slice(None, None, QUICK // rate), np.full(3, np.inf)
    [piece] = pieces(time[every], q[every], ddq[every])
    rows = build(model, [piece])
    wrong = {}
    for joint, term, column in model.others(q, dq, ddq, np.zeros_like(q), reach):
        exact = piece.rows(piece.filtered(column[every]))
        left = rows.X[:, joint, model.base + term] - exact
        wrong[joint, model.terms[term].name.split(".")[0]] = np.sqrt(np.mean(left**2) / max(np.mean(exact**2), 1e-12))
    stops = [value for (_, name), value in wrong.items() if name.startswith("stop")]
    assert len(stops) == 24
    assert max(stops) < 0.05
    assert piece.finer == np.ceil(FINE / rate)


def test_a_recording_that_is_quick_enough_is_followed_as_it_is() -> None:
    time, q, _, ddq = path()
    for rate in (200, 250, 500):
        every = slice(None, None, QUICK // rate)
        [piece] = pieces(time[every], q[every], ddq[every])
        assert piece.between()[0] is piece.q
