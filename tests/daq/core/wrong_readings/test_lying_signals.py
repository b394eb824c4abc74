"""Signals that lie, through the real pipeline: none is valid with wrong values, none leaves the page without a word."""

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from estimators.reasons import Reason
from tests.support.signals.lies import FAULTS, LIES
from tests.support.signals.lying_signals import (
    ONSET,
    RATE,
    LyingSignal,
    cases,
    configuration,
    frames,
    judge,
    play,
    resting,
    run,
    wrong,
)

pytestmark = pytest.mark.compiled
LONGEST = 3.0  # s for which a signal may lie, or a joint say nothing
NAMED = 2.0  # s within which a lie has its name
SLIP = 0.02  # rad


def named(case: tuple[LyingSignal, bool, bool]) -> str:
    lie, counted, early = case
    return f"{lie.name}{', counted' if counted else ''}{', from the start' if early else ''}"


def test_every_reason_of_a_validator_is_given_for_a_lie() -> None:
    assert {code for lie in (*LIES, *FAULTS) for code in lie.codes} == {
        *("wrong_rate", "counter_stuck", "counter_backwards", "counter_jumps", "frames_repeated", "encoder_frozen"),
        *("encoder_leaps", "torque_held", "torque_frozen", "torque_clipped", "channel_dead"),
        *("frames_zigzag", "frames_disordered", "values_held", "torque_dead_zone", "counter_fast", "counter_smaller"),
        "torque_drops",
    }


def quick_and_slow() -> list[ParameterSet]:
    """Every lie in one of its ways to be told, by turns; with and without a counter, early and late, it is slow."""
    found = []
    for place, lie in enumerate(LIES):
        ways = cases((lie,))
        for way, case in enumerate(ways):
            marks = [] if way == place % len(ways) else [pytest.mark.slow]
            found.append(pytest.param(case, marks=marks, id=named(case)))
    return found


@pytest.mark.parametrize("case", quick_and_slow())
def test_a_signal_that_lies_is_named_and_never_valid(case: tuple[LyingSignal, bool, bool]) -> None:
    found = run(*case)
    assert found.wrong < LONGEST
    assert found.blind < LONGEST
    if case[0].codes:
        assert found.named < NAMED + case[0].shows
        assert set(found.codes) >= set(case[0].codes)
    else:
        assert found.codes == ()


@pytest.mark.parametrize("lie", FAULTS, ids=lambda lie: lie.name)
def test_a_faulty_signal_is_used_rightly_or_named(lie: LyingSignal) -> None:
    found = run(lie, True, False, 12.0)
    assert found.wrong < LONGEST
    assert found.blind < LONGEST
    assert set(found.codes) >= set(lie.codes)
    assert bool(found.codes) == bool(lie.codes)


def test_while_a_signal_is_refused_that_is_said_four_times_a_second_and_then_learning_begins_anew() -> None:
    table = np.concatenate([frames(0.0, ONSET), frames(ONSET, ONSET + 3.0, 500.0), frames(ONSET + 3.0, ONSET + 20.0)])
    said = play(configuration(), table)
    faulted = [one for one in said if one["health"]["status"] == "faulted"]
    assert np.diff([one["said"] for one in faulted]).max() <= 0.25
    assert {one["phase"] for one in faulted} == {"faulted"}
    assert {one["health"]["reasons"][0]["code"] for one in faulted} == {"wrong_rate"}
    (reason,) = faulted[5]["health"]["reasons"]
    told = Reason.of(reason)
    assert str(told) == f"the stream {told.words['signal']} arrives at 500 Hz, `rate` says 1000"
    assert told.todo.startswith("Set rate = 500")
    behind = [one for one in said if one["said"] > faulted[-1]["said"]]
    assert faulted[-1]["said"] < ONSET + 3.0 + 3.5, "a second of clean blocks after the windows of the rate"
    assert behind[0]["phase"] in ("waiting", "starting")
    last = judge(behind, ONSET + 4.0, ONSET + 20.0)
    assert (last.wrong, last.last) == (0.0, "valid")


