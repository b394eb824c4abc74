"""Who is odd among its siblings and who drifts: values, changes and their σ over many recordings, with their signs."""

import math
from typing import Any

import numpy as np
import pytest

from daq.commands.fleet.page import document
from daq.commands.report.words import date
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from daq.fleet.verdict import between, in_order, judge, unsettled
from estimators.offline.siblings import threshold


def recording(
    robot: str, value: float, deviation: float = 0.02, began: float = math.nan, **joint: Any
) -> ExaminedRecording:
    """One recording of a robot of one joint with one parameter; joint: what else is known of that joint."""
    told = (RecordedQuantity("coulomb", joint.pop("unit", "N·m"), value, deviation),)
    known = {"joint": "elbow", "model": "rigid", "phase": "normal", "status": "valid", "reasons": "", "samples": 1000}
    known |= {"lost": 0, "error": 0.03, "alarms": 0, "refits": 0, "refused": 0, "quantities": told}
    address = joint.pop("address", f"/data/{robot}/{began:.0f}.npz")
    return ExaminedRecording(address, robot, began, 20.0, (JointFound(**(known | joint)),), "")


def fleet(values: np.ndarray) -> list[ExaminedRecording]:
    """Robots of one joint with one parameter; values: (robots, recordings)."""
    return [
        recording(f"r{i:02}", float(value), began=1e9 + k)
        for i, runs in enumerate(values)
        for k, value in enumerate(runs)
    ]


def alone(*runs: ExaminedRecording) -> JudgedQuantity:
    """What is judged of one robot's only parameter."""
    [judged] = judge(runs)
    return judged


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_change_has_the_sign_of_the_way_that_it_went_whatever_order_the_recordings_are_found_in(sign: float) -> None:
    """Friction of 5, 5, then 5 ± 0.4, 5 ± 0.4 N·m has changed by ± 0.4; its z has that sign, too."""
    values = 5.0 + 0.02 * np.random.default_rng(1).standard_normal((12, 4))
    values[7] = [5.0, 5.0, 5.0 + sign * 0.4, 5.0 + sign * 0.4]
    found = fleet(values)
    for order in (found, found[::-1]):
        [drifting] = [one for one in judge(order) if one.drifts]
        assert drifting.robot == "r07"
        assert drifting.change == pytest.approx(sign * 0.4)
        assert drifting.value == pytest.approx(5.0 + sign * 0.2)
        assert sign * drifting.change_z > drifting.threshold


def test_an_odd_value_has_the_sign_of_the_side_that_it_lies_on() -> None:
    values = 5.0 + 0.1 * np.random.default_rng(2).standard_normal((24, 1))
    values[3], values[9] = 7.0, 3.0
    odd = {one.robot: one for one in judge(fleet(values)) if one.odd}
    assert odd.keys() == {"r03", "r09"}
    assert odd["r03"].z > 0 > odd["r09"].z
    assert {one.median for one in odd.values()} == {float(np.median(values))}
    assert {(one.siblings, one.recordings) for one in odd.values()} == {(24, 1)}


def test_recordings_that_know_their_time_are_in_its_order_and_others_in_that_of_their_addresses() -> None:
    timed = [recording("a", 1.0, began=began, address=f"/{place}") for began, place in ((30.0, "x"), (9.0, "z"))]
    untimed = [recording("b", 1.0, address=f"/{place}") for place in ("2", "1")]
    assert [one.address for one in in_order([*untimed, *timed])] == ["/z", "/x", "/1", "/2"]


def test_the_one_in_the_middle_of_an_odd_number_counts_as_later() -> None:
    found = alone(*(recording("a", value, began=began) for began, value in enumerate((1.0, 5.0, 7.0))))
    assert (found.value, found.change, found.recordings) == (5.0, 5.0, 3)


def test_a_single_recording_has_a_value_with_its_own_deviation_and_no_change() -> None:
    found = alone(recording("a", 3.0, 0.25))
    assert (found.value, found.deviation, found.siblings) == (3.0, 0.25, 1)
    assert math.isnan(found.change)


@pytest.mark.parametrize("runs", [2, 3, 25])
def test_the_deviation_is_that_of_a_median_of_so_many_recordings(runs: int) -> None:
    """Drawn 10,000 times: of few values it is told at most 1/n too large; that of two, which is their mean, exactly."""
    values = np.random.default_rng(5).normal(3.0, 0.5, (10_000, runs))
    drawn, noise = np.median(values, axis=1).std(), 4.0 / math.sqrt(2 * 10_000)
    found = alone(*(recording("a", value, 0.5, began) for began, value in enumerate(values[0])))
    assert 1.0 - noise < found.deviation / drawn < 1.0 + noise + (runs > 2) / runs


