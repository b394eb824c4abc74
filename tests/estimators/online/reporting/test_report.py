"""What a consumer may do with the values, by phase, rest and reasons."""

import pytest

from estimators.base import Phase, Status
from estimators.online.reporting.report import verdict

WHY, REST, ALARM = "inertia lacks excitation", "at standstill", "an alarm stands: values from before it"
AGAIN = ("the estimator starts again", "waiting for motion")
TOLD = [
    (Phase.WAITING, False, (), Phase.WAITING, Status.UNESTIMATED, ("waiting for motion",)),
    (Phase.WAITING, True, (WHY,), Phase.WAITING, Status.UNESTIMATED, ("waiting for motion",)),
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
def test_what_is_told(
    phase: Phase, resting: bool, reasons: tuple[str, ...], told: Phase, status: Status, words: tuple[str, ...]
) -> None:
    assert verdict(phase, resting, reasons) == (told, status, words)
