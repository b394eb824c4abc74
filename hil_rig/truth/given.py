"""A rigid joint with a given motion: its torque follows exactly, including effects that a model may leave out.

At rest, where friction may have any value, it is half of the Coulomb friction of the last motion.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats, encoder
from hil_rig.truth.trial import Sampled, Trial

MODEL: Final = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}


class GivenMotion(NamedTuple):
    """Position, speed and acceleration of a joint at every sample."""

    place: Floats  # rad
    speed: Floats  # rad/s
    acceleration: Floats  # rad/s²


class Joint(NamedTuple):
    """One joint in motion."""

    truth: Mapping[str, float]  # the model's parameters
    torque: Floats  # N·m at every sample, without noise
    noise: float  # N·m, standard deviation


def drawn(rng: np.random.Generator, level: bool = False) -> dict[str, float]:
    """Draw the parameters of a joint of any size; level: gravity on a level base, without gravity_cos."""
    size = 10.0 ** rng.uniform(-1.5, 1.7)
    return {
        "inertia": size * rng.uniform(0.5, 2.0),
        "viscous": size * rng.uniform(0.3, 4.0),
        "coulomb": size * rng.uniform(0.3, 3.0),
        "offset": size * rng.uniform(-0.5, 0.5),
        "gravity_sin": size * rng.uniform(0.0, 6.0),
        "gravity_cos": 0.0 if level else size * rng.uniform(-2.0, 2.0),
    }


def joint(
    rng: np.random.Generator,
    motion: GivenMotion,
    truth: Mapping[str, float],
    extra: Callable[[GivenMotion, Floats], Floats] | None = None,
) -> Joint:
    """A joint with these parameters in motion; extra: torque that its model lacks, from motion and torque."""
    place, speed, acceleration = motion
    last = np.maximum.accumulate(np.where(speed != 0.0, np.arange(len(speed)), 0))
    side = np.where(speed != 0.0, np.sign(speed), 0.5 * np.sign(speed[last]))
    torque = truth["inertia"] * acceleration + truth["viscous"] * speed + truth["coulomb"] * side + truth["offset"]
    torque = torque + truth["gravity_sin"] * np.sin(place) + truth["gravity_cos"] * np.cos(place)
    if extra is not None:
        torque = torque + extra(motion, torque)
    return Joint(truth, torque, float(0.02 * rng.uniform(0.5, 2.0) * torque.std()))


def measured(
    rng: np.random.Generator,
    motion: GivenMotion,
    one: Joint,
    rate: float,
    bits: int,
    model: Mapping[str, Any] = MODEL,
    seen: Floats | None = None,
    read: Callable[[Floats], Floats] | None = None,
    **trial: Any,
) -> Trial:
    """A trial of a joint.

    rate: Hz; bits: of its encoder; seen: rad, what the encoder sees (default: the position); read: turns the torque
    into what the drive reports.
    """
    torque = one.torque + one.noise * rng.standard_normal(len(one.torque))
    torque = torque if read is None else read(torque)
    readings, state = encoder(motion.place if seen is None else seen, bits), {"count": 0}

    def sample(count: int) -> Sampled:
        first = state["count"]
        state["count"] += count
        part = slice(first, first + count)
        return Sampled(np.column_stack((readings[part], torque[part])), np.arange(first, first + count) / rate)

    def truth() -> Mapping[str, float]:
        return {name: value for name, value in one.truth.items() if name != "gravity_cos" or model.get("gravity_cos")}

    settings = {"changes": ()} | trial
    return Trial(model, sample, truth, len(torque) / rate - 1.0, rate=rate, **settings)
