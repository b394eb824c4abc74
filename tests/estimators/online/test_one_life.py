"""A joint that starts, moves, rests, and whose friction changes: what is published, against what it was made of."""

from functools import cache
from typing import Any, NamedTuple

import msgpack
import numpy as np
import pytest

from estimators.base import Estimate, Event, Knowledge, ParameterState, Phase, Status
from estimators.online.joint import JointEstimator
from estimators.online.reporting.inspection import Inspection
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats
from estimators.reasons import Reason

RATE, NOISE = 100.0, 0.3  # Hz; N·m
SETTINGS: dict[str, Any] = {
    "model": {"kind": "rigid", "gravity_sin": True},
    "conditioning": {"half_width": 0.03},
    "start": 3.0,
}
TRUTH = {"inertia": 1.2, "viscous": 4.0, "coulomb": 3.0, "offset": 0.5, "gravity_sin": 3.0}
RESTS, MOVES, CHANGES, END = 9.0, 11.0, 14.0, 20.0  # s
AFTER = 5.0  # N·m of Coulomb friction from then on


def lived(rests: float = RESTS, changes: float = CHANGES) -> tuple[np.ndarray, Floats]:
    """Times (ns), position and torque."""
    t = np.arange(round(END * RATE)) / RATE
    v = sum(size * np.cos(2.0 * np.pi * f * t + phase) for size, f, phase in ((0.8, 0.6, 0.0), (0.6, 1.3, 1.0)))
    v[(t >= rests) & (t < MOVES)] = 0.0
    q, a = (np.cumsum(v) - 0.5 * v) / RATE, np.gradient(v, 1.0 / RATE)
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["offset"] + TRUTH["gravity_sin"] * np.sin(q)
    torque += np.where(t < changes, TRUTH["coulomb"], AFTER) * np.sign(v)
    torque += NOISE * np.random.default_rng(1).standard_normal(len(t))
    return np.round(1e9 * t).astype(np.int64), np.column_stack([q, torque])


class Life(NamedTuple):
    """Twenty times a second."""

    estimates: list[Estimate]
    learnt: list[int]
    kept: list[dict[str, Any] | None]
    seen: list[Inspection | None]  # once a second, else none
    events: list[Event]

    def at(self, t: float) -> int:
        """The number of the one that knows of all rows until then."""
        return round(t * 20.0) - 1


@cache
def life() -> Life:
    joint, (time, values) = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE), lived()
    found = Life([], [], [], [], [])
    for first in range(0, len(time), 5):
        joint.absorb(time[first : first + 5], values[first : first + 5])
        found.estimates.append(joint.estimate())
        found.learnt.append(joint.counters()["learnt"])
        found.kept.append(joint.keep() if first % 100 == 0 else None)
        found.seen.append(joint.inspect() if first % 100 == 95 else None)
        found.events.extend(joint.events())
    return found


def deviates(estimate: Estimate, **truth: float) -> Floats:
    """By how many deviations each value is off."""
    wanted = TRUTH | truth
    return np.abs(estimate.values - [wanted[name] for name in estimate.names]) / estimate.deviations


def test_it_starts_after_three_seconds_of_motion_and_says_how_far_it_is() -> None:
    told = life().estimates
    first, early, late = told[life().at(0.5)], told[life().at(2.0)], told[life().at(4.0)]
    assert (first.phase, first.status, first.reasons) == (
        Phase.WAITING,
        Status.UNESTIMATED,
        (Reason("waiting_for_motion"),),
    )
    assert np.isnan(first.values).all()
    assert np.isnan(first.deviations).all()
    assert first.progress == 0.0
    assert (early.phase, early.status) == (Phase.STARTING, Status.LEARNING)
    assert 40.0 < early.progress < 100.0 * 2.0 / 3.0
    assert (late.phase, late.status, late.reasons, late.progress) == (Phase.NORMAL, Status.VALID, (), 100.0)
    [started] = [one for one in life().events if one.kind == "started"]
    assert 3.0 < started.time / 1e9 < 3.4
    assert started.window is not None
    assert started.window[0] < 100_000_000 < started.window[1] == started.time


@pytest.mark.parametrize("when", [5.0, 8.0, 13.5])
def test_what_it_is_made_of_is_found_within_its_deviations(when: float) -> None:
    estimate = life().estimates[life().at(when)]
    second = life().estimates[life().at(when - 1.0) + 1 : life().at(when) + 1]
    valid = [one.status is Status.VALID for one in second]
    assert sum(valid) >= 0.8 * len(valid), "a residual that may be the beginning of an alarm takes it away for moments"
    assert {reason.code for one in second for reason in one.reasons} <= {"unexplained_lately"}
    truth = np.array([TRUTH[name] for name in estimate.names])
    assert (np.abs(estimate.values - truth) < 0.05 * truth + 0.05).all()
    assert (deviates(estimate) < 4.0).all()
    # over an arc of ±0.4 rad a torque of the angle that the model lacks would look like an offset and gravity, and
    # friction that rubs by place like Coulomb friction, until there were blocks of a second enough to try it
    assert estimate.known == (True, True, False, False, False)
    assert estimate.states[2:] == (ParameterState(Knowledge.NOT_IDENTIFIABLE, (), unmodelled_torque=True),) * 3
    assert (estimate.deviations[:2] < 0.05 * truth[:2]).all()
    assert estimate.predicted == pytest.approx(estimate.measured, abs=5.0 * NOISE)
    _, values = lived()
    moving = values[100 : round(8.0 * RATE), 1]
    assert estimate.error < 1.5 * NOISE / moving.std(), "smoothing takes some noise off, sticking adds some"
    assert estimate.error > 0.1 * NOISE / moving.std()
    assert 0.99 < estimate.forgetting <= 1.0
    assert when - 0.1 < estimate.time / 1e9 < when


