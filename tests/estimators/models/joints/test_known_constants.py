"""An elastic joint's known constants: what an error of one leaves in the residual, and a spring about another zero."""

from typing import Any

import numpy as np
import pytest

from estimators.models.base import Model
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.online.eta.in_force import recentre
from estimators.quantities import Floats
from estimators.rows import LOAD, RATE, SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE, Rows

pytestmark = pytest.mark.interpreted
Motion = tuple[Floats, ...]


def rows(model: Model, motion: Motion) -> Rows:
    """Unfiltered: values, rates and seconds of every channel, and the torque that a row's kernel sees."""
    values, rates, seconds = motion
    seen = np.zeros((len(values), len(model.channels), SIGNALS))
    for channel in range(len(model.channels)):
        seen[:, channel, [VALUE, SMOOTH]] = values[:, [channel]]
        seen[:, channel, [RATE, SMOOTH_RATE]] = rates[:, [channel]]
        seen[:, channel, SECOND] = seconds[:, channel]
    phi = np.empty((len(values), len(model.outputs), len(model.parameters)))
    y = np.empty((len(values), len(model.outputs)))
    model.fill(seen, np.array(model.start), phi, y)
    place = model.blocks[0]
    samples = np.zeros((len(values), 1, 3, 1))
    samples[:, 0, LOAD, 0] = place.scale[1] * values[:, place.load]
    return Rows(np.arange(len(y)) * 10_000_000, phi, y, np.abs(rates[:, :1]), samples)


ZERO, LATE = "the zero of link_position against position", "the delay of link_position against position"
STEP = 1e-5  # rad, s, relative


def moving(late: float = 0.0) -> Motion:
    """Motor, link (read late by so many seconds), motor torque and joint torque of a twist of up to 0.15 rad."""
    t = 0.03 * np.arange(200)
    motion = []
    for order in range(3):
        motor = 1.3**order * np.sin(1.3 * t + 0.5 * np.pi * order)
        again = t - late
        link = 1.3**order * np.sin(1.3 * again + 0.5 * np.pi * order)
        link -= 0.15 * 2.9**order * np.cos(2.9 * again + 0.5 * np.pi * order)
        motion.append(np.column_stack([motor, link, 300.0 * np.cos(0.7 * t), 200.0 * np.sin(0.9 * t)]))
    return tuple(motion)


@pytest.mark.parametrize("form", ["inertial", "measured", "spring"])
@pytest.mark.parametrize("gear", [1.0, 50.0])
def test_an_error_of_what_is_known_leaves_in_the_residual_what_is_reported(form: str, gear: float) -> None:
    """Against central differences of the residual of a joint whose inertia, scale, zero or delay is another one.

    For the encoder's zero and delay the link has no gravity, friction or inertia, which the spring outweighs.
    """
    known = {
        "inertia_motor": 1.5 / gear**2, "inertia_link": 4.0, "gear": gear, "stick": 0.0, "gravity": 80.0,
        "spring_torque": form == "spring", "link_torque": "measured" if form == "measured" else "inertial",
    }  # fmt: skip

    def residual(values: Motion, **changes: float) -> tuple[Model, Rows, Floats, Floats]:
        model = TwoMassSettings.model_validate(known | changes).build()
        window = rows(model, tuple(one * (gear, 1.0, 1.0 / gear, 1.0) for one in values))
        theta = np.full(len(model.parameters), 3.0)
        theta[:2] = 5e3, 2e5  # the cube carries as much as the line at 0.15 rad
        for i, parameter in enumerate(model.parameters):
            if parameter.name in ("link_viscous", "link_cyclic_sin", "link_cyclic_cos", "link_coulomb"):
                theta[i] = 0.0
        return model, window, window.y - window.phi @ theta, theta

    def scaled(channel: int, by: float) -> Motion:
        changed = tuple(one.copy() for one in moving())
        for one in changed:
            one[:, channel] *= by
        return changed

    def shifted(by: float) -> Motion:
        values, rates, seconds = moving()
        return values - by * np.array([0.0, 1.0, 0.0, 0.0]), rates, seconds

    def slope(plus: tuple[Any, ...], minus: tuple[Any, ...]) -> Floats:
        return (plus[2] - minus[2]) / (2.0 * STEP)

    up, down = 1.0 + STEP, 1.0 - STEP
    motor, light = known["inertia_motor"], {"inertia_link": 1e-9, "gravity": 0.0}
    slopes = {
        "the scale of torque": slope(residual(scaled(2, up)), residual(scaled(2, down))),
        "inertia_motor": slope(
            residual(moving(), inertia_motor=up * motor), residual(moving(), inertia_motor=down * motor)
        ),
        ZERO: slope(residual(shifted(STEP), gravity=0.0), residual(shifted(-STEP), gravity=0.0)),
        LATE: slope(residual(moving(STEP), **light), residual(moving(-STEP), **light)),
    }
    if form != "inertial":
        slopes["the scale of joint_torque"] = slope(residual(scaled(3, up)), residual(scaled(3, down)))
    if form != "measured":
        slopes["inertia_link"] = slope(
            residual(moving(), inertia_link=4.0 * up), residual(moving(), inertia_link=4.0 * down)
        )
    model, window, _, theta = residual(moving())
    told = {one.name: one for one in model.constants(window, np.ones(1), theta)}
    assert set(told) == set(slopes)
    for name, expected in slopes.items():
        np.testing.assert_allclose(told[name].column, expected, atol=1e-6 * np.abs(expected).max(), err_msg=name)
        assert told[name].unit == {LATE: "s", ZERO: "rad"}.get(name, "")


@pytest.mark.parametrize("form", ["inertial", "spring"])
@pytest.mark.parametrize("zero", [0.02, -0.3])
def test_a_spring_about_another_zero_is_that_of_an_encoder_that_lies_elsewhere(form: str, zero: float) -> None:
    settings = {"spring_torque": form == "spring", "stick": 0.0, "gravity": 0.0}
    model = TwoMassSettings.model_validate(settings).build()
    values, rates, seconds = moving()
    window = rows(model, (values, rates, seconds))
    recentre(model.springs[0], window, zero)
    other = rows(model, (values + zero * np.array([0.0, 1.0, 0.0, 0.0]), rates, seconds))
    np.testing.assert_allclose(window.phi[:, :, :2], other.phi[:, :, :2], atol=1e-12)
