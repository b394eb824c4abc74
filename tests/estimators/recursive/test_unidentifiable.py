"""A direction that the motion never tells is said to be as uncertain as it is, and told later it is known."""

import numpy as np
import pytest

from estimators.base import Estimate, Knowledge, Phase, Status
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats

TRUTH = {"inertia": 0.5, "viscous": 2.0, "coulomb": 1.5, "offset": 0.4}
PERIOD = 1e-3


def samples(velocity: Floats, seed: int = 0) -> Floats:
    """Position and torque of a motion with this velocity, rad/s: (samples, 2)."""
    noise = np.random.default_rng(seed).normal(0.0, 0.05, len(velocity))
    torque = TRUTH["inertia"] * np.gradient(velocity, PERIOD) + TRUTH["viscous"] * velocity
    torque += TRUTH["coulomb"] * np.sign(velocity) + TRUTH["offset"] + noise
    return np.stack([np.cumsum(velocity) * PERIOD, torque], axis=1)


def built(model: dict[str, object] | None = None) -> JointEstimator:
    return JointEstimator(
        JointIdentification.model_validate({"model": {"kind": "rigid"} | (model or {}), "start": 4.0}), PERIOD
    )


def fed(joint: JointEstimator, values: Floats, first: int = 0, step: int = 1000) -> Estimate:
    for at in range(0, len(values), step):
        part = values[at : at + step]
        joint.absorb((first + at + np.arange(len(part))) * 1_000_000, part)
    return joint.estimate()


def one_way(seconds: float) -> Floats:
    t = np.arange(round(seconds / PERIOD)) * PERIOD
    return np.asarray(0.5 + 0.2 * np.sin(np.pi * t))


def test_motion_in_one_direction_does_not_tell_friction_from_an_offset() -> None:
    joint = built()
    found = fed(joint, samples(one_way(25.0)))
    assert (found.phase, found.status, found.reasons) == (Phase.NORMAL, Status.VALID, ())
    assert [event.kind for event in joint.events()].count("started") == 1
    both = {"coulomb": ("offset",), "offset": ("coulomb",)}
    for name, value, deviation, state in zip(found.names, found.values, found.deviations, found.states, strict=True):
        assert abs(value - TRUTH[name]) < 4.0 * deviation, name
        weak = name in both
        assert state == (Knowledge.NOT_IDENTIFIABLE if weak else Knowledge.KNOWN, both.get(name, ()), False), name
        assert bool(deviation > 0.5) is weak, "all of the torque may be either's"
        # the torque keeps its sign: iron that takes 5 % off it takes three times as much off its slope
        assert weak or deviation < 3.0 * 0.05 * value, name


def test_what_is_shown_later_is_known_then() -> None:
    joint, values = built(), samples(np.concatenate([one_way(25.0), -one_way(16.0), one_way(16.0)]))
    fed(joint, values[:25_000])
    found = fed(joint, values[25_000:41_000], 25_000)
    assert found.status is Status.VALID, found.reasons
    assert found.known[:2] == (True, True)
    assert found.values == pytest.approx(list(TRUTH.values()), rel=0.02)
    assert found.deviations.max() < 0.1, "the alarm has made it forget most of the other way, but not that it was told"
    found = fed(joint, values[41_000:], 41_000)
    assert found.status is Status.VALID, found.reasons
    for name, value, deviation in zip(found.names, found.values, found.deviations, strict=True):
        assert value == pytest.approx(TRUTH[name], rel=0.02), name
        assert name == "coulomb" or deviation < 0.05, name
    # the torque always has the sign of the speed, so a dead zone of the torque would be Coulomb friction
    assert [state.unmodelled_torque for state in found.states] == [name == "coulomb" for name in found.names]
    assert found.deviations[2] < 3.0 * 0.05 * np.abs(values[41_000:, 1]).mean()


def test_a_small_arc_does_not_tell_gravity_from_an_offset() -> None:
    t = np.arange(25_000) * PERIOD
    velocity = 0.06 * np.cos(np.pi * t)
    values = samples(velocity)
    values[:, 0] += 0.3
    values[:, 1] += 8.0 * np.sin(values[:, 0]) + 3.0 * np.cos(values[:, 0])
    found = fed(built({"gravity_sin": True, "gravity_cos": True}), values)
    truth = TRUTH | {"gravity_sin": 8.0, "gravity_cos": 3.0}
    for name, value, deviation in zip(found.names, found.values, found.deviations, strict=True):
        assert abs(value - truth[name]) < 3.0 * deviation + 0.005 * abs(value), name
    told = dict(zip(found.names, found.states, strict=True))
    assert told["gravity_sin"].knowledge is not Knowledge.KNOWN


@pytest.mark.compiled
def test_results_do_not_depend_on_how_rows_are_cut() -> None:
    values = samples(np.concatenate([one_way(22.0), -one_way(3.0)]))
    seen = [fed(built(), values, step=step) for step in (7, 1000, 25_000)]
    for other in seen[1:]:
        assert np.array_equal(other.values, seen[0].values)
        assert np.array_equal(other.deviations, seen[0].deviations)
        assert other.reasons == seen[0].reasons
