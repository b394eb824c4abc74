"""Every registered joint model × every rule of the contract."""

import pickle
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import TypeAdapter

from estimators.models.base import Model
from estimators.models.joints import JointModelSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.rows import SIGNALS

pytestmark = pytest.mark.interpreted

UNION = get_args(JointModelSettings)
KINDS = get_args(UNION[0]) if UNION else (JointModelSettings,)  # pydantic knows no union of one


@pytest.fixture(params=KINDS, ids=lambda kind: kind().kind)
def settings(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture
def model(settings: Any) -> Model:
    return settings.build()


def filled(model: Model, signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    phi = np.full((len(signals), len(model.outputs), len(model.parameters)), 1e300)
    y = np.full((len(signals), len(model.outputs)), 1e300)
    model.fill(signals, np.array(model.start), phi, y)
    return phi, y


def test_kind_selects_it_in_a_configuration(settings: Any) -> None:
    assert TypeAdapter(JointModelSettings).validate_python({"kind": settings.kind}) == settings
    with pytest.raises(ValueError, match="frozen"):
        settings.kind = "other"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "rigid", "friction": {"kind": "load_dependent"}}, "expected load = true and a channel load"),
        ({"kind": "rigid", "load": True}, "expected friction that grows with the load where load = true, found none"),
        ({"kind": "rigid", "axis": "prismatic", "gravity_cos": True}, "gravity_sin and gravity_cos on a rotary axis"),
        ({"kind": "friction", "friction": {"kind": "load_dependent"}}, "expected joint_torque = true"),
        ({"kind": "friction", "inertia": -1.0}, "greater than or equal to 0"),
        ({"kind": "two_mass", "motor_friction": {"kind": "load_dependent"}}, "here the torque that it explains"),
        ({"kind": "two_mass", "motor_friction": {"kind": "lugre"}}, 'friction of kind "lugre" remembers'),
        ({"kind": "two_mass", "link_friction": {"kind": "prandtl_ishlinskii"}}, "remembers, which an elastic joint"),
        ({"kind": "two_mass", "inertia_link": 0.0}, "greater than 0"),
        ({"kind": "two_mass", "stick": 1.1}, "less than or equal to 1"),
    ],
)
def test_a_model_that_cannot_be_is_refused_in_words(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TypeAdapter(JointModelSettings).validate_python(given)


@pytest.mark.parametrize("settings", [RigidSettings(), FrictionOnlySettings(), TwoMassSettings(gear=3.0)])
def test_a_model_whose_friction_is_searched_elsewhere_is_the_same_there(settings: Any) -> None:
    """Kernels' addresses do not travel to another process: it goes as its settings."""
    model, again = settings.build(), pickle.loads(pickle.dumps(settings.build()))
    signals = np.random.default_rng(4).normal(size=(10, len(model.channels), SIGNALS))
    for one, other in zip(filled(model, signals), filled(again, signals), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert again.parameters == model.parameters


def test_it_names_what_it_needs_and_gives(settings: Any, model: Model) -> None:
    assert model.channels == settings.roles()
    assert settings.unit() == model.outputs[0]
    names = [parameter.name for parameter in (*model.parameters, *model.nonlinear)]
    assert len(set(names)) == len(names) > 0
    for parameter in (*model.parameters, *model.nonlinear):
        assert parameter.name.isidentifier()
        assert parameter.equation
        assert parameter.meaning, "the page explains every parameter"
        assert parameter.needs
        assert parameter.low < parameter.high
    for parameter, start in zip(model.nonlinear, model.start, strict=True):
        assert np.isfinite([parameter.low, parameter.high]).all(), "a search needs a box"
        assert parameter.low <= start <= parameter.high


def test_every_entry_is_written_and_finite_in_motion_and_at_rest(model: Model) -> None:
    moving = np.random.default_rng(1).normal(size=(40, len(model.channels), SIGNALS))
    for signals in (moving, np.zeros_like(moving)):
        phi, y = filled(model, signals)
        assert (np.abs(phi) < 1e200).all()
        assert (np.isnan(y) | (np.abs(y) < 1e200)).all()


def test_rows_do_not_depend_on_each_other(model: Model) -> None:
    signals = np.random.default_rng(2).normal(size=(40, len(model.channels), SIGNALS))
    phi, y = filled(model, signals)
    for row in (0, 17, 39):
        alone, target = filled(model, signals[row : row + 1].copy())
        assert np.array_equal(alone[0], phi[row])
        assert np.array_equal(target[0], y[row], equal_nan=True)


def test_no_two_columns_are_the_same(model: Model) -> None:
    signals = np.random.default_rng(3).normal(size=(500, len(model.channels), SIGNALS))
    phi, y = filled(model, signals)
    rows = phi[~np.isnan(y)]
    assert np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=0)) == len(model.parameters)
