"""How samples and readings are cut changes no bit of what a joint learns and says; compiled or not, it is the same."""

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler
from estimators.conditioning.stop import DONE, INTERVAL
from estimators.numerics.jit import INTERPRETED
from estimators.online.joint import JointEstimator
from estimators.online.joint_pass import Intervals, JointPassState, advance_readings
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats
from tests.support.signals.layouts import packed

RATE = 200.0
EVERY = 155_000_000  # ns between updates: 31 samples, so that pieces of 90 end elsewhere
RIGID = {"model": {"kind": "rigid", "gravity_sin": True}, "conditioning": {"half_width": 0.02}}
LINEAR = {"kind": "viscous_coulomb"}
PLAIN = {"model": {"kind": "rigid", "friction": LINEAR}, "conditioning": {"half_width": 0.02}}  # no exp, sin or tanh
ELASTIC = {
    "model": {"kind": "two_mass", "motor_friction": LINEAR, "link_friction": LINEAR, "stick": 0.3},
    "conditioning": {"half_width": 0.02},
}
SEARCHED = {"model": {"kind": "rigid", "friction": {"kind": "tanh_stribeck"}}, "conditioning": {"half_width": 0.02}}
MEMORY = {"model": {"kind": "rigid", "friction": {"kind": "prandtl_ishlinskii"}}, "conditioning": {"half_width": 0.02}}
WARM = {"model": {"kind": "rigid", "temperature": 20.0}, "conditioning": {"half_width": 0.02}}
FREE = {"model": {"kind": "rigid", "gravity_sin": True}}  # the kernel becomes as wide as an encoder asks for
Samples = tuple[Floats, Floats]


def motion(seconds: float, rest: tuple[float, float], changed: float, peak: float = 0.0) -> Samples:
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


def stepped(samples: Samples, step: float) -> Samples:
    """These samples as an encoder with steps (rad) reads them."""
    time, values = samples
    return time, np.column_stack([np.round(values[:, 0] / step) * step, values[:, 1]])


def elastic(samples: Samples) -> Samples:
    """These samples with the angle of an elastic link as well, which often sticks, so that rows are left out."""
    time, values = samples
    return time, np.column_stack([values[:, 0], values[:, 0] - 1e-3 * np.sin(2.0 * values[:, 0]), values[:, 1]])


def warmed(samples: Samples) -> Samples:
    """These samples with a temperature that comes once a second."""
    time, values = samples
    warm = np.where(np.arange(len(time)) % 200 == 0, 20.0 + 1e-3 * np.arange(len(time)), np.nan)
    return time, np.column_stack([values, warm])


def outcome(joint: JointEstimator, told: list[Any]) -> dict[str, Any]:
    """Everything that is kept and told at the end."""
    seen, estimate, parts = joint.inspect(), joint.estimate(), joint.phases.parts
    kept = {name: repr(part.state) for name, part in joint.phases.keeping().items() if name != "loop"}
    loop = parts.loop.state
    kept["loop"] = repr([getattr(loop, one.name) for one in loop.fields() if one.kept])
    found = {"told": told, "kept": kept, "counters": joint.counters(), "estimate": repr(estimate)}
    found |= {"learnt": packed(parts.learner.rls.state), "gram": parts.fit.state.scores.gram.tobytes()}
    if seen is not None:
        found |= {"points": seen.points.tobytes(), "excitation": seen.excitation.tobytes()}
    return found


def by_samples(settings: dict[str, Any], samples: Samples, size: int) -> dict[str, Any]:
    """Samples in pieces."""
    joint, told = JointEstimator(JointIdentification.model_validate(settings), 1 / RATE), list[Any]()
    time, values = samples
    for i in range(0, len(time), size):
        joint.absorb(time[i : i + size], values[i : i + size])
        told += joint.events()
    return outcome(joint, told)


