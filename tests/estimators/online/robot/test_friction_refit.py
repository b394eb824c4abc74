"""A whole robot whose frictions have nonlinear parameters: one joint's leave their values, and are searched live."""

from functools import cache

import numpy as np
import pytest

from estimators.base import Event, Status
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.friction_window import WINDOW
from estimators.online.robot.friction_refit import is_far
from estimators.quantities import Axis, Floats

pytestmark = pytest.mark.compiled

RATE, NOISE, CHANGED = 500.0, 0.1, 40.0
LAW = TanhStribeckSettings(omega_tanh=0.05, omega_stribeck=0.15)
COULOMB, STRIBECK, VISCOUS = np.array([4.0, 5.0]), np.array([90.0, 110.0]), np.array([6.0, 8.0])


def arm() -> RobotDescription:
    """Two joints with axes that are upright, so that no gravity acts: the friction is most of the torque."""
    place, z = pose((0.0, 0.0, 0.0), (0.4, 0.0, 0.0)), np.array([0.0, 0.0, 1.0])
    joints = (
        RobotJoint("shoulder", Axis.ROTARY, -1, np.eye(4), z),
        RobotJoint("elbow", Axis.ROTARY, 0, place, z),
    )
    bodies = [standard(4.0, np.array((0.2, 0.0, 0.0)), np.diag((0.02, 0.06, 0.06)))] * 2
    return RobotDescription("arm", joints, np.array(bodies))


