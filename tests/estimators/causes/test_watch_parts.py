"""Parts of the watch by themselves: what is ordinary, what swings, what grows, who ranks, and what a person is told."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from estimators.causes.answer import UNKNOWN, Answer, answer, listed
from estimators.causes.base import FaultWindow
from estimators.causes.evidence import EvidencePart, share_along
from estimators.causes.healthy_joint import Fit, HealthyJoint
from estimators.causes.ranking import CERTAIN, rank, reference
from estimators.causes.ringing import MOST, ringing
from estimators.causes.sample_rows import ROW, SignatureRows
from estimators.causes.time_course import TimeCourse
from estimators.causes.watch import CauseWatch
from estimators.quantities import Floats
from hil_rig.faults.base import Course, play
from hil_rig.faults.catalogue import SHOWN
from hil_rig.faults.rigs import RIGS

NOISE, ALWAYS = 0.05, TimeCourse(0.0, -np.inf, -np.inf)
FAULTS = {one.name: one for one in SHOWN}


def moved(seconds: float, seed: int, more: Callable[[Floats, Floats], Floats] | None = None) -> SignatureRows:
    """Rows of a joint with two encoders that turns; more: torque and twist that come beside, by time and angle."""
    t, rng = np.asarray(np.arange(round(seconds / ROW)) * ROW, np.float64), np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, 2)
    q = 0.9 * np.sin(1.1 * t + phase[0]) + 0.3 * np.sin(2.9 * t + phase[1])
    v: Floats = np.asarray(np.gradient(q, ROW), np.float64)
    a: Floats = np.asarray(np.gradient(v, ROW), np.float64)
    y = 2.0 * a + 3.0 * v + 4.0 * np.sign(v) + 15.0 * np.sin(q + 0.4) + NOISE * rng.standard_normal(len(t))
    twist = (1.5 * a + 15.0 * np.sin(q + 0.4)) / 2e3 + 1e-5 * rng.standard_normal(len(t))
    if more is not None:
        beside = more(t, q)
        y, twist = y + beside[0], twist + beside[1]
    return SignatureRows(t, q, v, a, y, twist, np.zeros(len(t)))


def ripple(_time: Floats, q: Floats) -> Floats:
    """Torque and twist to be added: no torque, and a ripple of the twist as the gear's own errors make it."""
    return np.stack([np.zeros(len(q)), 1e-3 * np.sin(11.0 * q + 0.7)])


def test_a_ripple_that_the_healthy_gear_has_is_ordinary_later_too() -> None:
    before, now = moved(120.0, 1, ripple), moved(25.0, 2, ripple)
    healthy = reference(before)
    assert healthy.twist is not None
    left = FaultWindow(healthy, before).twist  # with noise of 1e-5
    assert healthy.twist.ordinary == pytest.approx(float((left**2).mean()), rel=0.05)
    assert rank(FaultWindow(healthy, now), ALWAYS).evidence < CERTAIN
    assert rank(FaultWindow(healthy.with_ordinary_twist(0.0), now), ALWAYS).evidence > CERTAIN


def test_a_new_ripple_of_the_twist_is_a_change() -> None:
    assert rank(FaultWindow(reference(moved(120.0, 1)), moved(25.0, 2, ripple)), ALWAYS).evidence > CERTAIN


def test_what_is_kept_of_a_reference_with_two_encoders_says_the_same_of_torque_and_twist() -> None:
    healthy, now = reference(moved(60.0, 1, ripple)), moved(25.0, 2, ripple)
    other = HealthyJoint.resumed(healthy.keep())
    one, two = FaultWindow(healthy, now), FaultWindow(other, now)
    assert rank(one, ALWAYS).evidence == pytest.approx(rank(two, ALWAYS).evidence, rel=1e-9)
    np.testing.assert_allclose(one.twist, two.twist, rtol=1e-12)


@pytest.mark.parametrize(("name", "size"), [("y", 2.0 * NOISE), ("twist", 2e-5)])
def test_a_residual_that_is_twice_as_large_in_either_signal_is_no_longer_as_small_as_ever(
    name: str, size: float
) -> None:
    healthy, now = reference(moved(120.0, 1)), moved(25.0, 2)
    rows = healthy.sliding(now)
    assert healthy.unchanged(rows, 1.5)
    more = size * np.random.default_rng(3).standard_normal(len(rows.q))
    assert not healthy.unchanged(rows._replace(**{name: getattr(rows, name) + more}), 1.5)
    assert healthy.unchanged(rows.part(slice(0)), 1.5)


def test_of_a_residual_only_what_lies_along_the_columns_counts_once() -> None:
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((400, 3)))[0] * 20.0  # orthogonal, of rms one
    residual = 0.3 * basis[:, 0] + 0.4 * basis[:, 2]
    columns = basis[:, :2]
    assert share_along(columns, residual) == pytest.approx(0.09)
    assert share_along(np.column_stack([columns, columns[:, 0]]), residual) == pytest.approx(0.09)


def swinging(pitch: float, lasting: float, seed: int) -> Floats:
    """Torque of a mass on a loose seat, set going at random; pitch 0: errors that last."""
    rng, torque = np.random.default_rng(seed), np.zeros(2000)
    t = ROW * np.arange(200)
    for begin in rng.integers(0, 1900, 40):
        course = rng.normal() * np.exp(-t / lasting) * np.cos(2.0 * np.pi * pitch * t)
        torque[begin:][:200] += course[: 2000 - begin]
    return torque


def heard(more: Floats) -> float:
    healthy = HealthyJoint.of(moved(120.0, 1))
    now = moved(40.0, 2)
    return ringing(FaultWindow(healthy, now._replace(y=now.y + more)))


