"""What is kept when an alarm comes, and what stands again when it is recalled, of the parts of a linear joint."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from estimators.misfit.regressors import BlockSums
from estimators.online import assembly
from estimators.online.monitor.recall import Recall
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learnt

PARAMETERS = tuple(Parameter(name, "", -1e3, 1e3, "") for name in ("inertia", "viscous"))


@pytest.mark.parametrize("trusted", [True, False])
def test_values_and_whether_they_were_trusted_stand_again_and_the_alarm_begins_from_zero(trusted: bool) -> None:
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    recall, state = parts.recall, parts.learner.rls.state
    state.theta[:] = 2.0, -1.0
    recall.state.trusted = not trusted
    recall.alarmed(state, 1000, 200.0, trusted)
    assert recall.state.trusted is trusted
    state.theta[:], state.alarms, state.cusum, state.since = (7.0, 8.0), 3, 42.0, 17
    assert recall.restore().tolist() == [2.0, -1.0]
    assert np.array_equal(state.theta, [2.0, -1.0])
    assert (state.alarms, state.cusum, state.since) == (3, 0.0, 0), "that it came is counted"
    assert recall.state.recalled


def test_all_that_was_learnt_beside_the_values_stands_again() -> None:
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    learnt, names = parts.learner.state, list(Learnt.__annotations__)
    names.remove("state")
    for number, name in enumerate(names):
        setattr(learnt, name, 1.0 + number) if name in ("signal", "power") else getattr(learnt, name).fill(1.0 + number)
    parts.recall.alarmed(parts.learner.rls.state, 1000, 200.0, trusted=True)
    for name in names:
        setattr(learnt, name, -1.0) if name in ("signal", "power") else getattr(learnt, name).fill(-1.0)
    parts.recall.restore()
    assert [np.unique(getattr(learnt, name)).tolist() for name in names] == [[1.0 + k] for k in range(len(names))]


def test_an_alarm_soon_behind_another_is_of_the_same_event_and_what_was_recalled_in_vain_is_given_up() -> None:
    """Soon: within twice the 200 rows of a start."""
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    recall, state = parts.recall, parts.learner.rls.state
    state.theta[:] = 2.0, -1.0
    recall.alarmed(state, 1000, 200.0, trusted=True)
    assert recall.state.until == 1400
    state.theta[:] = 7.0, 8.0
    recall.alarmed(state, 1400, 200.0, trusted=False)
    assert (recall.state.until, recall.state.trusted) == (1800, True), "what is kept is that of before the first"
    assert recall.restore().tolist() == [2.0, -1.0]
    recall.alarmed(state, 1800, 200.0, trusted=True)
    assert recall.state.until == -1
    state.theta[:] = 5.0, 6.0
    recall.alarmed(state, 1801, 200.0, trusted=False)
    assert (recall.state.until, recall.state.trusted, recall.state.recalled) == (2201, False, False)
    assert recall.restore().tolist() == [5.0, 6.0]


THETA, NOISE, FULL = np.array([2.0, -1.0]), 0.04, 50.0


def before_an_alarm(long: float, alarm: float) -> tuple[Recall, Any]:
    """What was known with these residual variances, lately and at the start, in units of the noise."""
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    recall, state = parts.recall, parts.learner.rls.state
    state.theta[:], state.noise[:], state.long[:], state.alarm_noise = THETA, NOISE, long, alarm
    recall.alarmed(state, 1000, 200.0, trusted=True)
    return recall, state


def block(residual: float, rows: int = 40) -> BlockSums:
    """The sums of so many rows that what was known leaves this residual variance of, in units of the noise."""
    rng = np.random.default_rng(rows)
    phi, e = rng.standard_normal((rows, 2)), rng.standard_normal(rows)
    e *= np.sqrt(residual * NOISE * rows / np.sum(e**2))
    columns = np.column_stack([phi, phi @ THETA + e])
    told = SimpleNamespace(products=np.tril(columns.T @ columns)[np.newaxis], count=np.array([float(rows)]))
    return cast(BlockSums, told)


@pytest.mark.parametrize(("long", "alarm", "limit"), [(1.0, 0.5, 2.0), (1.0, 1.5, 3.0), (2.0, 0.5, 4.0)])
def test_it_holds_again_once_it_explains_three_blocks_in_a_row_as_well_as_usual(
    long: float, alarm: float, limit: float
) -> None:
    """Twice what is usual: lately, or at the start where that was more."""
    recall, _ = before_an_alarm(long, alarm)
    good, bad = 0.99 * limit, 1.01 * limit
    told = [recall.holds(block(one), FULL, 1100) for one in (good, good, bad, good, good, good)]
    assert told == [False] * 5 + [True]


def test_another_alarm_makes_it_explain_three_blocks_anew() -> None:
    recall, state = before_an_alarm(1.0, 0.5)
    assert [recall.holds(block(1.0), FULL, 1100) for _ in range(2)] == [False, False]
    recall.alarmed(state, 1200, 200.0, trusted=True)
    assert [recall.holds(block(1.0), FULL, 1300) for _ in range(3)] == [False, False, True]


def test_it_is_of_the_past_after_a_while_and_few_rows_say_nothing() -> None:
    """A quarter of a block's rows at least, until twice a start's 200 rows after the alarm."""
    recall, _ = before_an_alarm(1.0, 0.5)
    for rows, now in ((40, 1401), (12, 1100)):
        assert not any(recall.holds(block(1.0, rows), FULL, now) for _ in range(4))
    assert [recall.holds(block(1.0, 13), FULL, 1400) for _ in range(3)] == [False, False, True]
    recall.give_up()
    assert not recall.holds(block(1.0), FULL, 1400)
