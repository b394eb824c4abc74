"""A tool that the arm carries: against the one configured in its controller, with its inertia, and over a restart."""

from functools import cache

import numpy as np
import pytest

from estimators.base import Event, Status
from estimators.models.robots.inertia import standard
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.carried import Payload
from estimators.online.robot.findings.tool import ConfiguredTool, ToolCheck
from estimators.quantities import Floats
from tests.support.signals.three_joints import RATE, arm, measured, taught

pytestmark = pytest.mark.compiled
CONFIGURED = ConfiguredTool(1.5, np.array([0.3, 0.0, 0.0]))
CARRIED = standard(2.2, np.array([0.3, 0.04, 0.0]), np.diag([0.01, 0.02, 0.025]))


def loaded() -> Floats:
    parameters = np.array(arm().parameters)
    parameters[-1] += CARRIED
    return parameters


def play(estimator: RobotEstimator, seed: int, seconds: float, parameters: Floats, first: float) -> list[Event]:
    t, q, tau, _ = measured(seed, seconds, parameters)
    ticks = np.round((first + t) * 1e9).astype(np.int64)
    for at in range(0, len(t), 50):
        part = slice(at, at + 50)
        estimator.absorb(ticks[part], q[part], tau[part])
    return estimator.events()


@cache
def carrying() -> tuple[dict[str, object], list[Event], RobotEstimator]:
    """An arm that takes the tool after 8 s, and what it keeps for another start."""
    estimator = RobotEstimator(taught(), 1.0 / RATE, start=4.0, tool=CONFIGURED)
    events = play(estimator, 2, 8.0, np.array(arm().parameters), 0.0)
    events += play(estimator, 4, 16.0, loaded(), 8.002)
    kept = estimator.keep()
    assert kept is not None
    return {name: np.asarray(getattr(kept, name)).tolist() for name in kept.__slots__}, events, estimator


def test_a_tool_that_differs_is_reported_by_its_mass_and_its_centre() -> None:
    _, events, estimator = carrying()
    [empty] = [one for one in events if one.kind == "tool"]
    assert "differs by 1.5 kg" in empty.text, "none was carried at first, though one is configured"
    assert empty.time < 8e9
    found = estimator.estimate().tool
    assert found is not None
    assert found.differs
    assert abs(found.mass - 0.7) < 4.0 * found.mass_deviation < 0.4
    np.testing.assert_array_less(np.abs(found.centre - [0.0, 0.04, 0.0]), 4.0 * found.centre_deviation)
    assert found.text in [one.text for one in estimator.findings() if one.cause == "tool" and not one.over]
    away = 1e3 * float(np.linalg.norm(found.centre))
    assert away == pytest.approx(40.0, abs=2.0)
    words = f"the tool configured in the controller differs by 0.7 kg, {away:.0f} mm: 2.2 ±"
    assert found.text.startswith(words), found.text


def test_mass_centre_and_inertia_are_within_their_deviations() -> None:
    payload = carrying()[2].estimate().payload
    assert payload.carried
    told = np.isfinite(payload.inertia)
    assert told[5], "the third joint turns it about z"
    error = np.abs(payload.inertia - [0.01, 0.0, 0.02, 0.0, 0.0, 0.025])[told]
    assert (error < 4.0 * payload.inertia_deviation[told]).all()
    assert abs(payload.mass - 2.2) < 4.0 * payload.mass_deviation


def test_the_payload_outlives_a_restart_and_is_still_put_down() -> None:
    state, _, before = carrying()
    again = RobotEstimator(taught(), 1.0 / RATE, start=4.0, tool=CONFIGURED)
    again.resume(state)
    known, told = before.estimate().payload, again.estimate().payload
    assert told.carried
    assert told.mass == known.mass
    play(again, 5, 2.0, loaded(), 30.0)
    estimate = again.estimate()
    assert estimate.status is Status.HELD
    assert abs(estimate.payload.mass - 2.2) < 4.0 * estimate.payload.mass_deviation
    assert estimate.payload.mass_deviation < 1.5 * known.mass_deviation, "two seconds alone would not tell as much"
    [finding] = [one for one in again.findings() if one.cause == "payload"]
    assert not finding.over
    events = play(again, 6, 6.0, np.array(arm().parameters), 32.0)
    assert "the payload is gone" in [one.text for one in events]
    assert not again.estimate().payload.carried
    tool = again.estimate().tool
    assert tool is not None
    assert abs(tool.mass + CONFIGURED.mass) < 4.0 * tool.mass_deviation < 0.4, (
        "of the 1.5 kg that are configured none are carried"
    )


