"""Columns that no motion tells apart are found before there is any, and named."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from estimators.models.collinearity import collinear
from estimators.models.friction import AnyFriction
from estimators.models.joints import JointModelSettings
from estimators.quantities import Axis

pytestmark = pytest.mark.interpreted
ADAPTER: TypeAdapter[JointModelSettings] = TypeAdapter(JointModelSettings)
LAWS = [kind() for kind in get_args(get_args(AnyFriction)[0])]


def found(**model: Any) -> tuple[str, ...]:
    return collinear(ADAPTER.validate_python(model).build())


@pytest.mark.parametrize("law", LAWS, ids=lambda one: one.kind)
def test_every_law_can_be_described_in_a_joint_with_all_other_terms(law: Any) -> None:
    more = {"gravity_sin": True, "gravity_cos": True} if law.kind != "cyclic" else {}
    loaded = law.law(Axis.ROTARY).loaded()
    assert found(kind="rigid", friction=law, load=loaded, ripple=(7.0,), temperature=20.0, **more) == ()


@pytest.mark.parametrize("kind", ["two_mass", "friction", "transmission"])
def test_every_joint_can_be_described_as_it_is(kind: str) -> None:
    assert found(kind=kind) == ()


def test_what_repeats_once_a_turn_is_recognised_by_its_names() -> None:
    cyclic = {"kind": "cyclic", "wave_number": 2.0}
    assert found(kind="rigid", gravity_sin=True, ripple=(1.0,)) == ("gravity_sin", "ripple1_sin")
    assert found(kind="rigid", gravity_cos=True, ripple=(1.0,)) == ("gravity_cos", "ripple1_cos")
    assert found(kind="rigid", friction=cyclic, ripple=(2.0,)) == ("cyclic_sin", "ripple2_sin")
    assert found(kind="rigid", friction={"kind": "cyclic"}, gravity_cos=True) == ("cyclic_cos", "gravity_cos")
    assert found(kind="rigid", friction=cyclic, gravity_cos=True) == ()
    assert found(kind="two_mass", gravity=10.0) == (), "gravity that is known needs no column"


def test_a_column_of_nothing_is_reported_alone() -> None:
    """A threshold that exceeds every speed up to 3 rad/s leaves its law no motion to show itself."""
    law = ADAPTER.validate_python({"kind": "rigid", "friction": {"kind": "directional", "threshold": 1.0}})
    assert collinear(law.build()) == ()
    slow = law.model_copy(update={"friction": law.friction.model_copy(update={"threshold": 5.0})})  # type: ignore[union-attr]
    assert collinear(slow.build()) == ("viscous_forward",)
