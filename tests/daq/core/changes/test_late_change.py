"""A change is noticed however long the joint has been watched: a joint that has learnt for long does not become deaf.

The position's encoder and the torque are of one instant here, the torque changes fast and has little noise. So the
weights by timing expect larger errors than there are; see estimators/recursive/weights/timing_weights.py.
"""

import numpy as np
import pytest

from tests.support.signals.lying_signals import RATE, TRUTH, configuration, frames, motion, play

MORE = 0.6 * TRUTH["coulomb"]  # N·m


def changed(begin: float, end: float) -> np.ndarray:
    """Frames of the same joint with more Coulomb friction."""
    table = frames(begin, end)
    t = begin + np.arange(len(table)) / RATE
    table["value"][:, 1] += MORE * np.sign(motion(t)[1])
    return table


@pytest.mark.parametrize("jump", [20.0, 45.0, 90.0])
def test_a_friction_that_jumps_is_an_alarm_and_learnt_anew(jump: float) -> None:
    said = play(configuration(), np.concatenate([frames(0.0, jump), changed(jump, jump + 12.0)]), batch=500_000_000)
    last = said[-1]
    assert last["health"]["status"] == "valid"
    assert last["parameters"]["coulomb"] == pytest.approx(
        TRUTH["coulomb"] + MORE, abs=4 * last["deviations"]["coulomb"]
    )
    phases = [one["phase"] for one in said if jump < one["said"] < jump + 3.0]
    assert "transient" in phases or jump > 60.0, "the alarm; later the values follow without one"


def test_stated_deviations_stay_those_of_the_noise() -> None:
    """The residual of rows that are weighed without need still says how large the noise is."""
    said = play(configuration(), frames(0.0, 60.0), batch=500_000_000)
    errors = np.array([
        [(one["parameters"][name] - truth) / one["deviations"][name] for name, truth in TRUTH.items()]
        for one in said
        if one["health"]["status"] == "valid"
    ])  # fmt: skip
    assert np.sqrt(np.mean(errors**2)) < 1.5
