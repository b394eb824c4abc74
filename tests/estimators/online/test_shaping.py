"""Rows under η in force, about the encoders' zero: within a pass as finished rows are given them, to the same bits."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.conditioning.conditioner import Conditioner
from estimators.numerics.jit import kernel
from estimators.online.eta.in_force import EtaInForce
from estimators.online.eta.nonlinear_columns import NonlinearColumns, NonlinearColumnsState, fill_columns
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats

PERIOD = 2e-3
LAW = {"kind": "tanh_stribeck"}
MODELS: dict[str, dict[str, Any]] = {
    "rigid": {"kind": "rigid", "friction": LAW | {"exponent": "searched"}, "gravity_sin": True, "temperature": 20.0},
    "arctangent": {"kind": "rigid", "friction": {"kind": "arctangent"}, "ripple": [2, 5]},
    "load": {"kind": "friction", "friction": {"kind": "load_dependent"}, "joint_torque": True, "torque_scale": True},
    "drive": {"kind": "friction", "friction": LAW, "joint_torque": True, "inertia": 0.3, "ripple": [3]},
    "elastic": {"kind": "two_mass", "ripple": [2]},
    "geared": {"kind": "two_mass", "gear": 161.0, "spring_torque": True},
    "linear": {"kind": "two_mass", "motor_friction": {"kind": "cubic_viscous"}, "link_torque": "measured"},
    "transmission": {"kind": "transmission", "ripple": [1]},
    "unloaded": {"kind": "transmission", "load": "none", "ripple": [1, 2]},
}


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[::1]", "f8[:, :, ::1]", NonlinearColumnsState))
def fill_columns_of_rows(
    starts: NDArray[np.int64], signals: Floats, taps: Floats, phi: Floats, state: NonlinearColumnsState
) -> None:
    """`fill_columns`, as Python can call it."""
    fill_columns(starts, signals, taps, phi, state)


def built(which: str) -> tuple[Conditioner, Floats]:
    """A conditioner of the model, and samples of all its channels, some of them missing."""
    model = JointIdentification.model_validate({"model": MODELS[which]}).model.build()
    t = PERIOD * np.arange(700)
    phase = np.arange(len(model.channels))
    values = np.sin(2.0 * t[:, None] + 0.01 * phase) + 0.2 * np.sin(9.0 * t[:, None] + phase)
    values += 1e-4 * np.random.default_rng(3).standard_normal(values.shape)
    values[260, 1] = np.nan
    return Conditioner(model, PERIOD), values


def ticks(count: int) -> np.ndarray:
    return (np.arange(count) * round(1e9 * PERIOD)).astype(np.int64)


@pytest.mark.interpreted
@pytest.mark.combined
@pytest.mark.parametrize("which", [one for one in MODELS if one not in ("linear", "transmission", "unloaded")])
@pytest.mark.parametrize("zero", [0.0, 3e-4])
def test_the_columns_are_those_of_finished_rows(which: str, zero: float) -> None:
    conditioner, values = built(which)
    model = JointIdentification.model_validate({"model": MODELS[which]}).model.build()
    eta = EtaInForce(model, conditioner.taps, 1.0)
    nonlinear_columns = NonlinearColumns(eta.block, eta.spring, len(conditioner.former.formed.signals))
    for factor in (1.3, 1.2, 0.4):
        eta.state.eta, eta.state.zero = factor * eta.state.eta, factor * zero
        nonlinear_columns.set(eta.state.eta, eta.state.zero)
        time, formed = ticks(len(values)) + conditioner.former.last + round(1e9 * PERIOD), conditioner.former.formed
        for cut in range(0, len(values), 140):
            rows = conditioner.absorb(time[cut : cut + 140], values[cut : cut + 140])
            phi, starts = rows.phi.copy(), formed.starts[: len(rows.time)]
            if len(phi):
                fill_columns_of_rows(starts, formed.signals, conditioner.taps, phi, nonlinear_columns.state)
                assert not np.array_equal(phi, rows.phi, equal_nan=True)
                assert np.array_equal(phi, eta.shaped(rows).phi, equal_nan=True)