def test_a_payload_that_is_damaged_is_refused_in_words() -> None:
    state = carrying()[0]
    for wrong in ([1.0], np.full((11, 10), np.nan).tolist()):
        with pytest.raises(ValueError, match="anew"):
            RobotEstimator(taught(), 1.0 / RATE).resume(state | {"payload": wrong})


def test_a_tool_that_is_as_configured_is_not_mentioned() -> None:
    """Also where it is no payload of the model at all: 0 kg told, 0 kg carried."""
    estimator = RobotEstimator(taught(), 1.0 / RATE, start=4.0, tool=ConfiguredTool(0.0, np.zeros(3)))
    events = play(estimator, 2, 12.0, np.array(arm().parameters), 0.0)
    assert [one.kind for one in events] == ["started"]
    found = estimator.estimate().tool
    assert found is not None
    assert abs(found.mass) < 4.0 * found.mass_deviation < 0.4
    assert not found.differs


def test_what_is_carried_without_a_finding_is_what_least_squares_say() -> None:
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(40, 3, 4)), rng.normal(size=(40, 3, 10))
    theta, body = rng.normal(size=4), CARRIED
    check = ToolCheck(ConfiguredTool(2.2, np.array([0.3, 0.04, 0.0])), 4, 0.0)
    check.absorb(X, Y, X @ theta + Y @ body, np.full((40, 3), 1e8))
    values, _ = check._body(theta, 1e-3 * np.eye(4))
    np.testing.assert_allclose(values, body, atol=1e-4)


def carried(mass: float, deviation: float, x: float = 0.3, around: float = 0.001) -> Payload:
    centre, uncertain = np.array([x, 0.0, 0.0]), np.array([around, 0.5, 0.5])
    return Payload(mass, deviation, centre, uncertain, True)


@pytest.mark.parametrize(
    ("payload", "differs", "words"),
    [
        (carried(2.1, 0.05), True, "differs by 0.6 kg: 2.1 ± 0.05 kg are carried, 1.5 kg are configured"),
        (carried(0.9, 0.05), True, "differs by 0.6 kg: 0.9 ± 0.05 kg are carried, 1.5 kg are configured"),
        (carried(1.74, 0.01), False, ""),  # a quarter of a kilogram is nothing
        (carried(1.76, 0.01), True, "differs by 0.26 kg"),
        (carried(2.1, 0.16), False, ""),  # nor what is within four deviations
        (carried(2.1, 0.14), True, "differs by 0.6 kg"),
        (carried(1.5, 0.05, x=0.26), True, "differs by 40 mm: 1.5 ± 0.05 kg"),
        (carried(1.5, 0.05, x=0.281), False, ""),
        (carried(1.5, 0.05, x=0.26, around=0.011), False, ""),  # its deviation along it counts, none across
        (carried(1.5, 0.05, x=0.26, around=0.009), True, "differs by 40 mm"),
        (carried(2.1, 0.05, x=0.2), True, "differs by 0.6 kg, 100 mm"),
    ],
)
def test_a_difference_is_reported_after_two_seconds_and_its_end_after_as_many(
    payload: Payload, differs: bool, words: str
) -> None:
    check, as_configured = ToolCheck(CONFIGURED, 4, 0.0), carried(1.5, 0.05)
    nothing = np.zeros(4), np.eye(4)
    told = [check.compare(payload, *nothing) for _ in range(3)]
    assert told == [None] * 3
    assert check.compare(as_configured, *nothing) is None, "and it is counted anew"
    told = [check.compare(payload, *nothing) for _ in range(6)]
    assert told == [None, None, None, True if differs else None, None, None]
    found = check.difference
    assert (found.differs, words in found.text, bool(found.text)) == (differs, True, differs)
    assert found.mass == pytest.approx(payload.mass - 1.5)
    np.testing.assert_allclose(found.centre, payload.centre - CONFIGURED.centre)
    assert found.mass_deviation == payload.mass_deviation
    told = [check.compare(as_configured, *nothing) for _ in range(4)]
    assert told == [None, None, None, False if differs else None]
    assert (check.difference.differs, check.difference.text) == (False, "")


def test_before_any_motion_nothing_is_known_of_a_difference() -> None:
    found = ToolCheck(CONFIGURED, 4, 0.0).difference
    assert np.isnan([found.mass, *found.centre]).tolist() == [True] * 4
    assert np.isinf([found.mass_deviation, *found.centre_deviation]).tolist() == [True] * 4
    assert (found.differs, found.text) == (False, "")


def test_where_no_tool_was_configured_its_centre_is_not_compared() -> None:
    check = ToolCheck(ConfiguredTool(0.0, np.zeros(3)), 4, 0.0)
    for _ in range(4):
        check.compare(carried(0.1, 0.01), np.zeros(4), np.eye(4))
    assert np.isnan(check.difference.centre).all()
    assert not check.difference.differs
