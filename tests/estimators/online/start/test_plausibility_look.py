"""The plausibility look of a start: once in each start, over a bounded window, without wild samples."""

import sys
from concurrent.futures import Executor, Future
from functools import cache
from typing import Any

import numpy as np
import pytest

from estimators.online.settings import JointIdentification
from estimators.online.start.plausibility_look import WINDOW, PlausibilityLook, examine, motion_facts
from estimators.plausibility.mistakes.base import KnownBodies, Motion
from estimators.quantities import Axis
from hil_rig.truth.moves import moves

RATE = 1000.0
RIGID = JointIdentification.model_validate({"model": {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}})
CHANNELS = ("position", "torque")


@cache
def reversed_torque() -> tuple[np.ndarray, np.ndarray]:
    """12 s of a joint whose torque has the wrong sign: ns (rows,), and (rows, channels)."""
    values = moves(0, 20, "moves", RATE).sample(12_000).values * (1.0, -1.0)
    return np.arange(len(values)) * 1_000_000, values


class Later(Executor):
    """Jobs that end when a test says so."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append((Future(), lambda: fn(*args, **kwargs)))
        return self.jobs[-1][0]

    def end(self, failed: bool = False) -> None:
        future, job = self.jobs.pop()
        if failed:
            future.set_exception(RuntimeError("the worker died"))
        else:
            future.set_result(job())


def gathered(later: Later | None = None, settings: JointIdentification = RIGID) -> PlausibilityLook:
    one = PlausibilityLook(settings, CHANNELS, 1.0 / RATE, later)
    time, values = reversed_torque()
    for first in range(0, len(time), 500):
        one.gather(time[first : first + 500], values[first : first + 500])
    return one


def codes(one: PlausibilityLook) -> list[str]:
    return [reason.code for reason in one.reasons]


def test_the_look_begins_when_the_start_nears_its_end_and_not_before() -> None:
    one = gathered()
    one.decide(9.4, False, 0)
    assert (one.open, one.settled, codes(one)) == (True, False, [])
    one.decide(9.6, False, 0)
    (event,) = one.answer()
    assert (one.open, one.settled, codes(one)) == (False, False, ["torque_sign_reversed"])
    assert (event.kind, event.time, event.window) == ("mistake", 11_999_000_000, (0, 11_999_000_000))
    assert "Set scale = -1" in event.text
    assert one.answer() == ()


def test_what_was_found_stands_until_the_look_of_the_next_start_ends() -> None:
    later = Later()
    one = gathered(later)
    one.decide(11.0, False, 0)
    assert (one.answer(), codes(one)) == ((), []), "it is being made"
    later.end()
    one.answer()
    one.decide(0.0, True, 1)
    assert one.open, "the joint begins anew"
    assert codes(one) == ["torque_sign_reversed"]
    time, values = reversed_torque()
    one.gather(time, values * (1.0, -1.0))
    one.decide(11.0, False, 1)
    later.end()
    assert (one.answer(), codes(one), one.settled) == ((), [], True)


def test_a_look_that_fails_finds_nothing() -> None:
    later = Later()
    one = gathered(later)
    one.decide(11.0, False, 0)
    later.end(failed=True)
    assert (one.answer(), codes(one), one.settled) == ((), [], True)


def test_a_window_is_no_longer_than_it_may_be_however_it_comes() -> None:
    wholes = []
    for part in (7, 1000):
        later, time = Later(), np.arange(50_000) * 1_000_000
        one = PlausibilityLook(RIGID, CHANNELS, 1.0 / RATE, later)
        for first in range(0, len(time), part):
            one.gather(time[first : first + part], np.sin(np.column_stack([time, time])[first : first + part] * 1e-9))
        one.decide(11.0, False, 0)
        later.end()
        one.answer()
        wholes.append(one._window)
    assert wholes[0] == wholes[1] == (round(1e9 * (50.0 - WINDOW)), 49_999_000_000)


def test_a_joint_without_position_or_torque_is_not_looked_at() -> None:
    one = PlausibilityLook(RIGID, ("position", "temperature"), 1.0 / RATE)
    assert (one.open, one.settled) == (False, True)
    one.decide(11.0, False, 1)
    assert (one.open, one.settled) == (False, True)


def test_wild_samples_do_not_hide_a_mistake() -> None:
    time, values = reversed_torque()
    values = values.copy()
    values[1000::2500, 0] += 1e4
    motion = motion_facts(RIGID)._replace(time=time * 1e-9, position=values[:, 0], effort=values[:, 1])
    assert [reason.code for reason in examine(motion, CHANNELS, 1.0 / RATE)] == ["torque_sign_reversed"]


@pytest.mark.parametrize("size", [1e300, np.inf, np.nan])
def test_values_that_overflow_give_no_finding(size: float) -> None:
    time, values = reversed_torque()
    assert examine(Motion(time * 1e-9, values[:, 0], values[:, 1] * size), CHANNELS, 1.0 / RATE) == ()


def test_what_the_settings_state_is_known() -> None:
    bodies = {"inertia_motor": 1.0, "inertia_link": 3.0, "gravity": -2.0}
    elastic = JointIdentification.model_validate({"model": {"kind": "two_mass", **bodies}, "saturation": 40.0})
    facts = motion_facts(elastic)
    assert (facts.known, facts.limit, facts.spring, facts.axis) == (
        KnownBodies(1.0, 3.0, -2.0),
        40.0,
        True,
        Axis.ROTARY,
    )
    unsaid = JointIdentification.model_validate({"model": {"kind": "two_mass"}})
    geared = JointIdentification.model_validate({"model": {"kind": "two_mass", "gear": 50.0, **bodies}})
    assert [motion_facts(one).known for one in (unsaid, geared)] == [None, None]
    slide = motion_facts(JointIdentification.model_validate({"model": {"kind": "rigid", "axis": "prismatic"}}))
    assert (slide.axis, slide.spring, slide.limit, slide.source) == (Axis.PRISMATIC, False, np.inf, "")


def test_samples_are_gathered_without_an_object_for_each_turn() -> None:
    one = PlausibilityLook(RIGID, CHANNELS, 1.0 / RATE)
    time, values = reversed_torque()
    before = sys.getallocatedblocks()
    for first in range(0, len(time), 5):
        one.gather(time[first : first + 5], values[first : first + 5])
    assert sys.getallocatedblocks() - before < 1000