def test_a_deviation_is_the_rms_of_those_that_are_reported() -> None:
    told = [recording("a", 3.0, deviation, began) for began, deviation in enumerate((3.0, math.nan, 4.0, math.nan))]
    of_two = math.sqrt((3.0**2 + 4.0**2) / 2)
    assert alone(*told).deviation == pytest.approx(math.sqrt(math.pi / 2) * of_two / 2, rel=1e-4)  # of four recordings
    assert math.isnan(alone(recording("a", 3.0, math.nan)).deviation)


def test_a_change_that_is_known_badly_says_nothing() -> None:
    """Robot 7 changes by 1 N·m, 50 times the others' σ: told at ± 0.02 that is a drift, at ± 5 before or after none."""
    values = 5.0 + 0.02 * np.random.default_rng(1).standard_normal((12, 2))
    values[7, 1] += 1.0
    found = fleet(values)
    assert [one.robot for one in judge(found) if one.drifts] == ["r07"]
    for k in (0, 1):
        doubted = [
            recording("r07", one.joints[0].quantities[0].value, 5.0, one.began)
            if (one.robot, one.began) == ("r07", 1e9 + k)
            else one
            for one in found
        ]
        assert not [one.robot for one in judge(doubted) if one.drifts]


def test_joints_models_units_and_quantities_are_compared_with_their_own_kind_alone() -> None:
    found = [recording(f"r{i}", 5.0 + 0.01 * i) for i in range(6)]
    found += [recording(f"r{i}", 90.0 + 0.01 * i, model="two_mass") for i in range(6, 12)]
    found += [recording(f"r{i}", 0.7 + 0.01 * i, unit="N") for i in range(12, 18)]
    found += [recording(f"r{i}", 40.0 + 0.01 * i, joint="base") for i in range(18, 24)]
    judged = judge(found)
    assert len(judged) == 24
    assert {one.siblings for one in judged} == {6}
    assert not [one for one in judged if one.odd]
    assert {(one.joint, one.unit, round(one.median)) for one in judged} == {
        ("base", "N·m", 40), ("elbow", "N·m", 5), ("elbow", "N", 1), ("elbow", "N·m", 90),
    }  # fmt: skip


def test_the_more_is_compared_the_further_off_it_takes_to_stand_out() -> None:
    """Every value and every change that has a z is one comparison; those of too few siblings are none."""
    few = [recording(f"r{i}", 5.0 + i, joint="base") for i in range(4)]
    assert {one.threshold for one in judge(fleet(np.arange(24.0).reshape(24, 1))) if one.joint == "elbow"} == {
        threshold(24, 24)
    }
    judged = judge(fleet(np.arange(48.0).reshape(24, 2)) + few)
    assert {one.threshold for one in judged if one.joint == "elbow"} == {threshold(24, 48)}
    assert all(math.isnan(one.threshold) for one in judged if one.joint == "base")
    assert math.isfinite(judge(fleet(np.arange(5.0).reshape(5, 1)))[0].threshold), "five can be compared"


def test_the_worst_is_the_larger_of_value_and_change_over_the_threshold() -> None:
    def judged(z: float, change_z: float) -> JudgedQuantity:
        return JudgedQuantity("r", "elbow", "coulomb", "N·m", 5.0, 0.1, 2, 9, 5.0, z, 0.1, change_z, 4.0)

    assert judged(-6.0, 2.0).worst == judged(2.0, -6.0).worst == 1.5
    assert judged(math.nan, -2.0).worst == judged(-2.0, math.nan).worst == 0.5
    assert judged(math.nan, math.nan).worst == 0.0
    assert (judged(-6.0, 2.0).odd, judged(-6.0, 2.0).drifts) == (True, False)
    assert (judged(2.0, -6.0).odd, judged(2.0, -6.0).drifts) == (False, True)


@pytest.mark.parametrize(
    ("status", "deviation", "known", "loose"),
    [
        ("valid", 0.02, True, False),
        ("valid", math.nan, True, False),
        ("held", 0.02, True, False),
        ("learning", 0.02, True, True),
        ("learning", math.nan, False, True),
        ("learning", math.inf, False, True),
        ("faulted", 0.02, False, True),
    ],
)
def test_what_a_recording_says_counts_where_its_status_lets_it(
    status: str, deviation: float, known: bool, loose: bool
) -> None:
    found = recording("a", 5.0, deviation, status=status)
    assert [one.value for one in judge([found])] == [5.0] * known
    assert unsettled([found]) == [(found, "elbow", status)] * loose
    assert judge([recording("a", math.nan, deviation, status=status)]) == []


