"""Friction's columns under another η: filled anew as the model fills them, and how they change, by differences."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from estimators.conditioning.conditioner import Conditioner
from estimators.models.base import Model
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints import JointModelSettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.rows import Rows

pytestmark = pytest.mark.interpreted
ADAPTER: TypeAdapter[JointModelSettings] = TypeAdapter(JointModelSettings)
SEARCHED = {"kind": "tanh_stribeck", "exponent": "searched", "stiffness": True}
MODELS: list[dict[str, Any]] = [
    {"kind": "friction", "friction": SEARCHED, "offset": True},
    {"kind": "rigid", "friction": {"kind": "load_dependent"}, "load": True, "ripple": (3.0,)},
    {"kind": "rigid", "friction": {"kind": "directional"}},
    {"kind": "rigid", "friction": {"kind": "arctangent"}, "inertia": False},
    {"kind": "two_mass", "gear": 20.0, "stick": 0.0},
]


def samples(channels: int) -> tuple[Any, Floats]:
    """A second and a half at 1 kHz."""
    t = np.arange(1500) * 1e-3
    waves = [0.4 * np.sin(1.7 * t + i) + 0.1 * np.sin(9.0 * t + 2.0 * i) for i in range(channels)]
    return (np.arange(1500) * 1_000_000).astype(np.int64), np.column_stack(waves)


@pytest.fixture(params=MODELS, ids=lambda one: f"{one['kind']}-{one.get('friction', one)['kind']}")
def model(request: pytest.FixtureRequest) -> Model:
    return ADAPTER.validate_python(request.param).build()


def conditioned(model: Model, eta: Floats) -> tuple[Rows, Floats]:
    """Rows of the whole chain, for a model whose η is another one from the start."""
    model.start = eta
    conditioner = Conditioner(model, 1e-3)
    return conditioner.absorb(*samples(len(model.channels))), conditioner.taps


def other(model: Model, s: float = 0.3) -> Floats:
    limits = (np.array([getattr(one, end) for one in model.nonlinear]) for end in ("low", "high"))
    return np.clip(model.start * np.exp(s * np.linspace(1.0, -1.0, len(model.start))), *limits)


@pytest.mark.compiled
def test_columns_filled_for_another_eta_are_those_of_a_model_that_has_it(model: Model) -> None:
    eta = other(model)
    rows, taps = conditioned(model, model.start.copy())
    block = NonlinearBlock(model, taps)
    assert len(rows.y) > 20
    block.refill(rows, eta)
    expected, _ = conditioned(model, eta)
    told = np.isfinite(expected.y)
    np.testing.assert_allclose(rows.phi[told], expected.phi[told], rtol=1e-9, atol=1e-12)


def test_tangents_are_how_the_torque_changes_with_each_eta(model: Model) -> None:
    """Against differences of columns that the model itself fills."""
    start = model.start.copy()
    rows, taps = conditioned(model, start)
    block = NonlinearBlock(model, taps)
    theta = np.random.default_rng(3).uniform(0.5, 2.0, len(model.parameters))
    tangents = block.tangents(rows, start, theta)
    assert tangents.shape == (len(rows.y), len(model.outputs), len(start))
    for k in range(len(start)):
        h, sides = 1e-4, []
        for step in (h, -h):
            s = np.zeros(len(start))
            s[k] = step
            sides.append(conditioned(model, block.shift(start, s))[0].phi @ theta)
        expected = (sides[0] - sides[1]) / (2.0 * h)
        told = np.isfinite(rows.y)
        scale = np.abs(expected[told]).max()
        assert scale > 0.0
        np.testing.assert_allclose(tangents[told][:, k], expected[told], atol=1e-4 * scale)  # STEP² = 1e-6, few times
    model.start = start


def test_what_moves_what_stays_and_what_is_no_friction(model: Model) -> None:
    block = NonlinearBlock(model, np.ones(1))
    names = [one.name for one in model.parameters]
    law = model.blocks[0].columns
    assert sorted([*block.moving, *block.fixed]) == list(range(len(names)))
    assert set(block.moving) <= set(law)
    assert block.rest.tolist() == [c for c in range(len(names)) if c not in law]
    assert [one.name for one in block.model.fixed] == [names[c] for c in block.fixed]
    assert block.nonlinear == model.nonlinear


def test_a_way_between_two_etas_leads_from_one_to_the_other(model: Model) -> None:
    block, eta = NonlinearBlock(model, np.ones(1)), other(model)
    np.testing.assert_allclose(block.shift(model.start, block.distance(model.start, eta)), eta, rtol=1e-12)
    np.testing.assert_allclose(block.distance(model.start, eta), np.log(eta / model.start), rtol=1e-12)
    sigma = np.full(len(eta), 0.01)
    h = 1e-6 * eta
    slope = (block.distance(model.start, eta + h) - block.distance(model.start, eta - h)) / (2.0 * h)
    np.testing.assert_allclose(block.deviations(eta, sigma), slope * sigma, rtol=1e-8)
    np.testing.assert_allclose(block.absolute(eta, block.deviations(eta, sigma)), sigma, rtol=1e-12)


def test_a_way_of_what_may_be_zero_is_in_shares_of_its_range() -> None:
    model = ADAPTER.validate_python(MODELS[0]).build()
    model.nonlinear = tuple(one._replace(low=-0.5, high=1.5 + k) for k, one in enumerate(model.nonlinear))
    block, eta = NonlinearBlock(model, np.ones(1)), np.linspace(-0.2, 0.3, len(model.nonlinear))
    ranges = 2.0 + np.arange(len(eta))
    np.testing.assert_allclose(block.distance(eta, eta + 0.1), 0.1 / ranges)
    np.testing.assert_allclose(block.shift(eta, block.distance(eta, np.zeros(len(eta)))), 0.0, atol=1e-15)
    np.testing.assert_allclose(block.deviations(eta, np.full(len(eta), 0.01)), 0.01 / ranges)
    np.testing.assert_allclose(block.absolute(eta, np.full(len(eta), 0.01)), 0.01 * ranges)


def test_the_same_place_under_another_law_has_that_laws_columns() -> None:
    model = ADAPTER.validate_python({"kind": "friction"}).build()
    rows, taps = conditioned(model, model.start)
    law = TanhStribeckSettings(stiffness=True, exponent=2.0)
    block = NonlinearBlock(model, taps).with_law(law)
    assert block.settings == law
    block.refill(rows, np.array(model.start))
    square = ADAPTER.validate_python({"kind": "friction", "friction": law}).build()
    expected, _ = conditioned(square, model.start)
    np.testing.assert_allclose(rows.phi, expected.phi, rtol=1e-9, atol=1e-12)
