"""A few rows of `jointwatch bench truth`, short."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from hil_rig.plants.base import Floats
from hil_rig.truth import gradual, left_out, programs, table
from hil_rig.truth.rows import MEMORY, elastic, ratio, rigid, rippling, stribeck, warming
from hil_rig.truth.signals import faulty
from hil_rig.truth.trial import TrialOutcome, TruthRow, run, together

pytestmark = pytest.mark.compiled


def test_fields_of_1e30_teach_nothing() -> None:
    outcome = run(rigid(3, wild=True, seconds=70.0))
    for value, _, truth in outcome.last.values():
        assert value == pytest.approx(truth, rel=0.03)
    assert outcome.alarms == 0
    assert any(code.startswith("channel_out_of_range") for code, _ in outcome.reasons)


def test_an_encoder_that_is_too_coarse_is_said_with_what_would_help() -> None:
    narrow = {"settings": {"conditioning": {"half_width": 0.02}}}
    outcome = run(rigid(3, bits=14, seconds=75.0, trial=narrow))
    assert outcome.lying == 0
    assert any(code.startswith("encoder_steps") for code, _ in outcome.reasons), outcome.reasons


def test_behind_a_fault_of_its_signals_the_estimator_is_judged_that_a_joint_began_anew_with() -> None:
    """An encoder that leaps at 20 s, once: a second later the joint waits for motion, and learns."""
    taken = {"count": 0}

    def leaps(values: Floats) -> Floats:
        found, taken["count"] = values.copy(), taken["count"] + len(values)
        found[:, 0] += 0.5 if taken["count"] > 20_000 else 0.0
        return found

    outcome = run(replace(faulty(3, leaps), seconds=24.0))
    assert [code for code, _ in outcome.reasons][:2] == ["encoder_leaps", "waiting_for_motion"]


@pytest.mark.parametrize(("bits", "off"), [(14, 0.005), (12, 0.02)])
def test_a_coarse_encoder_gets_the_kernel_that_it_needs(bits: int, off: float) -> None:
    outcome = run(rigid(3, bits=bits, seconds=75.0))
    assert outcome.trusted == outcome.looks > 400
    assert outcome.worst < 4.0
    value, deviation, truth = outcome.last["inertia"]
    assert abs(value - truth) < off * truth + 2.0 * deviation


@pytest.mark.parametrize("bits", [14, 12])
def test_under_a_searched_law_too_and_what_the_steps_do_is_in_the_deviations(bits: int) -> None:
    outcome = run(replace(stribeck(3, bits), seconds=45.0))
    assert outcome.lying == 0
    for name, (value, deviation, truth) in outcome.last.items():
        assert abs(value - truth) < 4.0 * deviation, name
    value, deviation, truth = outcome.last["inertia"]
    assert abs(value - truth) < 0.01 * truth + 2.0 * deviation
    assert outcome.last["omega_tanh"][1] > (0.01 if bits == 14 else 0.04) * 0.06, "of noise alone: 0.5 %"


def test_known_jitter_is_mended() -> None:
    outcome = run(rigid(3, jitter=0.3e-3, seconds=75.0))
    assert outcome.lying == 0
    assert outcome.trusted > 0.95 * outcome.looks > 400


def test_values_that_a_ripple_moves_are_not_known_though_the_prediction_is_good() -> None:
    """Gravity is a seventh off; σ says so, and what such a torque does not move stays known. Coulomb friction is right,
    but a torque that bends at high load would look alike, and that would move it."""
    outcome = run(rigid(3, ripple=1.5, seconds=75.0))
    assert outcome.lying == 0
    assert outcome.unexplained < 0.02, "at the poses visited"
    for name, (value, deviation, truth) in outcome.last.items():
        assert abs(value - truth) < 4.0 * deviation, name
    assert outcome.known["viscous"] > 0.95
    for name in ("viscous", "coulomb"):
        assert outcome.last[name][0] == pytest.approx(outcome.last[name][2], rel=0.02), name
    for name in ("inertia", "offset", "gravity_cos"):
        assert outcome.known[name] < 0.1, name


def test_a_ripple_that_the_prediction_does_not_hold_is_named_and_not_trusted() -> None:
    outcome = run(rigid(3, ripple=6.0, seconds=50.0))
    assert outcome.trusted < 0.1 * outcome.looks
    assert any(code.startswith("torque_repeats") for code, _ in outcome.reasons), outcome.reasons


def test_a_joint_that_sticks_is_trusted_from_its_start_and_says_what_is_true() -> None:
    outcome = run(rigid(3, seconds=60.0))
    assert outcome.trusted == outcome.looks > 400
    assert np.sqrt(np.mean(outcome.z**2)) < 1.6  # one trial: its errors are of one draw
    assert outcome.worst < 4.0
    assert abs(outcome.last["offset"][0] - outcome.last["offset"][2]) < 0.02, "reversals would pull it by 0.4"


def test_a_joint_that_comes_to_rest_is_held() -> None:
    outcome = run(rigid(3, rest=(30.0, 90.0), seconds=100.0))
    assert outcome.alarms == 0
    assert outcome.trusted == outcome.looks
    assert outcome.lying == 0


def test_a_torque_that_comes_late_is_in_the_deviations_from_the_start_on() -> None:
    late, right = run(rigid(3, late=0.004, seconds=40.0)), run(rigid(3, seconds=40.0))
    assert late.lying == 0
    value, deviation, truth = late.last["viscous"]
    assert abs(value - truth) > 4.0 * right.last["viscous"][1]
    assert deviation > 3.0 * right.last["viscous"][1]


def test_ripple_that_the_model_has_is_found() -> None:
    outcome = run(replace(rippling(3, 50.0), seconds=40.0))
    assert outcome.lying == 0
    assert outcome.unexplained <= 0.02
    for name in ("inertia", "coulomb", "gravity_sin", "ripple50_sin"):
        value, _, truth = outcome.last[name]
        assert value == pytest.approx(truth, rel=0.02)


def test_a_gear_ratio_told_wrong_is_found_behind_twist_and_lost_motion() -> None:
    outcome = run(ratio(3, seconds=50.0))
    assert outcome.lying == 0
    value, deviation, truth = outcome.last["ratio"]
    assert truth == pytest.approx(1.001)
    assert abs(value - truth) < 4.0 * deviation < 0.002


def test_friction_that_warms_is_no_drift_and_no_alarm_where_a_thermometer_says_so() -> None:
    outcome = run(warming(3, seconds=100.0))
    assert outcome.lying == 0
    assert outcome.alarms == 0
    assert outcome.last["coulomb_temperature"][0] == pytest.approx(
        -0.1, abs=3.0 * outcome.last["coulomb_temperature"][1]
    )
    assert outcome.last["coulomb"][0] == pytest.approx(5.0, rel=0.02)


def test_friction_that_remembers_is_explained_live_by_a_law_that_does() -> None:
    outcome = run(rigid(3, friction="stops", seconds=40.0, model=MEMORY))
    assert outcome.unexplained <= 0.02
    for name in ("inertia", "viscous", "gravity_sin"):
        value, _, truth = outcome.last[name]
        assert value == pytest.approx(truth, rel=0.03)


def test_a_wrong_inertia_of_an_elastic_joint_takes_validity_away_from_the_start_on() -> None:
    """Stiffness and the link's friction follow it, tens of deviations off."""
    outcome = run(elastic(3, "elastic", {"inertia_link": 1 / 3}, seconds=26.0))
    assert outcome.looks > 50
    assert outcome.trusted == 0
    assert all(code.startswith("constant_wrong") for code, _ in outcome.reasons), outcome.reasons