def measured(
    seed: int,
    seconds: float,
    joint: int = -1,
    omega: float = 1.0,
    level: float = 1.0,
    size: float = 0.25,
    dry: float = 1.0,
    bump: float = 0.0,
    noise: float = NOISE,
) -> tuple[Floats, Floats, Floats]:
    """Time, positions and torques; from CHANGED on something of a joint's friction is another.

    omega, level, dry: what its Stribeck speed, its Stribeck and its Coulomb friction are multiplied by; bump: N·m
    around 0.3 rad/s that no law has; noise: N·m of the torques.
    """
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    random = np.random.default_rng([seed, 30])
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, dq, ddq = np.zeros((3, len(t), 2))
    for j in range(2):
        for frequency, phase in zip(random.uniform(0.1, 0.4, 4), random.uniform(0, 6.28, 4), strict=True):
            w = 2 * np.pi * frequency
            q[:, j] += size * np.sin(w * t + phase)
            dq[:, j] += size * w * np.cos(w * t + phase)
            ddq[:, j] -= size * w**2 * np.sin(w * t + phase)
    model = pin.Model()
    for i, one in enumerate(arm().joints):
        index = model.addJoint(i, pin.JointModelRZ(), pin.SE3(one.placement[:3, :3], one.placement[:3, 3]), one.name)
        body = pin.Inertia.FromDynamicParameters(arm().parameters[i])
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    model.gravity.linear = np.zeros(3)
    data = model.createData()
    tau = np.array([pin.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    omegas, levels = np.full((2, len(t), 2), 1.0)
    if joint >= 0:
        omegas[t >= CHANGED, joint], levels[t >= CHANGED, joint] = omega, level
    stribeck = levels * STRIBECK * dq * np.exp(-np.abs(dq) / (omegas * LAW.omega_stribeck))
    tau = tau + COULOMB * np.tanh(dq / LAW.omega_tanh) + stribeck + VISCOUS * dq
    if joint >= 0:
        more = (dry - 1.0) * COULOMB[joint] * np.tanh(dq[:, joint] / LAW.omega_tanh)
        more += bump * np.sign(dq[:, joint]) * np.exp(-(((np.abs(dq[:, joint]) - 0.3) / 0.05) ** 2))
        tau[:, joint] += np.where(t >= CHANGED, more, 0.0)
    return t, q + 2e-6 * random.normal(size=q.shape), tau + noise * random.normal(size=tau.shape)


@cache
def taught() -> IdentifiedRobot:
    t, q, tau = measured(1, 60.0, size=0.35)  # faster than it is watched
    found = identify(arm(), pieces(t, q, tau), [], law=LAW).found
    return with_live_residuals(found, [Recorded(t, q, tau)])


@cache  # two tests look at the same robot, and change nothing of it
def live(seed: int, seconds: float, **change: float) -> tuple[RobotEstimator, list[Event]]:
    return watched(*measured(seed, seconds, **change))  # type: ignore[arg-type]


def watched(t: Floats, q: Floats, tau: Floats) -> tuple[RobotEstimator, list[Event]]:
    estimator = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    ticks = np.round(t * 1e9).astype(np.int64)
    for first in range(0, len(t), 10):
        part = slice(first, first + 10)
        estimator.absorb(ticks[part], q[part], tau[part])
    return estimator, estimator.events()


def smallest_deviations(seed: int, joint: int, omega: float, until: float) -> Floats:
    """Cramér–Rao bound of the two speeds of a changed law (rad/s), over one window until a time (s)."""
    t, q, _ = measured(seed, until)
    speed = np.gradient(q[:, joint], t)[t >= until - WINDOW]
    true = np.array([COULOMB[joint], STRIBECK[joint], VISCOUS[joint], LAW.omega_tanh, omega * LAW.omega_stribeck])

    def friction(values: Floats) -> Floats:
        coulomb, stribeck, viscous, dry, slow = values
        curve = coulomb * np.tanh(speed / dry) + stribeck * speed * np.exp(-np.abs(speed) / slow)
        return np.asarray(curve + viscous * speed)

    slopes = (
        np.array([(friction(true + step) - friction(true - step)) / 2e-6 for step in np.diag(1e-6 * true)])
        / true[:, None]
    )
    return np.asarray(NOISE * np.sqrt(np.diag(np.linalg.inv(slopes @ slopes.T)))[3:])


def told(events: list[Event], kind: str) -> list[Event]:
    return [one for one in events if one.kind == kind]


@pytest.mark.parametrize(("joint", "omega"), [(0, 1.6), pytest.param(1, 0.7, marks=pytest.mark.slow)])
def test_a_stribeck_speed_that_changes_is_searched_accepted_and_reported(joint: int, omega: float) -> None:
    estimator, events = live(3, 110.0, joint=joint, omega=omega)
    accepted = told(events, "refit_accepted")
    assert accepted, [(one.time / 1e9, one.kind, one.text) for one in events]
    assert all(arm().names[joint] in one.text and one.time / 1e9 > CHANGED for one in accepted)
    details = accepted[-1].details
    assert details is not None
    assert details["method"] == "mcs"
    assert details["visits"] > 0
    eta = estimator.model.law_of(joint).start
    assert eta == pytest.approx([LAW.omega_tanh, omega * LAW.omega_stribeck], rel=0.02)
    assert estimator.model.law_of(1 - joint).start == pytest.approx([LAW.omega_tanh, LAW.omega_stribeck])
    theta, _ = estimator.parameters()
    found = dict(zip(estimator.model.names, theta.tolist(), strict=True))
    assert found[f"stribeck.{arm().names[joint]}"] == pytest.approx(STRIBECK[joint], rel=0.03)


@pytest.mark.parametrize("seed", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_until_a_nonlinear_parameter_is_found_no_other_coefficients_are_reported(seed: int) -> None:
    """Half a second after the change other coefficients explain the torque; two seconds later they do not."""
    estimator, events = live(seed, 84.0, joint=1, omega=0.7)
    assert [one.text for one in told(events, "friction")] == []
    (accepted,) = told(events, "refit_accepted")
    assert accepted.time / 1e9 < CHANGED + 45.0
    assert len(told(events, "contact")) == 1, "of the change itself"
    assert estimator.estimate().status == Status.VALID


def test_a_stribeck_level_that_changes_moves_no_nonlinear_parameter() -> None:
    estimator, events = live(4, 70.0, joint=1, level=1.6)
    (friction,) = told(events, "friction")
    assert CHANGED < friction.time / 1e9 < CHANGED + 10.0
    assert told(events, "refit_accepted") == []
    assert estimator.model.law_of(1).start == pytest.approx([LAW.omega_tanh, LAW.omega_stribeck])


def test_nothing_is_searched_in_a_robot_that_is_as_it_was_and_a_restart_keeps_what_was_found() -> None:
    estimator, events = live(5, 60.0)
    assert told(events, "refit_accepted") == []
    changed, _ = live(3, 110.0, joint=0, omega=1.6)
    kept = changed.keep()
    assert kept is not None
    plain = {name: getattr(kept, name) for name in kept.__slots__}
    estimator.resume({name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in plain.items()})
    assert estimator.model.law_of(0).start == pytest.approx(changed.model.law_of(0).start)


def test_a_change_is_far_upwards_and_downwards_and_of_any_nonlinear_parameter() -> None:
    before = np.array([0.05, 0.15])
    far = {factors: is_far(before * factors, before, 2.0) for factors in ((2.1, 1.0), (1.0, 2.1), (1.0, 0.47))}
    assert far == dict.fromkeys(far, True)
    assert not is_far(before * (1.9, 0.53), before, 2.0)


@pytest.mark.parametrize(
    ("joint", "omega", "seed"),
    [(1, 2.5, 3), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1, 0.4, 3), (0, 2.5, 11)))],
)
def test_a_change_by_more_than_a_factor_of_two_is_accepted_when_a_longer_window_shows_it(
    joint: int, omega: float, seed: int
) -> None:
    estimator, events = live(seed, 115.0, joint=joint, omega=omega)
    accepted, refused = told(events, "refit_accepted"), told(events, "refit_rejected")
    assert any("a change by more than a factor of 2" in one.text for one in refused), "one window is not enough"
    assert len(accepted) == 1, [(one.time / 1e9, one.kind, one.text) for one in events]
    longer = 1.5 * WINDOW  # what a change by more than a factor of two needs, looked at within a window of being full
    assert accepted[0].time / 1e9 < CHANGED + longer + WINDOW
    found = estimator.model.law_of(joint).start
    sharpened = told(events, "sharpened")
    assert sharpened, "more motion has made it more certain"
    true_eta = np.array([LAW.omega_tanh, omega * LAW.omega_stribeck])
    allowed = 3.0 * smallest_deviations(seed, joint, omega, sharpened[-1].time / 1e9)
    assert (np.abs(found - true_eta) < allowed).all(), "no bias is left"
    assert not any(f"{LAW.omega_stribeck:.4g} →" in one.text for one in sharpened), "from what was in force"
    state = estimator.estimate()
    assert (state.status, state.reasons) == (Status.VALID, ())
    assert [one for one in told(events, "contact") if one.time > accepted[0].time] == []
    theta, deviations = estimator.parameters()
    place = [estimator.model.names.index(f"{one}.{arm().names[joint]}") for one in ("coulomb", "stribeck", "viscous")]
    true = np.array([COULOMB[joint], STRIBECK[joint], VISCOUS[joint]])
    assert (np.abs(theta[place] - true) < 3.0 * deviations[place]).all()
    assert theta[place] == pytest.approx(true, rel=0.03)


