"""Mechanisms: contact laws, energy, closure, speed."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.newton_euler import newton_euler
from hil_rig.plants.base import Jump, RigError
from hil_rig.plants.mechanisms.contact import Steel, fractal_stiffness
from hil_rig.plants.mechanisms.journal import Journal, chirp, collide, drift
from hil_rig.plants.mechanisms.leg import Leg, LegSettings
from hil_rig.plants.mechanisms.newton_euler import bodies_of, forces, torque
from hil_rig.plants.mechanisms.pointing import NORMAL, PLACE, POWER, TORQUES, Pointing, PointingSettings
from hil_rig.plants.mechanisms.tree5 import Tree5, Tree5Settings, published

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(("given", "real"), [(0.9, 0.9132), (0.8, 0.8471), (0.7, 0.7960), (0.5, 0.7252)])
def test_restitution_is_that_of_the_contact_law(given: float, real: float) -> None:
    assert collide(Journal(steel=Steel(restitution=given)), 0.05) == pytest.approx(real, rel=0.02)


def test_energy_never_rises_without_torque() -> None:
    energy = drift(Journal(steel=Steel(clearance=200e-6)), 2.0)
    assert np.diff(energy).max() <= 1e-9 * energy[0]
    assert energy[-1] < 0.99 * energy[0], "there were impacts"


def test_a_rough_surface_is_softer_than_hertz_and_stiffens() -> None:
    depths = np.geomspace(1e-8, 5e-6, 20)
    for halved in (False, True):
        rough = fractal_stiffness(Steel(), depths, halved)
        ratio = rough / (Steel().hertz() * np.sqrt(depths))
        assert (np.diff(rough) > 0).all()
        assert ((ratio > 0.2) & (ratio < 1.2)).all()
    played = Journal(stiffness="fractal", vertical=True).play(chirp(2.0, 1.0, 1.4, 0.5))
    assert (played[200:, 4] > 0.0).mean() > 0.99


def test_reduced_pointing_follows_the_full_contact() -> None:
    full = Pointing(PointingSettings(), []).exact(5000)[1000:]
    reduced = Pointing(PointingSettings(contact="reduced"), []).exact(5000)[1000:]
    assert reduced[:, NORMAL] == pytest.approx(full[:, NORMAL], rel=0.01)
    assert reduced[:, PLACE + 1] == pytest.approx(full[:, PLACE + 1], abs=1e-6)
    assert reduced[:, TORQUES] == pytest.approx(full[:, TORQUES], abs=0.01)
    assert full[:, POWER].sum() < 0.0


def test_each_plays_three_times_faster_than_real_time() -> None:
    for simulation in (Pointing(PointingSettings(), []), Tree5(Tree5Settings(), 1, []), Leg(LegSettings(), [])):
        simulation.exact(100)
        began = time.thread_time()
        out = simulation.exact(2000)
        assert 2.0 / (time.thread_time() - began) > 3.0, type(simulation).__name__
        assert np.isfinite(out).all()


def test_the_legs_loops_stay_closed() -> None:
    assert Leg(LegSettings(), []).exact(10_000)[:, 10].max() < 1e-12


def test_joints_of_one_mechanism_read_one_simulation_however_they_are_cut() -> None:
    settings = Tree5Settings(torque_noise=0.0)
    whole, pieces = settings.robot(5, 1, []), settings.robot(5, 1, [])
    at_once = {name: plant.rows(300) for name, plant in whole.items()}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in pieces}
    for count in (7, 200, 93):
        for name, plant in pieces.items():
            parts[name].append(plant.rows(count))
    for name, rows in at_once.items():
        assert np.array_equal(rows, np.concatenate(parts[name]))


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(RigError, match="expected the five axes that there are"):
        Tree5Settings().robot(4, 1, [])
    with pytest.raises(RigError, match='unknown parameter "wear"'):
        LegSettings().robot(1, 1, [Jump(1.0, "wear", 2.0)])


@pytest.mark.parametrize(
    "locked",
    [
        lambda: Tree5(Tree5Settings(pin=1.0, arm=1.0, bending=1.0, mu=0.3, mu_static=0.3), 1, []).exact(2000),
        lambda: Tree5(Tree5Settings(), 1, [Jump(0.5, "friction", 300.0)]).exact(2000),
        lambda: Leg(LegSettings(pin=0.2, mu=0.3), []),
        lambda: Leg(LegSettings(), [Jump(0.5, "pin", 100.0)]).exact(2000),
    ],
)
def test_friction_that_locks_itself_is_told_and_not_played(locked: Callable[[], object]) -> None:
    with pytest.raises(RigError, match="does not settle: self-locking") as caught:
        locked()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("settings", [Tree5Settings(), PointingSettings(), PointingSettings(vertical=True)])
def test_a_data_sheet_is_right_but_for_the_bodies(
    settings: Tree5Settings | PointingSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the bodies right, too, it is the mechanism that is played: the torques of our own kernels."""
    file, played = tmp_path / "sheet.urdf", settings.tree() if isinstance(settings, PointingSettings) else published()
    for wrong in ("WRONG", "SHIFTED"):
        monkeypatch.setattr(f"hil_rig.plants.mechanisms.data_sheet.{wrong}", 0.0)
    file.write_text(settings.data_sheet())
    robot = read_urdf(file).robot
    n = len(robot.joints)
    q, dq, ddq = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 1, n))
    tau, wrench = np.empty((1, n)), np.empty((1, n, 6))
    newton_euler(*robot.tree(), q, dq, ddq, robot.parameters, np.zeros((0, n, 6)), tau, wrench)
    lies = isinstance(settings, PointingSettings) and not settings.vertical
    up, bodies = np.array([9.81, 0.0, 0.0] if lies else [0.0, 0.0, 9.81]), bodies_of(n)
    forces(played, up, q[0], dq[0], ddq[0], bodies)
    assert tau[0] == pytest.approx([torque(bodies, j) for j in range(n)], abs=2e-4 * np.abs(tau).max())
