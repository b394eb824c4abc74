"""What two fits of a gear's two encoders say in physical units, from data that are the equation itself."""

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.models.joints.lost_motion import (
    BY_LOAD,
    BY_TORQUE,
    COLUMNS,
    COS1,
    COS2,
    COULOMB,
    FRICTION,
    GAP,
    LAG,
    LINK_FRICTION,
    LOAD,
    LOST_MOTION,
    ONE,
    PARAMETERS,
    SIN1,
    SIN2,
    SPEED,
    STIFFNESS,
    TORQUE,
    WEARS,
    LostMotionSettings,
    physical,
)

pytestmark = pytest.mark.interpreted


def test_parameters_are_those_of_the_gear_whose_encoders_were_fitted() -> None:
    """A motor that turns a link through a gear: K, a gap of 2b, motor friction F_c + F_v w, link friction f_c + f_v w.

    The difference of the encoders is written from the gear's torque, which the model never has: what the spring holds
    is what the link takes and rubs, and the motor gives that and what it rubs itself.
    """
    K, gap, F_c, F_v, f_c, f_v, skew, zero = 2e4, 150e-6, 6.0, 3.0, 1.5, 0.8, 4e-4, 0.01
    cos2, sin2, cos1, sin1 = 2e-5, -3e-5, 4e-5, 1e-5
    random = np.random.default_rng(3)
    w = random.choice([-1.0, 1.0], 400) * random.uniform(0.2, 1.5, 400)
    load = random.choice([-1.0, 1.0], 400) * random.uniform(30.0, 90.0, 400)  # what the link takes
    angle, N = random.uniform(-2.0, 2.0, 400), 100.0
    gear = load + f_c * np.sign(w) + f_v * w
    torque = gear + F_c * np.sign(w) + F_v * w
    wave = (
        cos2 * np.cos(2 * N * angle)
        + sin2 * np.sin(2 * N * angle)
        + cos1 * np.cos(N * angle)
        + sin1 * np.sin(N * angle)
    )
    difference = zero + gear / K + skew * w + wave + 0.5 * gap * np.sign(load)
    column = np.zeros((400, COLUMNS))
    column[:, ONE], column[:, TORQUE], column[:, SPEED], column[:, FRICTION] = 1.0, torque, w, -np.sign(w)
    column[:, COS2], column[:, SIN2] = np.cos(2 * N * angle), np.sin(2 * N * angle)
    column[:, COS1], column[:, SIN1] = np.cos(N * angle), np.sin(N * angle)
    column[:, GAP], column[:, LOAD] = np.sign(load), load
    by_torque, by_load = (np.linalg.lstsq(column[:, which], difference)[0] for which in (BY_TORQUE, BY_LOAD))
    found = physical(by_torque, by_load)
    names = [one.name for one in PARAMETERS]
    truth = {
        "gear_stiffness": K,
        "lost_motion": gap,
        "gear_friction": F_c,
        "gear_lag": skew - F_v / K,
        "gear_error_cos2": cos2,
        "gear_error_sin2": sin2,
        "gear_error_cos1": cos1,
        "gear_error_sin1": sin1,
        "link_friction": f_c,
    }
    assert list(truth) == names
    assert found == pytest.approx(list(truth.values()), rel=1e-9)
    many = physical(np.stack([by_torque, by_torque]), np.stack([by_load, by_load]))
    assert many.shape == (2, len(PARAMETERS))
    assert (many == found).all()


def test_places_of_parameters_are_where_they_say() -> None:
    names = [one.name for one in PARAMETERS]
    places = {STIFFNESS: "gear_stiffness", LOST_MOTION: "lost_motion", COULOMB: "gear_friction", LAG: "gear_lag"}
    assert {i: names[i] for i in places} == places
    assert names[LINK_FRICTION] == "link_friction"
    assert [one.name for one in WEARS] == ["gear_stiffness", "lost_motion", "gear_friction"]


def test_channels_follow_from_where_the_load_is_known() -> None:
    settings = LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, band=1.0)
    assert settings.channels() == ("position", "link_position", "torque")
    assert settings.model_copy(update={"load": True}).channels() == ("position", "link_position", "torque", "load")
    with pytest.raises(ValidationError, match="band"):
        LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, band=0.0)


def test_what_cannot_be_negative_is_not_and_what_can_may_be_as_much_either_way() -> None:
    for one in PARAMETERS:
        either = one.name.startswith(("gear_lag", "gear_error"))
        assert one.low == (-one.high if either else 0.0), one.name
        assert one.high > 0.0, one.name
