"""What the core counts of a joint for its history."""

import numpy as np
import pytest

from daq.core.followers.joint_use import JointUse, absorb_use

TIMES = 10**9 + 10**6 * np.arange(2000)


def samples(temperature: float) -> np.ndarray:
    """Torque, a position that goes 1 rad in 1 s and rests for another, temperature."""
    position = np.minimum(np.arange(2000) / 1000, 1.0)
    return np.column_stack([np.zeros(2000), position, np.full(2000, temperature)])


def test_use_is_that_of_the_position_and_the_temperature_the_newest_that_is_known() -> None:
    use = JointUse(("torque", "position", "temperature"), "N·m")
    absorb_use(TIMES, samples(31.5), 0.0, use.state)
    absorb_use(TIMES + 2 * 10**9, samples(float("nan"))[1999:].repeat(2000, axis=0), 0.0, use.state)
    found = use.totals()
    assert (found["unit"], found["starts"], found["temperature"]) == ("rad", 1, 31.5)
    assert found["travel"] == pytest.approx(1.0, abs=2e-3)
    assert found["seconds"] == pytest.approx(1.0, abs=0.01)


def test_a_slide_counts_metres_and_has_no_temperature_without_a_channel() -> None:
    use = JointUse(("position", "force"), "N")
    absorb_use(TIMES[:0], np.zeros((0, 2)), 0.0, use.state)
    assert use.totals() == {"unit": "m", "seconds": 0.0, "travel": 0.0, "reversals": 0, "starts": 0}


def test_the_step_of_a_coarse_encoder_widens_the_play() -> None:
    flicker = np.random.default_rng(1).integers(0, 2, 2000) * 1.5e-3
    use = JointUse(("position",), "N·m")
    absorb_use(TIMES, flicker[:, None], 1.5e-3, use.state)
    assert use.totals()["travel"] == 0.0


@pytest.mark.parametrize("size", [1, 7, 300, 4000])
def test_what_was_counted_before_a_second_does_not_depend_on_batches(size: int) -> None:
    """Two seconds of motion and rest, then a gap: asked when all is counted, and when a part is."""
    times = np.concatenate([TIMES, TIMES + 4 * 10**9])
    moving = np.concatenate([samples(20.0), samples(25.0)])
    whole, cut = (JointUse(("torque", "position", "temperature"), "N·m") for _ in range(2))
    absorb_use(times, moving, 0.0, whole.state)
    for begin in range(0, len(times), size):
        absorb_use(times[begin : begin + size], moving[begin : begin + size], 0.0, cut.state)
    for tick in (10**9, 15 * 10**8, 2 * 10**9, 4 * 10**9 + 5, 5 * 10**9, 6 * 10**9 + 7, 9 * 10**9):
        assert repr(cut.before_second_of(tick)) == repr(whole.before_second_of(tick))
    assert whole.before_second_of(15 * 10**8)["travel"] == 0.0
    assert whole.before_second_of(2 * 10**9)["travel"] == pytest.approx(1.0, abs=5e-3)
    assert "temperature" not in whole.before_second_of(10**9)
    assert whole.before_second_of(9 * 10**9) == whole.totals()
