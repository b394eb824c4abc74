"""Whole robots in `jointwatch bench truth --robots`: what is done to an arm, and how its findings are judged."""

from functools import cache

import numpy as np
import pytest

from estimators.online.robot.findings.record import RobotFinding
from estimators.quantities import Floats
from hil_rig.plants.robots.dynamics import GRAVITY
from hil_rig.truth.robots.disturbances import CARRIED, CHANGE, DISTURBANCES, SLIP, Disturbance
from hil_rig.truth.robots.random_arm import RATE, ArmInMotion, draw
from hil_rig.truth.robots.robot_findings import NOTHING, SEVERAL, Outcome, _judged, run
from hil_rig.truth.robots.robot_table import NOT_MET, _left, figures, limits


def test_arms_have_four_to_seven_axes_and_obey_their_limits() -> None:
    arms = [draw(seed) for seed in range(12)]
    assert {arm.axes for arm in arms} == {4, 5, 6, 7}
    for seed, arm in enumerate(arms[:3]):
        q, torque = ArmInMotion(arm, seed, 1).take(12)
        assert (np.abs(q) <= 1.05 * arm.limits.position).all()
        assert (np.abs(torque) < arm.effort).all()
        weight = float(-GRAVITY if GRAVITY < 0 else GRAVITY) * arm.links[:, 9].sum()
        assert np.abs(torque).max() < weight, "of a metre at most"


@cache
def undisturbed(seconds: int) -> tuple[Floats, Floats]:
    """Positions and torques of an arm to which nothing is done."""
    return ArmInMotion(draw(3), 3, 8).take(seconds)


@pytest.mark.parametrize("name", list(DISTURBANCES))
def test_what_is_done_is_done_to_the_arm_or_to_its_sensors(name: str) -> None:
    arm = draw(3)
    done = DISTURBANCES[name](arm, np.random.default_rng(0))
    seconds = int(CHANGE) + 3
    quiet = undisturbed(seconds)
    q, torque = ArmInMotion(done.live or arm, 3, 8, done.jumps).take(seconds)
    done.distorted(0.0, q, torque, RATE)
    before = slice(0, round((CHANGE - 1.0) * RATE))
    same = np.array_equal(q[before], quiet[0][before]) and np.array_equal(torque[before], quiet[1][before])
    assert same is not done.from_start
    after = slice(round((CHANGE + 0.5) * RATE), None)
    changed = np.abs(q[after] - quiet[0][after]).max(), np.abs(torque[after] - quiet[1][after]).max()
    assert bool(max(changed) > 1e-3) is (name != NOTHING)
    if done.slip:
        assert changed[0] == pytest.approx(SLIP)


def finding(number: int, since: float, cause: str, others: tuple[str, ...] = ()) -> RobotFinding:
    return RobotFinding(number, round(since * 1e9), round(since * 1e9), cause, ("joint2",), "", others, True)


def test_findings_are_judged_by_their_cause_and_their_time() -> None:
    payload = Disturbance(("payload",), carried=(CHANGE, CHANGE + CARRIED))
    assert _judged((finding(1, CHANGE, "payload"),), payload) == ("payload", True, True, 0)
    assert _judged((), payload) == (NOTHING, None, False, 0)
    assert _judged((finding(1, 20.0, "contact"), finding(2, CHANGE, "friction")), payload) == (
        "friction",
        False,
        True,
        1,
    )
    late = finding(1, CHANGE, "payload"), finding(2, CHANGE + CARRIED, "contact"), finding(3, 99.0, "contact")
    assert _judged(late, payload) == ("payload", True, True, 1)
    assert _judged((finding(1, CHANGE, "contact", ("payload", "contact")),), payload)[0] == SEVERAL
    assert _judged((finding(1, 50.0, "contact"),), Disturbance(())) == (NOTHING, True, False, 1)


def outcome(**changes: object) -> Outcome:
    plain = Outcome(80, 80, 0, "payload", True, True, 0, 1.0, np.array([1.0, -1.0]), np.array([[0.02, 0.03]] * 10))
    return plain._replace(**changes)  # type: ignore[arg-type]


def test_a_row_misses_what_it_does_not_meet() -> None:
    def missed(*outcomes: Outcome) -> list[str]:
        return limits("payload", outcomes, figures(outcomes))

    assert missed(outcome(), outcome()) == []
    assert missed(outcome(lying=1), outcome()) == ["lies"]
    assert missed(outcome(right=False, reported="contact"), outcome()) == ["right cause", "found in time"]
    assert missed(outcome(right=False, reported=SEVERAL), outcome()) == ["one cause", "found in time"]
    assert missed(outcome(false=1), outcome()) == ["false findings"]
    assert missed(outcome(delay=2.5), outcome()) == ["found in time"]
    assert missed(outcome(masses=np.array([[0.15, 0.2]])), outcome()) == ["mass"]
    assert missed(outcome(masses=np.array([[0.08, 0.03]] * 10)), outcome()) == ["deviation of the mass"]


def test_a_limit_that_is_not_met_has_a_row_and_a_reason_and_any_other_is_missed() -> None:
    assert set(NOT_MET) <= set(DISTURBANCES)
    name, known = next(iter(NOT_MET.items()))
    assert _left({name: list(known)}) == []
    assert _left({name: [*known, "mass"], NOTHING: ["false findings"]}) == [(name, "mass"), (NOTHING, "false findings")]


def test_two_kilograms_are_reported_in_time_and_nothing_else() -> None:
    found = run("payload", 5)
    assert (found.reported, found.right, found.false) == ("payload", True, 0)
    assert found.delay < 2.0
    assert np.abs(found.masses[:, 0]).max() < 0.1
    assert found.lying == 0


def test_friction_that_falls_slowly_is_reported_as_friction() -> None:
    """Each step of it is too small for a finding: without their sum nothing at all was told of this arm."""
    found = run("viscous -40 % in 40 s", 9871)
    assert (found.reported, found.right, found.false) == ("friction", True, 0)


def test_a_slip_that_gravity_hardly_shows_is_known_by_its_jump() -> None:
    found = run("encoder slip", 26008)
    assert (found.reported, found.right, found.joint, found.false) == ("encoder_slip", True, True, 0)
    assert found.delay < 0.1
