"""What a consumer may do with the values, by phase, rest and reasons."""

import pytest

from estimators.base import Phase, Status
from estimators.online.reporting.report import verdict
from estimators.reasons import Reason

WHY, REST, ALARM = Reason("not_identifiable", "inertia"), Reason("at_standstill"), Reason("alarm_stands")
WAITING = (Reason("waiting_for_motion"),)
AGAIN = (Reason("restarting"), *WAITING)
TOLD = [
    (Phase.WAITING, False, (), Phase.WAITING, Status.UNESTIMATED, WAITING),
    (Phase.WAITING, True, (WHY,), Phase.WAITING, Status.UNESTIMATED, WAITING),
    (Phase.FAULTED, True, (WHY,), Phase.FAULTED, Status.FAULTED, AGAIN),
    (Phase.STARTING, False, (), Phase.STARTING, Status.LEARNING, ()),
    (Phase.STARTING, True, (WHY,), Phase.STARTING, Status.LEARNING, (REST, WHY)),
    (Phase.TRANSIENT, False, (WHY,), Phase.TRANSIENT, Status.LEARNING, (ALARM,)),
    (Phase.TRANSIENT, True, (), Phase.TRANSIENT, Status.LEARNING, (ALARM, REST)),
    (Phase.NORMAL, False, (), Phase.NORMAL, Status.VALID, ()),
    (Phase.NORMAL, True, (), Phase.HELD, Status.HELD, (REST,)),
    (Phase.NORMAL, False, (WHY,), Phase.NORMAL, Status.LEARNING, (WHY,)),
    (Phase.NORMAL, True, (WHY,), Phase.HELD, Status.LEARNING, (REST, WHY)),
]


@pytest.mark.parametrize(("phase", "resting", "reasons", "told", "status", "words"), TOLD)
def test_what_is_reported(
    phase: Phase, resting: bool, reasons: tuple[Reason, ...], told: Phase, status: Status, words: tuple[Reason, ...]
) -> None:
    assert verdict(phase, resting, reasons) == (told, status, words)
