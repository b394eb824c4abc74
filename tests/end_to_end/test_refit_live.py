"""Case 2's jumps, made by the rig while it streams over slcan to the service: what a subscriber sees, and when."""

import itertools
from typing import Any

import pytest

import estimators.online.monitor.fast  # noqa: F401 (every kernel of the core compiled, so that it loads them and is soon there)
from daq.subscriber import Subscriber
from estimators.refit.job import warm
from hil_rig.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

LINEAR, NONLINEAR, END = 20.0, 30.0, 36.0  # s after the rig's first sample
FIRST = 60.0  # s until the first update


def watch(identify: str) -> tuple[float, list[dict[str, Any]], list[dict[str, Any]], dict[str, float]]:
    """When the rig began (Unix s), every event, every estimate, and the truth at the end."""
    jumps = ["--jump", f"{LINEAR}:linear=1.5", "--jump", f"{NONLINEAR}:nonlinear=1.2"]
    events, estimates, begin = [], [], None
    warm()
    with (
        Live(["two_mass", "--set", f"identify={identify}", *jumps]) as live,
        Subscriber(live.endpoint, ("estimate/", "event/"), timeout=FIRST) as updates,
    ):
        for topic, update in updates:
            (events if topic.startswith("event/") else estimates).append(update)
            if "starting" in (one["phase"] for one in estimates[-1:]) and begin is None:
                begin = update["timestamp"]
            if begin is not None and update["timestamp"] > begin + END:
                break
    return live.farewell["began"], events, estimates, live.farewell["truth"]["joint1"]


@pytest.mark.parametrize("identify", ["friction", "elastic"])
def test_only_the_nonlinear_jump_is_followed_by_a_refit_within_three_seconds(identify: str) -> None:
    began, events, estimates, truth = watch(identify)
    found = [(one["timestamp"] - began, one["kind"], one["text"]) for one in events]
    changes = [(time, kind) for time, kind, text in found if not text.startswith("start")]
    searched = [time for time, kind in changes if kind == "refit_started"]
    accepted = [time for time, kind in changes if kind == "refit_accepted"]
    assert [kind for _, kind, _ in found].count("started") == 1, found
    assert any(kind == "alarm" and LINEAR < time < LINEAR + 1.0 for time, kind in changes), found
    assert not [time for time in searched if time < NONLINEAR], found
    assert accepted, found
    assert 0.0 < accepted[0] - NONLINEAR <= 3.0, found
    last = estimates[-1]["parameters"]
    assert last["omega_tanh"] == pytest.approx(truth["omega_tanh"], rel=0.1)
    assert last["omega_stribeck"] == pytest.approx(truth["omega_stribeck"], rel=0.03)
    times = [one["timestamp"] for one in estimates if one["timestamp"] > began + 2.0]
    steps = [after - before for before, after in itertools.pairwise(times)]
    assert max(steps) < 1.0, "the stream never pauses"
