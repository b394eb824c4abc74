"""Ripple added to any law: its columns against the formula, in every joint that has it."""

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from estimators.models.joints import JointModelSettings
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis
from estimators.rows import SIGNALS, SMOOTH

pytestmark = pytest.mark.interpreted

CYCLES = (2.0, 50.0, 0.5)
NAMES = ["ripple2_sin", "ripple2_cos", "ripple50_sin", "ripple50_cos", "ripple0_5_sin", "ripple0_5_cos"]


@pytest.mark.parametrize(
    ("kind", "before", "sign", "gear"),
    [("rigid", "", 1.0, 1.0), ("friction", "", 1.0, 1.0), ("two_mass", "motor_", -1.0, 3.0)],
)
def test_columns_are_sine_and_cosine_of_n_times_the_angle(kind: str, before: str, sign: float, gear: float) -> None:
    adapter: TypeAdapter[JointModelSettings] = TypeAdapter(JointModelSettings)
    more = {"gear": gear} if kind == "two_mass" else {}
    model = adapter.validate_python({"kind": kind, "ripple": CYCLES, **more}).build()
    plain = adapter.validate_python({"kind": kind, **more}).build()
    assert [one.name for one in model.parameters[-6:]] == [before + name for name in NAMES]
    assert [one.name for one in model.parameters[:-6]] == [one.name for one in plain.parameters]
    signals = np.random.default_rng(2).normal(size=(40, len(model.channels), SIGNALS))
    phi, y = np.full((40, len(model.outputs), len(model.parameters)), np.nan), np.full((40, len(model.outputs)), np.nan)
    model.fill(signals, model.start, phi, y)
    angle = signals[:, 0, SMOOTH] / gear
    for i, cycles in enumerate(CYCLES):
        wave = np.exp(1j * cycles * angle)
        first = len(plain.parameters) + 2 * i
        np.testing.assert_allclose(phi[:, 0, first : first + 2], sign * np.stack((wave.imag, wave.real), 1), atol=1e-12)
    assert (phi[:, 1:, -6:] == 0.0).all(), "no other row has it"
    own, target = np.empty((40, len(plain.outputs), len(plain.parameters))), np.empty_like(y)
    plain.fill(signals, plain.start, own, target)
    assert np.array_equal(phi[:, :, :-6], own)
    assert np.array_equal(y, target, equal_nan=True)


def test_mistakes_are_sentences() -> None:
    def told(**model: object) -> str:
        with pytest.raises(ValidationError) as caught:
            JointIdentification.model_validate({"model": {"kind": "rigid", **model}})
        return str(caught.value)

    assert "expected harmonics that differ, found one twice" in told(ripple=(2, 2.0))
    assert "greater than 0" in told(ripple=(0.0,))
    assert "at most 8" in told(ripple=tuple(range(1, 10)))
    words = told(ripple=(1,), gravity_sin=True)
    assert "gravity_sin and ripple1_sin collinear" in words, "once a turn is what weight does"


def test_a_slide_counts_in_metres() -> None:
    adapter: TypeAdapter[JointModelSettings] = TypeAdapter(JointModelSettings)
    model = adapter.validate_python({"kind": "rigid", "axis": Axis.PRISMATIC, "ripple": (200.0,)}).build()
    assert model.parameters[-1].unit == "N"
    assert "per m" in model.parameters[-1].meaning
