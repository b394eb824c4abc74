"""Points of a joint's curves lie on the curves of the truth, whatever else the joint has."""

from typing import Any

import numpy as np
import pytest

from estimators.models.curves import Curves
from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.cyclic import CyclicSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.online.reporting.inspection import Inspector
from estimators.quantities import Axis
from estimators.rows import ARGUMENTS, SIGNALS, SMOOTH, SMOOTH_RATE, Rows, moved

LAWS = (
    ViscousCoulombSettings(),
    CubicViscousSettings(),
    TanhStribeckSettings(stiffness=True),
    DirectionalSettings(),
    PositionDependentSettings(),
    CyclicSettings(),
    LoadDependentSettings(stribeck=False),
)
MODELS = [
    *(RigidSettings(friction=law, gravity_sin=True, load=law.law(Axis.ROTARY).loaded()) for law in LAWS),
    FrictionOnlySettings(offset=True),
    TwoMassSettings(),
    TwoMassSettings(gear=3.0),
]


def rows_of(model: Any, count: int = 60) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Unfiltered rows of a random motion with known parameters, so that every point must lie on its curve."""
    random = np.random.default_rng(5)
    signals = random.normal(size=(count, len(model.channels), SIGNALS))
    signals[:, :, SMOOTH_RATE] = signals[:, :, 1]
    signals[:, :, SMOOTH] = signals[:, :, 0]
    theta = random.uniform(0.5, 2.0, len(model.parameters))
    phi = np.empty((count, len(model.outputs), len(theta)))
    y = np.empty((count, len(model.outputs)))
    model.fill(signals, model.start, phi, y)
    y = np.where(np.isnan(y), np.nan, phi @ theta)
    scale = model.blocks[0].scale
    motion, load = signals[:, model.blocks[0].position], signals[:, model.blocks[0].load]
    seen = np.stack([scale[0] * motion[:, SMOOTH_RATE], scale[0] * motion[:, SMOOTH], scale[1] * load[:, SMOOTH]], 1)
    samples = seen[:, np.newaxis, :, np.newaxis] if len(model.start) else np.zeros((count, 1, ARGUMENTS, 0))
    values = np.concatenate([theta, model.start])
    how = moved(motion[:, :1], motion[:, 1:2])
    return Rows(np.arange(count), phi, y, np.abs(motion[:, 1:2]), samples, how), values, scale[0] * motion[:, 1]


@pytest.mark.parametrize("settings", MODELS, ids=lambda s: f"{s.kind}-{getattr(s, 'friction', s).kind}")
def test_points_lie_on_the_fitted_curves(settings: Any) -> None:
    model = settings.build()
    rows, values, velocity = rows_of(model)
    curves = Curves(model)
    points = curves.points(rows, values, np.ones(1))
    np.testing.assert_allclose(points[:, 0], velocity, rtol=1e-12)
    whole = np.isfinite(points[:, 1])  # but for rows whose every output is masked, which no conditioner lets through
    assert np.array_equal(whole, np.isfinite(rows.y).any(axis=1))
    np.testing.assert_allclose(points[whole, 1], curves.friction(values, velocity)[whole], rtol=1e-9, atol=1e-9)
    if not curves.has_spring:
        assert np.isnan(points[:, 2:]).all()
        return
    told = np.isfinite(points[:, 3])
    assert told.any()
    np.testing.assert_allclose(points[told, 3], curves.spring(values, points[told, 2]), rtol=1e-9, atol=1e-9)


def test_a_law_without_a_viscous_part_has_no_velocity_to_show() -> None:
    model = RigidSettings(friction=ViscousCoulombSettings(viscous=False)).build()
    rows, values, _ = rows_of(model)
    assert np.isnan(Curves(model).points(rows, values, np.ones(1))[:, 0]).all()


def test_a_rigid_joint_has_no_spring_to_draw_and_a_law_says_what_of_it_is_not_searched() -> None:
    rigid, elastic = Curves(RigidSettings().build()), Curves(TwoMassSettings().build())
    with pytest.raises(ValueError, match="expected a joint with an elastic gear, found a rigid one"):
        rigid.spring(np.ones(3), np.ones(1))
    assert (rigid.has_spring, elastic.has_spring) == (False, True)
    assert elastic.fixed == {"kind": "tanh_stribeck", "exponent": 1.0, "stiffness": True}
    assert elastic.law == TwoMassSettings().motor_friction.model_dump()


def gram_excitation(phi: np.ndarray) -> np.ndarray:
    """Reference: residual of each column's own regression on the others."""
    share = []
    for k in range(phi.shape[1]):
        others = np.delete(phi, k, 1)
        fit = others @ np.linalg.lstsq(others, phi[:, k])[0]
        share.append(np.sqrt(np.mean((phi[:, k] - fit) ** 2) / np.mean(phi[:, k] ** 2)))
    return np.array(share)


def test_excitation_is_what_no_other_column_imitates() -> None:
    model = RigidSettings().build()
    rows, _, _ = rows_of(model, 50)
    inspector = Inspector(model, np.ones(1), 0.02)
    found = inspector._excitation(rows.phi, len(rows.phi))
    np.testing.assert_allclose(found, gram_excitation(rows.phi[:, 0]), rtol=0.02)
    for _ in range(80):
        still = inspector._excitation(np.zeros_like(rows.phi), len(rows.phi))  # 80 s at rest
    assert (still < 0.02).all()


def test_excitation_forgets_by_time_where_only_some_rows_are_looked_at() -> None:
    model = RigidSettings().build()
    rows, _, _ = rows_of(model, 50)
    inspector = Inspector(model, np.ones(1), 0.02)
    inspector._excitation(rows.phi, len(rows.phi))
    for _ in range(8):
        still = inspector._excitation(np.zeros_like(rows.phi), 250)  # 5 s at rest, of which the last second is seen
    assert (still < 0.1).all()


def test_cutting_batches_changes_nothing_that_is_looked_at() -> None:
    model = RigidSettings().build()
    rows, _, _ = rows_of(model, 60)
    seen = []
    for step in (1, 7, 60):
        inspector = Inspector(model, np.ones(1), 0.01)
        for start in range(0, 60, step):
            inspector.absorb(rows.part(slice(start, start + step)))
        seen.append(inspector.state.rows.part(0, inspector.state.looked))
    assert all(np.array_equal(seen[0].phi, other.phi) for other in seen)
    assert all(np.array_equal(other.time, np.arange(0, 60, 2)) for other in seen)


@pytest.mark.compiled
def test_another_law_that_was_found_is_the_one_that_is_drawn() -> None:
    """Friction with exponent 2, configured as 1: what the page gets must be the law that the values belong to."""
    settings = FrictionOnlySettings(offset=True)
    other = settings.friction.model_copy(update={"exponent": 2.0})
    model = settings.build()
    values = np.append(np.full(len(model.parameters), 2.0), (0.06, 0.13))
    velocity = np.linspace(-1.0, 1.0, 21)
    configured, used = Curves(model), Curves(model).using(other.model_dump())
    assert used.law["exponent"] == 2.0
    assert configured.using(configured.law) is configured
    direct = Curves(FrictionOnlySettings(offset=True, friction=other).build())
    np.testing.assert_array_equal(used.friction(values, velocity), direct.friction(values, velocity))
    assert np.abs(used.friction(values, velocity) - configured.friction(values, velocity)).max() > 0.02
