"""The bound of the two-mass joint against a dense reference that differentiates the equations of motion numerically."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hil_rig.papers.space_joint.bound import bound, worst
from hil_rig.plants.joints.two_mass import ELASTIC, TwoMassPlantSettings

Floats = NDArray[np.float64]
COARSE = {"identify": "elastic", "rate": 100.0}  # Hz: small enough for dense matrices


def equations(s: TwoMassPlantSettings, factors: Floats, offsets: Floats, angles: Floats, torques: Floats) -> Floats:
    """What is zero on exact data: (samples − 2, 3); factors: of the parameters, in the order of ELASTIC."""
    k1, k2, C1, C2, b_in, b_inD, omega1, omega_s, b_out, b_outC, A1, A2 = factors * [
        getattr(s, symbol) for symbol in ELASTIC.values()
    ]
    v = (angles[2:] - angles[:-2]) * s.rate / 2
    a = np.diff(angles, 2, axis=0) * s.rate**2
    q_in, q_out = angles[1:-1].T
    spring = k1 * (q_in - q_out) + k2 * (q_in - q_out) ** 3
    drive = b_in * v[:, 0] + C1 * np.tanh(v[:, 0] / omega1) + b_inD * q_in
    drive += C2 * v[:, 0] * np.exp(-np.abs(v[:, 0] / omega_s))
    load = b_out * v[:, 1] + b_outC * np.sign(v[:, 1]) + A1 * np.sin(q_out) + A2 * np.cos(q_out)
    motor = s.J_in * a[:, 0] - torques[1:-1, 0] + spring + drive
    link = s.J_out * a[:, 1] - s.T_g * np.sin(q_out) - spring + load
    return np.stack([motor, link, spring - torques[1:-1, 1]], axis=1) + offsets


@pytest.mark.parametrize("sensor", [False, True])
def test_it_is_that_of_the_equations_differentiated_numerically(sensor: bool) -> None:
    s = TwoMassPlantSettings.model_validate({**COARSE, "spring_torque": sensor})
    exact = s.build(1, 0, []).exact(800)
    angles, torques = exact[:, :2], exact[:, 6:8]
    used = 3 if sensor else 2

    def f(factors: Floats | float = 1.0, offsets: Floats | float = 0.0, moved: Floats | float = 0.0) -> Floats:
        return equations(s, factors * np.ones(12), offsets * np.ones(3), angles + moved, torques)[:, :used]

    steps = [(f(1 + 1e-5 * one) - f(1 - 1e-5 * one)).ravel() / 2e-5 for one in np.eye(12)]
    steps += [f(offsets=one).ravel() - f().ravel() for one in np.eye(3)[:used]]
    design = np.stack(steps, axis=1)
    rounding = 2 * np.pi / np.exp2([s.motor_bits, s.link_bits]) / np.sqrt(12)
    covariance = np.diag(np.tile([s.motor_noise**2, 0.0, s.joint_noise**2][:used], len(f())))
    for sample in range(len(angles)):
        for encoder in range(2):
            moved = np.zeros(angles.shape)
            moved[sample, encoder] = 1e-7
            effect = (f(moved=moved) - f(moved=-moved)).ravel() / 2e-7 * rounding[encoder]
            near = slice(max(0, used * (sample - 3)), used * (sample + 2))
            covariance[near, near] += np.outer(effect[near], effect[near])
    moving = np.ones(f().shape, np.bool_)
    speed = exact[1:-1, 3]
    moving[:, 1] = np.abs(speed) > np.abs(np.diff(speed, prepend=0.0))
    told = np.flatnonzero(moving.ravel())
    information = design[told].T @ np.linalg.solve(covariance[np.ix_(told, told)], design[told])
    lengths = np.sqrt(np.diag(information))
    least = 100 * np.sqrt(np.diag(np.linalg.inv(information / np.outer(lengths, lengths)))) / lengths
    assert list(bound(s, 8.0).values()) == pytest.approx(least[:12], rel=0.03)


def test_it_is_as_large_as_the_noise() -> None:
    s = TwoMassPlantSettings.model_validate(COARSE)
    noisier = {"motor_noise": 2 * s.motor_noise, "motor_bits": s.motor_bits - 1, "link_bits": s.link_bits - 1}
    twice = bound(TwoMassPlantSettings.model_validate(COARSE | noisier), 10.0)
    assert list(twice.values()) == pytest.approx([2 * value for value in bound(s, 10.0).values()], rel=1e-9)


def test_a_torque_sensor_and_time_leave_less_uncertain() -> None:
    alone = bound(TwoMassPlantSettings.model_validate(COARSE), 9.0)
    sensed = bound(TwoMassPlantSettings.model_validate(COARSE | {"spring_torque": True}), 9.0)
    longer = bound(TwoMassPlantSettings.model_validate(COARSE), 17.0)
    assert all(sensed[name] <= alone[name] and longer[name] < alone[name] for name in ELASTIC)
    assert sensed["link_cyclic_sin"] < 0.5 * alone["link_cyclic_sin"]


@pytest.mark.parametrize("count", [1, 8, 20])
def test_the_worst_of_so_many_draws(count: int) -> None:
    draws = np.abs(np.random.default_rng(1).standard_normal((20_000, count))).max(axis=1)
    assert worst(count) == pytest.approx(np.median(draws), rel=0.02)
