"""What becomes of a refit that is under way."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest

from estimators.online.eta.refits import EtaRefits
from estimators.online.judgement.events import EventLog
from estimators.refit.outcome import Pending, RefitOutcome

ROW = 0.01  # s
DONE = cast(RefitOutcome, object())


def under_way(total: int = 0) -> tuple[EtaRefits, "Future[RefitOutcome]", EventLog]:
    """One whose window ended at row 1000, and `total` rows since."""
    nothing, log, future = cast(Any, None), EventLog(), Future[RefitOutcome]()
    refits = EtaRefits(nothing, cast(Any, SimpleNamespace(total=1000 + total)), nothing, log, ROW, nothing)
    refits.pending = Pending(future, "change", 0, 1000, refits.state.epoch, "change, 10.00 s of motion", (0, 7))
    return refits, future, log


def test_it_is_found_once_it_has_ended() -> None:
    refits, future, _ = under_way()
    assert refits.poll() is None
    future.set_result(DONE)
    found = refits.poll()
    assert found is not None
    assert (found.outcome, found.reason, found.pending.first) == (DONE, "", 0)
    assert refits.pending is None
    assert refits.poll() is None, "once"


@pytest.mark.parametrize(("rows", "stale"), [(2990, False), (3010, True)])
def test_after_thirty_seconds_of_motion_it_is_too_old(rows: int, stale: bool) -> None:
    refits, future, _ = under_way(rows)
    future.set_result(DONE)
    found = refits.poll()
    assert found is not None
    assert (found.outcome is None) is stale
    assert found.reason == ("stale: its window ended 30.10 s of motion ago" if stale else "")


def test_one_from_before_another_change_does_not_count() -> None:
    refits, future, _ = under_way()
    refits.state.epoch += 1
    future.set_result(DONE)
    found = refits.poll()
    assert found is not None
    assert (found.outcome, found.reason) == (None, "stale: another change came meanwhile")
    dropped, _, _ = under_way()
    epoch = dropped.state.epoch
    dropped.drop()
    assert dropped.pending is None
    assert dropped.state.epoch == epoch + 1


@pytest.mark.parametrize(("error", "said"), [(ValueError("no minimum"), "no minimum"), (KeyError(), "KeyError")])
def test_one_that_fails_says_why(error: Exception, said: str) -> None:
    refits, future, _ = under_way()
    future.set_exception(error)
    found = refits.poll()
    assert found is not None
    assert (found.outcome, found.reason) == (None, said)


def test_their_fates_are_counted_and_reported() -> None:
    refits, _, log = under_way()
    assert refits.pending is not None
    refits.accepted(refits.pending, "ω1 0.1 → 0.2 rad/s")
    for _ in range(2):
        refits.rejected(refits.pending, "ambiguous")
    assert refits.counters() == {"refits_started": 0, "refits_accepted": 1, "refits_rejected": 2}
    assert [(one.kind, one.text, one.window) for one in log.take_events()] == [
        ("refit_accepted", "change, 10.00 s of motion", (0, 7)),
        ("refit", "change, 10.00 s of motion: ω1 0.1 → 0.2 rad/s", (0, 7)),
        *[("refit_rejected", "change, 10.00 s of motion: ambiguous", (0, 7))] * 2,
    ]
