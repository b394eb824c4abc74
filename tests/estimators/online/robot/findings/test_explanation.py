"""What holds beside a robot's model: the torque that it explains, and what is left when it is gone."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from estimators.models.robots.inertia import standard
from estimators.online.robot.findings.carried import NO_PAYLOAD
from estimators.online.robot.findings.causes.base import Cause, Fitted, RobotKnowledge
from estimators.online.robot.findings.causes.base_tilt import BaseTilt
from estimators.online.robot.findings.causes.encoder_slip import EncoderSlip
from estimators.online.robot.findings.causes.payload import PayloadCause
from estimators.online.robot.findings.causes.spring import Spring
from estimators.online.robot.findings.causes.torque_constant import TorqueConstant
from estimators.online.robot.findings.columns import CauseColumns
from estimators.online.robot.findings.explanation import BODY, Explanation
from estimators.quantities import Floats
from tests.support.signals.crane import arm, motion, taught

MODEL, MOVES = taught().model(), motion(1.0)
COLUMNS = CauseColumns(MODEL.size + 2, 2)
BODIES = np.array(arm().parameters)
LOAD = standard(1.5, np.array([0.2, 0.0, -0.1]), 0.01 * np.eye(3))
CHUNK = cast(Any, SimpleNamespace(q=MOVES.q, dq=MOVES.dq, ddq=MOVES.ddq))
PREDICTED = MODEL.torque(BODIES, MOVES.q, MOVES.dq, MOVES.ddq) + 1.0


def fitted(cause: Cause, *values: float) -> Fitted:
    known = cast(RobotKnowledge, SimpleNamespace(columns=COLUMNS))
    return Fitted(cause, np.array(values), 1e-4 * np.eye(len(values)), 20.0, cause.moves(known))


def explained(one: Explanation) -> Floats:
    return one.torque(CHUNK, PREDICTED, BODIES)


def of_a_slip(bodies: Floats) -> Floats:
    """Torque by which the prediction is off where the pendulum's encoder reads 0.1 mrad too much."""
    too_much = MOVES.q + [0.0, 1e-4]
    return MODEL.torque(bodies, MOVES.q, MOVES.dq, MOVES.ddq) - MODEL.torque(bodies, too_much, MOVES.dq, MOVES.ddq)


def of_a_tilt(bodies: Floats) -> Floats:
    """Torque by which the prediction is off where the base is turned by 1 mrad about its y.

    The slide, along x, then points down: its drive has to hold its weight back. The pendulum feels the same gravity.
    """
    (mass, x, _, z), angle = bodies[1, :4], MOVES.q[:, 1]  # x, z: mass times the centre's place
    return -1e-3 * 9.81 * np.stack([np.full(len(angle), bodies[0, 0] + mass), z * np.cos(angle) - x * np.sin(angle)], 1)


def test_the_torque_of_all_that_holds_is_that_of_each_with_what_is_carried() -> None:
    body = np.stack([np.zeros(10), LOAD])
    load = MODEL.torque(body, MOVES.q, MOVES.dq, MOVES.ddq)
    gain = 0.05 * PREDICTED * [1.0, 0.0]  # the slide is told 5 % too high
    pulls = np.stack([3.0 * (MOVES.q[:, 0] - 0.2), 2.0 * np.sin(MOVES.q[:, 1] - 0.4)], 1)  # of 3 N/m, and 2 N·m/rad
    around = 2.0 * np.cos(0.4), -2.0 * np.sin(0.4)
    parts = [
        (fitted(EncoderSlip((1,)), 1e-4), of_a_slip(BODIES)),
        (fitted(TorqueConstant((0,)), 0.05), gain),
        (fitted(BaseTilt(), 0.0, 1e-3), of_a_tilt(BODIES)),
        (fitted(Spring((0,)), 3.0, -0.6), pulls * [1.0, 0.0]),
        (fitted(Spring((1,), turns=True), *around), pulls * [0.0, 1.0]),
        (fitted(PayloadCause(), *LOAD), load),
    ]
    whole = Explanation(MODEL, COLUMNS, 0.0)
    assert not explained(whole).any()
    for cause, torque in parts:
        alone = Explanation(MODEL, COLUMNS, 0.0)
        alone.hold(cause)
        np.testing.assert_allclose(explained(alone), torque, rtol=1e-3, atol=1e-4 * np.abs(torque).max())
        whole.hold(cause)
    beside = explained(whole) - load - gain - pulls  # small beside these, and larger by what is carried
    np.testing.assert_allclose(beside, of_a_slip(BODIES + body) + of_a_tilt(BODIES + body), rtol=1e-3, atol=1e-6)


def test_what_is_not_known_of_what_holds_is_the_spread_of_draws_from_its_forms() -> None:
    """A spring with odds of 3 to 1 that it is straight, by coefficients that are drawn, beside a torque constant."""
    straight, around = fitted(Spring((1,)), 3.0, -0.6), fitted(Spring((1,), turns=True), 4.0, -0.7)
    one, rng = Explanation(MODEL, COLUMNS, 0.0), np.random.default_rng(8)
    one.hold(fitted(TorqueConstant((0,)), 0.05))
    one.hold(straight, [replace(around, evidence=straight.evidence - np.log(3.0))])
    Z = np.zeros((2, COLUMNS.size))
    Z[[0, 1], [COLUMNS.gains.start, COLUMNS.gains.start + 1]] = 90.0, 7.0
    Z[1, COLUMNS.spring(1)] = 1.2, 1.0, np.sin(1.2), np.cos(1.2)
    at = 3.0 * 1.2 - 0.6
    draws = rng.multivariate_normal(np.zeros(2), 1e-4 * np.eye(2), 100_000)
    true = at + draws @ [1.2, 1.0]
    true[:25_000] += 4.0 * np.sin(1.2) - 0.7 * np.cos(1.2) - at
    assert one.variance(Z) == pytest.approx([1e-4 * 90.0**2, np.mean((true - at) ** 2)], rel=0.02)


def test_what_holds_is_replaced_by_what_is_known_later_and_gone_when_it_ends() -> None:
    one, body, slip = Explanation(MODEL, COLUMNS, 0.0), fitted(PayloadCause(), *LOAD), fitted(EncoderSlip((1,)), 0.02)
    one.hold(fitted(PayloadCause(), *(0.5 * LOAD)))
    one.hold(slip)
    one.hold(body)
    np.testing.assert_allclose(one.psi, body.moved + slip.moved)
    np.testing.assert_allclose(one.carried, LOAD)
    assert (one.payload.carried, one.payload.mass) == (True, pytest.approx(1.5))
    assert list(one.holding) == [BODY, ("encoder_slip", (1,))]
    assert one.others == [slip]
    one.end(fitted(PayloadCause(), *-LOAD))
    assert one.payload is NO_PAYLOAD
    np.testing.assert_allclose(one.psi, slip.moved, atol=1e-12)
    one.end(body)
    np.testing.assert_allclose(one.psi, slip.moved, atol=1e-12)
    one.end(slip)
    assert not one.psi.any()
    assert not one.holding