def test_coulomb_friction_is_unknown_while_friction_of_the_place_would_not_have_been_seen() -> None:
    joint, (time, values) = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE), lived(END, END)
    known = []
    for first in range(0, len(time), 100):
        joint.absorb(time[first : first + 100], values[first : first + 100])
        known.append(joint.estimate().known[2])
    assert known[4:] == [False] * 16
    estimate = joint.estimate()
    assert estimate.status is Status.VALID, "the prediction does not depend on it"
    assert deviates(estimate)[2] < 4.0


def test_measured_is_the_torque_of_the_last_row() -> None:
    """A row is the mean over 60 ms under a bell; it speaks of the middle of it, which the estimate's time is."""
    time, values = lived()
    taps = np.hanning(9)[1:-1]
    smooth = np.convolve(values[:, 1], taps / taps.sum(), "same")
    for when in (5.0, 6.3, 7.7):
        estimate = life().estimates[life().at(when)]
        assert estimate.measured == pytest.approx(smooth[np.searchsorted(time, estimate.time)], abs=0.5)


def test_at_rest_the_values_stay_to_the_bit_and_nothing_is_learnt() -> None:
    one = life()
    held = one.estimates[one.at(RESTS + 0.6)]
    assert (held.phase, held.reasons[0]) == (Phase.HELD, Reason("at_standstill"))
    still = one.estimates[one.at(MOVES - 0.1)]
    np.testing.assert_array_equal(still.values, held.values)
    np.testing.assert_array_equal(still.deviations, held.deviations)
    assert one.learnt[one.at(RESTS + 0.6)] == one.learnt[one.at(MOVES - 0.1)]
    kinds = [(event.kind, event.time / 1e9) for event in one.events]
    assert [kind for kind, _ in kinds] == ["started", "held", "moving", "alarm", "recovered"]
    assert RESTS - 0.1 < kinds[1][1] < RESTS + 0.5
    assert MOVES < kinds[2][1] < MOVES + 0.3
    assert [event.text for event in one.events[1:3]] == ["standstill", "the joint moves again"]


def test_a_change_is_reported_at_once_with_when_it_began_and_values_of_before_stand() -> None:
    one = life()
    alarm, recovered = one.events[-2:]
    assert CHANGES < alarm.time / 1e9 < CHANGES + 0.4
    assert alarm.window is not None
    kernel, row = SETTINGS["conditioning"]["half_width"], 1.0 / RATE
    began = alarm.window[0] / 1e9 - CHANGES
    assert -0.15 < began < kernel + 3.0 * row, "by the third row that is all of it; noise may have begun before"
    assert alarm.window[1] == alarm.time
    assert alarm.text == "the residual has changed: learning anew, the last good values are reported"
    before, during = one.estimates[one.at(CHANGES)], one.estimates[round(alarm.time / 5e7) + 1]
    assert (during.phase, during.status) == (Phase.TRANSIENT, Status.LEARNING)
    assert during.reasons == (Reason("alarm_stands"),)
    assert (np.abs(during.values - before.values) < before.deviations).all()
    np.testing.assert_allclose(during.deviations, before.deviations, rtol=0.2)
    assert recovered.window is not None
    assert recovered.window[0] == alarm.window[0]
    seconds = (recovered.time - alarm.time) / 1e9
    assert recovered.text == f"new values after {seconds:.1f} s of motion"
    after = one.estimates[-1]
    assert (after.phase, after.status) == (Phase.NORMAL, Status.VALID)
    assert (deviates(after, coulomb=AFTER) < 4.0).all()
    assert after.values[after.names.index("coulomb")] == pytest.approx(AFTER, abs=0.3)


def test_only_what_is_settled_is_kept() -> None:
    one, alarm = life(), life().events[-2].time / 1e9
    kept = {number: there is not None for number, there in enumerate(one.kept) if number % 20 == 0}
    phases = {number: one.estimates[number].phase for number in kept}
    for number, there in kept.items():
        assert there is (phases[number] in (Phase.NORMAL, Phase.HELD)), number / 20.0
    assert 14.0 < alarm < 15.0
    assert set(kept.values()) == {True, False}


