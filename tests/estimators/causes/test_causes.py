"""A fault of a rig is named from position and torque alone; one of a kind that is in no catalogue is called unknown."""

import math

import numpy as np
import pytest

from estimators.causes.answer import UNKNOWN, answer
from estimators.causes.base import Shape
from estimators.causes.catalogue import CAUSES
from estimators.causes.evidence import EvidencePart
from estimators.causes.healthy_joint import Fit, HealthyJoint
from estimators.causes.sample_rows import SignatureFormer
from estimators.causes.watch import CauseWatch
from hil_rig.faults.base import Course, Fault, play
from hil_rig.faults.catalogue import SHOWN, UNSHOWN
from hil_rig.faults.rigs import RIGS
from hil_rig.plants.base import Floats

FAULTS = {one.name: one for one in (*SHOWN, *UNSHOWN)}
COURSE = Course(onset=56.0, growth=60.0)


def watched(rig: str, fault: Fault | None, seconds: float = 84.0, seed: int = 17) -> tuple[CauseWatch, list[str]]:
    """The watch after a run, and the first names of all its answers."""
    settings, said = RIGS[rig], []
    values = play(settings, fault, COURSE, seconds, seed)
    watch = CauseWatch(1.0 / settings.rate, (0, 1, 2 if settings.two_encoders else None))
    for first in range(0, len(values), 250):
        times = np.round((first + np.arange(250)) * 1e9 / settings.rate).astype(np.int64)
        if watch.absorb(times, values[first : first + 250]) and watch.diagnosis is not None:
            said.append(watch.diagnosis.answer.names[0])
    return watch, said


@pytest.mark.parametrize("name", ["brake_drag", "load", "encoder_slip"])
def test_a_sudden_fault_is_named_within_half_a_minute_of_motion(name: str) -> None:
    watch, said = watched("planetary drive", FAULTS[name])
    assert watch.diagnosis is not None
    assert said[-1] == name
    assert abs(watch.diagnosis.onset - COURSE.onset) < 6.0
    assert watch.diagnosis.sudden


def test_a_gap_is_named_where_two_encoders_see_it() -> None:
    watch, said = watched("cycloid drive", FAULTS["gear_gap"])
    assert said[-1] == "gear_gap"
    assert watch.diagnosis is not None
    assert not watch.diagnosis.sudden


def test_a_collision_is_named_when_it_is_over() -> None:
    assert "collision" in watched("planetary drive", FAULTS["collision"])[1]


def test_a_body_in_the_gear_is_in_no_catalogue_and_its_cause_is_unknown() -> None:
    watch, said = watched("planetary drive", FAULTS["wedged_body"])
    assert said[-1] == UNKNOWN
    assert watch.diagnosis is not None
    assert "unknown" in watch.diagnosis.answer.text


def test_nothing_is_told_of_a_healthy_joint_and_its_reference_survives_a_restart() -> None:
    watch, said = watched("planetary drive", None)
    assert not said
    kept = watch.keep()
    assert kept is not None
    assert watch.healthy is not None
    other = HealthyJoint.resumed(kept)
    former = SignatureFormer(2e-3, (0, 1, None))
    rows = former.absorb(np.arange(2000) * 2_000_000, play(RIGS["planetary drive"], None, COURSE, 4.0, 5)[:, :2])
    assert rows is not None
    np.testing.assert_allclose(other.predicted(rows), watch.healthy.predicted(rows), rtol=1e-12)


def test_every_cause_has_a_fault_of_its_name_on_the_rig_and_what_to_do() -> None:
    assert [one.name for one in CAUSES] == [one.name for one in SHOWN]
    assert not {one.name for one in CAUSES} & {one.name for one in UNSHOWN}
    assert all(one.title and one.remedy.endswith(".") for one in CAUSES)
    names = {one.name for one in CAUSES}
    assert all(set(one.alike) <= names for one in CAUSES)


def test_derivatives_of_rows_are_those_of_the_motion() -> None:
    former, t = SignatureFormer(1e-3, (0, 1, None)), np.arange(3000) * 1e-3
    rows = former.absorb(np.round(t * 1e9).astype(np.int64), np.column_stack([np.sin(2 * t), np.cos(3 * t)]))
    assert rows is not None
    assert len(rows.q) > 100
    np.testing.assert_allclose(rows.v, 2 * np.cos(2 * rows.time), atol=2e-3)
    np.testing.assert_allclose(rows.a, -4 * np.sin(2 * rows.time), atol=4e-3)
    np.testing.assert_allclose(rows.y, np.cos(3 * rows.time), atol=1e-3)


