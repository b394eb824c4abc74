"""The start of a rigid joint whose motion hardly tells its parameters apart, against batch least squares."""

import numpy as np
import pytest

from estimators.base import Phase
from estimators.conditioning.conditioner import Conditioner
from estimators.online.joint import JointEstimator
from estimators.online.judgement.validity import SMALL
from estimators.online.settings import JointIdentification
from estimators.online.start import linear
from estimators.online.start.gathering import Gathering
from estimators.recursive.weights import timing_weights

pytestmark = pytest.mark.compiled

RATE = 200.0  # Hz
SETTINGS = {
    "model": {"kind": "rigid", "gravity_sin": True, "gravity_cos": True},
    "conditioning": {"row_rate": 50.0},
    "start": 4.0,
}


@pytest.mark.parametrize("amplitude", [0.1, 0.2, 0.8])
def test_a_weakly_excited_start_ends_where_least_squares_end(amplitude: float) -> None:
    """In small motion the cosine of the angle is all but a constant: offset and gravity trade with each other."""
    t = np.arange(round(30.0 * RATE)) / RATE
    q = 0.4 + amplitude * (np.sin(2 * np.pi * 0.5 * t) + 0.5 * np.sin(2 * np.pi * 1.3 * t))
    v, a = np.gradient(q, 1 / RATE), np.gradient(np.gradient(q, 1 / RATE), 1 / RATE)
    torque = 2.0 * a + 3.0 * v + 1.5 * np.sign(v) + 4.0 + 5.0 * np.sin(q) - 8.0 * np.cos(q)
    torque += np.random.default_rng(1).normal(0.0, 0.05, len(t))
    time, values = np.round(t * 1e9).astype(np.int64), np.column_stack([q, torque])
    settings = JointIdentification.model_validate(SETTINGS)
    joint = JointEstimator(settings, 1 / RATE)
    for first in range(0, len(t), 20):
        joint.absorb(time[first : first + 20], values[first : first + 20])
        estimate = joint.estimate()
        if estimate.phase is Phase.NORMAL:
            break
    assert estimate.phase is Phase.NORMAL
    rows = Conditioner(settings.model.build(), 1 / RATE, settings.conditioning).absorb(time, values)
    rows = rows.part(rows.time <= estimate.time)
    least_squares = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0])[0]
    noise = np.mean((rows.y[:, 0] - rows.phi[:, 0] @ least_squares) ** 2)
    rows = timing_weights.temper(
        rows, np.array([RATE**-2 / 12.0 / noise]), np.zeros(1, np.int64)
    )  # as a start weighs them
    batch = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0])[0]
    off = np.abs(estimate.values - batch) / estimate.deviations
    assert off.max() <= 1.0, (estimate.names, estimate.values, batch, estimate.deviations)


def test_certainty_is_computed_again_when_there_is_more_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """A noisy torque delays the end of a start: asked seldom, it is later by 3 % of its motion at most."""
    t = np.arange(round(20.0 * RATE)) / RATE
    q = 0.8 * (np.sin(2 * np.pi * 0.5 * t) + 0.5 * np.sin(2 * np.pi * 1.3 * t))
    v, a = np.gradient(q, 1 / RATE), np.gradient(np.gradient(q, 1 / RATE), 1 / RATE)
    torque = 2.0 * a + 3.0 * v + 1.5 * np.sign(v) + 4.0 + 5.0 * np.sin(q)
    torque += np.random.default_rng(2).normal(0.0, 8.0, len(t))
    time, values = np.round(t * 1e9).astype(np.int64), np.column_stack([q, torque])
    real = vars(Gathering)["prediction"].fget
    asked = list[float]()

    def noting(gathering: Gathering) -> float:
        asked.append(real(gathering))
        return asked[-1]

    monkeypatch.setattr(Gathering, "prediction", property(noting))
    ends, counts = list[float](), list[int]()
    for grown in (1.0, linear.GROWN):
        monkeypatch.setattr(linear, "GROWN", grown)
        asked.clear()
        joint = JointEstimator(JointIdentification.model_validate(SETTINGS), 1 / RATE)
        for first in range(0, len(t), 4):
            joint.absorb(time[first : first + 4], values[first : first + 4])
            if joint.phases.phase is Phase.NORMAL:
                break
        ends.append(t[first])
        counts.append(len(asked))
        assert asked[-1] <= SMALL < asked[0], "certainty ends it, and did not from the first"
    assert ends[0] <= ends[1] <= 1.03 * ends[0] + 0.1, ends
    assert counts[1] <= counts[0] / 2, counts


def test_a_start_with_a_change_in_it_is_not_over() -> None:
    """A payload that is taken up within a start: the mean of two truths would be valid, and wrong."""
    t = np.arange(round(8.0 * RATE)) / RATE
    q = 0.8 * (np.sin(2 * np.pi * 0.5 * t) + 0.5 * np.sin(2 * np.pi * 1.3 * t))
    v, a = np.gradient(q, 1 / RATE), np.gradient(np.gradient(q, 1 / RATE), 1 / RATE)
    noise = np.random.default_rng(2).normal(0.0, 0.05, len(t))
    for carried, ends in ((0.0, True), (0.05, False)):
        factor = 1.0 + carried * (t >= 3.0)
        torque = factor * (2.0 * a + 5.0 * np.sin(q)) + 3.0 * v + 1.5 * np.sign(v) + 4.0 + noise
        joint = JointEstimator(JointIdentification.model_validate(SETTINGS), 1 / RATE)
        joint.absorb(np.round(t * 1e9).astype(np.int64), np.column_stack([q, torque]))
        assert (joint.phases.phase is Phase.NORMAL) == ends
        assert ends or [one.code for one in joint.estimate().reasons] == ["residual_not_noise"]