@pytest.mark.parametrize("batch", [3_000_000, 400_000_000])
def test_what_is_refused_does_not_depend_on_how_readings_are_batched(batch: int) -> None:
    table = np.concatenate([frames(0.0, 2.0), frames(2.0, 5.0, 800.0), frames(5.0, 9.0)])

    def told(said: list[dict]) -> list[tuple]:
        return [
            (one["timestamp"], one["phase"], repr(one["health"]), repr(one["parameters"]), one["seq"]) for one in said
        ]

    assert told(play(configuration(), table, batch)) == told(play(configuration(), table))


def test_frames_that_wait_for_a_queue_are_no_other_rate() -> None:
    """A host that is busy for 300 ms reads what waited a tenth faster than it was sampled."""
    table = frames(0.0, 10.0)
    arrivals = table["time"][:, 0].copy()
    busy = (arrivals >= arrivals[4000]) & (arrivals < arrivals[4000] + 3_300_000_000)
    first = np.flatnonzero(busy)[0]
    drained = arrivals[first] + 300_000_000 + np.round(np.arange(len(table) - first) * 1e6 / 1.1).astype(np.int64)
    arrivals[first:] = np.maximum(arrivals[first:], drained)
    table["time"] = arrivals[:, None]
    said = play(configuration(), table)
    assert not [one for one in said if one["health"]["status"] == "faulted"]


@pytest.mark.parametrize("load", [0.0, 5.0, 25.0, 60.0])
def test_a_joint_that_is_held_while_others_move_is_no_frozen_encoder(load: float) -> None:
    said = play(configuration(), resting(24.0, ONSET, ONSET + 4.0, load, frozen=False))
    assert not [one for one in said if one["health"]["status"] == "faulted"]
    assert {one["health"]["status"] for one in said if ONSET + 2.0 < one["said"] < ONSET + 4.0} == {"held"}
    assert said[-1]["health"]["status"] == "valid"
    assert not any(wrong(one) for one in said if one["said"] > ONSET)


def test_an_encoder_that_freezes_at_rest_leaves_the_values_from_before() -> None:
    said = play(configuration(), resting(30.0, ONSET, ONSET + 2.0, 0.0, frozen=True))
    behind = [one for one in said if one["said"] > ONSET + 2.0]
    assert behind[-1]["said"] > 29.5, "it goes on saying so"
    assert {one["health"]["status"] for one in behind} == {"held"}
    assert {reason["code"] for one in behind for reason in one["health"]["reasons"]} == {"at_standstill"}
    assert not any(wrong(one) for one in behind)


@pytest.mark.parametrize("after", [1.5, 1.6, 1.9])
def test_an_encoder_that_slips_at_rest_leaps_and_was_not_frozen(after: float) -> None:
    """Whichever frame of a block it slips in: it is still before and after."""
    table = resting(24.0, ONSET, ONSET + 3.0, 0.0, frozen=False)
    table["value"][round((ONSET + after) * RATE) :, 0] += SLIP
    said = play(configuration(), table)
    faulted = [one for one in said if one["health"]["status"] == "faulted"]
    assert faulted[0]["said"] - ONSET - after < NAMED
    assert {reason["code"] for one in faulted for reason in one["health"]["reasons"]} == {"encoder_leaps"}


def test_an_encoder_that_froze_at_rest_is_named_where_it_comes_back_in_motion() -> None:
    table, back = resting(24.0, ONSET, ONSET + 2.0, 0.0, frozen=False), round((ONSET + 3.5) * RATE)
    rest = round((ONSET + 1.5) * RATE)
    table["value"][rest:back, 0] = table["value"][rest, 0]
    faulted = [one for one in play(configuration(), table) if one["health"]["status"] == "faulted"]
    assert {reason["code"] for one in faulted for reason in one["health"]["reasons"]} == {"encoder_frozen"}