def test_what_swings_by_itself_is_distinguished_from_what_lasts_from_noise_and_from_what_has_another_shape() -> None:
    assert heard(swinging(5.0, 0.3, 1)) > 3.0
    assert heard(swinging(0.0, 0.1, 1)) < 0.0
    assert heard(np.zeros(2000)) == 0.0
    another = 3.0 * moved(40.0, 2).a  # compared with it the swinging is little
    assert heard(swinging(5.0, 0.3, 1) + another) == -MOST


def test_what_swings_by_itself_is_of_loose_bolts_and_what_lasts_is_not() -> None:
    healthy, now = HealthyJoint.of(moved(120.0, 1)), moved(40.0, 2)

    def share(more: Floats) -> float:
        return rank(FaultWindow(healthy, now._replace(y=now.y + more)), ALWAYS).probability["loose_bolt"]

    assert share(3.0 * swinging(5.0, 0.3, 1)) > 0.5
    assert share(3.0 * swinging(0.0, 0.1, 1)) < 0.1


def test_an_ordinary_day_along_a_column_makes_a_change_along_it_no_evidence() -> None:
    rng, n = np.random.default_rng(4), 300
    columns, day = rng.standard_normal((n, 2)), rng.standard_normal(n)
    fit = Fit.of(columns, columns @ np.array([2.0, 1.0]) + 0.1 * rng.standard_normal(n), 20)
    residual, sizes = 0.1 * rng.standard_normal(n) + 0.3 * day, np.array([0.05, 0.1, 0.2])

    def over_nothing(deviation: float) -> float:
        part = EvidencePart(fit, np.column_stack([columns, day]), residual, (), [(day, deviation)], sizes)
        return part.unknown - part.nothing

    fit = fit._replace(inverse=np.diag([*np.diag(fit.inverse), 0.0]))
    assert over_nothing(0.0) > CERTAIN
    assert over_nothing(0.3) < over_nothing(0.0) / 3.0


def test_errors_that_repeat_along_a_motion_count_as_fewer_rows() -> None:
    rng, n = np.random.default_rng(5), 4000
    columns = np.column_stack([np.ones(n)])
    alone = Fit.of(columns, rng.standard_normal(n), 100)
    tens = Fit.of(columns, np.repeat(rng.standard_normal(n // 10), 10), 100)
    assert alone.alike == pytest.approx(1.0, abs=0.5)
    assert tens.alike == pytest.approx(10.0, rel=0.4)
    assert tens.worst > 3.0 * alone.worst  # a fifth of a second of equal errors


def watched(values: Floats, pool: ThreadPoolExecutor | None) -> tuple[CauseWatch, list[tuple[str, ...]]]:
    """A watch after a run, and what it told one after the other."""
    watch, said = CauseWatch(2e-3, (0, 1, None), pool), list[tuple[str, ...]]()
    for first in range(0, len(values), 250):
        times = (first + np.arange(250)) * 2_000_000
        if watch.absorb(times.astype(np.int64), values[first : first + 250]):
            said.append(watch.diagnosis.answer.names if watch.diagnosis is not None else ())
        deadline = time.monotonic() + 60.0
        while watch._job is not None and not watch._job.done() and time.monotonic() < deadline:
            time.sleep(0.001)
    return watch, said


def test_a_worker_ranks_as_the_watch_itself_does() -> None:
    values = play(RIGS["planetary drive"], FAULTS["brake_drag"], Course(onset=56.0, growth=60.0), 76.0, 17)
    with ThreadPoolExecutor(1) as pool:
        other, told = watched(values, pool)
    watch, said = watched(values, None)
    assert told == said
    assert said[-1] == ("brake_drag",)
    assert watch.diagnosis is not None
    assert other.diagnosis is not None
    assert other.diagnosis.ranked[0] == pytest.approx(watch.diagnosis.ranked[0])
    watch.begin_reference()
    assert watch.keep() is None


def test_a_collision_is_reported_once_and_then_nothing_more() -> None:
    values = play(RIGS["planetary drive"], FAULTS["collision"], Course(onset=56.0, growth=60.0), 110.0, 17)
    watch, said = watched(values, None)
    assert said == [("collision",), ("collision",), ()]  # two rankings of the same one
    assert watch.diagnosis is None


def test_a_person_is_told_names_their_remedies_and_never_certainty() -> None:
    one = answer({"load": 1.0, UNKNOWN: 0.0}, True)
    assert one.text == "likely cause: another tool or payload (99 %)"
    assert "load" in one.remedy
    two = answer({"load": 0.45, "brake_drag": 0.4, UNKNOWN: 0.15}, True)
    assert two.text == "likely cause: another tool or payload or a dragging brake (85 %)"
    assert "load" in two.remedy
    assert "brake" in two.remedy
    unknown = answer({"load": 0.1, UNKNOWN: 0.9}, True)
    assert unknown == Answer((UNKNOWN,), 0.9)
    assert "friction curve" in unknown.remedy
    ranked = {"load": 0.3, "gear_gap": 0.69, "brake_drag": 0.01}
    assert listed(ranked) == [("gear_gap", 0.69), ("load", 0.3)]


def test_of_a_gap_with_one_encoder_too_little_is_known_where_others_are_likelier_together() -> None:
    ranked = {"gear_gap": 0.3, "belt_slack": 0.1, "loose_bolt": 0.05, "brake_drag": 0.28, UNKNOWN: 0.27}
    assert answer(ranked, two_encoders=False).names == (UNKNOWN,)
    assert answer(ranked | {"belt_slack": 0.2}, two_encoders=False).names == ("gear_gap", "belt_slack", "loose_bolt")