def test_what_low_passes_do_to_friction_biases_no_search() -> None:
    """Hardly any noise: what a search is off by is a bias, and reversals have the largest."""
    estimator, events = live(3, 80.0, joint=1, omega=0.7, noise=1e-3)
    assert [one.text for one in told(events, "refit_accepted")]
    assert estimator.model.law_of(1).start == pytest.approx([LAW.omega_tanh, 0.7 * LAW.omega_stribeck], rel=0.02)


def test_a_dry_friction_that_grows_by_more_than_a_factor_of_two_is_learnt() -> None:
    """A bearing that has failed: θ grows, and η stays."""
    estimator, events = live(3, 80.0, joint=1, dry=2.5, level=2.5)
    assert [one.text for one in told(events, "friction")]
    state = estimator.estimate()
    assert (state.status, state.reasons) == (Status.VALID, ())
    theta, deviations = estimator.parameters()
    place = estimator.model.names.index("coulomb.elbow")
    assert theta[place] == pytest.approx(2.5 * COULOMB[1], rel=0.05)
    assert deviations[place] < 0.05 * theta[place]


def test_a_friction_that_no_values_of_its_law_explain_is_reported_with_what_to_do() -> None:
    """Far from the law's speeds there is more friction: no η bends the law there."""
    estimator, events = live(3, 100.0, joint=0, bump=6.0)
    assert told(events, "refit_accepted") == []
    assert estimator.model.law_of(0).start == pytest.approx([LAW.omega_tanh, LAW.omega_stribeck])
    state = estimator.estimate()
    assert state.status != Status.VALID
    reason = next(one for one in state.reasons if one.code == "friction_refused")
    assert reason.parameter == "shoulder"
    assert reason.numbers["searches"] >= 3
    assert "of the usual" in str(reason) or "beyond the usual" in str(reason)
    assert "identify the robot again" in reason.todo


@pytest.mark.parametrize(("push", "contacts"), [(0.0, 0), (3.0, 1)])
def test_a_joint_that_is_faster_than_it_was_identified_is_not_touched_unless_it_is(push: float, contacts: int) -> None:
    t, q, tau = measured(24, 43.0)  # the elbow passes 1.86 rad/s at 41.9 s
    reach = float(taught().reach()[1])
    assert np.abs(np.gradient(q[:, 1], t))[round(41.5 * RATE) : round(42.5 * RATE)].max() > reach + 0.1
    tau[(t >= 41.7) & (t < 42.1), 1] += push
    _, events = watched(t, q, tau)
    assert len(told(events, "contact")) == contacts
