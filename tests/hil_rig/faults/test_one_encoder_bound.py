"""What noise lets a joint with one encoder tell of a gap: evidence against the covariance of simulated noise."""

import numpy as np
import pytest

from tests.benchmarks.diagnosis.parts.one_encoder_bound import evidence, left_over

TORQUE, POSITION, INERTIA = 0.3**2, 2e-5**2, 1.7  # (N·m)², rad², kg·m²: of 0.3 and 0.8 N·m in a block
DRAWS = 200_000


def test_evidence_is_that_of_the_noise_which_sensors_have() -> None:
    """Generalized least squares with the covariance of what noise leaves over; short stretches do not."""
    rng = np.random.default_rng(5)
    slides = np.ones(21, np.bool_)
    slides[[0, 8, 13, 20]] = False  # stretches of 7, 4 and 6 blocks
    healthy = np.column_stack([np.ones(21), rng.normal(size=21)])
    s = rng.normal(size=21) + 5.0 * healthy[:, 1]
    s[9:13] = 1e3
    used = np.r_[1:8, 14:20]
    torque, position = rng.normal(size=(2, 23, DRAWS))
    C = np.cov(left_over(np.sqrt(TORQUE) * torque, np.sqrt(POSITION) * position, INERTIA)[used])
    C[:7, 7:] = C[7:, :7] = 0.0  # stretches are far apart
    weights, columns = np.linalg.inv(C), healthy[used]
    best = np.linalg.solve(columns.T @ weights @ columns, columns.T @ weights @ s[used])
    rest = s[used] - columns @ best
    expected = 0.5 * float(rest @ weights @ rest)
    assert evidence(s, healthy, slides, TORQUE, POSITION, INERTIA) == pytest.approx(expected, rel=0.02)
