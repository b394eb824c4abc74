"""Missing values are bridged for a moment; which rows count does not depend on how rows are cut into batches."""

import numpy as np
import pytest

from estimators.conditioning.gap_bridge import BRIDGED, GapBridge
from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.quantisation.robot_errors_in_variables import RINGING

PERIOD = 1e-3
SETTLING = round(RINGING / PERIOD)


def bridge() -> tuple[GapBridge, CausalLowPass]:
    low_pass = CausalLowPass(2, 20.0, PERIOD)
    return GapBridge(2, PERIOD, (low_pass,)), low_pass


def through(values: np.ndarray, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and usable rows, batch by batch; `all` agrees with the rows."""
    made, _ = bridge()
    parts = []
    for first in range(0, len(values), batch):
        rows, usable, every = made.absorb(values[first : first + batch])
        assert every == usable.all()
        assert np.isfinite(rows).all()
        parts.append((rows, usable))
    return np.concatenate([one[0] for one in parts]), np.concatenate([one[1] for one in parts])


@pytest.mark.parametrize("batch", [7, 50, 10_000])
def test_rows_count_again_when_the_low_passes_have_settled_after_a_gap(batch: int) -> None:
    values = np.random.default_rng(2).normal(size=(4 * SETTLING + 200, 2))
    first, last = 2 * SETTLING, 2 * SETTLING + 20
    values[first:last, 1] = np.nan
    rows, usable = through(values, batch)
    expected = np.zeros(len(values), bool)
    expected[SETTLING - 1 : first] = True
    expected[last + SETTLING - 1 :] = True
    assert usable.tolist() == expected.tolist()
    assert (rows[first:last, 1] == values[first - 1, 1]).all(), "the last value stands for those that are missing"
    there = np.isfinite(values)
    assert (rows[there] == values[there]).all()


@pytest.mark.parametrize(
    ("missing", "restarts"), [(round(BRIDGED / PERIOD), False), (round(BRIDGED / PERIOD) + 1, True)]
)
def test_a_long_gap_restarts_the_low_passes_and_a_short_one_does_not(missing: int, restarts: bool) -> None:
    made, low_pass = bridge()
    low_pass.absorb(made.absorb(np.ones((100, 2)))[0])
    made.absorb(np.full((missing, 2), np.nan))
    assert np.isnan(low_pass.state).all() == restarts
