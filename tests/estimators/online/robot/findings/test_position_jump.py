"""A jump of a position against motion, pushes, wild values and positions that are held."""

import numpy as np
import pytest

from estimators.online.robot.findings.causes.position_jump import PositionJumps
from estimators.quantities import Floats

RATE, CHUNK = 500, 5
REACH = np.array([1.0, 2.0])  # rad/s
AT = 90  # row of the jump


def positions(rows: int = 100) -> Floats:
    """Two joints in motion, (rows, 2), with noise of 1e-5 rad."""
    t = np.arange(rows)[:, None] / RATE
    return REACH / 3.0 * np.sin(3.0 * t + 1.0) + 1e-5 * np.random.default_rng(4).standard_normal((rows, 2))


def found(q: Floats, reach: Floats = REACH) -> tuple[int, float] | None:
    jumps = PositionJumps(reach, 1.0 / RATE, CHUNK)
    for first in range(0, len(q), CHUNK):
        jumps.absorb(q[first : first + CHUNK])
    return jumps.found()


@pytest.mark.parametrize("size", [0.02, -0.01])
def test_a_jump_is_found_with_its_joint_and_size(size: float) -> None:
    q = positions()
    q[AT:, 1] += size
    one = found(q)
    assert one is not None
    assert one[0] == 1
    assert one[1] == pytest.approx(size, abs=1e-3)


@pytest.mark.parametrize(("joint", "size"), [(0, 0.0035), (1, 0.0070)])
def test_what_a_joint_could_move_in_a_sample_is_no_jump(joint: int, size: float) -> None:
    """Twice the fastest speed of teaching is 4 and 8 mrad a sample."""
    q = positions()
    q[AT:, joint] += size
    assert found(q) is None


def test_a_wild_value_and_positions_that_are_held_are_no_jumps() -> None:
    q = positions()
    q[AT, 1] += 0.02
    assert found(q) is None
    held = 20.0 * positions()[np.arange(100) // 10 * 10]
    assert np.abs(np.diff(held, axis=0)).max() > 0.02
    assert found(held) is None


def test_without_rows_a_joint_that_was_never_taught_or_a_value_that_is_missing_nothing_is_found() -> None:
    assert found(np.zeros((0, 2))) is None
    q = positions()
    q[AT:] += 0.02
    assert found(q, np.zeros(2)) is None
    q[AT - 5, 0] = np.nan
    assert found(q) is None


def test_a_jump_of_long_ago_is_forgotten() -> None:
    q = positions(300)
    q[100:, 1] += 0.02
    assert found(q) is None
    assert found(q[:150]) is not None
