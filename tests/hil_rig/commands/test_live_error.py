"""The column `live` of `jointwatch bench identify`: what it compares, on a slide that carries a pendulum."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from estimators.offline.robot.identification import JudgedPrediction
from estimators.offline.robot.live_residuals import Recorded
from estimators.offline.robot.motion import pieces
from estimators.offline.robot.rows import build
from tests.support.signals.crane import NOISE, motion_at, taught, torque

pytestmark = pytest.mark.compiled
BENCHES = Path(__file__).parents[2] / "benchmarks" / "robots"
STATE, SENT, SECONDS = 47.0, 50.0, 12.0  # Hz, Hz, s


@pytest.fixture
def live_over_identified(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., float]]:
    monkeypatch.syspath_prepend(str(BENCHES))
    from parts.live_error import live_over_identified  # found beside its benchmark

    yield live_over_identified
    for name in [one for one in sys.modules if one == "parts" or one.startswith("parts.")]:
        del sys.modules[name]


def recorded(sent: float) -> Recorded:
    """The newest state of 47 Hz, sent at this rate."""
    time = np.arange(round(SECONDS * sent)) / sent
    moves = motion_at(np.floor(time * STATE + 1e-9) / STATE)
    noise = NOISE * np.random.default_rng(7).standard_normal((round(SECONDS * STATE) + 1, 2))
    return Recorded(time, moves.q, torque(moves) + noise[np.round(moves.t * STATE).astype(np.int64)])


def told(one: Recorded) -> JudgedPrediction:
    """What `identify` has of a recording, by the robot as it is."""
    rows = build(taught().model(), pieces(*one[:3]))
    nothing = np.zeros(rows.y.shape)
    return JudgedPrediction(rows, rows.predicted(taught().theta), nothing > 0.0, nothing)


def test_rows_that_were_sent_twice_are_left_out(live_over_identified: Callable[..., float]) -> None:
    once, twice = (live_over_identified(taught(), [one], [one], told(one)) for one in map(recorded, (STATE, SENT)))
    assert twice == pytest.approx(once, rel=0.2)


def test_only_rows_that_both_have_count(live_over_identified: Callable[..., float]) -> None:
    """In its last 0.3 s, of which `identify` has no rows, somebody pulls."""
    one = recorded(STATE)
    pulled = one._replace(tau=one.tau + 50.0 * (one.time > one.time[-1] - 0.2)[:, np.newaxis])
    found = [live_over_identified(taught(), [one], [judged], told(one)) for judged in (one, pulled)]
    assert found[0] == found[1]
