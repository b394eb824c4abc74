"""Rows past the phases in one compiled pass, and step by step: the same to the bit."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from estimators.base import Phase
from estimators.online.joint import JointEstimator
from estimators.online.settings import Identification
from estimators.online.steady import Steady
from estimators.quantities import Floats
from estimators.rows import Rows

RATE = 200.0
RIGID = {"model": {"kind": "rigid", "gravity_sin": True}, "conditioning": {"half_width": 0.02}}
SEARCHED = {"model": {"kind": "rigid", "friction": {"kind": "tanh_stribeck"}}, "conditioning": {"half_width": 0.02}}


def motion(seconds: float, rest: tuple[float, float], changed: float) -> tuple[Floats, Floats]:
    """Times (ns) and values of a joint that rests for a while, loses values, and whose friction grows."""
    t = np.arange(round(seconds * RATE)) / RATE
    speed = 0.8 * np.cos(2 * np.pi * 0.6 * t) + 0.5 * np.cos(2 * np.pi * 1.7 * t)
    speed[(rest[0] <= t) & (t < rest[1])] = 0.0
    position = np.cumsum(speed) / RATE
    torque = 1.2 * np.gradient(speed, 1 / RATE) + 4.0 * speed + 3.0 * np.sin(position)
    torque += np.where(t < changed, 6.0, 9.0) * np.tanh(speed / 0.01)
    torque += 0.2 * np.random.default_rng(0).standard_normal(len(t))
    torque[round(0.4 * len(t))] = np.nan
    return np.round(t * 1e9).astype(np.int64), np.column_stack([position, torque])


def outcome(settings: dict[str, Any], samples: tuple[Floats, Floats], size: int) -> dict[str, Any]:
    """Everything that is kept and told at the end."""
    joint = JointEstimator(Identification.model_validate(settings), 1 / RATE)
    time, values = samples
    told = []
    for i in range(0, len(time), size):
        joint.absorb(time[i : i + size], values[i : i + size])
        told += joint.events()
    parts, estimate = joint.phases.parts, joint.estimate()
    kept = {name: part.kept for name, part in joint.phases.keeping().items()}
    found = {"told": told, "kept": repr(kept), "counters": joint.counters(), "estimate": repr(estimate)}
    found |= {name: part.tobytes() for name, part in (("gram", parts.fit.kept.gram), ("fresh", parts.fit.kept.fresh))}
    assert joint._standstill is not None
    return found | {"seen": joint._standstill.seen.tolist(), "learnt": parts.learner.rls.state.tobytes()}


@pytest.mark.compiled
@pytest.mark.parametrize("size", [1, 4, 90])
def test_a_pass_gives_what_the_steps_give(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, ways, plain = motion(48.0, (30.0, 33.0), 36.0), Counter[tuple[Phase, bool]](), Steady.absorb

    def absorb(steady: Steady, rows: Rows) -> int:
        phase = steady._phases.phase
        taken = plain(steady, rows)
        ways[phase, taken > 0] += 1
        return taken

    monkeypatch.setattr(Steady, "absorb", absorb)
    passed = outcome(RIGID, samples, size)
    monkeypatch.setattr(Steady, "absorb", lambda *_: 0)
    assert outcome(RIGID, samples, size) == passed
    assert {"started", "held", "moving", "alarm"} <= {event.kind for event in passed["told"]}
    assert ways[Phase.NORMAL, True] > 0.9 * (ways[Phase.NORMAL, True] + ways[Phase.NORMAL, False])
    assert ways[Phase.STARTING, True] > 0
    assert ways[Phase.TRANSIENT, True] > 0
    assert not ways[Phase.WAITING, True]


@pytest.mark.compiled
def test_the_same_where_a_law_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = motion(16.0, (9.0, 9.5), 99.0)
    passed = outcome(SEARCHED, samples, 4)
    monkeypatch.setattr(Steady, "absorb", lambda *_: 0)
    assert outcome(SEARCHED, samples, 4) == passed
    assert "refit_started" in {event.kind for event in passed["told"]}


@pytest.mark.interpreted
def test_the_same_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = motion(2.5, (9.0, 9.0), 9.0)
    passed = outcome(RIGID, samples, 4)
    monkeypatch.setattr(Steady, "absorb", lambda *_: 0)
    assert outcome(RIGID, samples, 4) == passed
