"""How much motion a start needs, and what stands for a period where there is none."""

import pytest

from estimators.online.judgement.motion import MotionCount


def test_a_start_is_as_long_as_is_asked_for_and_as_so_many_periods() -> None:
    motion = MotionCount(0.01, 12.0, 2.0)
    assert (motion.needed, motion.span, motion.memory, motion.patience) == (1200.0, 1200, 0.0, 60.0)
    motion.found(500)
    assert (motion.needed, motion.span, motion.memory) == (1200.0, 500, 1000.0)
    motion.found(900)
    assert (motion.needed, motion.span, motion.memory, motion.patience) == (1800.0, 900, 1800.0, 60.0)
    assert not motion.period_wanted


def test_seconds_are_those_of_rows_that_taught() -> None:
    motion = MotionCount(0.02, 12.0, 2.0)
    motion.state.count = 75
    assert motion.seconds == pytest.approx(1.5)
    motion.found(40)
    motion.restart()
    assert (motion.seconds, motion.span, motion.period_wanted) == (0.0, 600, True)


def test_a_period_that_is_configured_stays() -> None:
    motion = MotionCount(0.01, 12.0, 1.5, configured=10.0)
    assert (motion.needed, motion.span, motion.memory, motion.period_wanted) == (1500.0, 1000, 2000.0, False)
    motion.found(77)
    motion.restart()
    assert (motion.needed, motion.span) == (1500.0, 1000)
