"""The ratio of a gear between two encoders."""

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.models.joints.transmission import TransmissionSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.rows import RATE, SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE


@pytest.mark.interpreted
@pytest.mark.parametrize("load", ["motor", "joint", "none"])
def test_columns_are_those_of_the_equation(load: Any) -> None:
    inertia = 0.7 if load == "motor" else 0.0
    model = TransmissionSettings(load=load, inertia=inertia, ripple=(5.0,)).build()
    names = [one.name for one in model.parameters]
    expected = (
        ["ratio", "lag", "turning", "zero"] + ["twist", "gap"] * (load != "none") + ["ripple5_sin", "ripple5_cos"]
    )
    assert names == expected
    assert model.channels[2:] == {"motor": ("torque",), "joint": ("joint_torque",), "none": ()}[load]
    signals = np.random.default_rng(1).normal(size=(20, len(model.channels), SIGNALS))
    phi, y = np.full((20, 1, len(names)), np.nan), np.full((20, 1), np.nan)
    model.fill(signals, np.zeros(0), phi, y)
    column = dict(zip(names, phi[:, 0].T, strict=True))
    q, link = signals[:, 0], signals[:, 1]
    np.testing.assert_array_equal(y[:, 0], q[:, VALUE])
    np.testing.assert_array_equal(column["ratio"], link[:, VALUE])
    np.testing.assert_array_equal(column["lag"], -link[:, RATE])
    np.testing.assert_array_equal(column["turning"], [math.copysign(1.0, v) for v in q[:, SMOOTH_RATE]])
    assert (column["zero"] == 1.0).all()
    np.testing.assert_allclose(column["ripple5_cos"], np.cos(5.0 * q[:, SMOOTH]))
    if load != "none":
        torque = signals[:, 2]
        np.testing.assert_allclose(column["twist"], torque[:, VALUE] - inertia * q[:, SECOND])
        np.testing.assert_array_equal(column["gap"], [math.copysign(1.0, one) for one in torque[:, SMOOTH]])


def test_mistakes_are_sentences() -> None:
    with pytest.raises(ValidationError, match='expected inertia with load = "motor" only, found it with "none"'):
        TransmissionSettings(load="none", inertia=1.0)
    with pytest.raises(ValidationError, match='saturation: expected a torque or force, which the model "transmission"'):
        JointIdentification.model_validate({"model": {"kind": "transmission", "load": "none"}, "saturation": 3.0})


@pytest.mark.compiled
def test_ratio_and_lag_are_found_with_their_deviations_and_kept() -> None:
    """An ideal gear of ratio 1.002, read 0.8 ms late behind it; steps of 2⁻¹⁶ turns."""
    t = np.arange(0.0, 24.0, 1e-3)
    step = 2 * np.pi / 65536

    def link(at: np.ndarray) -> np.ndarray:
        return np.sin(0.9 * at) + 0.3 * np.sin(2.3 * at)

    values = np.column_stack((1.002 * link(t) + 0.1, link(t + 0.8e-3)))
    values = np.round(values / step) * step
    settings = JointIdentification.model_validate({"model": {"kind": "transmission", "load": "none"}})
    joint = JointEstimator(settings, 1e-3)
    for first in range(0, len(t), 500):
        joint.absorb(np.arange(first, first + 500) * 1_000_000, values[first : first + 500].copy())
    estimate = joint.estimate()
    assert estimate.status == "valid", estimate.reasons
    found = dict(zip(estimate.names, estimate.values, strict=True))
    sigma = dict(zip(estimate.names, estimate.deviations, strict=True))
    for name, truth in {"ratio": 1.002, "lag": 1.002 * 0.8e-3, "zero": 0.1, "turning": 0.0}.items():
        assert abs(found[name] - truth) < 4.0 * sigma[name], name
    assert 1e-8 < sigma["ratio"] < 2e-5
    assert joint.inspect() is not None
    assert joint.friction()["kind"] == "viscous_coulomb"
    kept, fresh = joint.keep(), JointEstimator(settings, 1e-3)
    assert kept is not None
    fresh.resume(kept)
    np.testing.assert_array_equal(fresh.estimate().values, estimate.values)
