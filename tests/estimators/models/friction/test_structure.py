"""What η does to a law's columns, as its published equation has it; what is chosen, and what else may be tried."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import FrictionSettings
from estimators.models.friction.structure import law_structure
from estimators.models.robots.bearing_friction import BearingSettings
from estimators.quantities import Axis

pytestmark = pytest.mark.interpreted


def law(**settings: Any) -> FrictionSettings:
    found: FrictionSettings = TypeAdapter(AnyFriction).validate_python(settings)
    return found


@pytest.mark.parametrize(
    ("settings", "moving", "owner", "alone", "odd"),
    [
        # C1 tanh(v/ω1), C2 v exp(−|v/ω_s|), b v, b_D q: the first two, by one of η each
        (law(kind="tanh_stribeck", stiffness=True), [0, 1], [0, 1], True, True),
        # … exp(−|v/ω_s|^δ): two of η move one column, so any may move any
        (law(kind="tanh_stribeck", exponent="searched"), [0, 1], [0, 0, 1, 1, 2, 2], True, True),
        (law(kind="arctangent"), [2], [0], True, True),
        (law(kind="load_dependent"), [3, 4], [0, 0], False, True),  # one of them by the load
        (law(kind="directional"), [1, 2, 3, 5, 6, 7], [0] * 6, True, False),  # w's powers; a direction each
    ],
    ids=lambda one: getattr(one, "kind", None),
)
def test_the_columns_that_a_nonlinear_parameter_moves_are_found(
    settings: FrictionSettings, moving: list[int], owner: list[int], alone: bool, odd: bool
) -> None:
    for axis in Axis:
        found = law_structure(settings, axis)
        assert found.moving.tolist() == moving
        assert found.owner.tolist() == owner
        assert found.alone is alone
        assert found.odd is odd


def test_only_friction_that_follows_a_load_is_loaded() -> None:
    loaded = {law(kind="load_dependent"), law(kind="load_dependent", stribeck=False), BearingSettings()}
    others = {law(kind=kind) for kind in ("viscous_coulomb", "cyclic", "position_dependent", "tanh_stribeck", "lugre")}
    assert all(one.law(Axis.ROTARY).loaded() for one in loaded)
    assert not any(one.law(Axis.ROTARY).loaded() for one in others)


def test_what_is_chosen_is_all_that_is_not_searched() -> None:
    tanh = law(kind="tanh_stribeck", omega_tanh=0.1, stiffness=True)
    assert tanh.fixed(Axis.ROTARY) == {"kind": "tanh_stribeck", "exponent": 1.0, "stiffness": True}
    searched = law(kind="tanh_stribeck", exponent="searched")
    assert searched.fixed(Axis.ROTARY) == {"kind": "tanh_stribeck", "stiffness": False}
    plain = {"kind": "viscous_coulomb", "viscous": True, "coulomb": True}
    assert law(kind="viscous_coulomb").fixed(Axis.ROTARY) == plain, "a sign is what there was before transitions"
    assert law(kind="viscous_coulomb", transition=0.01).fixed(Axis.ROTARY) == plain | {"transition": 0.01}


def test_other_usual_exponents_are_tried_and_nothing_else_changes() -> None:
    chosen = law(kind="tanh_stribeck", exponent=2.0, omega_tanh=0.1, stiffness=True)
    others = [one.model_dump() for one in chosen.alternatives()]
    assert others == [chosen.model_dump() | {"exponent": 0.5}, chosen.model_dump() | {"exponent": 1.0}]
    assert len(law(kind="tanh_stribeck", exponent=0.7).alternatives()) == 3
    assert law(kind="tanh_stribeck", exponent="searched").alternatives() == ()
    assert law(kind="arctangent").alternatives() == ()


@pytest.mark.parametrize("settings", [law(kind="tanh_stribeck", exponent="searched"), law(kind="directional")])
def test_a_nonlinear_parameter_may_be_where_its_settings_may(settings: FrictionSettings) -> None:
    """A start at either end of the box is accepted, and one beyond it is not."""
    found = settings.law(Axis.ROTARY)
    for parameter in found.nonlinear:
        if parameter.name == "exponent":
            continue  # searched from 1
        for end, beyond in ((parameter.low, 0.99), (parameter.high, 1.01)):
            at_end = law(**settings.model_dump() | {parameter.name: end}).law(Axis.ROTARY)
            assert at_end.start[[one.name for one in at_end.nonlinear].index(parameter.name)] == end
            with pytest.raises(ValueError, match=parameter.name):
                law(**settings.model_dump() | {parameter.name: beyond * end})
    assert np.isfinite(found.start).all()
