"""What is kept when an alarm comes, and what stands again when it is recalled, of the parts of a linear joint."""

import numpy as np
import pytest

from estimators.online import assembly
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm

PARAMETERS = tuple(Parameter(name, "", -1e3, 1e3, "") for name in ("inertia", "viscous"))


@pytest.mark.parametrize("trusted", [True, False])
def test_values_and_whether_they_were_trusted_stand_again_and_the_alarm_begins_from_zero(trusted: bool) -> None:
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    recall, state = parts.recall, parts.learner.rls.state
    state.theta[:] = 2.0, -1.0
    recall.kept.trusted = not trusted
    recall.alarmed(state, 1000, 200.0, trusted)
    assert recall.kept.trusted is trusted
    state.theta[:], state.alarms, state.cusum, state.since = (7.0, 8.0), 3, 42.0, 17
    assert recall.restore().tolist() == [2.0, -1.0]
    assert np.array_equal(state.theta, [2.0, -1.0])
    assert (state.alarms, state.cusum, state.since) == (3, 0.0, 0), "that it came is counted"
    assert recall.kept.recalled


def test_an_alarm_soon_behind_another_is_of_the_same_event_and_what_was_recalled_in_vain_is_given_up() -> None:
    """Soon: within twice the 200 rows of a start."""
    parts = assembly.linear(PARAMETERS, (0,), 0.02, Alarm(), 4.0, 0.005).parts
    recall, state = parts.recall, parts.learner.rls.state
    state.theta[:] = 2.0, -1.0
    recall.alarmed(state, 1000, 200.0, trusted=True)
    assert recall.kept.until == 1400
    state.theta[:] = 7.0, 8.0
    recall.alarmed(state, 1400, 200.0, trusted=False)
    assert (recall.kept.until, recall.kept.trusted) == (1800, True), "what is kept is that of before the first"
    assert recall.restore().tolist() == [2.0, -1.0]
    recall.alarmed(state, 1800, 200.0, trusted=True)
    assert recall.kept.until == -1
    state.theta[:] = 5.0, 6.0
    recall.alarmed(state, 1801, 200.0, trusted=False)
    assert (recall.kept.until, recall.kept.trusted, recall.kept.recalled) == (2201, False, False)
    assert recall.restore().tolist() == [5.0, 6.0]