def test_a_restart_goes_on_to_the_same_values() -> None:
    one = life()
    number = one.at(8.05)
    kept, before = one.kept[number], one.estimates[number]
    assert kept is not None
    joint = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE)
    joint.resume(msgpack.unpackb(msgpack.packb(kept), strict_map_key=False))
    after = joint.estimate()
    np.testing.assert_array_equal(after.values, before.values)
    np.testing.assert_array_equal(after.deviations, before.deviations)
    assert (after.phase, after.status, after.progress) == (Phase.NORMAL, Status.VALID, 100.0)
    assert joint.counters()["learnt"] == one.learnt[number]
    time, values = lived()
    part = slice(round(11.6 * RATE), round(16.5 * RATE))
    joint.absorb(time[part], values[part])
    assert [event.kind for event in joint.events()] == ["resumed", "alarm", "recovered"]
    assert (deviates(joint.estimate(), coulomb=AFTER) < 4.0).all()


def test_how_samples_are_cut_does_not_matter() -> None:
    time, values = lived()
    part, found = round(15.0 * RATE), []
    for size in (1, 13, part):
        joint, events = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE), []
        for first in range(0, part, size):
            last = min(first + size, part)
            joint.absorb(time[first:last], values[first:last])
            events += joint.events()
        estimate = joint.estimate()
        found.append((estimate.values.tobytes(), estimate.deviations.tobytes(), estimate[:4], events))
    assert found[0] == found[1] == found[2]
    assert [event.kind for event in found[0][3]] == ["started", "held", "moving", "alarm"]


def test_samples_without_a_torque_teach_nothing_and_are_counted() -> None:
    time, values = lived()
    values[550:560, 1] = np.nan
    joint = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE)
    joint.absorb(time[:800], values[:800])
    assert joint.counters()["learnt"] < life().learnt[life().at(8.0)] - 10
    assert joint.counters()["learnt"] > life().learnt[life().at(8.0)] - 30
    assert (deviates(joint.estimate()) < 4.0).all()


def test_what_a_person_looks_at_is_of_the_rows_since_the_last_look() -> None:
    one = life()
    seen = one.seen[one.at(8.0)]
    assert seen is not None
    assert seen.points.shape == (50, 4), "fifty of a hundred rows a second"
    assert np.diff(seen.time).tolist() == [20_000_000] * 49
    assert 7.0 - 0.1 < seen.time[0] / 1e9 < 7.0 + 0.05
    assert ((seen.excitation > 0.05) & (seen.excitation <= 1.0)).all()
    assert seen.alarm == pytest.approx(0.0, abs=0.5)
    assert 0.1 * NOISE < seen.usual < NOISE, "smoothing takes most of it off"
    assert seen.law is None
    starting = one.seen[one.at(1.0)]
    assert starting is None or np.isnan(starting.usual)


def fault(when: float, seed: int) -> tuple[np.ndarray, Floats]:
    """Times (ns) and samples of the motion of `lived` without rest.

    From `when` on (s) there is half of the inertia more, and twice the friction.
    """
    t = np.arange(round(9.0 * RATE)) / RATE
    v = sum(size * np.cos(2.0 * np.pi * f * t + phase) for size, f, phase in ((0.8, 0.6, 0.0), (0.6, 1.3, 1.0)))
    q, a = (np.cumsum(v) - 0.5 * v) / RATE, np.gradient(v, 1.0 / RATE)
    torque = np.where(t < when, 1.2, 1.8) * a + 4.0 * v + np.where(t < when, 3.0, 6.0) * np.sign(v)
    torque += 0.5 + 3.0 * np.sin(q) + NOISE * np.random.default_rng(seed).standard_normal(len(t))
    return np.round(1e9 * t).astype(np.int64), np.column_stack([q, torque])


def test_an_alarm_is_reported_at_once_wherever_in_a_block_it_comes() -> None:
    """No update is valid between an alarm and its review, which waits for the end of the block of 0.1 s."""
    waited = 0
    for late in range(0, 10, 3):
        joint = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE)
        phases, (time, values), before = joint.phases, fault(7.0 + late / RATE, late), None
        for row in range(len(time)):
            joint.absorb(time[row : row + 1], values[row : row + 1])
            told = joint.estimate()
            if phases.phase is Phase.NORMAL and phases.parts.loop.alarm():  # its review is still to come
                waited += 1
                assert (told.phase, told.status) == (Phase.TRANSIENT, Status.LEARNING)
                assert told.reasons == (Reason("alarm_stands"),)
                assert before is not None
                assert (np.abs(told.values - before.values) < before.deviations).all(), "values are those from before"
            elif told.status is Status.VALID and told.time / 1e9 < 6.9:
                before = told
    assert waited > 4


def test_without_a_fault_the_wait_for_reviews_costs_no_valid_update() -> None:
    joint, (time, values) = JointEstimator(JointIdentification.model_validate(SETTINGS), 1.0 / RATE), fault(99.0, 3)
    valid = []
    for row in range(len(time)):
        joint.absorb(time[row : row + 1], values[row : row + 1])
        valid.append(joint.estimate().status is Status.VALID)
    assert all(valid[round(5.0 * RATE) :])
