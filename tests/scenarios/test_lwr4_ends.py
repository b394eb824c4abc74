"""Why the LWR4's recordings end in a contact (decision 027): their ends are a filter's, and no motion of the arm."""

from collections.abc import Iterator

import numpy as np
import pytest

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Floats
from tests.benchmarks.robots.robot_recorded import FOLDER, RATE, Even, even, runs, taught

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the recordings of ../shared/data"),
]
ORDER, CUT = 6, 3.0  # Hz; a Butterworth filter that runs forth and back, as the program that made them has
SWING = 100  # samples, half a second
CUTS = (15.0, 18.0, 21.0)  # s


def smoothed(values: Floats) -> Floats:
    from scipy.signal import butter, filtfilt

    return np.asarray(filtfilt(*butter(ORDER, CUT, fs=RATE), values, axis=0))


@pytest.mark.parametrize("number", [2, 3])
def test_positions_end_as_such_a_filter_ends_and_not_as_the_recorded_velocities_do(number: int) -> None:
    recorded = np.load(FOLDER / f"measurements_{number}.npz")
    v = recorded["velocities"]
    speed = np.gradient(recorded["positions"], axis=0) * RATE
    amid = slice(2 * SWING, -2 * SWING)
    assert np.sqrt(np.mean((speed - v)[amid] ** 2)) < 0.01 * np.sqrt(np.mean(v[amid] ** 2))
    assert (np.abs(speed[-1]) < 0.05 * np.abs(v[-1])).all(), "it is at full speed, and its positions stand"
    path = np.cumsum(v, axis=0) / RATE
    share = (np.gradient(smoothed(path), axis=0) * RATE / v)[-SWING:]
    assert np.sqrt(np.mean((share - (speed / v)[-SWING:]) ** 2)) < 0.06


def contacts(model: IdentifiedRobot, run: Even, ends: Iterator[tuple[int, Floats, Floats]]) -> list[int]:
    """How many contacts are told of the first rows, with these positions and torques."""
    found = []
    for rows, q, tau in ends:
        estimator = RobotEstimator(model, 1.0 / RATE)
        estimator.absorb(run.ticks[:rows], q, tau)
        found.append(sum(one.kind == "contact" for one in estimator.events()))
    return found


@pytest.mark.slow
def test_wherever_a_recording_is_cut_the_same_filter_makes_a_contact_of_its_end() -> None:
    learnt, watched = runs()
    model, run = taught(learnt), even(watched)
    ends = [round(cut * RATE) for cut in CUTS]
    assert contacts(model, run, ((k, run.q[:k], run.tau[:k]) for k in ends)) == [0, 0, 0]
    assert contacts(model, run, ((k, smoothed(run.q[:k]), smoothed(run.tau[:k])) for k in ends)) == [1, 1, 1]
