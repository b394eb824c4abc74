"""Mechanisms: contact laws, energy, closure, speed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.mechanism import MechanismMotion, build, load
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.newton_euler import newton_euler
from estimators.quantities import Floats
from hil_rig.plants.base import Jump, RigError
from hil_rig.plants.mechanisms.asperities import fractal_loss, fractal_stiffness
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.journal import Journal, chirp, collide, drift
from hil_rig.plants.mechanisms.leg import Leg, LegSettings
from hil_rig.plants.mechanisms.newton_euler import bodies_of, forces, torque
from hil_rig.plants.mechanisms.pointing import NORMAL, PLACE, POWER, TORQUES, Pointing, PointingSettings
from hil_rig.plants.mechanisms.tree5 import EPSILON, Tree5, Tree5Settings, published
from tests.support.processes.waiting import quickest

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


def test_the_loss_of_asperities_is_the_work_of_their_loads() -> None:
    """(23) with the loads (14), (16), (18), (20) integrated one by one, each over its own depth."""
    steel, depth, mu = Steel(roughness=0.1e-6), 1e-6, 0.1
    ra, hardness = 0.1, steel.hardness
    D, G = 1.54 / ra**0.045 + 1.0, 10.0 ** (-5.26 / ra**0.045)
    E, K = steel.young / 2.0 / (1.0 - steel.poisson**2), 0.454 + 0.41 * steel.poisson
    phi = brentq(
        lambda p: p ** ((3 - D) / 2) - (1 + p ** (-(D - 1) / 2)) ** ((D - 3) / (D - 1)) - (3 - D) / (D - 1), 1.01, 20.0
    )
    contact = 2 * steel.pin * steel.width * np.sqrt(depth / (2 * (steel.clearance + depth)))
    largest = contact * (3 - D) / (D - 1) / phi ** ((3 - D) / 2)

    def load(w: float, R: float, critical: float) -> float:
        if w < critical:
            return float(4 / 3 * E * R**0.5 * w**1.5)
        if w < 6 * critical:
            return float(2.06 / 3 * K * hardness * np.pi * R * w**1.425 / critical**0.425)
        if w < 110 * critical:
            return float(2.8 / 3 * K * hardness * np.pi * R * w**1.263 / critical**0.263)
        return float(2 * np.pi * w * R * hardness)

    stored = lost = 0.0
    for lna in np.linspace(np.log(largest) - 25.0, np.log(largest), 2500):
        a = np.exp(lna)
        w = 2 * G ** (D - 2) * np.sqrt(np.log(1.5)) * (4 * a / np.pi) ** ((3 - D) / 2)
        R = a / (2 * np.pi * w)
        critical = (33 * np.pi * (1 - 0.228 * mu) * hardness / E / 40) ** 2 * R
        regime = np.digitize(w / critical, (1.0, 6.0, 110.0))
        x, weights = np.polynomial.legendre.leggauss(24)  # each regime's own load from 0 to ω, as the paper writes it
        own = critical * (0.5, 3.0, 50.0, 200.0)[regime]
        law = np.array(
            [load(own, R, critical) * (one / own) ** (1.5, 1.425, 1.263, 1.0)[regime] for one in w * (x + 1) / 2]
        )
        count = a ** (-(D + 1) / 2) * a
        if regime < 2:
            stored += float(weights @ law) * w / 2 * count
        else:
            lost += float(weights @ law) * w / 2 * count
    assert fractal_loss(steel, np.array([depth]), mu=mu)[0] == pytest.approx(lost / stored, rel=0.02)


def test_a_rough_pin_loses_what_asperities_take() -> None:
    """With 0.8 µm nothing springs back: the pin that meets its bearing stays there."""
    assert np.isinf(fractal_loss(Steel(), np.geomspace(1e-9, 1e-4, 11))).all()
    smooth, rough = (PointingSettings(surface=surface, step=5e-6) for surface in ("hertz", "fractal"))
    played = {one.surface: Pointing(one, []).exact(1500) for one in (smooth, rough)}
    assert played["fractal"][1000:, NORMAL] == pytest.approx(played["hertz"][1000:, NORMAL], rel=0.02)
    early = {name: np.ptp(one[1:200, NORMAL]) for name, one in played.items()}
    assert early["fractal"] < 0.7 * early["hertz"], "it swings less on its rough contact"
    assert all(one[:, POWER].sum() < 0.0 for one in played.values())


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
        out: list[Floats] = []
        took = quickest(lambda simulation=simulation, out=out: out.append(simulation.exact(2000)), 2.0 / 3.0)  # type: ignore[misc]
        assert 2.0 / took > 3.0, type(simulation).__name__
        assert np.isfinite(out[-1]).all()


def test_the_legs_loops_stay_closed() -> None:
    assert Leg(LegSettings(), []).exact(10_000)[:, 10].max() < 1e-12


def test_bearings_of_the_tree_rub_as_the_model_of_its_mechanism_says() -> None:
    settings = Tree5Settings(bending=0.03, mu_static=0.2, stribeck=0.3)
    q, tau, dq = map(np.ascontiguousarray, np.split(Tree5(settings, 1, []).exact(3000), 3, axis=1))
    content = load(Path(__file__).parents[3] / "docs" / "tree5.toml").description.model_dump()
    content["gravity"] = [0.0, 0.0, -9.8]
    rubs = {name: getattr(settings, name) for name in ("pin", "arm", "bending", "stribeck", "viscous")}
    for link in content["links"]:
        link["bearing"] |= rubs | {"coulomb": settings.mu, "static": settings.mu_static}
    model, moved = build(content), MechanismMotion(q, dq, np.gradient(dq, 1.0 / settings.rate, axis=0))
    smooth = model.inverse(moved, IDEAL).tau
    expected, found = (one - smooth for one in (model.inverse(moved, ALL, EPSILON).tau, tau))
    fast = np.abs(dq).min(axis=1) > 0.05
    inside = np.flatnonzero(fast[:-2] & fast[1:-1] & fast[2:])[5:] + 1  # no reversal is in the differences
    assert len(inside) > 2000
    assert np.abs(found - expected)[inside].max() < 0.03 * np.abs(expected).max()


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
    with pytest.raises(RigError, match="expected --joints 5, since this mechanism has five axes"):
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
def test_friction_that_locks_itself_is_reported_and_not_played(locked: Callable[[], object]) -> None:
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
