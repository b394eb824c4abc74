"""Values at like temperature and use: what follows them is taken off, what does not stays, chance names nobody."""

import math

import numpy as np
import pytest

from daq.fleet.comparison import SiblingKind, Siblings, judged
from daq.fleet.like_conditions import at_like_conditions
from estimators.offline.siblings import threshold
from estimators.quantities import Floats


def siblings(values: Floats, temperature: Floats, use: Floats | None = None, sigma: float = 0.02) -> Siblings:
    count = len(values)
    conditions = np.column_stack([temperature, np.full(count, math.nan) if use is None else np.log(use)])
    table = np.column_stack([values, np.full(count, sigma)])
    return Siblings(
        SiblingKind("elbow", "rigid", "coulomb", "N·m"), tuple(f"r{i:03}" for i in range(count)), table,
        np.full((count, 2), math.nan), np.ones(count, np.int64), conditions,
    )  # fmt: skip


def odd(one: Siblings) -> set[str]:
    return {found.robot for found in judged([one]) if found.odd}


def test_a_robot_in_the_sun_is_not_odd_and_a_worn_one_as_warm_as_the_others_is() -> None:
    random = np.random.default_rng(3)
    temperature = random.uniform(18.0, 32.0, 30)
    temperature[4] = 50.0  # in the sun
    values = 5.0 - 0.06 * (temperature - 25.0) + 0.03 * random.standard_normal(30)
    values[9] += 0.5  # worn by 10 %: less than the weather moves all of them
    one = siblings(values, temperature)
    assert odd(one) == {"r009"}
    assert odd(one._replace(conditions=None)) != {"r009"}, "otherwise temperature hides it"
    told = next(found for found in judged([one]) if found.robot == "r004")
    assert told.median == pytest.approx(np.median(values) - 0.06 * 25.0, abs=0.3), "what its siblings would be at 50 °C"
    assert told.value == values[4]
    assert told.threshold == threshold(29, 30), "the line has taken a degree of freedom"
    bare = judged([one._replace(conditions=None)])[4]
    assert (bare.threshold, bare.median) == (threshold(30, 30), pytest.approx(np.median(values)))


def test_use_matters_by_its_ratio() -> None:
    random = np.random.default_rng(4)
    use = np.exp(random.uniform(0.0, 4.0, 40))
    values = 3.0 + 0.4 * np.log(use) + 0.02 * random.standard_normal(40)
    values[7] += 0.4
    assert odd(siblings(values, np.full(40, math.nan), use)) == {"r007"}


def test_a_hot_and_worn_robot_cannot_bend_the_line_to_itself() -> None:
    random = np.random.default_rng(5)
    temperature = 25.0 + 2.0 * random.standard_normal(24)
    values = 5.0 - 0.05 * (temperature - 25.0) + 0.02 * random.standard_normal(24)
    temperature[3], values[3] = 35.0, 8.0  # friction heats it
    assert odd(siblings(values, temperature)) == {"r003"}


@pytest.mark.parametrize("conditions", [None, np.full((9, 2), math.nan)])
def test_without_conditions_nothing_changes(conditions: Floats | None) -> None:
    values = np.arange(9.0)
    deviations = np.where(values > 6, math.nan, 0.1)
    found = at_like_conditions(values, deviations, conditions)
    assert found.values.tolist() == values.tolist()
    assert found.shifts.tolist() == [0.0] * 9
    np.testing.assert_array_equal(found.deviations, deviations)


def test_a_line_that_may_be_chance_is_not_taken_off() -> None:
    """One of a hundred is beyond the limit in vain: six and more of a hundred are so once in 2000."""
    random, taken = np.random.default_rng(11), 0
    for _ in range(100):
        conditions = np.column_stack([random.uniform(18.0, 32.0, 24), np.full(24, math.nan)])
        taken += at_like_conditions(5.0 + random.standard_normal(24), np.full(24, 0.02), conditions).lines
    assert taken <= 5


@pytest.mark.parametrize(("robots", "slope"), [(8, 0.0), (8, 0.3), (30, 0.0), (30, 0.3)])
def test_a_fleet_of_equal_robots_names_one_as_seldom_as_is_promised(robots: int, slope: float) -> None:
    """400 fleets: 5 % of pages may name a robot; counted beyond three deviations of that count is too many."""
    random, pages, named = np.random.default_rng([robots, int(10 * slope)]), 400, 0
    for _ in range(pages):
        temperature = 25.0 + 5.0 * random.standard_normal(robots)
        values = 5.0 - slope * (temperature - 25.0) + 0.1 * random.standard_normal(robots)
        named += bool(odd(siblings(values, temperature, sigma=0.01)))
    assert named <= pages * 0.05 + 3 * math.sqrt(pages * 0.05 * 0.95)