def test_a_wrong_inertia_that_is_small_is_in_the_deviations() -> None:
    """Before, stiffness was 5 deviations off here."""
    outcome = run(elastic(1000, "elastic", {"inertia_link": 1.02}, seconds=40.0))
    assert outcome.trusted == outcome.looks > 250
    assert outcome.worst < 4.0


def test_an_elastic_joint_that_is_as_told_is_valid_and_true() -> None:
    outcome = run(elastic(1001, "elastic", seconds=60.0))
    assert outcome.trusted >= 0.99 * outcome.looks, "but where an alarm may be on its way for some rows"
    assert outcome.worst < 4.0


def test_the_table_is_one_object(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["truth", "--only", "rigid", "--seeds", "1", "--json"])
    code = table.main()
    told = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in told["rows"]] == ["rigid"]
    assert code == (0 if told["ok"] else 1)


def test_the_deviation_of_rms_z_holds_that_a_trials_z_are_alike() -> None:
    rng = np.random.default_rng(4)
    found = []
    for _ in range(300):  # trials of any length, each of four values that keep their error
        trials = [np.repeat(rng.standard_normal(4), rng.integers(5, 50)) for _ in range(10)]
        figures = together([TrialOutcome(1, 1, 0, 0.0, z, 0, 0, 0.0, {}) for z in trials])
        found.append((figures["rms"], figures["rms_deviation"]))
    rms, deviation = np.array(found).T
    assert np.median(deviation) == pytest.approx(rms.std(), rel=0.25)
    assert rms.std() > 5 * np.sqrt(0.5 / (10 * 4 * 27)), "the z of one instant each would seem to tell far more"
    assert np.mean([table.possible(one, sigma, 10) for one, sigma in found]) > 0.97
    assert not any(table.possible(0.4 * one, 0.4 * sigma, 10) for one, sigma in found if one < 1.2)


