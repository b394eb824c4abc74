"""A joint against its baseline: what is published, from where on it is drift, and that it does not flicker."""

import math
from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import DriftSettings
from daq.config.words import ConfigError
from daq.core.changes.drift import Comparison, Drift, compare
from daq.state.baselines import Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status

NAMES = ("inertia", "coulomb", "offset")
BASELINE = Baseline(
    since=1000.0, model="rigid", values={"inertia": 2.0, "coulomb": -4.0, "offset": 0.01},
    deviations={"inertia": 0.03, "coulomb": 0.0, "offset": 0.04},
)  # fmt: skip
SECOND = 1_000_000_000
TEMPLATE = Path(__file__).parents[4] / "daq" / "jointwatch.toml"


def estimate(time: int, coulomb: float, sigma: float = 0.04, offset: float = 0.01) -> Estimate:
    return Estimate(
        time=time * SECOND, phase=Phase.NORMAL, status=Status.VALID, reasons=(), names=NAMES,
        values=np.array([2.1, coulomb, offset]), deviations=np.array([0.04, sigma, 0.03]), error=0.01, forgetting=1.0,
        measured=0.0, predicted=0.0, progress=100.0,
    )  # fmt: skip


def follow(drift: Drift, *coulombs: float) -> list[tuple[int, str]]:
    """One estimate a second: (second, kind) of every change."""
    found = []
    for time, value in enumerate(coulombs):
        found += [(time, change.kind) for change in drift.update(estimate(time, value))[1]]
    return found


def test_z_is_the_change_over_what_chance_would_make_of_two_independent_estimates() -> None:
    rng = np.random.default_rng(3)
    now, before = rng.normal(5.0, 0.04, 200_000), rng.normal(5.0, 0.03, 200_000)
    _, percent, z = compare(now, np.full(200_000, 0.04), before, np.full(200_000, 0.03))
    assert np.std(z) == pytest.approx(1.0, abs=0.01)
    assert percent == pytest.approx(100 * (now / before - 1))


def test_what_is_published() -> None:
    told, changes = Drift(DriftSettings(), BASELINE).update(estimate(0, -4.4))
    assert (told["since"], told["drifted"], changes) == (1000.0, [], [])
    assert told["change"] == pytest.approx({"inertia": 0.1, "coulomb": -0.4, "offset": 0.0})
    assert told["z"] == pytest.approx({"inertia": 2.0, "coulomb": -10.0, "offset": 0.0})
    assert told["percent"]["coulomb"] == pytest.approx(-10.0), "against the magnitude: −4.4 is less than −4"
    assert math.isnan(told["percent"]["offset"]), "0.01 ± 0.04 cannot be told from zero"


def test_whether_there_is_a_percentage_follows_from_the_baseline_and_not_from_the_estimate() -> None:
    """An estimate that is uncertain now still has a change in percent; a baseline of nothing never has."""
    values, before = np.array([3.0, 3.0, 0.5]), np.array([2.0, 2.0, 0.1])
    change, percent, z = compare(values, np.array([4.0, 0.0, 0.0]), before, np.array([0.3, 0.3, 0.1]))
    assert change == pytest.approx([1.0, 1.0, 0.4])
    assert percent[:2] == pytest.approx([50.0, 50.0])
    assert math.isnan(percent[2])
    assert z == pytest.approx([1.0 / math.hypot(4.0, 0.3), 1.0 / 0.3, 4.0])
    before = np.array([0.19, 0.21, -0.19, -0.21])
    _, percent, _ = compare(before + 0.0021, np.zeros(4), before, np.full(4, 0.1))
    assert np.isnan(percent).tolist() == [True, False, True, False], "within two of its deviations it may be nothing"
    assert percent[[1, 3]] == pytest.approx([1.0, 1.0])


