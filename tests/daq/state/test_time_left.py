"""Days to a limit, of drifts whose answer is known: straight lines in the way that the joint has made."""

import numpy as np
import pytest

from daq.state.history.tables import DAY
from daq.state.history.time_left import PACE, Limit, TimeLeft, time_left_of
from estimators.quantities import Floats
from estimators.wear.time_to_limit import FEWEST

BEGIN, REFERENCE = 20_000 * DAY.seconds, 5.0


def days(values: Floats) -> dict[int, float]:
    return {BEGIN + day * DAY.seconds: float(value) for day, value in enumerate(values)}


def told(values: Floats, limit: float, ways: Floats) -> TimeLeft:
    return time_left_of(Limit("coulomb", limit), days(values), days(ways), REFERENCE, float(values[-1]))


@pytest.mark.parametrize(("sign", "unit"), [(1.0, 1.0), (-1.0, 1e-4)])
def test_a_straight_line_takes_the_way_that_it_has_left_at_the_pace_of_its_last_days(sign: float, unit: float) -> None:
    """1.2 in 7,500 rad leave 1.8, which are 11,250 rad: at the mean 200 rad of the last 30 days 56.25 days.

    A slide of centimetres makes so many units of a tenth of a millimetre.
    """
    ways = unit * np.repeat([50.0, 490.0, 190.0], [30, 1, PACE - 1])
    values = REFERENCE + sign * 1.2 * np.cumsum(ways) / ways.sum()
    found = told(values, REFERENCE + 3.0 * sign, ways)
    assert found.left is not None
    assert found.left.middle == pytest.approx(56.25, rel=0.01)
    assert found.left.low == pytest.approx(56.25, rel=0.15)
    assert found.left.high == pytest.approx(56.25, rel=0.15)
    assert found.left.low < found.left.middle < found.left.high
    assert found.text == (
        f"in {found.left.low:.0f}–{found.left.high:.0f} days in use (80 %), most likely about "
        f"{found.left.middle:.0f}, at the use of the last 30 days"
    )
    assert found[:2] == ("coulomb", REFERENCE + 3.0 * sign)


def test_after_a_repair_its_way_and_its_days_count_anew() -> None:
    """2 in 4,000 rad, then repaired; 1 in the 29 days since leaves 2, which are 58 of them."""
    ways = np.full(70, 100.0)
    values = REFERENCE + np.concatenate([np.linspace(0.02, 2.0, 40), np.linspace(0.02, 1.0, 30)])
    found = told(values, REFERENCE + 3.0, ways)
    assert found.left is not None
    assert found.left.middle == pytest.approx(2.0 / (0.98 / 29.0), rel=0.06)
    young = told(values[: 40 + FEWEST - 1], REFERENCE + 3.0, ways)
    assert (young.left, young.text) == (None, "not known: 9 days with values since its repair, 10 are needed")
    assert told(values[: 40 + FEWEST], REFERENCE + 3.0, ways).left is not None


def test_what_is_beyond_its_limit_has_reached_it() -> None:
    values = REFERENCE + np.linspace(0.1, 4.0, 20)
    found = told(values, REFERENCE + 2.0, np.full(20, 100.0))
    assert found.left is not None
    assert (found.left.high, found.text) == (0.0, "reached")


@pytest.mark.parametrize(
    ("values", "limit", "ways", "why"),
    [
        (np.linspace(5.1, 6.0, 20), 4.0, np.full(20, 100.0), "it moves away from its limit"),
        (np.full(20, 5.0), 8.0, np.full(20, 100.0), "it moves away from its limit"),
        (np.linspace(5.1, 6.0, 9), 8.0, np.full(20, 100.0), "9 days with values, 10 are needed"),
        (np.linspace(5.1, 6.0, 20), 8.0, np.full(9, 100.0), "9 days with values, 10 are needed"),
        (np.linspace(5.1, 6.0, 20), 8.0, np.repeat([100.0, 0.0], [1, 19]), "the joint is not in use"),
    ],
)
def test_what_cannot_be_determined_says_why(values: Floats, limit: float, ways: Floats, why: str) -> None:
    assert told(values, limit, ways) == ("coulomb", limit, None, f"not known: {why}")