def test_help_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["truth", "--help"])
    with pytest.raises(SystemExit, match="0"):
        table.main()
    assert "torque 10 % off" in " ".join(capsys.readouterr().out.split())


def test_friction_that_falls_slowly_is_followed_and_no_alarm() -> None:
    """40 % of Coulomb friction in half an hour: θ lags by one memory, and its deviation includes that."""
    outcome = run(rigid(3, warming=0.4, seconds=120.0))
    assert outcome.alarms == 0
    assert outcome.trusted > 0.95 * outcome.looks
    assert outcome.lying < 0.05 * outcome.looks


def test_friction_that_grows_with_the_load_is_in_the_deviations_before_it_is_seen() -> None:
    """A quarter of the looks had Coulomb friction up to nine deviations off.

    At times the values of the last seconds explain 1 % of the torque more than those of all rows do.
    """
    outcome = run(replace(left_out.friction_of_load(9702), seconds=60.0))
    assert outcome.trusted > 0.5 * outcome.looks > 200
    assert outcome.lying == 0


def test_friction_of_the_place_on_a_short_arc_leaves_coulomb_friction_unknown() -> None:
    """Along such an arc it is nearly Coulomb friction: 2 of 3 looks had that 29 % off, as known."""
    outcome = run(replace(left_out.friction_of_place(1), seconds=60.0))
    assert outcome.trusted > 0.8 * outcome.looks > 300
    assert outcome.lying == 0
    assert outcome.known["coulomb"] == 0.0
    assert outcome.known["viscous"] == 1.0


def test_an_error_of_the_position_that_nobody_declared_is_in_the_deviation_of_the_inertia() -> None:
    """An encoder is off between its lines: this takes more than nine tenths of the inertia of this joint."""
    outcome = run(replace(left_out.subdivisional(9983), seconds=100.0))  # its start looks like one with a change in it
    assert outcome.trusted > 10
    assert outcome.lying == 0, f"{outcome.worst:.0f} deviations of {outcome.worst_name}"


@pytest.mark.parametrize("seed", [2, 134])
def test_that_a_torque_may_be_cut_toward_zero_is_in_the_deviation_of_coulomb_friction(seed: int) -> None:
    """Half a step off, which was 18 and 56 deviations. They also hold a dead zone, of which this is a part."""
    outcome = run(replace(left_out.cut(seed), seconds=40.0))
    assert outcome.lying == 0
    assert outcome.known["coulomb"] == 1.0
    value, deviation, truth = outcome.last["coulomb"]
    assert (truth - value) / deviation < 3.0
    assert deviation < 0.1 * truth


def test_a_value_that_the_last_rows_say_changes_is_not_sure() -> None:
    """Coulomb friction that grows for 6 s before its alarm; it was twelve deviations off, in twenty looks."""
    outcome = run(replace(gradual.ramp(3), seconds=66.0))
    assert outcome.alarms == 0
    assert outcome.lying == 0, f"{outcome.worst:.0f} deviations of {outcome.worst_name}"


