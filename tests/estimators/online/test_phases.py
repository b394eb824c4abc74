"""What one joint's estimator goes through, on simulated rows with known truth."""

import numpy as np
import pytest

from estimators.base import Knowledge, ParameterState, Phase, Status
from estimators.online import assembly
from estimators.online.phases import Phases
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.forgetting import Alarm
from estimators.rows import Rows

PERIOD = 0.005
TRUTH = np.array([1.2, 4.0, 6.0, 0.5])
PARAMETERS = tuple(Parameter(name, "", -1e3, 1e3, "") for name in ("inertia", "viscous", "coulomb", "offset"))

pytestmark = pytest.mark.compiled


def simulate(
    seconds: float, rest: tuple[float, float] = (0.0, 0.0), jump: float = np.inf, seed: int = 0, factor: float = 1.5
) -> Rows:
    """Multisine motion, standing still within `rest`, every parameter times `factor` from `jump` on."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds / PERIOD)) * PERIOD
    tones = zip((0.6, 1.1, 1.9, 2.7), rng.uniform(0, 6, 4), strict=True)
    speed = 0.8 * sum(np.cos(2 * np.pi * f * t + p) for f, p in tones)
    speed = np.where((t >= rest[0]) & (t < rest[1]), 0.0, speed)
    phi = np.stack([np.gradient(speed, PERIOD), speed, np.tanh(speed / 0.01), np.ones_like(t)], axis=1)
    y = (phi * np.where((t < jump)[:, None], TRUTH, factor * TRUTH)).sum(axis=1) + 0.4 * rng.standard_normal(len(t))
    return Rows(np.round(t * 1e9).astype(np.int64) + 1, phi[:, None, :], y[:, None], np.abs(speed)[:, None])


def part(rows: Rows, first: float, last: float) -> Rows:
    """Rows between two instants, s."""
    return Rows(*(column[round(first / PERIOD) : round(last / PERIOD)] for column in rows))


def phases(start: float = 6.0) -> Phases:
    return assembly.linear(PARAMETERS, (0,), PERIOD, Alarm(), start, 0.005)


def relative_trace(joint: Phases) -> float:
    """tr(P) in units of P∞."""
    rls = joint.parts.learner.rls
    return float(np.sum(np.diag(rls.covariance()) / rls.bound))


def error(values: Floats, truth: Floats) -> float:
    scale = np.array([13.0, 1.6, 1.0, 1.0])
    return float(np.linalg.norm(scale * (values - truth)) / np.linalg.norm(scale * truth))


def test_from_waiting_to_normal() -> None:
    rows = simulate(10.0)
    joint = phases()
    assert joint.estimate().phase is Phase.WAITING
    assert joint.estimate().status is Status.UNESTIMATED
    assert np.isnan(joint.estimate().values).all()
    joint.absorb(part(rows, 0.0, 1.5))
    early = joint.estimate()
    assert early.phase is Phase.STARTING
    assert early.status is Status.LEARNING
    assert np.isfinite(early.values).all()
    assert 0.0 < early.progress < 50.0
    joint.absorb(part(rows, 1.5, 10.0))
    late = joint.estimate()
    assert (late.phase, late.status, late.progress, late.reasons) == (Phase.NORMAL, Status.VALID, 100.0, ())
    assert error(late.values, TRUTH) < 0.01
    assert late.error == pytest.approx(0.4 / np.std(rows.y), rel=0.2)
    assert late.time == rows.time[-1]
    assert late.measured == rows.y[-1, 0]
    assert late.predicted == pytest.approx(float(rows.phi[-1, 0] @ TRUTH), abs=0.5)
    assert [event.kind for event in joint.events()] == ["started"]
    assert joint.events() == []


def test_no_motion_no_estimate() -> None:
    joint = phases()
    joint.absorb(simulate(20.0, rest=(0.0, 20.0)))
    assert joint.estimate().phase is Phase.WAITING
    assert joint.estimate().reasons == (Reason("waiting_for_motion"),)


def test_a_parameter_without_excitation_is_named_and_the_start_ends_all_the_same() -> None:
    rows = simulate(40.0)
    rows.phi[:, 0, 2] = 1.0  # one direction only: Coulomb friction and offset cannot be told apart
    joint = phases()
    joint.absorb(part(rows, 0.0, 20.0))
    estimate = joint.estimate()
    assert estimate.phase is Phase.STARTING
    assert estimate.progress < 100.0
    assert "coulomb" in {reason.parameter for reason in estimate.reasons}
    joint.absorb(part(rows, 20.0, 40.0))
    estimate = joint.estimate()
    assert (estimate.phase, estimate.status) == (Phase.NORMAL, Status.VALID), "what it predicts needs only their sum"
    assert estimate.states[2] == ParameterState(Knowledge.NOT_IDENTIFIABLE, ("offset",))
    assert estimate.known == (True, True, False, False)
    (started,) = joint.events()
    assert "coulomb is not " in started.text
    assert abs(estimate.values[0] / TRUTH[0] - 1) < 0.01
    assert estimate.deviations[2] > 0.5


def test_standstill_holds_the_values_and_crossing_the_gate_moves_nothing() -> None:
    rows = simulate(85.0, rest=(12.0, 72.0))
    joint = phases()
    joint.absorb(part(rows, 0.0, 12.5))
    held = joint.estimate()
    assert (held.phase, held.status, held.reasons) == (Phase.HELD, Status.HELD, (Reason("at_standstill"),))
    joint.absorb(part(rows, 12.5, 71.9))
    same = joint.estimate()
    assert np.array_equal(same.values, held.values)
    assert np.array_equal(same.deviations, held.deviations)
    joint.absorb(part(rows, 71.9, 72.1))
    assert np.all(np.abs(joint.estimate().values - held.values) <= 0.5 * held.deviations)
    assert relative_trace(joint) <= 4.0
    joint.absorb(part(rows, 72.1, 85.0))
    assert joint.estimate().status is Status.VALID
    assert [event.kind for event in joint.events()] == ["started", "held", "moving"]


@pytest.mark.parametrize("seed", range(3))
def test_a_jump_is_an_alarm_the_last_good_values_stand_then_the_new_ones(seed: int) -> None:
    rows = simulate(20.0, jump=15.0, seed=seed)
    joint = phases()
    joint.absorb(part(rows, 0.0, 15.0))
    before = joint.estimate()
    joint.absorb(part(rows, 15.0, 15.2))
    during = joint.estimate()
    assert (during.phase, during.status) == (Phase.TRANSIENT, Status.LEARNING)
    assert "alarm" in str(during.reasons[0])
    assert np.all(np.abs(during.values - before.values) <= 3.0 * before.deviations)
    joint.absorb(part(rows, 15.2, 16.5))
    after = joint.estimate()
    assert (after.phase, after.status) == (Phase.NORMAL, Status.VALID)
    assert error(after.values, 1.5 * TRUTH) < 0.1 / 3.0
    alarm, recovered = joint.events()[1:]
    assert (alarm.kind, recovered.kind) == ("alarm", "recovered")
    assert 0.0 < alarm.time * 1e-9 - 15.0 < 0.2


def test_a_small_jump_is_an_alarm_that_says_when_it_began() -> None:
    """By 3 %: it takes the sum of squares a while to be sure of it."""
    joint = phases()
    joint.absorb(simulate(20.0, jump=15.0, factor=1.03))
    alarm = joint.events()[1]
    assert alarm.kind == "alarm"
    assert alarm.window is not None
    began, told = alarm.window[0] * 1e-9, alarm.time * 1e-9
    assert told - began > 0.1
    assert -0.1 < began - 15.0 < 0.1


def test_a_change_that_no_parameter_explains_becomes_the_new_usual() -> None:
    rows = simulate(40.0)
    rows.y[3000:, 0] += 8.0 * np.sin(np.arange(len(rows.y) - 3000) * 0.37)
    joint = phases()
    joint.absorb(rows)
    kinds = [event.kind for event in joint.events()]
    assert kinds[:3] == ["started", "alarm", "recovered"]
    assert joint.estimate().phase is Phase.NORMAL


def test_a_sick_estimate_starts_again_and_says_so() -> None:
    rows = simulate(30.0)
    joint = phases()
    joint.absorb(part(rows, 0.0, 10.0))
    weights = joint.parts.learner.state
    weights.rounding[:], weights.usual_rounding[:], weights.timing[:] = (
        3.0,
        0.5,
        2.0,
    )  # of what was learnt, and is gone with it
    joint.parts.learner.rls.theta[0] = np.nan
    joint.absorb(part(rows, 10.0, 10.2))
    estimate = joint.estimate()
    assert (estimate.phase, estimate.status) == (Phase.FAULTED, Status.FAULTED)
    assert joint.state.restarts == 1
    joint.absorb(part(rows, 10.2, 11.5))
    assert joint.estimate().phase is Phase.STARTING
    assert (weights.rounding[0], weights.usual_rounding[0], weights.timing[0]) == (0.0, 1.0, 0.0)
    joint.absorb(part(rows, 11.5, 30.0))
    assert joint.estimate().status is Status.VALID
    assert [event.kind for event in joint.events()] == ["started", "fault", "started"]


def test_results_do_not_depend_on_how_rows_are_cut() -> None:
    rows = simulate(20.0, rest=(9.0, 10.0), jump=15.0)
    outcomes = set()
    for batch in (1, 8, 32, 1000):
        joint = phases()
        for first in range(0, len(rows.time), batch):
            joint.absorb(Rows(*(column[first : first + batch] for column in rows)))
        estimate = joint.estimate()
        outcomes.add((estimate.values.tobytes(), estimate.deviations.tobytes(), str(joint.events())))
    assert len(outcomes) == 1


def test_rows_that_are_not_finite_teach_nothing_in_any_phase() -> None:
    rows = simulate(12.0)
    dirty = Rows(*(np.repeat(column, 2, axis=0) for column in rows))
    dirty.y[1::2] = np.nan
    joint = phases()
    joint.absorb(dirty)
    assert error(joint.estimate().values, TRUTH) < 0.01
    assert all(np.isfinite(one).all() for one in joint.parts.learner.rls.state.as_dict().values())


def test_rows_that_are_never_finite_are_counted_and_nothing_else_happens() -> None:
    rows = simulate(5.0)
    rows.y[:] = np.nan
    joint = phases()
    joint.absorb(rows)
    assert joint.estimate().phase is Phase.WAITING
    assert joint.counters()["refused"] == np.count_nonzero(rows.speed >= 0.005) > 990, "at standstill none is taught"


def test_deviations_are_honest_on_white_noise() -> None:
    ratios = []
    for seed in range(12):
        joint = phases()
        joint.absorb(simulate(12.0, seed=seed))
        estimate = joint.estimate()
        ratios.append((estimate.values - TRUTH) / estimate.deviations)
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 1.3


def test_a_jump_without_any_noise_is_followed() -> None:
    rows = simulate(20.0, jump=15.0)
    rows.y[:, 0] = np.where(rows.time < 15e9, rows.phi[:, 0] @ TRUTH, rows.phi[:, 0] @ (1.5 * TRUTH))
    joint = phases()
    joint.absorb(part(rows, 0.0, 15.0))
    assert error(joint.estimate().values, TRUTH) < 1e-4
    joint.absorb(part(rows, 15.0, 20.0))
    assert error(joint.estimate().values, 1.5 * TRUTH) < 1e-3


def test_friction_that_grows_raises_an_alarm_and_no_storm() -> None:
    """It makes the joint stick longer at each reversal, which no value of the model explains."""
    from estimators.models.joints.rigid import RigidSettings
    from estimators.online.joint import JointEstimator
    from estimators.online.settings import JointIdentification
    from hil_rig.plants.base import Jump
    from hil_rig.plants.joints.rigid import RigidPlantSettings as RigidPlant

    plant = RigidPlant().build(3, 5, (Jump(45.0, "coulomb", 1.6),))
    seconds, rate = 240, plant.rate
    raw = plant.rows(round(seconds * rate))
    time = np.round(np.arange(len(raw)) / rate * 1e9).astype(np.int64)
    values = np.stack([raw[:, 0], plant.roles["torque"].scale * raw[:, 1]], axis=1)
    joint = JointEstimator(JointIdentification(model=RigidSettings(gravity_sin=True, gravity_cos=True)), 1.0 / rate)
    alarms = []
    for first in range(0, len(time), 1000):
        joint.absorb(time[first : first + 1000], values[first : first + 1000])
        alarms += [event.time * 1e-9 for event in joint.phases.events() if event.kind == "alarm"]
    assert 45.0 < alarms[0] < 46.0
    assert len(alarms) <= 4, alarms  # a limit of h = 60 reaches 900, a second's worth, in three steps
    estimate = joint.estimate()
    coulomb = estimate.names.index("coulomb")
    assert abs(estimate.values[coulomb] / plant.truth()["coulomb"] - 1.0) < 0.05