def test_the_odd_one_and_the_one_that_drifts_are_reported_and_no_other() -> None:
    values = 5.0 + 0.1 * np.random.default_rng(2).standard_normal((24, 1)) + np.zeros((24, 4))
    values += 0.02 * np.random.default_rng(3).standard_normal(values.shape)
    values[3] += 1.5
    values[7] += [0.0, 0.0, 0.4, 0.4]
    judged = judge(fleet(values))
    assert [one.robot for one in judged if one.odd] == ["r03"]
    assert [one.robot for one in judged if one.drifts] == ["r07"]
    page = document(fleet(values), judged)
    assert "<h1>r07 is drifting, r03 is odd</h1>" in page
    assert page.count("<circle") == 24
    assert "src=" not in page
    assert "<link" not in page
    assert page.count("×\u00a0limit") == 2, "evidence in the place of z"
    assert 'data-name="since when"' in page, "on a phone each number has its name beside it"


def test_the_page_says_between_which_recordings_a_drift_began_and_that_it_does_not_know_without_dates() -> None:
    values = 5.0 + 0.02 * np.random.default_rng(3).standard_normal((12, 4))
    values[7] += [0.0, 0.0, 0.4, 0.4]
    days = [1.78e9 + 86_400.0 * k for k in range(4)]
    found = [one._replace(began=days[k % 4]) for k, one in enumerate(fleet(values))]
    assert between(found)["r07", "elbow", "coulomb"] == (days[1], days[2])
    assert f"between {date(days[1])} and {date(days[2])}" in document(found, judge(found))
    undated = [one._replace(began=math.nan) for one in found]
    assert between(undated) == {}
    assert '<td data-name="since when">no dates</td>' in document(undated, judge(undated))
    single = [one for k, one in enumerate(found) if k % 4 == 2]
    assert between(single)["r07", "elbow", "coulomb"] == (days[2], days[2])


def test_one_that_still_learns_is_compared_by_what_it_has_told_and_named() -> None:
    """High friction makes a robot move less, so that it learns longer: to wait for it would be not to see it."""
    found = fleet(5.0 + 0.1 * np.random.default_rng(4).standard_normal((24, 1)) + np.zeros((24, 2)))

    def learning(robot: str, *, value: float, deviation: float) -> None:
        for k, run in enumerate(found):
            if run.robot == robot:
                told = (RecordedQuantity("coulomb", "N·m", value, deviation),)
                joint = run.joints[0]._replace(
                    status="learning", reasons="offset is not certain enough yet", quantities=told
                )
                found[k] = run._replace(joints=(joint,))

    learning("r03", value=8.0, deviation=0.1)
    learning("r05", value=8.0, deviation=3.0)  # told so badly that it says nothing
    learning("r06", value=80.0, deviation=np.nan)  # told nothing
    judged = judge(found)
    assert [one.robot for one in judged if one.odd] == ["r03"]
    assert {one.robot for one in judged} == {run.robot for run in found} - {"r06"}
    assert [(run.robot, why) for run, _, why in unsettled(found)][::2] == [
        (robot, "offset is not certain enough yet") for robot in ("r03", "r05", "r06")
    ]
    assert "<h2>Not valid at the end</h2>" in document(found, judged)


def test_a_drift_of_all_is_nobodys() -> None:
    values = 5.0 + 0.05 * np.random.default_rng(5).standard_normal((12, 2)) + np.array([0.0, 2.0])
    assert not any(one.odd or one.drifts for one in judge(fleet(values)))


def test_four_cannot_be_compared() -> None:
    judged = judge(fleet(np.array([[1.0], [1.0], [1.0], [9.0]])))
    assert len(judged) == 4
    assert not any(one.odd or one.drifts or one.worst for one in judged)
    assert "at least five robots" in document(fleet(np.ones((4, 1))), judged)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_z_says_something_above_the_threshold_and_nothing_at_it(sign: float) -> None:
    one = alone(recording("a", 3.0))._replace(threshold=3.5, z=sign * 3.5, change_z=sign * 3.5)
    assert (one.odd, one.drifts, one.worst) == (False, False, 1.0)
    above = sign * math.nextafter(3.5, 4.0)
    assert (one._replace(z=above).odd, one._replace(z=above).drifts) == (True, False)
    assert (one._replace(change_z=above).odd, one._replace(change_z=above).drifts) == (False, True)
