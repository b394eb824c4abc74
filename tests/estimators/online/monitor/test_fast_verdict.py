"""What follows from a window since a change: learn θ, search η, restore, or wait, on either side of every limit."""

from typing import Any

import numpy as np
import pytest

from estimators.online.monitor.base import Before, Decision, Evidence, LearnTheta, Purpose, Restore, SearchEta, Wait
from estimators.online.monitor.fast import FastMonitor

TOLD = {
    "purpose": Purpose.CHANGE, "first": 70, "now": 170, "rows": 100, "needed": 200.0, "span": 50, "usual": 1.0,
    "overlap": 2.0, "variance": 1.0, "signal": 100.0, "unchanged": 1e6, "gain": 1.0, "reach": 2.0,
    "step": np.zeros(2), "sigma": np.array([0.02, 0.05]), "known": np.full(2, 0.02), "parameters": 4,
}  # fmt: skip


def verdict(**other: Any) -> Decision:
    """TOLD is a quiet window of half of a start's rows, certain of η, which θ alone explains."""
    monitor = FastMonitor(0.02)
    return monitor.review(Evidence(**(TOLD | other)))


SEARCH = SearchEta("change", 70, Before.CHANGE)


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ({}, LearnTheta()),
        ({"gain": 8.9}, LearnTheta()),  # three deviations of one number
        ({"gain": 9.1}, Wait()),
        ({"gain": 20.0}, Wait()),
        ({"gain": 20.1}, SEARCH),
        ({"sigma": np.array([0.02, 0.059])}, LearnTheta()),
        ({"sigma": np.array([0.061, 0.02])}, Wait()),  # it would not show yet whether η has moved
        ({"sigma": np.array([0.079, 0.02]), "gain": 30.0}, SEARCH),
        ({"sigma": np.array([0.081, 0.02]), "gain": 30.0}, Wait()),
        ({"reach": 2.6, "signal": 1000.0}, Wait()),  # it does not cover the motion
        ({"reach": 2.6, "signal": 1e5}, LearnTheta()),  # which hardly matters at such a torque
        ({"variance": 1.44}, LearnTheta()),  # 1.2² of what is usual
        ({"variance": 1.441}, Wait()),
        ({"variance": 1.6, "signal": 1e5}, LearnTheta()),  # (0.4 %)² of the torque
        ({"variance": 1.601, "signal": 1e5}, Wait()),
        ({"rows": 200}, LearnTheta()),  # as many as a start takes: it waits no longer
        ({"rows": 200, "reach": 9.0, "gain": 19.0, "sigma": np.ones(2)}, LearnTheta()),
        ({"rows": 199, "reach": 9.0, "gain": 19.0, "sigma": np.ones(2)}, Wait()),
        ({"rows": 200, "variance": 1.5}, SEARCH),
        ({"unchanged": 30.0}, Restore()),
    ],
)
def test_what_follows_from_a_window(other: dict[str, Any], wanted: Decision) -> None:
    assert verdict(**other) == wanted


def test_the_earlier_values_stand_where_they_are_worse_by_no_more_than_chance() -> None:
    """χ² of 4 numbers has mean 4 and deviation √8; rows that say all twice, and noise of 3, make it six times."""
    limit = 3.0 * 2.0 * (4.0 + 4.0 * np.sqrt(8.0))
    common = {"usual": 3.0, "variance": 3.0}
    assert verdict(**common, unchanged=0.999 * limit) == Restore()
    assert verdict(**common, unchanged=1.001 * limit) == LearnTheta()