def test_under_the_kernel_of_a_row_that_slides_the_joint_neither_stands_nor_turns() -> None:
    rng, parts = np.random.default_rng(5), list[Floats]()
    for _ in range(200):  # short moves from rest to rest, with 15 rad/s², a sample a millisecond
        rise = rng.choice([-1.0, 1.0]) * np.arange(0.015, rng.uniform(0.2, 3.0), 0.015)
        parts += [rise, rise[::-1], np.zeros(rng.integers(100, 300))]
    speed = np.concatenate(parts)
    former, times = SignatureFormer(1e-3, (0, 1, None)), (np.arange(len(speed)) * 1_000_000).astype(np.int64)
    rows = former.absorb(times, np.column_stack([np.cumsum(speed) * 1e-3, 4.0 * np.sign(speed)]))
    assert rows is not None
    slides = HealthyJoint.of(rows).slides(rows)
    assert np.count_nonzero(slides) > 0.5 * np.count_nonzero(np.abs(rows.v) > 0.3)
    at = np.round(rows.time[slides] * 1e3).astype(int)[:, None] + np.arange(-30, 31)
    assert (np.sign(speed[at]) == np.sign(rows.v[slides])[:, None]).all()


def test_no_row_is_formed_across_a_gap_or_a_missing_value() -> None:
    former, t = SignatureFormer(1e-3, (0, 1, None)), np.arange(3000)
    times = (t * 1_000_000 + np.where(t > 1000, 500_000_000, 0)).astype(np.int64)
    values = np.column_stack([0.001 * t, np.ones(3000)])
    values[2000, 1] = np.nan
    rows = former.absorb(times, values)
    assert rows is not None
    assert np.abs(rows.v - 1.0).max() < 1e-6
    assert np.isfinite(rows.y).all()


def normal(z: Floats, covariance: Floats) -> float:
    """ln of a normal density at z without K/2·ln 2π, by the textbook."""
    return float(-0.5 * z @ np.linalg.solve(covariance, z) - 0.5 * np.linalg.slogdet(covariance)[1])


def test_evidence_is_the_mean_of_normal_densities_over_sizes() -> None:
    rng, n = np.random.default_rng(3), 200
    columns, shape = rng.standard_normal((n, 3)), rng.standard_normal(n)
    y = columns @ np.array([3.0, -1.0, 2.0]) + 0.1 * rng.standard_normal(n)
    fit = Fit.of(columns, y, 20)
    residual, sizes = 0.1 * rng.standard_normal(n) + 0.4 * shape, np.array([0.05, 0.1, 0.3])
    part = EvidencePart(fit, columns, residual, [Shape.of(shape)], (), sizes)
    Q = np.linalg.qr(np.column_stack([columns, shape]))[0]
    z, K = Q.T @ residual, Q.shape[1]
    base = fit.variance * fit.alike * (np.eye(K) + Q.T @ columns @ fit.inverse @ columns.T @ Q)
    base += n * (0.006 * fit.rms) ** 2 / K * np.eye(K)
    rest = float(residual @ residual - z @ z) / n
    way, leak = Q.T @ shape / math.sqrt(float(shape @ shape) / n), 0.2
    each = []
    for s in sizes:
        covariance = (
            base + n * (leak * s * fit.rms) ** 2 / K * np.eye(K) + (0.08 * s * fit.rms) ** 2 * np.outer(way, way)
        )
        left = 2.0 * fit.variance + 0.3 * (leak * s * fit.rms) ** 2
        each.append(normal(z - s * fit.rms * way, covariance) - 10.0 * (math.log(left) + rest / left))
    assert part.evidence([Shape.of(shape)], leak) == pytest.approx(np.logaddexp.reduce(each) - math.log(3), rel=1e-9)
    usual = 2.0 * fit.variance
    assert part.nothing == pytest.approx(normal(z, base) - 10.0 * (math.log(usual) + rest / usual), rel=1e-9)
    each = []
    for s in sizes:  # of any torque
        left = usual + 0.3 * (s * fit.rms) ** 2
        anything = normal(z, base + n * (s * fit.rms) ** 2 / K * np.eye(K))
        each.append(anything - 10.0 * (math.log(left) + rest / left))
    assert part.unknown == pytest.approx(np.logaddexp.reduce(each) - math.log(3), rel=1e-9)


def test_causes_that_one_encoder_cannot_tell_apart_are_told_together() -> None:
    ranked = {"gear_gap": 0.5, "belt_slack": 0.4, "brake_drag": 0.06, UNKNOWN: 0.04}
    ranked |= {"loose_bolt": 0.0}
    assert set(answer(ranked, two_encoders=False).names) == {"gear_gap", "belt_slack", "loose_bolt"}
    assert answer(ranked | {"gear_gap": 0.6, "belt_slack": 0.3}, two_encoders=True).names == ("gear_gap",)
    assert answer({"load": 0.45, "brake_drag": 0.4, UNKNOWN: 0.15}, True).names == ("load", "brake_drag")
    assert answer({"load": 0.45, "brake_drag": 0.2, UNKNOWN: 0.35}, True).names == (UNKNOWN,)
