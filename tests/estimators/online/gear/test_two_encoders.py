"""What is known of a gear between two encoders, from the joint's model and from what is said of the gear."""

from typing import Any

import pytest

from estimators.online.gear.two_encoders import WatchedGear, gear_of
from estimators.online.settings import JointIdentification

ELASTIC: dict[str, Any] = {"kind": "two_mass", "inertia_motor": 0.5, "inertia_link": 2.0, "gravity": -60.0}
TRANSMISSION: dict[str, Any] = {"kind": "transmission", "inertia": 0.5}


def told(model: dict[str, Any], said: dict[str, Any] | None = None, rate: float = 1000.0) -> WatchedGear | None:
    settings = {"model": model} | ({} if said is None else {"lost_motion": said})
    return gear_of(JointIdentification.model_validate(settings), rate)


def watched(model: dict[str, Any], said: dict[str, Any] | None = None) -> WatchedGear:
    found = told(model, said)
    assert found is not None
    return found


def test_an_elastic_joint_is_watched_as_its_model_has_it() -> None:
    gear = watched(ELASTIC)
    settings = gear.settings
    assert (settings.inertia_motor, settings.inertia_link, settings.gravity) == (0.5, 2.0, -60.0)
    assert settings.ratio == 100.0, "nothing is said of it"
    usual = 60.0 + 2.0 * 2.0  # gravity, and the link's inertia at 2 rad/s²
    assert settings.band == pytest.approx(0.02 * usual)
    assert settings.small == pytest.approx(0.1 * usual)
    assert not settings.load
    assert gear.roles == ("position", "link_position", "torque")
    assert gear.scale.tolist() == [1.0, 1.0, 1.0]


def test_a_motor_before_its_gear_is_reckoned_on_the_links_side() -> None:
    gear = watched(ELASTIC | {"gear": 160.0, "inertia_motor": 1e-4})
    assert gear.settings.inertia_motor == pytest.approx(1e-4 * 160.0**2)
    assert gear.settings.inertia_link == 2.0
    assert gear.settings.ratio == 160.0
    assert gear.scale.tolist() == [1.0 / 160.0, 1.0, 160.0], "angle, angle, torque"


@pytest.mark.parametrize("how", [{"spring_torque": True}, {"link_torque": "measured"}])
def test_a_torque_sensor_behind_the_gear_is_its_load(how: dict[str, Any]) -> None:
    gear = watched(ELASTIC | how | {"gear": 50.0})
    assert gear.settings.load
    assert gear.roles == ("position", "link_position", "torque", "joint_torque")
    assert gear.scale.tolist() == [0.02, 1.0, 50.0, 1.0]


def test_what_is_said_of_the_gear_counts_more_than_the_model() -> None:
    said = {"inertia_motor": 0.7, "inertia_link": 3.0, "gravity": 20.0, "ratio": 81.0, "blocks": 25, "growth": 0.5}
    settings = watched(ELASTIC, said).settings
    assert (settings.inertia_motor, settings.inertia_link, settings.gravity, settings.ratio) == (0.7, 3.0, 20.0, 81.0)
    assert settings.band == pytest.approx(0.02 * 26.0)
    assert settings.small == pytest.approx(0.1 * 26.0)
    assert (settings.blocks, settings.growth) == (25, 0.5)
    assert settings.block == 1.5, "as usual"
    banded = watched(ELASTIC, {"band": 0.9}).settings
    assert (banded.band, banded.small) == (0.9, pytest.approx(6.4))


def test_another_joint_is_watched_where_someone_asks_and_says_what_it_is() -> None:
    assert told(TRANSMISSION) is None
    settings = watched(TRANSMISSION, {"gravity": -10.0, "inertia_link": 1.0}).settings
    assert (settings.inertia_motor, settings.inertia_link, settings.gravity) == (0.0, 1.0, -10.0)
    assert settings.ratio == 100.0
    assert settings.band == pytest.approx(0.02 * 12.0)
    alone = watched(TRANSMISSION, {"gravity": 5.0}).settings
    assert (alone.inertia_motor, alone.inertia_link, alone.band) == (0.0, 0.0, pytest.approx(0.1))
    assert watched(TRANSMISSION, {"inertia_link": 1.0}).settings.gravity == 0.0


def test_nothing_is_watched_where_nobody_wants_it_or_samples_are_too_slow() -> None:
    assert told(ELASTIC, {"watch": False}) is None
    assert told(ELASTIC, rate=99.0) is None
    assert told(ELASTIC, rate=100.0) is not None
    assert told(ELASTIC, {"growth": 0.3}, rate=99.0) is not None, "who asks for it is told that they are"
