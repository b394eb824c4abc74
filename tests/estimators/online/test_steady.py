"""Readings, and rows, past the phases in one compiled pass, and step by step: the same to the bit."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler
from estimators.base import Phase
from estimators.numerics.parcel import Parcel
from estimators.online import walk
from estimators.online.joint import JointEstimator
from estimators.online.normal_loop import TAUGHT
from estimators.online.settings import Identification
from estimators.online.steady import TOTAL, Steady
from estimators.quantities import Floats
from estimators.rows import Rows

RATE = 200.0
RIGID = {"model": {"kind": "rigid", "gravity_sin": True}, "conditioning": {"half_width": 0.02}}
LINEAR = {"kind": "viscous_coulomb"}
ELASTIC = {
    "model": {"kind": "two_mass", "motor_friction": LINEAR, "link_friction": LINEAR, "stick": 0.3},
    "conditioning": {"half_width": 0.02},
}
SEARCHED = {"model": {"kind": "rigid", "friction": {"kind": "tanh_stribeck"}}, "conditioning": {"half_width": 0.02}}

Way = Callable[[JointEstimator, tuple[Floats, Floats], int], Iterator[None]]
WENT: Counter[Any] = Counter()  # whether rows were learnt, figures told; or steps


def motion(seconds: float, rest: tuple[float, float], changed: float, peak: float = 0.0) -> tuple[Floats, Floats]:
    """Times (ns) and values of a joint that rests for a while, loses values, and whose friction grows.

    peak: N·m·s/rad of its friction at low speed.
    """
    t = np.arange(round(seconds * RATE)) / RATE
    speed = 0.8 * np.cos(2 * np.pi * 0.6 * t) + 0.5 * np.cos(2 * np.pi * 1.7 * t)
    speed[(rest[0] <= t) & (t < rest[1])] = 0.0
    position = np.cumsum(speed) / RATE
    torque = 1.2 * np.gradient(speed, 1 / RATE) + 4.0 * speed + 3.0 * np.sin(position)
    torque += np.where(t < changed, 6.0, 9.0) * np.tanh(speed / (0.05 if peak else 0.01))
    torque += peak * speed * np.exp(-np.abs(speed / 0.2))
    torque += 0.2 * np.random.default_rng(0).standard_normal(len(t))
    torque[round(0.4 * len(t))] = np.nan
    return np.round(t * 1e9).astype(np.int64), np.column_stack([position, torque])


def elastic(samples: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The same with a link that gives way under it, and often sticks: rows are left out."""
    time, values = samples
    return time, np.column_stack([values[:, 0], values[:, 0] - 1e-3 * np.sin(2.0 * values[:, 0]), values[:, 1]])


def stepped(joint: JointEstimator, samples: tuple[Floats, Floats], size: int) -> Iterator[None]:
    """Samples, as they are."""
    time, values = samples
    for i in range(0, len(time), size):
        yield joint.absorb(time[i : i + size], values[i : i + size])


def aligned(joint: JointEstimator, samples: tuple[Floats, Floats], size: int) -> Iterator[None]:
    """Readings, aligned, then absorbed."""
    channels = samples[1].shape[1]
    resampler = Resampler(1 / RATE, channels, frames=[0] * channels)
    for readings in frames(samples, size):
        yield joint.absorb(*resampler.absorb(*readings))


def walked(joint: JointEstimator, samples: tuple[Floats, Floats], size: int) -> Iterator[None]:
    """Readings in one pass as far as it goes, up to the begin of an interval of 20 ms."""
    channels = samples[1].shape[1]
    resampler, seen = Resampler(1 / RATE, channels, frames=[0] * channels), np.zeros(channels + 1, np.int64)
    slots = np.array([-1, 20_000_000, 0])
    parcel = Parcel(integers=[seen, slots], parcels=[resampler.parcel, joint.parcel])
    for readings in frames(samples, size):
        found, done = np.empty((2, walk.FOUND), np.int64), 0
        walk.walk(*readings, False, parcel.table, found)
        ticks, rows, count = resampler.ticks, resampler.rows, int(found[0, walk.COUNT])
        for one in found.tolist():
            if taken := one[walk.TAKEN]:
                assert one[walk.TICK] == ticks[done + taken - 1]
                joint.walked(ticks, rows, slice(done, done + taken), one)
                done += taken
                if one[walk.FIGURED] and done == count:
                    assert repr(joint.estimate(one)) == repr(joint.estimate())
                WENT[one[walk.LEARNT] > 0, one[walk.FIGURED]] += 1
                WENT["masked"] += int(one[walk.DUE] > 0 and one[walk.FORMED] == 0)
                assert done < count or joint._steady._told[TOTAL] == joint.phases.parts.history.total
        for tick in ticks[done:count]:
            slots[walk.LAST] = (tick - slots[walk.OFFSET]) // slots[walk.INTERVAL]
        WENT["steps"] += int(done < count)
        yield joint.absorb(ticks[done:count].copy(), rows[done:count].copy())


