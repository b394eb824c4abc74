"""A joint against its baseline: what is published, from where on it is drift, and that it does not flicker."""

import math
from pathlib import Path

import numpy as np
import pytest

from daq.config.drift_limits import DriftSettings
from daq.config.load import load
from daq.config.words import ConfigError
from daq.core.drift import Drift, compare
from daq.state.baselines import Baseline
from estimators.base import Estimate, Phase, Status

NAMES = ("inertia", "coulomb", "offset")
BASELINE = Baseline(
    since=1000.0, model="rigid", values={"inertia": 2.0, "coulomb": -4.0, "offset": 0.01},
    deviations={"inertia": 0.03, "coulomb": 0.0, "offset": 0.04},
)  # fmt: skip
SECOND = 1_000_000_000
TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


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
        found += [(time, change.kind) for change in drift.look(estimate(time, value))[1]]
    return found


def test_z_is_the_change_over_what_chance_would_make_of_two_independent_estimates() -> None:
    rng = np.random.default_rng(3)
    now, before = rng.normal(5.0, 0.04, 200_000), rng.normal(5.0, 0.03, 200_000)
    _, percent, z = compare(now, np.full(200_000, 0.04), before, np.full(200_000, 0.03))
    assert np.std(z) == pytest.approx(1.0, abs=0.01)
    assert percent == pytest.approx(100 * (now / before - 1))


def test_what_is_published() -> None:
    told, changes = Drift(DriftSettings(), BASELINE).look(estimate(0, -4.4))
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


def test_drift_is_what_is_large_and_certain_for_long_enough() -> None:
    settings = DriftSettings(percent=10, z=5, hold=3)
    large = -4.8
    assert follow(Drift(settings, BASELINE), *[large] * 6) == [(3, "drift")]
    assert follow(Drift(settings, BASELINE), large, large, large, -4.0, large, large, large) == [], "not long enough"
    assert follow(Drift(settings, BASELINE), *[-4.3] * 9) == [], "certain, but small"
    drift = Drift(settings, BASELINE)
    assert [drift.look(estimate(time, large, sigma=0.5))[1] for time in range(9)] == [[]] * 9, "large, but not certain"


def test_it_ends_well_inside_the_limits_only() -> None:
    drift = Drift(DriftSettings(percent=10, z=5, release=0.7, hold=0), BASELINE)
    edge = [-4.41, -4.39, -4.42, -4.3, -4.41]  # 7.5 … 10.5 %
    assert follow(drift, *edge) == [(0, "drift")]
    assert drift.drifted == {"coulomb"}
    _, changes = drift.look(estimate(9, -4.27))
    assert [change.kind for change in changes] == ["recovered"]
    assert changes[0].text == "coulomb is within its limits again: -6.7 % of its baseline, 6.7 standard deviations"
    assert not drift.drifted


def test_certainty_that_is_lost_ends_it_below_its_share_of_the_limit_only() -> None:
    drift = Drift(DriftSettings(percent=10, z=5, release=0.7, hold=0), BASELINE)
    told = []
    for time, z in enumerate((6.0, 4.0, 3.6, 3.4, 4.0, 4.9, 5.1)):  # by 2 N·m, 50 %, all the time
        changes = drift.look(estimate(time, -6.0, sigma=2.0 / z))[1]
        told += [(time, change.kind) for change in changes]
    assert told == [(0, "drift"), (3, "recovered"), (6, "drift")]


def test_noise_at_the_limit_gives_few_events() -> None:
    rng = np.random.default_rng(5)
    noisy = -4.4 + rng.normal(0, 0.02, 3600)
    assert len(follow(Drift(DriftSettings(), BASELINE), *noisy)) <= 1
    assert len(follow(Drift(DriftSettings(release=1.0, hold=0.0), BASELINE), *noisy)) > 500, "what it is good for"


def test_without_a_percentage_certainty_decides() -> None:
    drift = Drift(DriftSettings(hold=0), BASELINE)
    told, changes = drift.look(estimate(0, -4.0, offset=0.31))
    assert told["z"]["offset"] == pytest.approx(6.0)
    assert [(change.kind, change.text) for change in changes] == [
        ("drift", "offset has drifted: 6.0 standard deviations")
    ]


def test_a_parameter_whose_certainty_is_not_known_does_not_drift() -> None:
    drift = Drift(DriftSettings(hold=0), BASELINE)
    for sigma in (math.inf, math.nan):
        told, changes = drift.look(estimate(0, -9.0, sigma=sigma))
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
    told, other = (Drift(DriftSettings(), BASELINE).look(every)[0] for every in (one, turned))
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


def test_all_by_one_factor_is_one_cause_and_told_once() -> None:
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
            published, changes = drift.look(one)
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