def test_friction_within_what_heat_and_load_have_shown_is_no_drift() -> None:
    settings = DriftSettings(percent=10, z=5, hold=3)
    drift = Drift(settings, BASELINE, usual={"coulomb": (-5.0, -3.5)})
    assert follow(drift, *[-4.9] * 6) == [], "22 %, as cold mornings have it"
    assert follow(drift, *[-5.2] * 6) == [], "5 % beyond them"
    assert follow(drift, *[-5.6] * 6) == [(3, "drift")], "15 % beyond them"
    assert follow(Drift(settings, BASELINE, usual={"inertia": (1.0, 9.0)}), *[-4.8] * 6) == [(3, "drift")]
    apart = {"coulomb": (-6.5, -5.5)}  # heat has not yet shown the baseline itself
    assert follow(Drift(settings, BASELINE, usual=apart), *[-4.9] * 6) == [], "on the way there"
    assert follow(Drift(settings, BASELINE, usual=apart), *[-7.2] * 6) == [(3, "drift")], "18 % beyond"
    assert follow(Drift(settings, BASELINE, usual=apart), *[-3.2] * 6) == [(3, "drift")], "20 % the other way"


def test_drift_is_what_is_large_and_certain_for_long_enough() -> None:
    settings = DriftSettings(percent=10, z=5, hold=3)
    large = -4.8
    assert follow(Drift(settings, BASELINE), *[large] * 6) == [(3, "drift")]
    assert follow(Drift(settings, BASELINE), large, large, large, -4.0, large, large, large) == [], "not long enough"
    assert follow(Drift(settings, BASELINE), *[-4.3] * 9) == [], "certain, but small"
    drift = Drift(settings, BASELINE)
    assert [drift.update(estimate(time, large, sigma=0.5))[1] for time in range(9)] == [[]] * 9, (
        "large, but not certain"
    )


def test_it_ends_well_inside_the_limits_only() -> None:
    drift = Drift(DriftSettings(percent=10, z=5, release=0.7, hold=0), BASELINE)
    edge = [-4.41, -4.39, -4.42, -4.3, -4.41]  # 7.5 … 10.5 %
    assert follow(drift, *edge) == [(0, "drift")]
    assert drift.drifted == {"coulomb"}
    _, changes = drift.update(estimate(9, -4.27))
    assert [change.kind for change in changes] == ["recovered"]
    assert changes[0].text == "coulomb is within its limits again: -6.7 %, 6.7 standard deviations"
    assert not drift.drifted


def test_certainty_that_is_lost_ends_it_below_its_share_of_the_limit_only() -> None:
    drift = Drift(DriftSettings(percent=10, z=5, release=0.7, hold=0), BASELINE)
    told = []
    for time, z in enumerate((6.0, 4.0, 3.6, 3.4, 4.0, 4.9, 5.1)):  # by 2 N·m, 50 %, all the time
        changes = drift.update(estimate(time, -6.0, sigma=2.0 / z))[1]
        told += [(time, change.kind) for change in changes]
    assert told == [(0, "drift"), (3, "recovered"), (6, "drift")]


def test_noise_at_the_limit_gives_few_events() -> None:
    rng = np.random.default_rng(5)
    noisy = -4.4 + rng.normal(0, 0.02, 3600)
    assert len(follow(Drift(DriftSettings(), BASELINE), *noisy)) <= 1
    assert len(follow(Drift(DriftSettings(release=1.0, hold=0.0), BASELINE), *noisy)) > 500, "what it is good for"


def test_without_a_percentage_certainty_decides() -> None:
    drift = Drift(DriftSettings(hold=0), BASELINE)
    told, changes = drift.update(estimate(0, -4.0, offset=0.31))
    assert told["z"]["offset"] == pytest.approx(6.0)
    assert [(change.kind, change.text) for change in changes] == [
        ("drift", "offset has drifted: 6.0 standard deviations")
    ]


def test_a_parameter_whose_certainty_is_not_known_does_not_drift() -> None:
    drift = Drift(DriftSettings(hold=0), BASELINE)
    for sigma in (math.inf, math.nan):
        told, changes = drift.update(estimate(0, -9.0, sigma=sigma))
        assert (told["z"]["coulomb"], changes) == (0.0, [])