def by_readings(
    settings: dict[str, Any], samples: Samples, size: int, late: bool = False, fresh: bool = False
) -> dict[str, Any]:
    """Frames in pieces, of which some are lost; an update is due each 155 ms, of a joint that is late the last one.

    fresh: compare each with figures that are computed anew.
    """
    joint, told, values = (
        JointEstimator(JointIdentification.model_validate(settings), 1 / RATE),
        list[Any](),
        samples[1],
    )
    channels = values.shape[1]
    resampler = Resampler(1 / RATE, channels, frames=[0] * channels)
    state = joint.state
    state.ticks, state.samples, state.bridged = resampler.ticks, resampler.rows, resampler.bridged
    state.intervals = Intervals(length=EVERY)
    state.late = late
    line = JointPassState(aligner=resampler.aligner, estimator=state, last_arrivals=np.zeros(channels + 1, np.int64))
    updates: list[tuple[int, str]] = []
    there = np.random.default_rng(6).random(len(values)) > 0.002
    time, values = samples[0][there] + 10**9, values[there]
    for i in range(0, len(time), size):
        part = values[i : i + size]
        columns = np.arange(channels, dtype=np.int32)
        readings = np.repeat(time[i : i + size], channels), part.ravel(), np.tile(columns, len(part))
        line.taken, before = 0, 0
        while True:
            advance_readings(*readings, line)
            if line.aligned:
                before = 0
            joint.answer(before)
            before = state.next
            if state.stop == INTERVAL:
                estimate = repr(joint.estimate((state.certain, state.resting)))
                assert not fresh or estimate == repr(joint.estimate()), "figures of the pass are those of a fresh look"
                updates.append((state.intervals.tick, estimate))
            if state.stop == DONE:
                break
        told += joint.events()
    return outcome(joint, told) | {"updates": updates}


CASES = {
    "rigid": (RIGID, motion(48.0, (30.0, 33.0), 36.0)),
    "coarse encoder": (FREE, stepped(motion(40.0, (30.0, 31.0), 99.0), 2e-3)),
    "searched": (SEARCHED, motion(36.0, (30.0, 31.0), 33.0, 200.0)),
    "elastic": (ELASTIC, elastic(motion(20.0, (16.0, 17.0), 99.0))),
    "memory": (MEMORY, motion(30.0, (20.0, 21.0), 99.0)),
    "warm": (WARM, warmed(motion(30.0, (20.0, 21.0), 99.0))),
}


@pytest.mark.compiled
@pytest.mark.parametrize("which", CASES)
def test_samples_cut_any_way_give_the_same_bits(which: str) -> None:
    settings, samples = CASES[which]
    whole = by_samples(settings, samples, len(samples[0]))
    for size in (1, 90):
        assert by_samples(settings, samples, size) == whole, size
    assert "started" in {event.kind for event in whole["told"]} or which not in ("rigid", "searched")


@pytest.mark.compiled
@pytest.mark.parametrize("which", CASES)
def test_readings_cut_any_way_give_the_same_bits_and_updates(which: str) -> None:
    settings, samples = CASES[which]
    whole = by_readings(settings, samples, 500, fresh=True)
    for size in (1 if which == "rigid" else 7, 90):
        assert by_readings(settings, samples, size) == whole, size
    seconds = len(samples[0]) / RATE
    assert len(whole["updates"]) == pytest.approx(1e9 * seconds / EVERY, abs=3)


@pytest.mark.compiled
def test_a_joint_that_is_late_learns_the_same_and_says_less() -> None:
    settings, samples = CASES["rigid"]
    late, all_of_them = by_readings(settings, samples, 90, late=True), by_readings(settings, samples, 90)
    assert late["learnt"] == all_of_them["learnt"]
    assert set(late["updates"]) < set(all_of_them["updates"])
    pieces = len(range(0, len(samples[0]), 90))
    assert 0.9 * pieces < len(late["updates"]) <= pieces, "one of each piece"


def test_the_motion_of_these_tests_goes_through_what_they_are_for() -> None:
    kinds = {event.kind for event in by_samples(*CASES["rigid"], 90)["told"]}
    assert {"started", "held", "moving", "alarm"} <= kinds
    assert "kernel" in {event.kind for event in by_samples(*CASES["coarse encoder"], 90)["told"]}
    assert "refit_started" in {event.kind for event in by_samples(*CASES["searched"], 90)["told"]}
    counters = by_samples(*CASES["elastic"], 90)["counters"]
    assert counters["masked"] > 100


@pytest.mark.interpreted
def test_without_a_compiler_readings_cut_any_way_give_the_same_bits() -> None:
    samples = motion(4.0, (9.0, 9.0), 9.0)
    assert by_readings(RIGID, samples, 7) == by_readings(RIGID, samples, 90)


def digest() -> str:
    """Hash of what a joint has learnt over the first seconds, whose law is plain arithmetic.

    exp, sin and tanh of the compiler and of NumPy may differ in the last bit.
    """
    return hashlib.sha256(by_readings(PLAIN, motion(6.0, (9.0, 9.0), 9.0), 50)["learnt"]).hexdigest()


@pytest.mark.skipif(INTERPRETED, reason="the compiled run compares both")
def test_compiled_and_interpreted_give_the_same_bits() -> None:
    program = f"import sys; sys.path[:0] = {sys.path!r}; from test_joint_pass import digest; print(digest())"
    folder = os.path.dirname(__file__)  # noqa: PTH120
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.strip() == digest()
