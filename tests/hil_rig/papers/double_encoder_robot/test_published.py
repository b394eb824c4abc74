"""Tables of Liu et al. 2023 as typed in: they satisfy the paper's own equations and limits, and say what it claims."""

from pathlib import Path

import numpy as np
import pytest

from hil_rig.papers.double_encoder_robot.published import FREQUENCY, TABLE_1, TABLE_3, gains, write_trajectory
from hil_rig.plants.robots.fourier import FourierMotion

PEAKS = ((98.6, 65.4, 53.4, 78.3, 110.5, 73.0), (87, 43, 24, 48, 68, 60), (96, 53, 26, 50, 58, 60))  # °, °/s, °/s²


def motion(folder: Path) -> list[np.ndarray]:
    write_trajectory(folder / "published.csv")
    series = FourierMotion(file=folder / "published.csv").series(TABLE_1)
    return [np.asarray(one) for one in series.at(np.linspace(0.0, 20.0, 2001))]


def test_the_trajectory_begins_and_ends_at_rest_at_zero(tmp_path: Path) -> None:
    """(18): of joint 6 the printed a sum to 0.0036, of all others every sum is zero to the last printed digit."""
    order = np.arange(1, 6)
    a, b, q0 = TABLE_3[:5], TABLE_3[5:10], TABLE_3[10]
    rest = (b / order[:, np.newaxis]).sum(axis=0) / (2 * np.pi * FREQUENCY) - q0
    assert np.abs(rest).max() < 5e-3  # rad: T = 20 s is that near to all six joints
    assert np.abs(a.sum(axis=0))[:5].max() < 4e-4
    assert np.abs((b * order[:, np.newaxis]).sum(axis=0)).max() < 4e-3
    q, dq, ddq = motion(tmp_path)
    assert np.abs(q[0] - q[-1]).max() < 1e-12
    assert max(np.abs(one[0]).max() for one in (q, dq, ddq)) < 5e-3


def test_the_trajectory_has_the_published_peaks_and_keeps_the_limits(tmp_path: Path) -> None:
    for one, limit, peaks in zip(motion(tmp_path), TABLE_1, PEAKS, strict=True):
        largest = np.degrees(np.abs(one).max(axis=0))
        assert largest == pytest.approx(peaks, abs=0.6)
        assert (largest < np.degrees(limit)).all()


def test_the_gains_are_those_that_the_conclusion_averages() -> None:
    assert gains() == pytest.approx([16.2, 18.5, 24.6, 9.9, 17.6, 18.7], abs=0.05)
    assert np.mean(gains()) == pytest.approx(17.6, abs=0.05)
