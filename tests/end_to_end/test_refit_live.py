"""Case 2's jumps, made by the rig while it streams over slcan to the service: what a subscriber sees, and when."""

import itertools

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

LINEAR, NONLINEAR, END = 20.0, 30.0, 36.0  # s after the first sample


@pytest.mark.parametrize("identify", ["friction", "elastic"])
def test_only_the_nonlinear_jump_is_followed_by_a_refit_within_three_seconds(identify: str) -> None:
    jumps = ["--jump", f"{LINEAR}:linear=1.5", "--jump", f"{NONLINEAR}:nonlinear=1.2"]
    events: list[tuple[float, str, str]] = []
    times: list[float] = []
    last: dict[str, float] = {}
    with (
        Live(["two_mass", "--set", f"identify={identify}", *jumps]) as live,
        Subscriber(live.endpoint, ("estimate/", "event/"), timeout=5.0) as updates,
    ):
        begin = None
        for topic, update in updates:
            if topic.startswith("event/"):
                events.append((update["timestamp"], update["kind"], update["text"]))
                continue
            begin = update["timestamp"] if begin is None else begin
            times.append(update["timestamp"])
            last = update["parameters"]
            if update["timestamp"] > begin + END or update["health"]["status"] == "faulted":
                break
        truth = live.truth["joint1"]
    assert begin is not None
    found = [(time - begin, kind, text) for time, kind, text in events if not text.startswith("start")]
    searched = [time for time, kind, _ in found if kind == "refit_started"]
    accepted = [time for time, kind, _ in found if kind == "refit_accepted"]
    assert [kind for _, kind, _ in found].count("started") == 1, found
    assert not [time for time in searched if time < NONLINEAR], found
    assert accepted, found
    assert 0.0 < accepted[0] - NONLINEAR <= 3.0, found
    assert last["omega_tanh"] == pytest.approx(1.2 * truth["omega_tanh"], rel=0.05)
    assert last["omega_stribeck"] == pytest.approx(1.2 * truth["omega_stribeck"], rel=0.02)
    steps = [after - before for before, after in itertools.pairwise(times)]
    assert max(steps[100:]) < 0.2, "the stream never pauses"