def test_a_baseline_of_another_model_is_none() -> None:
    drift = Drift(DriftSettings(), BASELINE)
    law = {"kind": "tanh_stribeck", "exponent": 1.0}
    assert drift.fits("rigid", law, NAMES)
    assert not drift.fits("two_mass", law, NAMES)
    assert not drift.fits("rigid", law, NAMES[:2])
    assert not drift.fits("rigid", law, (*NAMES, "viscous"))
    drift.baseline = BASELINE.model_copy(update={"friction": law})
    assert drift.fits("rigid", law, NAMES)
    assert not drift.fits("rigid", law | {"exponent": 2.0}, NAMES), "C₂ then means another torque"


def test_the_order_of_the_names_does_not_matter() -> None:
    one = estimate(0, -4.4)
    turned = one._replace(names=NAMES[::-1], values=one.values[::-1], deviations=one.deviations[::-1])
    told, other = (Drift(DriftSettings(), BASELINE).update(every)[0] for every in (one, turned))
    assert told["z"] == other["z"]


def test_the_limits_stand_in_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "jointwatch.toml"
    template = TEMPLATE.read_text()
    assert "# drift = { percent = 10, z = 5, hold = 5 }" in template
    file.write_text(template.replace("# drift = { percent = 10", "drift = { percent = 25"))
    assert load(file).joints["elbow"].drift == DriftSettings(percent=25)
    file.write_text(template.replace("# drift = { percent = 10", "drift = { percnt = 25"))
    with pytest.raises(ConfigError, match=r'unknown key "percnt".*did you mean "percent"'):
        load(file)
    file.write_text(template.replace("# drift = { percent = 10", "drift = { release = 1.5"))
    with pytest.raises(ConfigError, match="less than or equal to 1"):
        load(file)


def test_all_by_one_factor_is_one_cause_and_reported_once() -> None:
    """A torque constant that is 20 % off: Coulomb friction is certain at once, the inertia some seconds later."""
    names = ("inertia", "viscous", "coulomb", "gravity_sin", "offset")
    before = np.array([2.0, 8.0, 5.0, 12.0, 0.5])
    named = dict(zip(names, before.tolist(), strict=True))
    baseline = Baseline(since=1000.0, model="rigid", values=named, deviations=dict.fromkeys(names, 0.01))
    told = {}
    for case, factors in {"scale": np.full(5, 1.2), "friction": np.array([1.0, 1.5, 1.5, 1.0, 1.0])}.items():
        drift, events = Drift(DriftSettings(hold=2), baseline), []
        for time in range(12):
            deviations = np.array([0.2 if time < 5 else 0.02, 0.02, 0.02, 0.02, 0.01])
            one = estimate(time, 0.0)
            one = one._replace(names=names, values=before * factors, deviations=deviations)
            published, changes = drift.update(one)
            events += [change.text for change in changes]
        told[case] = events, published["cause"], published["drifted"]
    events, cause, drifted = told["scale"]
    assert len(events) == 1
    assert events[0] == cause
    assert "all parameters by one factor, 1.200" in cause
    assert set(drifted) == set(names)
    events, cause, drifted = told["friction"]
    assert len(events) == 2
    assert cause == ""
    assert drifted == ["viscous", "coulomb"]


def comparison(**baseline: object) -> Comparison:
    one = Comparison("rigid", DriftSettings(hold=0), Publication("arm", "elbow", 7, "N·m"))
    one.set_baseline(BASELINE.model_copy(update=baseline))
    return one


def looked(messages: list[tuple[bytes, bytes]]) -> list[tuple[str, Map]]:
    return [(topic.decode(), msgpack.unpackb(body)) for topic, body in messages]


def test_an_estimate_is_compared_once_a_second_of_its_own_time_and_only_with_something() -> None:
    nothing = Comparison("rigid", DriftSettings(), Publication("arm", "elbow", 7, "N·m"))
    assert not nothing.due(0)
    assert nothing.compare(estimate(5, -4.0), dict, 5.0) == []
    one = comparison()
    found = []
    for time in (5.0, 5.5, 5.999, 6.0, 8.2):
        at = estimate(0, -4.0)._replace(time=round(time * SECOND))
        assert one.due(at.time) == (time in (5.0, 6.0, 8.2))
        found += looked(one.compare(at, dict, 1000.0 + time))
    assert [(topic, body["timestamp"]) for topic, body in found] == [
        ("event/elbow", 1005.0), ("drift/elbow", 1005.0), ("drift/elbow", 1006.0), ("drift/elbow", 1008.2),
    ]  # fmt: skip
    assert found[0][1]["kind"] == "baseline"
    assert found[0][1]["text"] == "drift is measured against the baseline of 1970-01-01 00:16:40 UTC"