def frames(samples: tuple[Floats, Floats], size: int) -> Iterator[tuple[np.ndarray, ...]]:
    """So many at a time, some of them lost."""
    there = np.random.default_rng(6).random(len(samples[0])) > 0.002
    time, values = samples[0][there] + 10**9, samples[1][there]
    for i in range(0, len(time), size):
        part = values[i : i + size]
        columns = np.arange(part.shape[1], dtype=np.int32)
        yield np.repeat(time[i : i + size], len(columns)), part.ravel(), np.tile(columns, len(part))


def outcome(settings: dict[str, Any], samples: tuple[Floats, Floats], size: int, way: Way = stepped) -> dict[str, Any]:
    """Everything that is kept and told at the end."""
    joint = JointEstimator(Identification.model_validate(settings), 1 / RATE)
    told = []
    for _ in way(joint, samples, size):
        told += joint.events()
    seen = joint.inspect()
    parts, estimate = joint.phases.parts, joint.estimate()
    parts.loop.kept.counts[TAUGHT] = 0  # of the last rows that came together
    kept = {name: part.kept for name, part in joint.phases.keeping().items()}
    found = {"told": told, "kept": repr(kept), "counters": joint.counters(), "estimate": repr(estimate)}
    found |= {name: part.tobytes() for name, part in (("gram", parts.fit.kept.gram), ("fresh", parts.fit.kept.fresh))}
    assert joint._standstill is not None
    if seen is not None:
        found |= {"points": seen.points.tobytes(), "excitation": seen.excitation.tobytes()}
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


@pytest.mark.compiled
@pytest.mark.parametrize("size", [1, 7, 90])
@pytest.mark.parametrize("settings", [RIGID, SEARCHED])
def test_a_walk_gives_what_the_steps_give(size: int, settings: dict[str, Any]) -> None:
    samples = motion(48.0, (30.0, 33.0), 36.0) if settings is RIGID else motion(36.0, (30.0, 31.0), 33.0, 200.0)
    WENT.clear()
    found = outcome(settings, samples, size, walked)
    assert found == outcome(settings, samples, 90, aligned)
    whole, learnt = WENT.total(), WENT[True, 0] + WENT[True, 1]
    assert WENT["steps"] < 0.9 * whole, "the first seconds, and behind a second interval"
    assert min(learnt, WENT[True, 1]) > 0.08 * whole


@pytest.mark.compiled
@pytest.mark.parametrize("size", [5, 90])
def test_the_same_where_rows_are_left_out(size: int) -> None:
    samples = elastic(motion(20.0, (16.0, 17.0), 99.0))
    WENT.clear()
    found = outcome(ELASTIC, samples, size, walked)
    assert WENT["masked"] > (size < 90)
    assert found == outcome(ELASTIC, samples, 90, aligned)


@pytest.mark.interpreted
def test_a_walk_without_a_compiler() -> None:
    samples = motion(4.0, (9.0, 9.0), 9.0)
    assert outcome(RIGID, samples, 7, walked) == outcome(RIGID, samples, 90, aligned)


@pytest.mark.interpreted
def test_the_same_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = motion(2.5, (9.0, 9.0), 9.0)
    passed = outcome(RIGID, samples, 4)
    monkeypatch.setattr(Steady, "absorb", lambda *_: 0)
    assert outcome(RIGID, samples, 4) == passed


@pytest.mark.compiled
def test_a_half_of_a_pass_whose_rows_are_masked_sets_nothing_back() -> None:
    """The other half may have learnt already, and the next pass goes by what that has left."""
    joint, found = JointEstimator(Identification.model_validate(RIGID), 1 / RATE), [0] * walk.FOUND
    joint._steady._told[:], found[walk.DUE] = 7, 1
    joint.walked(np.zeros(0, np.int64), np.zeros((0, 2)), slice(0), found)
    assert (joint._steady._told == 7).all()