def test_a_cut_is_considered_anew_by_the_rows_behind_an_alarm() -> None:
    """At first this torque has the sign of the speed, so that the cut is Coulomb friction; after an alarm it is
    inertia: 1.2 % of it, which was seven deviations in 114 looks. The first look after an alarm has no block yet."""
    outcome = run(replace(left_out.cut(3), seconds=82.0))
    assert outcome.alarms > 0
    assert outcome.lying <= outcome.alarms


def test_a_torque_that_is_rounded_costs_nothing_where_rows_tell_it_from_a_cut() -> None:
    outcome = run(replace(left_out.rounded(3), seconds=40.0))
    _, deviation, truth = outcome.last["coulomb"]
    assert deviation < 0.002 * truth


def test_iron_that_saturates_is_in_the_deviations_before_it_is_named() -> None:
    """The inertia was 11 deviations off for half a minute: the column's unit followed the torque's rms."""
    outcome = run(replace(left_out.saturation(122), seconds=40.0))
    assert outcome.lying == 0
    assert outcome.trusted > 0.95 * outcome.looks


def test_noise_of_the_rows_of_a_start_is_no_misfit_where_the_torque_hardly_changes() -> None:
    """The cube of such a torque is nearly a column of the model's; that of a measured one has the noise as well."""
    outcome = run(replace(programs.scan(6), seconds=85.0))
    assert outcome.trusted == outcome.looks > 100
    assert outcome.lying == 0
    assert not any(code in ("residual_not_noise", "torque_not_linear") for code, _ in outcome.reasons), outcome.reasons


def test_a_wrong_name_of_a_cause_is_a_miss() -> None:
    outcome = TrialOutcome(
        99, 1, 0, 0.0, np.empty(0), 0, 0, 0.0, {("torque_lag", "inertia"): 80, ("alarm_stands", ""): 50}
    )
    assert table.named_causes([outcome]) == {"torque_lag": 80}, "an alarm is no misfit"
    assert table.named_right("torque 4 ms late", table.named_causes([outcome]))
    assert not table.named_right("encoder between lines", table.named_causes([outcome]))


def test_a_second_of_a_wrong_name_may_be_chance_and_two_are_not() -> None:
    counts = Counter({"torque_lag": 3, "residual_not_noise": 1})
    assert table.named_right("friction of load", Counter({"residual_not_noise": 10}))
    assert not table.named_right("friction of load", Counter({"residual_not_noise": 20}))
    assert table.named_right("encoder between lines", counts)
    assert table.named_right("LuGre", Counter({"friction_memory": 850, "torque_lag": 150}))
    assert not table.named_right("LuGre", Counter({"friction_memory": 830, "torque_lag": 170}))


def test_trials_that_are_trusted_late_are_counted_by_how_many_there_are() -> None:
    assert not table.too_few(3, 4, table.SOON_SHARE), "a third of such rows has one of four late by chance"
    assert table.too_few(1, 4, table.SOON_SHARE)
    assert table.too_few(6, 10, table.SOON_SHARE)


def test_a_limit_that_scatter_may_miss_is_missed_where_further_trials_miss_it_too() -> None:
    assert table.missed_twice(["lies", "rms z", ">3σ"], ["rms z", "valid"]) == ["lies", "rms z"]


def test_a_row_whose_first_trials_are_alike_is_tried_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two trials of 0.6 each, others as they should be; a row of 0.4 is one whatever the seeds are."""

    def outcome(job: tuple[str, int]) -> TrialOutcome:
        name, seed = job
        alike = 0.6 if seed < 2 else 0.7 + 0.08 * (seed % 5)
        z = np.full(9, alike if name == "alike" else 0.4 + 0.01 * seed)
        return TrialOutcome(9, 9, 0, 0.0, z, 0, 0, 0.0, {}, first=1.0)

    monkeypatch.setattr(table, "ROWS", {name: TruthRow(True, rigid) for name in ("alike", "wide")})
    monkeypatch.setattr(table, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(table, "_one", outcome)
    monkeypatch.setattr("sys.argv", ["truth", "--json"])
    assert table.main() == 1
    missed = {row["row"]: row["missed"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert missed == {"alike": [], "wide": ["rms z"]}
