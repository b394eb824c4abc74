"""The plants against independent integrators, energy, least squares; their sensors, seeds and jumps."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hil_rig.plants import RIGS
from hil_rig.plants.base import Jump, PlantSettings, RigError
from hil_rig.plants.joints.rigid import RigidPlantSettings
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings
from hil_rig.plants.trajectory import Trajectory, reference
from tests.support.processes.waiting import quickest

pytestmark = pytest.mark.compiled
# every rig of which one joint can be built by itself
PLANTS = [name for name in RIGS if name != "recording" and RIGS[name].settings.build is not PlantSettings.build]
SINGLE = [name for name in PLANTS if RIGS[name].settings().build(1, 0, []).truth()]  # joints that feel no other


def fit(columns: list[np.ndarray], target: np.ndarray) -> np.ndarray:
    phi = np.column_stack(columns)
    scale = np.linalg.norm(phi, axis=0)
    return np.linalg.lstsq(phi / scale, target, rcond=None)[0] / scale


def ideal(trajectory: Trajectory, t: float) -> tuple[float, float]:
    """The reference written once more, by integrating a triangle of velocity in closed form."""
    phase = (t / trajectory.period) % 1.0
    v, period = trajectory.speed, trajectory.period
    turn, sign = (round(2 * phase) / 2, -1 if round(2 * phase) == 1 else 1)  # the nearest reversal
    since = (phase - turn) * period
    return sign * (2 * v * since**2 / period - v * period / 8), sign * 4 * v * since / period


def test_triangular_velocity() -> None:
    trajectory = Trajectory(speed=1.3, period=5.0)
    for t in np.linspace(0, 12, 241):
        assert reference(trajectory.constants(), t) == pytest.approx(ideal(trajectory, t), abs=1e-12)


@pytest.mark.parametrize("kind", ["velocity", "position"])
@pytest.mark.parametrize("dither", [0.0, 1.0])
def test_velocity_is_the_derivative_of_position(kind: Any, dither: float) -> None:
    trajectory = Trajectory(kind=kind, period=4.0, corner=0.2, dither=dither)
    t = np.arange(0, 9, 1e-3)
    position, velocity = np.array([reference(trajectory.constants(), one) for one in t]).T
    assert np.gradient(position, t)[1:-1] == pytest.approx(velocity[1:-1], abs=1e-2)
    assert position[0] == pytest.approx(trajectory.lowest())
    if not dither:
        assert np.abs(velocity).max() == pytest.approx(1.0)
        assert -position.min() == pytest.approx(position.max(), rel=1e-6)
    if kind == "position" and not dither:
        assert (np.abs(velocity) == 1.0).mean() > 0.85, "straight but for its corners"


def test_two_mass_agrees_with_an_independent_integrator() -> None:
    s = TwoMassPlantSettings(b_outC=0.0, delta_s=2.0)  # without dry friction it is a smooth differential equation
    plant = s.build(1, 0, [])
    ours = plant.exact(3001)

    def motion(t: float, x: np.ndarray) -> list[float]:
        q_in, q_out, v_in, v_out = x
        wanted, speed = ideal(s.trajectory, t)
        torque = s.stiffness * (wanted - q_in) + s.damping * (speed - v_in)
        twist = q_in - q_out
        spring = s.k1 * twist + s.k2 * twist**3
        rub = s.b_in * v_in + s.C1 * np.tanh(v_in / s.omega1) + s.b_inD * q_in
        rub += s.C2 * v_in * np.exp(-((abs(v_in) / s.omega_s) ** s.delta_s))
        load = s.b_out * v_out + s.A1 * np.sin(q_out) + s.A2 * np.cos(q_out) - s.T_g * np.sin(q_out)
        return [v_in, v_out, (torque - spring - rub) / s.J_in, (spring - load) / s.J_out]

    t = np.arange(3001) / 1000
    theirs = solve_ivp(motion, (0, 3.0), ours[0, :4], "Radau", t, rtol=1e-8, atol=1e-10, max_step=0.01).y.T
    assert ours[:, :2] == pytest.approx(theirs[:, :2], abs=2e-6)
    assert ours[:, 2:4] == pytest.approx(theirs[:, 2:], abs=1e-3)


def test_rigid_agrees_with_an_independent_integrator() -> None:
    s = RigidPlantSettings(coulomb=0.0, ripple=2.0, ripples=30.0)
    ours = s.build(1, 0, []).exact(3001)

    def motion(t: float, x: np.ndarray) -> list[float]:
        wanted, speed = ideal(s.trajectory, t)
        torque = s.stiffness * (wanted - x[0]) + s.damping * (speed - x[1])
        load = s.viscous * x[1] + s.offset + s.gravity_sin * np.sin(x[0]) + s.gravity_cos * np.cos(x[0])
        load += s.ripple * np.sin(s.ripples * x[0])
        return [x[1], (torque - load) / s.inertia]

    t = np.arange(3001) / 1000
    theirs = solve_ivp(motion, (0, 3.0), ours[0, :2], "Radau", t, rtol=1e-9, atol=1e-11, max_step=0.01).y.T
    assert ours[:, :2] == pytest.approx(theirs, abs=1e-6)


def test_two_mass_keeps_its_energy_account() -> None:
    s = TwoMassPlantSettings()
    plant = s.build(1, 0, [])
    q_in, q_out, v_in, v_out, _, _, torque, _ = plant.exact(16001).T
    twist = q_in - q_out
    stored = s.J_in * v_in**2 / 2 + s.J_out * v_out**2 / 2 + s.k1 * twist**2 / 2 + s.k2 * twist**4 / 4
    stored += s.b_inD * q_in**2 / 2 + (s.T_g - s.A1) * np.cos(q_out) + s.A2 * np.sin(q_out)
    power = torque * v_in
    burnt = s.b_in * v_in**2 + s.C1 * np.tanh(v_in / s.omega1) * v_in
    burnt += s.C2 * v_in**2 * np.exp(-np.abs(v_in / s.omega_s)) + s.b_out * v_out**2 + s.b_outC * np.abs(v_out)
    put_in = np.trapezoid(power, dx=1e-3)
    assert put_in > 100, "it moves"
    assert np.trapezoid(power - burnt, dx=1e-3) - (stored[-1] - stored[0]) == pytest.approx(0, abs=1e-4 * put_in)


def test_the_link_truly_sticks() -> None:
    s = TwoMassPlantSettings()
    exact = s.build(1, 0, []).exact(16000)
    q_out, v_out, torque = exact[:, 1], exact[:, 3], exact[:, 7]
    stuck = v_out == 0
    assert 0.005 < stuck.mean() < 0.05
    held = torque - (s.A1 - s.T_g) * np.sin(q_out) - s.A2 * np.cos(q_out)
    assert (np.abs(held[stuck]) <= s.b_outC * 1.01).all()


def test_two_mass_regression_gives_its_parameters() -> None:
    s = TwoMassPlantSettings()
    q_in, q_out, v_in, v_out, a_in, a_out, torque, joint = s.build(1, 0, []).exact(16000).T
    twist, moving = q_in - q_out, np.abs(v_out) > 5e-3
    columns = [twist, twist**3, np.tanh(v_in / s.omega1), v_in * np.exp(-np.abs(v_in / s.omega_s)), v_in, q_in]
    found = fit(columns, torque - s.J_in * a_in)
    assert found == pytest.approx([s.k1, s.k2, s.C1, s.C2, s.b_in, s.b_inD], rel=1e-4)
    columns = [v_out, np.sign(v_out), np.sin(q_out), np.cos(q_out)]
    found = fit([c[moving] for c in columns], (joint - s.J_out * a_out + s.T_g * np.sin(q_out))[moving])
    assert found == pytest.approx([s.b_out, s.b_outC, s.A1, s.A2], rel=1e-5)


@pytest.mark.parametrize("name", SINGLE)
def test_regression_of_its_roles_on_exact_signals_gives_its_truth(name: str) -> None:
    plant = RIGS[name].settings().build(1, 0, [])
    exact = plant.exact(16000)
    q, v, a, torque = exact[:, [1, 3, 5, 7]].T if name == "two_mass" else exact.T
    moving = np.abs(v) > 5e-3
    columns = [a, v, np.sign(v), np.ones_like(v), np.sin(q), np.cos(q)]
    found = fit([column[moving] for column in columns], torque[moving])
    names = ["inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos"]
    assert found == pytest.approx([plant.truth()[one] for one in names], rel=1e-6, abs=1e-6)


def test_central_differences_of_positions_are_the_accelerations() -> None:
    """Position and torque speak of the same instant: what an estimator of sampled positions relies on."""
    exact = RigidPlantSettings(coulomb=0.0).build(1, 0, []).exact(4000)
    differences = np.diff(exact[:, 0], 2) * 1e6
    smooth = np.abs(np.gradient(exact[1:-1, 2])) < 1e-3
    assert differences[smooth] == pytest.approx(exact[1:-1, 2][smooth], abs=1e-4)


def test_sensors_of_the_elastic_joint() -> None:
    s = TwoMassPlantSettings()
    rows, exact = s.build(1, 3, []).rows(8000), s.build(1, 3, []).exact(8000)
    for column, truth, bits in ((0, 0, s.motor_bits), (2, 1, s.link_bits)):
        step = 2 * np.pi / 2**bits
        assert rows[:, column] / step == pytest.approx(np.rint(rows[:, column] / step), abs=1e-6)
        assert np.abs(rows[:, column] - exact[:, truth]).max() <= step / 2 * 1.000001
    motor, joint = s.torque_constant * rows[:, 1] - exact[:, 6], rows[:, 3] - exact[:, 7]
    for noise, sigma in ((motor, s.motor_noise), (joint, s.joint_noise)):
        assert noise.std() == pytest.approx(sigma, rel=0.05)
        assert abs(noise.mean()) < 5 * sigma / np.sqrt(8000)
        assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.06, "white"
    assert abs(np.corrcoef(motor, joint)[0, 1]) < 0.06


@pytest.mark.parametrize("name", PLANTS)
def test_it_does_not_matter_how_samples_are_asked_for(name: str) -> None:
    settings = RIGS[name].settings()
    jumps = [Jump(0.1505, next(iter(settings.build(1, 4, []).parameters())), 1.5)]
    whole, parts, other = (settings.build(1, seed, jumps) for seed in (4, 4, 5))
    rows = whole.rows(400)
    assert np.array_equal(rows, np.vstack([parts.rows(count) for count in (1, 7, 142, 3, 247)]))
    assert not np.array_equal(rows, other.rows(400))
    assert not np.array_equal(settings.build(2, 4, jumps).rows(400), rows)


def test_a_jump_takes_effect_at_its_sample() -> None:
    jumps = [Jump(0.2, "nonlinear", 1.2), Jump(0.1, "linear", 1.5), Jump(0.3, "k1", 0.5)]
    plant, still = TwoMassPlantSettings().build(1, 0, jumps), TwoMassPlantSettings().build(1, 0, [])
    before = dict(plant.parameters())
    assert np.array_equal(plant.exact(100), still.exact(100))
    assert plant.parameters() == before
    assert not np.array_equal(plant.exact(1), still.exact(1))
    assert {n: v / before[n] for n, v in plant.parameters().items() if v != before[n]} == pytest.approx(
        dict.fromkeys(("C1", "C2", "b_in", "b_inD"), 1.5)
    )
    plant.exact(300)
    changed = {n: v / before[n] for n, v in plant.parameters().items() if v != before[n]}
    expected = dict.fromkeys(("C1", "C2", "b_in", "b_inD"), 1.5) | {"omega1": 1.2, "omega_s": 1.2, "k1": 0.5}
    assert changed == pytest.approx(expected)


def test_an_unknown_parameter_cannot_jump() -> None:
    with pytest.raises(RigError, match=r"unknown parameter \"c1\", expected one of J_in, .*linear, nonlinear"):
        TwoMassPlantSettings().build(1, 0, [Jump(1.0, "c1", 2.0)])


@pytest.mark.parametrize("name", PLANTS)
def test_it_is_far_faster_than_real_time(name: str) -> None:
    plant = RIGS[name].settings().build(1, 0, [])
    plant.rows(1000)
    # of this thread alone: what else runs costs it nothing; 60 times as fast on a Xeon, and a slower one may have it
    assert quickest(lambda: plant.rows(2000), 2.0 / 10) < 2.0 / 3
