"""Lengths that follow from how long a joint has moved, and from the period of its motion."""

import pytest

from estimators.online.motion import Motion


def test_a_start_takes_its_seconds_or_its_periods_whichever_is_more() -> None:
    motion = Motion(0.01, 12.0, 1.5)
    assert (motion.needed, motion.span, motion.memory, motion.patience) == (1200.0, 1200, 0.0, 60.0)
    assert motion.period_wanted
    motion.found(700)
    assert (motion.needed, motion.span, motion.memory) == (1200.0, 700, 1400.0)
    assert not motion.period_wanted
    motion.found(900)
    assert (motion.needed, motion.span, motion.memory) == (1350.0, 900, 1800.0)
    motion.found(0)
    assert (motion.needed, motion.span) == (1200.0, 1200)


def test_a_period_that_is_configured_is_not_looked_for() -> None:
    motion = Motion(0.01, 4.0, 2.0, configured=3.004)
    assert (motion.span, motion.needed, motion.memory) == (300, 600.0, 600.0)
    assert not motion.period_wanted
    motion.found(123)
    assert motion.span == 300
    motion.restart()
    assert motion.span == 300


def test_motion_is_counted_in_rows_and_told_in_seconds() -> None:
    motion = Motion(0.02, 4.0, 2.0)
    assert motion.seconds == 0.0
    motion.kept.count += 150
    motion.found(80)
    assert motion.seconds == pytest.approx(3.0)
    motion.restart()
    assert (motion.seconds, motion.span) == (0.0, 200)