def test_what_drifts_is_an_event_beside_its_drift() -> None:
    one = comparison()
    found = looked(one.compare(estimate(5, -8.0), dict, 5.0))
    assert [(topic, body.get("kind")) for topic, body in found] == [
        ("event/elbow", "baseline"), ("drift/elbow", None), ("event/elbow", "drift"),
    ]  # fmt: skip
    assert found[1][1]["drifted"] == ["coulomb"]
    assert found[2][1]["text"].startswith("coulomb has drifted: -100.0 %, ")


def test_the_same_baseline_again_is_no_news_and_another_is_at_once() -> None:
    one = comparison()
    one.compare(estimate(5, -8.0), dict, 5.0)
    one.set_baseline(BASELINE)
    assert one.compare(estimate(5, -8.0), dict, 5.1) == []
    one.set_baseline(BASELINE.model_copy(update={"since": 2000.0}))
    (event, told, _) = looked(one.compare(estimate(5, -8.0), dict, 5.2))
    assert event[1]["kind"] == "baseline"
    assert told[1]["since"] == 2000.0


def test_another_law_ends_the_comparison_until_the_law_of_the_baseline_is_back() -> None:
    mine, other = {"kind": "viscous_coulomb"}, {"kind": "arctangent"}
    one = comparison(friction=mine)
    assert [topic for topic, _ in looked(one.compare(estimate(5, -4.0), lambda: mine, 5.0))][1:] == ["drift/elbow"]
    ((topic, body),) = looked(one.compare(estimate(6, -4.0), lambda: other, 6.0))
    assert (topic, body["text"]) == (
        "event/elbow",
        "the baseline of 1970-01-01 00:16:40 UTC is of another model or friction law: set a new one",
    )
    assert one.compare(estimate(7, -4.0), lambda: other, 7.0) == [], "said once"
    assert [topic for topic, _ in looked(one.compare(estimate(8, -4.0), lambda: mine, 8.0))] == [
        "event/elbow", "drift/elbow",
    ]  # fmt: skip


def test_what_stands_beside_an_estimate_that_cannot_be_trusted_is_compared_alone() -> None:
    """A gear's lost motion is known for itself, while the joint learns anew."""
    wear = BASELINE.model_copy(
        update={
            "values": BASELINE.values | {"lost_motion": 1.0},
            "deviations": BASELINE.deviations | {"lost_motion": 0.1},
        }
    )
    one = comparison()
    one.set_baseline(wear)

    def beside(found: Estimate, baseline: Baseline) -> Estimate:
        assert baseline == wear
        return found._replace(
            names=(*found.names, "lost_motion"),
            values=np.append(found.values, 3.0),
            deviations=np.append(found.deviations, 0.1),
        )

    def told(time: int, status: Status, law: Map, beside: object = beside) -> list[str]:
        at = estimate(time, -8.0)._replace(status=status)
        found = looked(one.compare(at, lambda: law, time, beside))  # type: ignore[arg-type]
        return [" ".join(body["drifted"]) for topic, body in found if topic == "drift/elbow"]

    assert told(4, Status.LEARNING, {}) == [], "nothing is trusted before it was compared once"
    assert told(5, Status.VALID, {}) == ["coulomb lost_motion"]
    assert told(6, Status.LEARNING, {}) == ["lost_motion"], "the joint is not judged meanwhile"
    assert told(7, Status.LEARNING, {}, None) == []
    learning = estimate(8, -8.0)._replace(status=Status.LEARNING)
    assert one.compare(learning, lambda: {"kind": "another"}, 8.0, beside) == [], "whose law is not settled either"
    assert told(9, Status.LEARNING, {}, lambda found, _: found) == []
